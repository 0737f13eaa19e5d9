/** The one place where the page keeps its state. */

/**
 * @typedef {object} Translated what the server answered for the text that is shown
 * @property {string} q
 * @property {string} source the requested language, or the detected one
 * @property {string} target
 * @property {string} text
 * @property {number} [score]
 * @property {{text: string, score: number|undefined}[]} alternatives
 * @property {number} candidates the requested number of alternatives, which can widen the beam
 * @property {{language: string, confidence: number}|null} detected
 * @property {{language: string, confidence: number}[]} likely what the text may be in, where that is not sure
 */

/**
 * @typedef {object} State
 * @property {string} q the text
 * @property {string} source language code or "auto"
 * @property {string} target
 * @property {"attention"|"steps"|"beam"|"positions"} view
 * @property {"encoder"|"decoder"|"cross"} kind
 * @property {number|null} layer from 1; null stands for the last one
 * @property {number|null} head from 0; null stands for all of them
 * @property {string} token the chosen token, such as "q3" (fourth query), "k0" (first key) or ""
 * @property {number} beam width of the beam; 0 is that of the translation
 * @property {number} sentence which sentence the views show, from 1
 * @property {number} step from 1
 * @property {Translated|null} translated
 * @property {string} look what changes colours: theme and system preference
 */

/** @type {State} */
export const INITIAL = {
  q: "",
  source: "",
  target: "",
  view: "attention",
  kind: "cross",
  layer: null,
  head: null,
  token: "",
  beam: 0,
  sentence: 1,
  step: 1,
  translated: null,
  look: "",
};

/**
 * Make a store.
 * @param {State} initial
 */
export function createStore(initial) {
  let state = { ...initial };
  const listeners = [];

  return {
    /** @returns {State} the state, to be read only */
    get: () => state,

    /**
     * Change some of the state, and notify the listeners of the keys that really changed.
     * @param {Partial<State>} changes
     */
    set(changes) {
      const changed = Object.keys(changes).filter((key) => !Object.is(state[key], changes[key]));
      if (changed.length === 0) return;
      state = { ...state, ...changes };
      for (const { keys, listen } of listeners) {
        if (keys.some((key) => changed.includes(key))) listen(state);
      }
    },

    /**
     * Call a function whenever one of the keys changes.
     * @param {(keyof State)[]} keys
     * @param {(state: State) => void} listen
     */
    on(keys, listen) {
      listeners.push({ keys, listen });
    },
  };
}
