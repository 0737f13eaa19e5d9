/** Light, dark, or as the system has it. Runs before the first paint, so that nothing flashes. */

import { makeChoice } from "./dom.js";

const KEY = "manyheads-theme";
const OPTIONS = [
  { value: "auto", label: "Auto" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];

/**
 * Read the theme that was chosen here before.
 * @returns {string}
 */
function remembered() {
  try {
    const theme = localStorage.getItem(KEY);
    return OPTIONS.some(({ value }) => value === theme) ? theme : "auto";
  } catch {
    return "auto"; // storage may be forbidden
  }
}

/**
 * Let a theme take effect and remember it.
 * @param {string} theme
 */
function apply(theme) {
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // storage may be forbidden: the theme holds until the page is left
  }
}

/**
 * Put the switch on the page, and update the store whenever colours change, so that canvases are redrawn.
 * @param {ReturnType<typeof import("./store.js").createStore>} store
 * @param {HTMLElement} place
 */
export function createThemeSwitch(store, place) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const update = () => store.set({ look: `${document.documentElement.dataset.theme} ${system.matches}` });
  place.append(makeChoice("theme", "Theme", OPTIONS, remembered(), (theme) => {
    apply(theme);
    update();
  }));
  system.addEventListener("change", update);
  update();
}

apply(remembered());
