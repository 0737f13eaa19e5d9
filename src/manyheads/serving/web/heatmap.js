/** Painting a table of numbers as cells: one pixel each, then enlarged, so that 40,000 cells cost as little as a few. */

import { shadeOf } from "./colours.js";

/**
 * @typedef {object} Table numbers, row after row
 * @property {number} rows
 * @property {number} columns
 * @property {Float32Array} values
 */

/**
 * Make a table of nested lists.
 * @param {number[][]} lists
 * @returns {Table}
 */
export function tableOf(lists) {
  const columns = lists[0]?.length ?? 0;
  const values = new Float32Array(lists.length * columns);
  lists.forEach((list, row) => values.set(list, row * columns));
  return { rows: lists.length, columns, values };
}

/**
 * Paint a table into a rectangle.
 * @param {CanvasRenderingContext2D} context
 * @param {Table} table
 * @param {import("./colours.js").Scale} scale
 * @param {{x: number, y: number, width: number, height: number}} place
 */
export function paintCells(context, { rows, columns, values }, scale, { x, y, width, height }) {
  if (rows === 0 || columns === 0) return;
  const image = new ImageData(columns, rows);
  for (let cell = 0; cell < values.length; cell++) {
    const shade = shadeOf(scale, values[cell]);
    image.data.set(scale.shades.subarray(shade, shade + 3), cell * 4);
    image.data[cell * 4 + 3] = 255;
  }
  const small = new OffscreenCanvas(columns, rows);
  small.getContext("2d").putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, x, y, width, height);
}
