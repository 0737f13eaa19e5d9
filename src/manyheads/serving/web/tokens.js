/** A column of tokens: a list box in which hovering, focusing or arrow keys choose a token. */

import { make } from "./dom.js";
import { quoted, shown } from "./pieces.js";

const STEPS = { ArrowUp: -1, ArrowDown: 1, PageUp: -10, PageDown: 10 };

/**
 * Make a column.
 * @param {object} options
 * @param {string} options.id
 * @param {(index: number|null) => void} options.onHover
 * @param {(index: number) => void} options.onChoose by click or focus
 * @param {() => void} options.onLeave by Escape
 * @param {() => void} options.onAcross by the arrow keys to the side
 */
export function createTokenColumn({ id, onHover, onChoose, onLeave, onAcross }) {
  const element = make("div", { id, class: "tokens", role: "listbox" });
  let options = [];
  let marked = -1;

  /**
   * Return the index of the token that an event happened on, or null.
   * @param {Event} event
   * @returns {number|null}
   */
  function indexOf(event) {
    const option = event.target.closest("[role=option]");
    return option ? options.indexOf(option) : null;
  }

  /**
   * Move the focus to a token.
   * @param {number} index
   */
  function focus(index) {
    options[Math.min(options.length - 1, Math.max(0, index))]?.focus();
  }

  element.addEventListener("pointerover", (event) => onHover(indexOf(event)));
  element.addEventListener("pointerleave", () => onHover(null));
  element.addEventListener("focusin", (event) => onChoose(indexOf(event)));
  element.addEventListener("click", (event) => {
    const index = indexOf(event);
    if (index !== null) onChoose(index);
  });
  element.addEventListener("keydown", (event) => {
    const at = indexOf(event);
    if (event.key in STEPS) focus(at + STEPS[event.key]);
    else if (event.key === "Home") focus(0);
    else if (event.key === "End") focus(options.length - 1);
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") onAcross();
    else if (event.key === "Escape") onLeave();
    else return;
    event.preventDefault();
  });

  return {
    element,
    focus,

    /**
     * Show other tokens. The same ones, as in another layer, keep their places and with them the focus.
     * @param {string} label what the column is
     * @param {string[]} tokens
     */
    show(label, tokens) {
      element.setAttribute("aria-label", label);
      if (tokens.length === options.length && tokens.every((token, at) => token === options[at].title)) return;
      marked = -1;
      options = tokens.map((token, index) =>
        make("div", { class: "token", role: "option", tabindex: index === 0 ? 0 : -1, "aria-selected": "false",
          "aria-label": quoted(token), title: token, dir: "auto", text: shown(token) }));
      element.replaceChildren(...options);
    },

    /**
     * Mark the chosen token, or none.
     * @param {number|null} index
     */
    mark(index) {
      options[marked]?.setAttribute("aria-selected", "false");
      marked = index ?? -1;
      options[marked]?.setAttribute("aria-selected", "true");
      options.forEach((option, at) => (option.tabIndex = at === Math.max(0, marked) ? 0 : -1));
    },

    /**
     * Shade every token by its weight, or none.
     * @param {Float32Array|null} weights
     */
    shade(weights) {
      options.forEach((option, at) => option.style.setProperty("--weight", weights ? weights[at].toFixed(3) : 0));
    },
  };
}
