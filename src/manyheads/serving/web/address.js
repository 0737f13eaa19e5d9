/** The state in the fragment of the address, so that a view can be shared; a fragment is never sent to a server. */

import { INITIAL } from "./store.js";

const VIEWS = ["attention", "steps", "beam", "positions"];
const KINDS = ["encoder", "decoder", "cross"];
const PATIENCE = 250; // milliseconds: browsers limit how often the address may change

/**
 * Read a counting number.
 * @param {string|null} text
 * @param {number} least
 * @param {number} most
 * @param {number} otherwise
 * @returns {number}
 */
function counted(text, least, most, otherwise) {
  if (text === null || !/^\d{1,4}$/.test(text)) return otherwise;
  return Math.min(most, Math.max(least, Number(text)));
}

/**
 * Read a word that must be one of a list.
 * @param {string|null} text
 * @param {string[]} allowed
 * @param {string} otherwise
 * @returns {string}
 */
function oneOf(text, allowed, otherwise) {
  return allowed.includes(text) ? text : otherwise;
}

/**
 * Read the state out of a fragment; whatever does not fit is what it would be without.
 * Layers, heads and sentences count from 1 in an address, as they do on the page.
 * @param {string} fragment
 * @returns {Partial<import("./store.js").State>}
 */
export function readAddress(fragment) {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  const layer = counted(fields.get("layer"), 1, 999, 0);
  const head = counted(fields.get("head"), 0, 999, 0);
  return {
    q: fields.get("q") ?? INITIAL.q,
    source: fields.get("source") ?? INITIAL.source,
    target: fields.get("target") ?? INITIAL.target,
    view: oneOf(fields.get("view"), VIEWS, INITIAL.view),
    kind: oneOf(fields.get("kind"), KINDS, INITIAL.kind),
    layer: layer === 0 ? null : layer,
    head: head === 0 ? null : head - 1,
    token: /^[qk]\d{1,4}$/.test(fields.get("token") ?? "") ? fields.get("token") : INITIAL.token,
    beam: counted(fields.get("beam"), 1, 8, INITIAL.beam),
    step: counted(fields.get("step"), 1, 9999, INITIAL.step),
    sentence: counted(fields.get("sentence"), 1, 9999, INITIAL.sentence),
  };
}

/**
 * Write the state as a fragment, without what is as it would be anyway.
 * @param {import("./store.js").State} state
 * @returns {string}
 */
export function writeAddress(state) {
  const fields = new URLSearchParams();
  for (const key of ["q", "source", "target", "view", "kind", "token", "beam", "step", "sentence"]) {
    if (state[key] !== INITIAL[key]) fields.set(key, state[key]);
  }
  if (state.layer !== null) fields.set("layer", state.layer);
  if (state.head !== null) fields.set("head", state.head + 1);
  return fields.size ? `#${fields}` : "";
}

/**
 * Keep the address and the store the same, whichever of them changes.
 * @param {ReturnType<typeof import("./store.js").createStore>} store
 */
export function keepAddress(store) {
  let waiting = 0;
  const keys = ["q", "source", "target", "view", "kind", "layer", "head", "token", "beam", "step", "sentence"];
  store.on(keys, () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const place = location.pathname + location.search + writeAddress(store.get());
      history.replaceState(null, "", place);
    }, PATIENCE);
  });
  addEventListener("hashchange", () => {
    if (!location.hash.includes("=")) return; // a link within the page, not a shared view
    store.set(readAddress(location.hash));
  });
}
