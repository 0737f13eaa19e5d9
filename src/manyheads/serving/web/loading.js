/** Loading what a view shows: one request at a time, the newest wins, faults become a sentence in the view. */

import { ApiError } from "./api.js";
import { make } from "./dom.js";

/**
 * Make a loader for one view.
 * @param {HTMLElement} region marked busy while something is under way
 */
export function createLoader(region) {
  const message = make("p", { class: "message", role: "alert", hidden: true });
  let requested = null;
  let control = null;

  /**
   * Show a sentence, or nothing.
   * @param {string} sentence
   */
  function say(sentence) {
    message.textContent = sentence;
    message.hidden = !sentence;
  }

  /** Forget what is shown and give up what is under way. */
  function reset() {
    control?.abort();
    requested = null;
    control = null;
    region.removeAttribute("aria-busy");
    say("");
  }

  return {
    message,
    reset,

    /**
     * Load something, unless it is what was loaded last. A newer call cancels an older one.
     * @param {string} key identifies what is loaded
     * @param {(signal: AbortSignal) => Promise<void>} load fetches and shows
     * @param {() => void} [onFault] clears what would not belong to the fault
     */
    async run(key, load, onFault = () => {}) {
      if (key === requested) return;
      reset();
      requested = key;
      const mine = (control = new AbortController());
      region.setAttribute("aria-busy", "true");
      try {
        await load(mine.signal);
      } catch (fault) {
        if (mine.signal.aborted) return;
        requested = null; // the next call, even for the same key, tries again
        onFault();
        say(fault instanceof ApiError ? fault.message : "The server broke off its answer. Try again.");
      } finally {
        if (control === mine) region.removeAttribute("aria-busy");
      }
    },
  };
}
