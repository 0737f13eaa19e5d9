/** How tokens and numbers are written for readers. */

const NAMES = { "<s>": "⟨start⟩", "</s>": "⟨end⟩", "<pad>": "⟨padding⟩", "<unk>": "⟨unknown⟩" };

/**
 * Return a piece as a short label: the mark of a word's beginning as a raised dot, special tokens by name.
 * @param {string} piece
 * @returns {string}
 */
export function shown(piece) {
  return NAMES[piece] ?? piece.replaceAll("▁", "·");
}

/**
 * Return a piece as it stands in running text, where the mark of a word's beginning is a blank.
 * @param {string} piece
 * @returns {string}
 */
export function running(piece) {
  return NAMES[piece] ?? piece.replaceAll("▁", " ");
}

/**
 * Return a piece as it is spoken and quoted in a sentence.
 * @param {string} piece
 * @returns {string}
 */
export function quoted(piece) {
  const word = NAMES[piece] ?? piece.replaceAll("▁", " ").trim();
  return `“${word || "space"}”`;
}

/**
 * Return a share as a percentage.
 * @param {number} share
 * @returns {string}
 */
export function percent(share) {
  if (share > 0 && share < 0.0005) return "< 0.1 %";
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
}

/**
 * Return a number with a true minus sign.
 * @param {number} number
 * @param {number} digits after the point
 * @returns {string}
 */
export function rounded(number, digits) {
  return number.toFixed(digits).replace("-", "−");
}

/**
 * Return a log-probability or score, or nothing where the server gave none.
 * @param {number|undefined|null} score
 * @returns {string}
 */
export function scored(score) {
  return typeof score === "number" ? rounded(score, 2) : "";
}
