/** The view of decoding: one token at a time, with the candidates it was chosen from and where the heads looked. */

import { weightScale } from "./colours.js";
import { make } from "./dom.js";
import { oncePerFrame, sharpContext } from "./frame.js";
import { paintCells, tableOf } from "./heatmap.js";
import { createLoader } from "./loading.js";
import { percent, quoted, running, shown } from "./pieces.js";
import { subjectOf } from "./sentences.js";

const EMPTY = "Type a sentence above, and watch it being translated token by token.";
const SHADES = "Words: the strongest of all heads. Below: a row for each head, a column for each token.";
const CANDIDATES = 5;
const PACE = 700; // milliseconds a step while playing

/**
 * Make a bar for each candidate; the chosen one stands out.
 * @param {object} step
 * @returns {HTMLElement[]}
 */
function candidateRows(step) {
  return step.candidates.map(({ token, probability }) => {
    const bar = make("span", { class: "bar-fill", "aria-hidden": "true" });
    bar.style.setProperty("--share", probability);
    return make("li", { class: token === step.token ? "candidate chosen" : "candidate" },
      make("span", { class: "candidate-token", dir: "auto", title: token, text: shown(token) }),
      make("span", { class: "bar-track" }, bar),
      make("span", { class: "number", text: percent(probability) }));
  });
}

/**
 * Make the source tokens, shaded by the strongest weight of any head.
 * @param {object} step
 * @returns {HTMLElement[]}
 */
function sourceChips({ source_tokens: tokens, cross }) {
  return tokens.map((token, at) => {
    const chip = make("span", { class: "chip", dir: "auto", title: token, text: shown(token) });
    chip.style.setProperty("--weight", Math.max(0, ...cross.map((head) => head[at])));
    return chip;
  });
}

/**
 * Make the buttons.
 * @returns {Object<string, HTMLElement>}
 */
function buildControls() {
  return {
    back: make("button", { type: "button", class: "button", id: "step-back", text: "Back" }),
    play: make("button", { type: "button", class: "button primary", id: "step-play", text: "Play" }),
    next: make("button", { type: "button", class: "button", id: "step-next", text: "Next" }),
    slider: make("input", { type: "range", min: 1, max: 1, value: 1, id: "step-slider", "aria-label": "Step" }),
    place: make("span", { class: "number step-place" }),
  };
}

/**
 * Put the view on the page.
 * @param {ReturnType<typeof import("./store.js").createStore>} store
 * @param {ReturnType<typeof import("./api.js").createApi>} api
 * @param {HTMLElement} root
 */
export function createStepsView(store, api, root) {
  const loader = createLoader(root);
  const empty = make("p", { class: "empty", text: EMPTY });
  const controls = buildControls();
  const written = make("p", { class: "written", dir: "auto" });
  const said = make("p", { class: "visually-hidden", "aria-live": "polite" });
  const candidates = make("ol", { class: "candidates", "aria-label": "Candidates" });
  const chips = make("p", { class: "chips" });
  const canvas = make("canvas", { role: "img", "aria-label": "What each head looks at: a row for each head" });
  const heads = make("div", { class: "step-heads" }, canvas);
  const content = make("div", { class: "content", hidden: true },
    make("div", { class: "toolbar", role: "group", "aria-label": "Steps" }, ...Object.values(controls)),
    make("div", { class: "card" }, written), said,
    make("div", { class: "pictures" },
      make("section", { class: "card" }, make("h2", { text: "Candidates for this token" }), candidates),
      make("section", { class: "card" }, make("h2", { text: "Where the last layer looks" }), chips, heads,
        make("p", { class: "note", text: SHADES }))));
  root.append(loader.message, empty, content);
  let steps = [];
  let complete = false;
  let timer = 0;
  let playing = false;

  /** Return the place of the current step; beyond what has arrived it is the last. */
  const place = () => Math.min(Math.max(1, store.get().step), steps.length);

  /** Show the current step. */
  const draw = oncePerFrame(() => {
    if (steps.length === 0) return;
    const at = place();
    const step = steps[at - 1];
    written.replaceChildren(
      ...steps.slice(0, at - 1).map(({ token }) => make("span", { class: "written-token", text: running(token) })),
      make("span", { class: "written-token newest", text: running(step.token) }));
    said.textContent = `Step ${at}: ${quoted(step.token)}, ${percent(step.probability)}. ${step.text}`;
    candidates.replaceChildren(...candidateRows(step));
    chips.replaceChildren(...sourceChips(step));
    controls.place.textContent = `${at} of ${steps.length}${complete ? "" : " …"}`;
    controls.slider.max = steps.length;
    controls.slider.value = at;
    controls.back.disabled = at <= 1;
    controls.next.disabled = at >= steps.length && complete;
    controls.play.textContent = playing ? "Pause" : "Play";
    drawHeads(step.cross);
  });

  /**
   * Draw a row for each head.
   * @param {number[][]} cross [heads][source tokens]
   */
  function drawHeads(cross) {
    const size = { width: heads.clientWidth, height: Math.max(4, Math.min(14, 160 / cross.length)) * cross.length };
    if (size.width === 0) return;
    paintCells(sharpContext(canvas, size.width, size.height), tableOf(cross), weightScale(), { x: 0, y: 0, ...size });
  }

  /**
   * Go to a step that is there.
   * @param {number} step
   */
  function go(step) {
    store.set({ step: Math.min(Math.max(1, step), Math.max(1, steps.length)) });
  }

  /** Stop playing. */
  function pause() {
    clearTimeout(timer);
    playing = false;
    draw();
  }

  /** Take a step, and another one after a while, until the end; wait for those that have not arrived. */
  function tick() {
    if (complete && place() >= steps.length) {
      pause();
      return;
    }
    go(place() + 1);
    timer = setTimeout(tick, PACE);
  }

  /** Play from here, or from the beginning when the end is reached. */
  function play() {
    if (complete && place() >= steps.length) store.set({ step: 1 });
    playing = true;
    timer = setTimeout(tick, PACE);
    draw();
  }

  /** Show nothing. */
  function clear() {
    pause();
    steps = [];
    complete = false;
    content.hidden = true;
  }

  /** Stream the steps of the text, if the view is open. */
  function refresh() {
    const { view, translated } = store.get();
    if (view !== "steps") {
      pause();
      return;
    }
    empty.hidden = translated !== null;
    if (!translated) {
      loader.reset();
      clear();
      return;
    }
    const subject = subjectOf(store.get());
    loader.run(JSON.stringify(subject), async (signal) => {
      clear();
      for await (const line of api.steps(subject, CANDIDATES, signal)) {
        if (line.done) break;
        steps.push(line);
        content.hidden = false;
        draw();
      }
      complete = true;
      draw();
    }, clear);
  }

  controls.back.addEventListener("click", () => [pause(), go(place() - 1)]);
  controls.next.addEventListener("click", () => [pause(), go(place() + 1)]);
  controls.play.addEventListener("click", () => (playing ? pause() : play()));
  controls.slider.addEventListener("input", () => [pause(), go(Number(controls.slider.value))]);
  new ResizeObserver(draw).observe(heads);
  store.on(["view", "translated", "sentence"], refresh);
  store.on(["step", "look"], draw);
  refresh();
}
