/** The beam as a tree: a column for each step, a row for each rank, the best on top; edges lead to the children. */

import { makeSvg } from "./dom.js";
import { scored, shown } from "./pieces.js";

const ROW = 40;
const NODE = 26; // height of a node
const NARROWEST = 34; // a node
const LETTER = 9; // about the width of one
const GAP = 34; // between two columns, for the edges
const MARGIN = 12;
const LONGEST = 12; // characters of a label
const MEANINGS = { best: "returned", finished: "finished", kept: "kept", dropped: "dropped" };

/**
 * @typedef {object} Node
 * @property {number} id
 * @property {number|null} parent
 * @property {number} step
 * @property {string} token
 * @property {number} log_probability
 * @property {"best"|"finished"|"kept"|"dropped"} state
 */

/**
 * @typedef {{x: number, y: number, width: number}} Place
 */

/**
 * Shorten a label.
 * @param {string} token
 * @returns {string}
 */
function short(token) {
  const letters = [...shown(token)];
  return letters.length > LONGEST ? `${letters.slice(0, LONGEST - 1).join("")}…` : letters.join("");
}

/**
 * Lay the nodes out: column by step, row by rank among the nodes of that step.
 * @param {Node[]} nodes
 * @returns {{places: Map<number, Place>, width: number, height: number}}
 */
function layOut(nodes) {
  const columns = [...Map.groupBy(nodes, ({ step }) => step)].sort(([one], [other]) => one - other);
  const places = new Map();
  let [x, rows] = [MARGIN, 1];
  for (const [, ofStep] of columns) {
    const longest = Math.max(...ofStep.map(({ token }) => [...short(token)].length));
    const width = Math.max(NARROWEST, longest * LETTER + 14);
    const ranked = [...ofStep].sort((one, other) => other.log_probability - one.log_probability);
    for (const [rank, { id }] of ranked.entries()) places.set(id, { x, y: MARGIN + rank * ROW, width });
    x += width + GAP;
    rows = Math.max(rows, ofStep.length);
  }
  return { places, width: x - GAP + MARGIN, height: 2 * MARGIN + (rows - 1) * ROW + NODE };
}

/**
 * Return a node and all its ancestors.
 * @param {Map<number, Node>} byId
 * @param {number} id
 * @returns {Set<number>}
 */
function pathTo(byId, id) {
  const path = new Set();
  for (let at = id; byId.has(at) && !path.has(at); at = byId.get(at).parent) path.add(at);
  return path;
}

/**
 * Draw the edge from a node's parent to it.
 * @param {Node} node
 * @param {Map<number, Place>} places
 * @returns {SVGElement}
 */
function edge(node, places) {
  const [from, to] = [places.get(node.parent), places.get(node.id)];
  const [left, right] = [from.x + from.width, to.x];
  const [above, below] = [from.y + NODE / 2, to.y + NODE / 2];
  const middle = (left + right) / 2;
  const d = `M${left} ${above}C${middle} ${above} ${middle} ${below} ${right} ${below}`;
  return makeSvg("path", { class: `edge ${node.state}`, d, "data-node": node.id });
}

/**
 * Draw a node: a box with its token; the title has the rest.
 * @param {Node} node
 * @param {Map<number, Place>} places
 * @returns {SVGElement}
 */
function box(node, places) {
  const { x, y, width } = places.get(node.id);
  const fate = MEANINGS[node.state] ?? node.state;
  const meaning = `${shown(node.token)}: ${fate}, log-probability ${scored(node.log_probability)}`;
  return makeSvg("g", { class: `node ${node.state}`, transform: `translate(${x} ${y})`, "data-node": node.id },
    makeSvg("title", { text: meaning }),
    makeSvg("rect", { width, height: NODE, rx: node.state === "finished" ? 3 : NODE / 2 }),
    makeSvg("text", { x: width / 2, y: NODE / 2, text: short(node.token) }));
}

/**
 * Draw the tree.
 * @param {Node[]} nodes
 * @returns {{element: SVGElement, highlight: (id: number|null) => void, hold: (id: number|null) => void}} `highlight`
 *   emphasises the path to a node for a moment, `hold` until further notice
 */
export function drawTree(nodes) {
  const layout = layOut(nodes);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const edges = nodes.filter(({ parent }) => layout.places.has(parent)).map((node) => edge(node, layout.places));
  const boxes = nodes.map((node) => box(node, layout.places));
  const element = makeSvg("svg", {
    class: "tree",
    role: "img",
    width: layout.width,
    height: layout.height,
    viewBox: `0 0 ${layout.width} ${layout.height}`,
    "aria-label": `Tree of the beam search with ${nodes.length} nodes; the table below lists where its branches ended`,
  }, ...edges, ...boxes);

  let held = null;

  /**
   * Emphasise the path to a node, or what is held.
   * @param {number|null} id
   */
  function highlight(id) {
    const path = (id ?? held) === null ? new Set() : pathTo(byId, id ?? held);
    element.classList.toggle("tracing", path.size > 0);
    for (const part of [...edges, ...boxes]) part.classList.toggle("traced", path.has(Number(part.dataset.node)));
  }

  /**
   * Hold the path to a node, so that it stays when the pointer has left another.
   * @param {number|null} id
   */
  function hold(id) {
    held = id;
    highlight(null);
  }

  element.addEventListener("pointerover", (event) => {
    const node = event.target.closest(".node");
    highlight(node ? Number(node.dataset.node) : null);
  });
  element.addEventListener("pointerleave", () => highlight(null));
  return { element, highlight, hold };
}
