/** The attention of one layer as numbers: what the server answered, laid out for drawing and asking. */

import { tableOf } from "./heatmap.js";

/**
 * @typedef {object} Attention
 * @property {string[]} queries tokens that look
 * @property {string[]} keys tokens that are looked at
 * @property {import("./heatmap.js").Table[]} heads one table [queries, keys] for each head
 * @property {import("./heatmap.js").Table} strongest the strongest weight of any head
 */

/**
 * Lay out an answer of `/inspect`.
 * @param {{queries: string[], keys: string[], weights: number[][][]}} answer
 * @returns {Attention}
 */
export function attentionOf({ queries, keys, weights }) {
  const heads = weights.map(tableOf);
  return { queries, keys, heads, strongest: strongestOf(heads, queries.length, keys.length) };
}

/**
 * Return for each pair the strongest weight of any head. Weights are never averaged: that hides what heads do.
 * @param {import("./heatmap.js").Table[]} heads
 * @param {number} rows
 * @param {number} columns
 * @returns {import("./heatmap.js").Table}
 */
function strongestOf(heads, rows, columns) {
  const values = new Float32Array(rows * columns);
  for (const head of heads) {
    for (let cell = 0; cell < values.length; cell++) values[cell] = Math.max(values[cell], head.values[cell]);
  }
  return { rows, columns, values };
}

/**
 * Return the table of a head, or of the strongest of all.
 * @param {Attention} attention
 * @param {number|null} head
 * @returns {import("./heatmap.js").Table}
 */
export function tableFor(attention, head) {
  return attention.heads[head] ?? attention.strongest;
}

/**
 * A token of one side: `{side: "q", index: 3}` is written "q3".
 * @typedef {{side: "q"|"k", index: number}} Place
 */

/**
 * Read a place, if there is such a token.
 * @param {string} text
 * @param {Attention} attention
 * @returns {Place|null}
 */
export function placeOf(text, attention) {
  if (!text) return null;
  const place = { side: text[0], index: Number(text.slice(1)) };
  const tokens = place.side === "q" ? attention.queries : attention.keys;
  return place.index < tokens.length ? place : null;
}

/**
 * Return the weights between a token and every token of the other side.
 * @param {import("./heatmap.js").Table} table
 * @param {Place} place
 * @returns {Float32Array}
 */
export function weightsAt({ rows, columns, values }, { side, index }) {
  if (side === "q") return values.subarray(index * columns, (index + 1) * columns);
  return Float32Array.from({ length: rows }, (_, row) => values[row * columns + index]);
}

/**
 * Return the place of the greatest number.
 * @param {Float32Array} numbers
 * @returns {number}
 */
export function greatest(numbers) {
  return numbers.reduce((best, number, index) => (number > numbers[best] ? index : best), 0);
}
