/** Attention as a matrix: a row for each token that looks, a column for each one looked at. */

import { colour, weightScale } from "./colours.js";
import { make } from "./dom.js";
import { oncePerFrame, sharpContext } from "./frame.js";
import { paintCells } from "./heatmap.js";
import { shown as label } from "./pieces.js";
import { tableFor } from "./weights.js";

const LARGEST_CELL = 30;
const SMALLEST_LABELLED = 10; // a smaller cell has no room for a label; hovering shows its tokens
const LETTERS = 13; // pixels high, or as high as a cell
const LONGEST_LABEL = 88;
const GAP = 6;

/**
 * Return the room that labels need.
 * @param {CanvasRenderingContext2D} context
 * @param {string[]} tokens
 * @returns {number}
 */
function roomFor(context, tokens) {
  const longest = tokens.reduce((most, token) => Math.max(most, context.measureText(label(token)).width), 0);
  return Math.min(LONGEST_LABEL, Math.ceil(longest)) + GAP;
}

/**
 * Lay the matrix out in a width: where cells begin and how large they are.
 * @param {CanvasRenderingContext2D} context
 * @param {import("./weights.js").Attention} attention
 * @param {number} width
 */
function layOut(context, { queries, keys }, width) {
  const [left, top] = [roomFor(context, queries), roomFor(context, keys)];
  const cell = Math.min(LARGEST_CELL, (width - left) / keys.length);
  if (cell >= SMALLEST_LABELLED) return { left, top, cell, labelled: true };
  return { left: 0, top: 0, cell: Math.min(LARGEST_CELL, width / keys.length), labelled: false };
}

/**
 * Write the labels of rows and columns, those of the active row and column in full ink.
 * @param {CanvasRenderingContext2D} context
 * @param {import("./weights.js").Attention} attention
 * @param {{left: number, top: number, cell: number}} layout
 * @param {(side: string, index: number) => boolean} isActive
 */
function writeLabels(context, { queries, keys }, { left, top, cell }, isActive) {
  const [ink, quiet] = [colour("--ink"), colour("--quiet")];
  context.textBaseline = "middle";
  context.textAlign = "right";
  queries.forEach((token, row) => {
    context.fillStyle = isActive("q", row) ? ink : quiet;
    context.fillText(label(token), left - GAP, top + (row + 0.5) * cell, LONGEST_LABEL);
  });
  context.textAlign = "left";
  keys.forEach((token, column) => {
    context.save();
    context.translate(left + (column + 0.5) * cell, top - GAP);
    context.rotate(-Math.PI / 2);
    context.fillStyle = isActive("k", column) ? ink : quiet;
    context.fillText(label(token), 0, 0, LONGEST_LABEL);
    context.restore();
  });
}

/**
 * Make the matrix.
 * @param {object} options
 * @param {(cell: {query: number, key: number}|null) => void} options.onHover
 * @param {(query: number) => void} options.onChoose
 */
export function createMatrix({ onHover, onChoose }) {
  const canvas = make("canvas", { role: "img", "aria-label": "Matrix of weights; the columns of words hold the same" });
  const element = make("div", { class: "matrix" }, canvas);
  const shown = { attention: null, head: null, active: null, layout: null };

  /** Draw cells, labels and the frame around what is active. */
  const draw = oncePerFrame(() => {
    const { attention, head, active } = shown;
    const width = element.clientWidth;
    if (!attention || width === 0 || attention.keys.length === 0) return;
    const family = getComputedStyle(element).fontFamily;
    let context = canvas.getContext("2d");
    context.font = `${LETTERS}px ${family}`;
    const layout = (shown.layout = layOut(context, attention, width));
    const { left, top, cell, labelled } = layout;
    const size = { width: cell * attention.keys.length, height: cell * attention.queries.length };
    context = sharpContext(canvas, left + size.width, top + size.height + 1);
    context.font = `${Math.min(LETTERS, cell)}px ${family}`;
    paintCells(context, tableFor(attention, head), weightScale(), { x: left, y: top, ...size });
    const isActive = (side, index) => active?.side === side && active.index === index;
    if (labelled) writeLabels(context, attention, layout, isActive);
    context.strokeStyle = colour("--line");
    context.strokeRect(left + 0.5, top + 0.5, size.width - 1, size.height - 1);
    if (!active) return;
    context.strokeStyle = colour("--ink");
    context.lineWidth = 1.5;
    if (active.side === "q") context.strokeRect(left, top + active.index * cell, size.width, cell);
    else context.strokeRect(left + active.index * cell, top, cell, size.height);
  });
  new ResizeObserver(draw).observe(element);

  /**
   * Return the cell under the pointer.
   * @param {PointerEvent} event
   * @returns {{query: number, key: number}|null}
   */
  function cellAt(event) {
    const { attention, layout } = shown;
    if (!attention || !layout) return null;
    const query = Math.floor((event.offsetY - layout.top) / layout.cell);
    const key = Math.floor((event.offsetX - layout.left) / layout.cell);
    const inside = query >= 0 && key >= 0 && query < attention.queries.length && key < attention.keys.length;
    return inside ? { query, key } : null;
  }

  canvas.addEventListener("pointermove", (event) => onHover(cellAt(event)));
  canvas.addEventListener("pointerleave", () => onHover(null));
  canvas.addEventListener("click", (event) => {
    const cell = cellAt(event);
    if (cell) onChoose(cell.query);
  });

  return {
    element,
    draw,

    /**
     * Show a layer, a head of it and an active token.
     * @param {import("./weights.js").Attention} attention
     * @param {number|null} head
     * @param {import("./weights.js").Place|null} active
     */
    show(attention, head, active) {
      Object.assign(shown, { attention, head, active });
      draw();
    },
  };
}
