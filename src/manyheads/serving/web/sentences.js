/** Which sentence of the text the views show. A text is translated sentence by sentence, and each can be looked into. */

import { make } from "./dom.js";
import { createLoader } from "./loading.js";

/**
 * Say what the views are to show.
 * @param {import("./store.js").State} state with a translation
 * @returns {import("./api.js").Subject}
 */
export function subjectOf({ translated, sentence }) {
  const { q, source, target, candidates } = translated;
  return { q, source, target, sentence, alternatives: candidates };
}

/**
 * Put the choice on the page; it is there where the text has several sentences, and the view shows one of them.
 * @param {ReturnType<typeof import("./store.js").createStore>} store
 * @param {ReturnType<typeof import("./api.js").createApi>} api
 * @param {HTMLElement} root
 */
export function createSentenceChoice(store, api, root) {
  const loader = createLoader(root);
  const select = make("select", { id: "sentence" });
  root.append(make("label", { for: "sentence", text: "Sentence" }), select);
  let sentences = [];

  /** Show what can be chosen. */
  function show() {
    const { view, sentence } = store.get();
    root.hidden = sentences.length < 2 || view === "positions";
    select.value = sentence;
  }

  /**
   * Offer sentences.
   * @param {string[]} found
   */
  function offer(found) {
    sentences = found;
    select.replaceChildren(...found.map((text, at) => make("option", { value: at + 1, text: `${at + 1}. ${text}` })));
    if (found.length && store.get().sentence > found.length) choose(1);
    show();
  }

  /**
   * Choose a sentence; what was chosen in the old one is forgotten.
   * @param {number} sentence
   */
  function choose(sentence) {
    store.set({ sentence, token: "", step: 1 });
  }

  /** Fetch the sentences of the text. */
  function refresh() {
    const { translated } = store.get();
    if (!translated) {
      loader.reset();
      offer([]);
      return;
    }
    const { q, source, target } = translated;
    loader.run(JSON.stringify([q, source, target]), async (signal) => offer(await api.sentences(translated, signal)),
      () => offer([]));
  }

  select.addEventListener("change", () => choose(Number(select.value)));
  store.on(["translated"], refresh);
  store.on(["view", "sentence"], show);
  refresh();
}
