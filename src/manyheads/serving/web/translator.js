/** The upper part of the page: type, choose languages, read the translation and its alternatives. */

import { make } from "./dom.js";
import { AUTO, fittingPair, targetsOf, translates } from "./languages.js";
import { createLoader } from "./loading.js";
import { percent, scored } from "./pieces.js";

const PATIENCE = 300; // milliseconds after the last key until the text is sent
const ALTERNATIVES = 3;

/**
 * Turn an answer of `/translate` into what the store keeps.
 * @param {{q: string, source: string, target: string, alternatives: number}} request
 * @param {object} answer
 * @returns {import("./store.js").Translated}
 */
function translatedOf(request, answer) {
  const detected = answer.detectedLanguage ?? null;
  return {
    q: request.q,
    source: request.source === AUTO && detected ? detected.language : request.source,
    target: request.target,
    text: answer.translatedText,
    score: answer.score,
    alternatives: (answer.alternatives ?? []).map((text, at) => ({ text, score: answer.alternativeScores?.[at] })),
    candidates: request.alternatives,
    detected,
    likely: answer.likelyLanguages ?? [],
  };
}

/**
 * Make the elements of the upper part.
 * @returns {Object<string, HTMLElement>}
 */
function build() {
  return {
    source: make("select", { id: "source", "aria-label": "Source language" }),
    target: make("select", { id: "target", "aria-label": "Target language" }),
    swap: make("button", { type: "button", class: "swap", "aria-label": "Swap languages", title: "Swap languages" },
      make("span", { "aria-hidden": "true", text: "⇄" })),
    input: make("textarea", {
      id: "input", "aria-label": "Text to translate", placeholder: "Type a sentence …", rows: 3, dir: "auto",
      spellcheck: "false",
    }),
    detected: make("p", { class: "note", id: "detected", role: "status" }),
    likely: make("div", { class: "likely", role: "group", "aria-label": "Likely languages" }),
    count: make("p", { class: "note count" }),
    output: make("output", {
      id: "output", for: "input", dir: "auto", "aria-live": "polite", "aria-label": "Translation", tabindex: 0,
    }),
    score: make("p", { class: "note" }),
    alternatives: make("ol", { class: "alternatives", "aria-label": "Alternatives", tabindex: 0 }),
    key: make("input", { type: "password", id: "key", autocomplete: "off" }),
  };
}

/**
 * Fill a list of languages.
 * @param {HTMLSelectElement} select
 * @param {{code: string, name: string}[]} languages
 * @param {string} chosen
 */
function fill(select, languages, chosen) {
  select.replaceChildren(...languages.map(({ code, name }) => make("option", { value: code, text: name })));
  select.value = chosen;
}

/**
 * Put the upper part on the page, and translate whenever text or languages change.
 * @param {ReturnType<typeof import("./store.js").createStore>} store
 * @param {ReturnType<typeof import("./api.js").createApi>} api
 * @param {HTMLElement} root
 * @param {(key: string) => void} onKey takes the API key
 */
