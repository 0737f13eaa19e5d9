/** Small multiples: every head of a layer side by side. They are also how a head is chosen. */

import { weightScale } from "./colours.js";
import { make } from "./dom.js";
import { oncePerFrame, sharpContext } from "./frame.js";
import { paintCells } from "./heatmap.js";
import { percent, shown as label } from "./pieces.js";
import { greatest, tableFor, weightsAt } from "./weights.js";

/**
 * Make the row of heads.
 * @param {(head: number|null) => void} onChoose null stands for all of them
 */
export function createMultiples(onChoose) {
  const element = make("fieldset", { class: "multiples" });
  const shown = { attention: null, cards: [] };

  /**
   * Make one head's card: a radio button, its matrix, its name, and what the active token looks at most.
   * @param {number|null} head
   */
  function makeCard(head) {
    const input = make("input", { type: "radio", name: "head", value: head ?? "all", onchange: () => onChoose(head) });
    const canvas = make("canvas", { "aria-hidden": "true" });
    const caption = make("span", { class: "multiple-caption", dir: "auto" });
    const name = make("span", { class: "multiple-name", text: head === null ? "All heads" : `Head ${head + 1}` });
    const card = make("label", { class: "multiple" }, input, canvas, name, caption);
    return { head, input, canvas, caption, element: card };
  }

  /** Draw every small matrix. */
  const draw = oncePerFrame(() => {
    if (!shown.attention) return;
    const scale = weightScale();
    for (const { head, canvas } of shown.cards) {
      const size = { width: canvas.parentElement.clientWidth - 16, height: 64 };
      if (size.width <= 0) return;
      const context = sharpContext(canvas, size.width, size.height);
      paintCells(context, tableFor(shown.attention, head), scale, { x: 0, y: 0, ...size });
    }
  });
  new ResizeObserver(draw).observe(element);

  return {
    element,
    draw,

    /**
     * Show another layer.
     * @param {import("./weights.js").Attention} attention
     */
    show(attention) {
      shown.attention = attention;
      const heads = [null, ...attention.heads.keys()];
      if (shown.cards.length !== heads.length) {
        shown.cards = heads.map(makeCard);
        element.replaceChildren(make("legend", { text: "Head" }), ...shown.cards.map((card) => card.element));
      }
      draw();
    },

    /**
     * Check a head, and write under each what the active token looks at most (or what looks at it most).
     * @param {number|null} head
     * @param {import("./weights.js").Place|null} active
     */
    emphasise(head, active) {
      const { attention, cards } = shown;
      for (const card of cards) {
        card.input.checked = card.head === head;
        if (!active) {
          card.caption.textContent = card.head === null ? "the strongest" : "";
          continue;
        }
        const weights = weightsAt(tableFor(attention, card.head), active);
        const at = greatest(weights);
        const token = (active.side === "q" ? attention.keys : attention.queries)[at];
        card.caption.textContent = `${label(token)} ${percent(weights[at])}`;
      }
    },
  };
}
