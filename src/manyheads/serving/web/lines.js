/** Attention as curved lines between two columns of tokens: left what is looked at, right what looks. */

import { colour, shadeOf, weightScale } from "./colours.js";
import { make } from "./dom.js";
import { oncePerFrame, sharpContext } from "./frame.js";
import { createTokenColumn } from "./tokens.js";
import { tableFor, weightsAt } from "./weights.js";

const FAINTEST = 0.04; // a thinner line is not seen, but costs as much as any other
const MOST_LINES = 1500; // the strongest ones, so that 200 × 200 words are drawn within a frame
const ROWS = { least: 19, most: 28, together: 580 }; // pixels: rows shrink until all of them fit, or are hard to read
const BUCKETS = 10; // lines of about the same weight are stroked at once

/**
 * Return the lines worth drawing.
 * @param {import("./heatmap.js").Table} table
 * @param {import("./weights.js").Place|null} place only its lines, if there is one
 * @returns {{query: number, key: number, weight: number}[]}
 */
function linesOf(table, place) {
  const lines = [];
  for (let query = 0; query < table.rows; query++) {
    if (place?.side === "q" && place.index !== query) continue;
    for (let key = 0; key < table.columns; key++) {
      if (place?.side === "k" && place.index !== key) continue;
      const weight = table.values[query * table.columns + key];
      if (weight >= FAINTEST) lines.push({ query, key, weight });
    }
  }
  if (lines.length <= MOST_LINES) return lines;
  return lines.sort((one, other) => other.weight - one.weight).slice(0, MOST_LINES);
}

/**
 * Stroke lines, the faint ones first.
 * @param {CanvasRenderingContext2D} context
 * @param {{query: number, key: number, weight: number}[]} lines
 * @param {{left: number, right: number, pitch: {q: number, k: number}}} place where lines begin and end, and how far
 *   apart the tokens of each side are
 */
function strokeLines(context, lines, { left, right, pitch }) {
  const middle = (left + right) / 2;
  const paths = Array.from({ length: BUCKETS }, () => new Path2D());
  for (const { query, key, weight } of lines) {
    const path = paths[Math.min(BUCKETS - 1, Math.floor(weight * BUCKETS))];
    const [from, to] = [(key + 0.5) * pitch.k, (query + 0.5) * pitch.q];
    path.moveTo(left, from);
    path.bezierCurveTo(middle, from, middle, to, right, to);
  }
  context.strokeStyle = colour("--accent");
  context.lineCap = "round";
  paths.forEach((path, bucket) => {
    const strength = (bucket + 0.5) / BUCKETS;
    context.globalAlpha = 0.12 + 0.88 * strength;
    context.lineWidth = 0.6 + 3 * strength;
    context.stroke(path);
  });
  context.globalAlpha = 1;
}

/**
 * Paint beside every token one square for each head: how strongly that head connects it with the chosen token.
 * @param {CanvasRenderingContext2D} context
 * @param {Float32Array[]} weights for each head, of every token
 * @param {{x: number, size: number, row: number, pitch: number}} place
 */
function paintSquares(context, weights, { x, size, row, pitch }) {
  const scale = weightScale();
  weights.forEach((ofHead, head) => {
    ofHead.forEach((weight, token) => {
      const shade = shadeOf(scale, weight);
      context.fillStyle = `rgb(${scale.shades.subarray(shade, shade + 3).join(" ")})`;
      context.fillRect(x + head * size, (token + 0.5) * pitch - row / 2 + 3, size - 1, row - 6);
    });
  });
}

/**
 * Make the picture.
 * @param {object} options
 * @param {(place: string) => void} options.onHover "" when nothing is hovered
 * @param {(place: string) => void} options.onChoose
 */
export function createLines({ onHover, onChoose }) {
  const columns = {};
  for (const [side, other] of [["k", "q"], ["q", "k"]]) {
    columns[side] = createTokenColumn({
      id: side === "q" ? "queries" : "keys",
      onHover: (index) => onHover(index === null ? "" : `${side}${index}`),
      onChoose: (index) => onChoose(`${side}${index}`),
      onLeave: () => onChoose(""),
      onAcross: () => columns[other].focus(shown.chosen?.side === side ? shown.chosen.index : 0),
    });
  }
  const canvas = make("canvas", { "aria-hidden": "true" });
  const middle = make("div", { class: "lines-middle" }, canvas);
  const headings = { k: make("span"), q: make("span") };
  const element = make("div", { class: "lines" },
    make("div", { class: "lines-headings", "aria-hidden": "true" }, headings.k, headings.q),
    make("div", { class: "lines-body" }, columns.k.element, middle, columns.q.element));
  const shown = { attention: null, head: null, active: null, chosen: null };

  /** Draw squares and lines, and shade the words. */
  const draw = oncePerFrame(() => {
    const { attention, head, active } = shown;
    if (!attention || !element.isConnected) return;
    const { queries, keys, heads } = attention;
    const row = columns.k.element.firstElementChild?.offsetHeight ?? 0;
    const width = middle.clientWidth;
    const height = row * Math.max(queries.length, keys.length);
    // The shorter column spreads beside the longer.
    const pitch = { q: height / queries.length, k: height / keys.length };
    const context = sharpContext(canvas, width, height);
    const table = tableFor(attention, head);
    const size = Math.max(3, Math.min(9, (width * 0.3) / heads.length));
    const edge = 4;
    const reserved = size * heads.length + 2 * edge;
    const [before, after] = [active?.side === "q" ? reserved : edge, active?.side === "k" ? reserved : edge];
    if (active) {
      const x = active.side === "q" ? edge : width - reserved + edge;
      const place = { x, size, row, pitch: active.side === "q" ? pitch.k : pitch.q };
      paintSquares(context, heads.map((one) => weightsAt(one, active)), place);
    }
    strokeLines(context, linesOf(table, active), { left: before, right: width - after, pitch });
    columns.k.shade(active?.side === "q" ? weightsAt(table, active) : null);
    columns.q.shade(active?.side === "k" ? weightsAt(table, active) : null);
  });
  new ResizeObserver(draw).observe(middle);

  return {
    element,
    draw,

    /**
     * Show another layer.
     * @param {import("./weights.js").Attention} attention
     * @param {{q: string, k: string}} labels what looks, what is looked at
     */
    show(attention, labels) {
      shown.attention = attention;
      const fitting = ROWS.together / Math.max(attention.queries.length, attention.keys.length);
      element.style.setProperty("--row", `${Math.floor(Math.min(ROWS.most, Math.max(ROWS.least, fitting)))}px`);
      for (const side of ["q", "k"]) {
        headings[side].textContent = labels[side];
        columns[side].show(labels[side], side === "q" ? attention.queries : attention.keys);
      }
    },

    /**
     * Emphasise a head and a token.
     * @param {number|null} head
     * @param {import("./weights.js").Place|null} active what is hovered or chosen
     * @param {import("./weights.js").Place|null} chosen
     */
    emphasise(head, active, chosen) {
      Object.assign(shown, { head, active, chosen });
      for (const side of ["q", "k"]) columns[side].mark(chosen?.side === side ? chosen.index : null);
      draw();
    },
  };
}
