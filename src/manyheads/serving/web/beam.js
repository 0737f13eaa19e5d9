/** The view of the beam: its tree, and the hypotheses that came out of it. */

import { make } from "./dom.js";
import { createLoader } from "./loading.js";
import { scored } from "./pieces.js";
import { subjectOf } from "./sentences.js";
import { drawTree } from "./tree.js";

const EMPTY = "Type a sentence above, and see which translations the search weighed.";
const WIDTHS = [1, 2, 3, 4, 5, 6, 8];

/**
 * Make the table of hypotheses; hovering or focusing one traces its path.
 * @param {object[]} hypotheses
 * @param {ReturnType<typeof drawTree>} tree
 * @returns {HTMLElement[]}
 */
function hypothesisRows(hypotheses, { highlight, hold }) {
  return hypotheses.map(({ text, score, log_probability: logProbability, node }) => {
    const button = make("button", {
      type: "button", class: "hypothesis", dir: "auto", text: text || "(nothing)",
      onfocus: () => hold(node), onblur: () => hold(null),
    });
    return make("tr", { onpointerenter: () => highlight(node), onpointerleave: () => highlight(null) },
      make("td", {}, button),
      make("td", { class: "number", text: scored(score) }),
      make("td", { class: "number", text: scored(logProbability) }));
  });
}

/**
 * Make the explanation of what the boxes mean.
 * @returns {HTMLElement}
 */
function makeLegend() {
  const meanings = { best: "path of the translation", kept: "kept", finished: "finished", dropped: "dropped" };
  const items = Object.entries(meanings).map(([state, meaning]) =>
    make("li", {}, make("span", { class: `swatch ${state}`, "aria-hidden": "true" }), meaning));
  return make("ul", { class: "tree-legend", "aria-label": "Legend" }, ...items);
}

/**
 * Put the view on the page.
 * @param {ReturnType<typeof import("./store.js").createStore>} store
 * @param {ReturnType<typeof import("./api.js").createApi>} api
 * @param {HTMLElement} root
 */
export function createBeamView(store, api, root) {
  const loader = createLoader(root);
  const empty = make("p", { class: "empty", text: EMPTY });
  const width = make("select", { id: "beam-width" });
  const stage = make("div", { class: "stage card", tabindex: 0, role: "region", "aria-label": "Tree of the search" });
  const body = make("tbody");
  const head = make("thead", {}, make("tr", {}, ...["Hypothesis", "Score", "Log-probability"].map((text, at) =>
    make("th", { scope: "col", class: at ? "number" : null, text }))));
  const content = make("div", { class: "content", hidden: true },
    make("p", { class: "note", text: "A column for each step; the higher, the more probable at that step." }),
    stage, makeLegend(), make("div", { class: "card" }, make("table", { class: "hypotheses" }, head, body)));
  root.append(make("div", { class: "toolbar" }, make("label", { for: "beam-width", text: "Width of the beam" }), width),
    loader.message, empty, content);

  /**
   * Show an answer of the server.
   * @param {object} answer
   */
  function show({ beam, nodes, hypotheses }) {
    showWidth(beam);
    const tree = drawTree(nodes);
    stage.replaceChildren(tree.element);
    body.replaceChildren(...hypothesisRows(hypotheses, tree));
    content.hidden = false;
  }

  /**
   * Show how wide the beam is, also where that is none of the usual widths.
   * @param {number} beam
   */
  function showWidth(beam) {
    const usual = WIDTHS.includes(beam) ? WIDTHS : [...WIDTHS, beam].sort((one, other) => one - other);
    width.replaceChildren(...usual.map((one) => make("option", { value: one, text: String(one) })));
    width.value = beam;
  }

  /** Fetch the beam, if the view is open. */
  function refresh() {
    const { view, translated, beam } = store.get();
    if (beam) showWidth(beam);
    if (view !== "beam") return;
    empty.hidden = translated !== null;
    if (!translated) {
      loader.reset();
      content.hidden = true;
      return;
    }
    const subject = subjectOf(store.get());
    loader.run(JSON.stringify([subject, beam]),
      async (signal) => show(await api.beam(subject, beam, signal)), () => (content.hidden = true));
  }

  width.addEventListener("change", () => store.set({ beam: Number(width.value) }));
  store.on(["view", "translated", "sentence", "beam"], refresh);
  refresh();
}
