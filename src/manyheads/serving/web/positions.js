/** The view of positions: the sinusoids as a heat map, and how alike two positions are. */

import { signedScale, weightScale } from "./colours.js";
import { make } from "./dom.js";
import { oncePerFrame, sharpContext } from "./frame.js";
import { paintCells, tableOf } from "./heatmap.js";
import { createLoader } from "./loading.js";
import { rounded } from "./pieces.js";

const LENGTH = 50;
const WIDTH = 128;

/**
 * Return which of some cells in a row a share of their whole length falls into.
 * @param {number} share
 * @param {number} count
 * @returns {number}
 */
function cellAt(share, count) {
  return Math.min(count - 1, Math.max(0, Math.floor(share * count)));
}

/**
 * Make a heat map with a caption that shows the number under the pointer.
 * @param {object} options
 * @param {string} options.title
 * @param {string} options.text description
 * @param {(row: number, column: number) => string} options.name names a cell
 * @param {number} options.ratio height of a cell by its width
 * @param {boolean} options.signed whether the scale has a middle at zero, or goes from the least to the greatest number
 */
function createMap({ title, text, name, ratio, signed }) {
  const canvas = make("canvas", { role: "img", "aria-label": `${title}. ${text}` });
  const place = make("div", { class: "map" }, canvas);
  const hint = "Hover a cell to read its value.";
  const readout = make("p", { class: "note", text: hint });
  const least = make("span");
  const most = make("span");
  const bar = make("span", { class: signed ? "legend-bar signed" : "legend-bar", "aria-hidden": "true" });
  const element = make("figure", { class: "card" }, make("figcaption", { text: title }), make("p", { text }), place,
    readout, make("p", { class: "legend" }, least, bar, most));
  const shown = { table: null, low: 0, high: 1 };

  /** Draw the cells. */
  const draw = oncePerFrame(() => {
    const { table, low, high } = shown;
    if (!table || place.clientWidth === 0) return;
    const width = Math.min(place.clientWidth, 640);
    const size = { width, height: (width / table.columns) * ratio * table.rows };
    const scale = signed ? signedScale(high) : weightScale(low, high);
    paintCells(sharpContext(canvas, size.width, size.height), table, scale, { x: 0, y: 0, ...size });
  });
  new ResizeObserver(draw).observe(place);

  canvas.addEventListener("pointermove", (event) => {
    const { table } = shown;
    if (!table) return;
    const row = cellAt(event.offsetY / canvas.clientHeight, table.rows);
    const column = cellAt(event.offsetX / canvas.clientWidth, table.columns);
    readout.textContent = `${name(row, column)}: ${rounded(table.values[row * table.columns + column], 3)}`;
  });
  canvas.addEventListener("pointerleave", () => (readout.textContent = hint));

  return {
    element,
    draw,

    /**
     * Show numbers.
     * @param {number[][]} lists
     */
    show(lists) {
      shown.table = tableOf(lists);
      const { values } = shown.table;
      shown.high = values.reduce((greatest, value) => Math.max(greatest, signed ? Math.abs(value) : value));
      shown.low = signed ? -shown.high : values.reduce((smallest, value) => Math.min(smallest, value));
      least.textContent = rounded(shown.low, 0);
      most.textContent = rounded(shown.high, 0);
      draw();
    },
  };
}

/**
 * Put the view on the page.
 * @param {ReturnType<typeof import("./store.js").createStore>} store
 * @param {ReturnType<typeof import("./api.js").createApi>} api
 * @param {HTMLElement} root
 */
export function createPositionsView(store, api, root) {
  const loader = createLoader(root);
  const encodings = createMap({
    title: `Positional encodings, ${LENGTH} × ${WIDTH}`,
    text: "A row for each position, a column for each dimension: sine at even, cosine at odd ones, ever slower.",
    name: (row, column) => `position ${row}, dimension ${column}`,
    ratio: 2.2,
    signed: true,
  });
  const products = createMap({
    title: "Their dot products",
    text: "Near positions are alike, whatever their place: the product depends on the distance alone.",
    name: (row, column) => `positions ${row} and ${column}`,
    ratio: 1,
    signed: false,
  });
  root.append(loader.message, make("div", { class: "pictures" }, encodings.element, products.element));

  /** Fetch the numbers once, when the view is first opened. */
  function refresh() {
    if (store.get().view !== "positions") return;
    loader.run("positions", async (signal) => {
      const answer = await api.positions(LENGTH, WIDTH, signal);
      encodings.show(answer.encodings);
      products.show(answer.dot_products);
    });
  }

  store.on(["view"], refresh);
  store.on(["look"], () => [encodings, products].forEach((map) => map.draw()));
  refresh();
}
