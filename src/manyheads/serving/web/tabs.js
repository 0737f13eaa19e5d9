/** The tabs that choose a view: arrow keys move between them, as the ARIA pattern has it. */

const STEPS = { ArrowLeft: -1, ArrowRight: 1 };

/**
 * Add the behaviour of the tabs.
 * @param {ReturnType<typeof import("./store.js").createStore>} store
 * @param {HTMLElement} list the element with role tablist
 */
export function createTabs(store, list) {
  const tabs = [...list.querySelectorAll("[role=tab]")];

  /**
   * Return the view of a tab.
   * @param {HTMLElement} tab
   * @returns {string}
   */
  const viewOf = (tab) => tab.id.replace("tab-", "");

  /** Show the chosen panel and hide the others. */
  function refresh() {
    for (const tab of tabs) {
      const chosen = viewOf(tab) === store.get().view;
      tab.setAttribute("aria-selected", chosen);
      tab.tabIndex = chosen ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = !chosen;
    }
  }

  list.addEventListener("click", (event) => {
    const tab = event.target.closest("[role=tab]");
    if (tab) store.set({ view: viewOf(tab) });
  });
  list.addEventListener("keydown", (event) => {
    const at = tabs.indexOf(document.activeElement);
    const next = { Home: 0, End: tabs.length - 1 }[event.key] ?? at + (STEPS[event.key] ?? NaN);
    if (Number.isNaN(next)) return;
    event.preventDefault();
    const tab = tabs[(next + tabs.length) % tabs.length];
    store.set({ view: viewOf(tab) });
    tab.focus();
  });
  store.on(["view"], refresh);
  refresh();
}
