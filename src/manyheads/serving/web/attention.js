/** The view of attention: choose kind, layer and head; hover or focus a word and see what each head looks at. */

import { checkChoice, make, makeChoice } from "./dom.js";
import { createLines } from "./lines.js";
import { createLoader } from "./loading.js";
import { createMatrix } from "./matrix.js";
import { createMultiples } from "./multiples.js";
import { percent, quoted } from "./pieces.js";
import { subjectOf } from "./sentences.js";
import { attentionOf, greatest, placeOf, tableFor, weightsAt } from "./weights.js";

const KINDS = [
  { value: "cross", label: "Cross" },
  { value: "encoder", label: "Encoder" },
  { value: "decoder", label: "Decoder" },
];
const LABELS = {
  cross: { k: "Source, looked at", q: "Translation, looking" },
  encoder: { k: "Source, looked at", q: "Source, looking" },
  decoder: { k: "Already read, looked at", q: "Being written, looking" },
};
const HINT = "Hover or focus a word to see what each head looks at.";
const SQUARES = "Beside a chosen word’s partners stands one square for each head, left to right.";

/**
 * Say in a sentence what a token looks at, or what looks at it.
 * @param {import("./weights.js").Attention} attention
 * @param {number|null} head
 * @param {import("./weights.js").Place} place
 * @returns {string}
 */
function describe(attention, head, place) {
  const [own, other] = place.side === "q" ? [attention.queries, attention.keys] : [attention.keys, attention.queries];
  const verb = place.side === "q" ? "looks most at" : "is looked at most by";
  const heads = head === null || !attention.heads[head] ? [...attention.heads.keys()] : [head];
  const parts = heads.map((one) => {
    const weights = weightsAt(attention.heads[one], place);
    const at = greatest(weights);
    return `${quoted(other[at])} in head ${one + 1} (${percent(weights[at])})`;
  });
  return `${quoted(own[place.index])} ${verb} ${parts.join(", ")}.`;
}

/**
 * Say in a sentence what one cell of the matrix holds.
 * @param {import("./weights.js").Attention} attention
 * @param {number|null} head
 * @param {{query: number, key: number}} cell
 * @returns {string}
 */
function describeCell(attention, head, { query, key }) {
  const table = tableFor(attention, head);
  const weight = table.values[query * table.columns + key];
  const who = attention.heads[head] ? `head ${head + 1}` : "the strongest head";
  const pair = `${quoted(attention.queries[query])} looks at ${quoted(attention.keys[key])}`;
  return `${pair} with weight ${weight.toFixed(3)} (${who}).`;
}

/**
 * Put the view on the page.
 * @param {ReturnType<typeof import("./store.js").createStore>} store
 * @param {ReturnType<typeof import("./api.js").createApi>} api
 * @param {HTMLElement} root
 */
export function createAttentionView(store, api, root) {
  const loader = createLoader(root);
  const empty = make("p", { class: "empty", text: "Type a sentence above, and every head shows what it looks at." });
  const kinds = makeChoice("kind", "Attention", KINDS, store.get().kind, chooseKind);
  const layers = make("div", { class: "layers" });
  const readout = make("p", { class: "readout", id: "readout", "aria-live": "polite", text: HINT });
  const legend = make("p", { class: "legend" }, make("span", { text: "weight 0" }),
    make("span", { class: "legend-bar", "aria-hidden": "true" }), make("span", { text: "1" }));
  let attention = null;
  let counts = null; // how many layers each kind has
  let hovered = ""; // a place, while the pointer is on it
  let cell = null; // a cell of the matrix, while the pointer is on it

  const lines = createLines({ onHover: hover, onChoose: (token) => store.set({ token }) });
  const matrix = createMatrix({ onHover: hoverCell, onChoose: (query) => store.set({ token: `q${query}` }) });
  const multiples = createMultiples((head) => store.set({ head }));
  const pictures = make("div", { class: "pictures" },
    make("figure", { class: "card" }, make("figcaption", { text: "Lines" }), lines.element,
      make("p", { class: "note", text: SQUARES })),
    make("figure", { class: "card" }, make("figcaption", { text: "Matrix" }), matrix.element, legend));
  const content = make("div", { class: "content", hidden: true }, multiples.element, readout, pictures);
  root.append(make("div", { class: "toolbar" }, kinds, layers), loader.message, empty, content);

  /**
   * Choose a kind; if it has no layer of that number, its last one.
   * @param {string} kind
   */
  function chooseKind(kind) {
    const { layer } = store.get();
    store.set({ kind, layer: counts && layer > counts[kind] ? null : layer, token: "" });
  }

  /**
   * Store the hovered token.
   * @param {string} place
   */
  function hover(place) {
    if (place === hovered) return;
    hovered = place;
    emphasise();
  }

  /**
   * Store the hovered cell; its row is emphasised everywhere.
   * @param {{query: number, key: number}|null} now
   */
  function hoverCell(now) {
    cell = now;
    hovered = now ? `q${now.query}` : "";
    emphasise();
  }

  /** Show head and token that are chosen, or hovered. */
  function emphasise() {
    if (!attention) return;
    const { head, token } = store.get();
    const chosen = placeOf(token, attention);
    const active = placeOf(hovered, attention) ?? chosen;
    const real = attention.heads[head] ? head : null;
    lines.emphasise(real, active, chosen);
    matrix.show(attention, real, active);
    multiples.emphasise(real, active);
    if (cell) readout.textContent = describeCell(attention, real, cell);
    else readout.textContent = active ? describe(attention, real, active) : HINT;
  }

  /** Offer the layers of the kind. */
  function showLayers() {
    const { kind, layer } = store.get();
    if (!counts) return;
    const options = Array.from({ length: counts[kind] }, (_, at) => ({ value: String(at + 1), label: String(at + 1) }));
    const chosen = String(layer ?? counts[kind]);
    const group = layers.firstElementChild;
    if (group && group.querySelectorAll("input").length === options.length) checkChoice(group, chosen);
    else {
      const choose = (value) => store.set({ layer: Number(value) });
      layers.replaceChildren(makeChoice("layer", "Layer", options, chosen, choose));
    }
  }

  /**
   * Show an answer of the server.
   * @param {object} answer
   */
  function show(answer) {
    attention = attentionOf(answer);
    counts = answer.layers;
    hovered = "";
    cell = null;
    content.hidden = false;
    showLayers();
    lines.show(attention, LABELS[answer.kind]);
    multiples.show(attention);
    emphasise();
  }

  /** Show nothing. */
  function clear() {
    attention = null;
    content.hidden = true;
  }

  /** Fetch the selected layer, if the view is open. */
  function refresh() {
    const { view, translated, kind, layer } = store.get();
    checkChoice(kinds, kind);
    showLayers();
    if (view !== "attention") return;
    empty.hidden = translated !== null;
    if (!translated) {
      loader.reset();
      clear();
      return;
    }
    const subject = subjectOf(store.get());
    loader.run(JSON.stringify([subject, kind, layer]),
      async (signal) => show(await api.inspect(subject, kind, layer, signal)), clear);
  }

  store.on(["view", "translated", "sentence", "kind", "layer"], refresh);
  store.on(["head", "token"], emphasise);
  store.on(["look"], () => [lines, matrix, multiples].forEach((part) => part.draw()));
  refresh();
}