export function createTranslator(store, api, root, onKey) {
  const parts = build();
  const loader = createLoader(root);
  const keyRow = make("form", { class: "key", hidden: true, onsubmit: (event) => event.preventDefault() },
    make("label", { for: "key", text: "API key" }), parts.key);
  root.append(
    keyRow,
    make("div", { class: "pair" },
      make("div", { class: "card writing" }, make("div", { class: "bar" }, parts.source), parts.input,
        make("div", { class: "notes" }, parts.detected, parts.likely, parts.count)),
      parts.swap,
      make("div", { class: "card reading" }, make("div", { class: "bar" }, parts.target), parts.output, parts.score,
        parts.alternatives)),
    loader.message,
  );
  let languages = [];
  let proposed = ""; // the target to begin with
  let limit = -1; // characters
  let most = ALTERNATIVES;
  let waiting = 0;

  /** Show what the languages are; a pair that the server does not have gives way to one it has. */
  function showLanguages() {
    if (languages.length) store.set(fittingPair(languages, store.get(), proposed));
    const { source, target } = store.get();
    const sources = languages.filter(({ targets }) => targets.length);
    fill(parts.source, [{ code: AUTO, name: "Detect language" }, ...sources], source);
    fill(parts.target, targetsOf(languages, source), target);
  }

  /** Show the translation and what came with it. */
  function showTranslation() {
    const { translated, q } = store.get();
    parts.output.textContent = translated?.text ?? "";
    if (translated) parts.output.lang = translated.target;
    parts.score.textContent = translated?.score === undefined ? "" : `score ${scored(translated.score)}`;
    parts.alternatives.replaceChildren(...(translated?.alternatives ?? []).map(({ text, score }) =>
      make("li", {}, make("span", { class: "alternative", dir: "auto", text }),
        make("span", { class: "number", text: scored(score), title: "score" }))));
    showDetected(translated);
    const { source, target } = translated ?? store.get();
    parts.swap.disabled = !translates(languages, target, source);
    if (parts.input.value !== q && !waiting) parts.input.value = q;
    showCount();
  }

  /**
   * Say which language was detected; where that is not sure, offer those that the text may be in.
   * @param {import("./store.js").Translated|null} translated
   */
  function showDetected(translated) {
    const named = ({ language, confidence }) =>
      `${languages.find(({ code }) => code === language)?.name ?? language} (${percent(confidence / 100)})`;
    const { detected = null, likely = [] } = translated ?? {};
    const unsure = likely.length > 1;
    parts.detected.textContent = detected ? `${unsure ? "Not sure. Taken as" : "Detected:"} ${named(detected)}` : "";
    const offered = likely.filter(({ language }) => translates(languages, language, translated.target));
    parts.likely.replaceChildren(...offered.map((one) => make("button", {
      type: "button", class: "button", text: named(one), onclick: () => store.set({ source: one.language }),
    })));
    parts.likely.hidden = offered.length === 0;
  }

  /** Show how much of the allowed length is used, once it matters. */
  function showCount() {
    const length = [...parts.input.value].length;
    parts.count.textContent = limit > 0 && length > limit / 2 ? `${length} of ${limit} characters` : "";
  }

  /** Translate what is there now; an older request is given up. */
  function translate() {
    if (languages.length === 0) {
      loader.run("begin", begin); // the server did not answer when the page was opened
      return;
    }
    const { q, source, target } = store.get();
    if (!q.trim() || !target) {
      loader.reset();
      store.set({ translated: null });
      return;
    }
    const request = { q, source, target, alternatives: most };
    loader.run(JSON.stringify(request), async (signal) => {
      const answer = await api.translate(request, signal);
      store.set({ translated: translatedOf(request, answer) });
    }, () => store.set({ translated: null }));
  }

  /** Take over the languages that were chosen. */
  function choose() {
    store.set({ source: parts.source.value, target: parts.target.value });
  }

  /** Take over what was typed. What was chosen in the old text is forgotten. */
  function take() {
    clearTimeout(waiting);
    waiting = 0;
    store.set({ q: parts.input.value, token: "", step: 1, sentence: 1 });
  }

  parts.input.addEventListener("input", (event) => {
    showCount();
    clearTimeout(waiting);
    if (!event.isComposing) waiting = setTimeout(take, PATIENCE);
  });
  parts.input.addEventListener("compositionend", () => {
    clearTimeout(waiting);
    waiting = setTimeout(take, PATIENCE);
  });
  parts.source.addEventListener("change", choose);
  parts.target.addEventListener("change", choose);
  parts.key.addEventListener("change", () => {
    onKey(parts.key.value);
    loader.reset();
    translate();
  });
  parts.swap.addEventListener("click", () => {
    const { source, target, text } = store.get().translated ?? { ...store.get(), text: parts.input.value };
    store.set({ source: target, target: source, q: text, token: "", step: 1, sentence: 1 });
  });
  store.on(["source", "target"], showLanguages);
  store.on(["q", "translated", "source", "target"], showTranslation);
  store.on(["q", "source", "target"], translate);

  /** Fetch what can be chosen, then translate what the address brought along. */
  async function begin() {
    const [offered, settings] = await Promise.all([api.languages(), api.settings()]);
    languages = offered;
    limit = settings.charLimit ?? -1;
    most = Math.min(ALTERNATIVES, settings.alternativesLimit ?? ALTERNATIVES);
    keyRow.hidden = !settings.keyRequired;
    proposed = settings.language?.target?.code ?? "";
    showLanguages();
    showTranslation();
    translate();
  }
  loader.run("begin", begin);
}
