/** Which languages can be chosen, and which way a pair can be swapped. */

export const AUTO = "auto";

/**
 * @typedef {{code: string, name: string, targets: string[]}} Language
 */

/**
 * Return the languages that a source can be translated into.
 * @param {Language[]} languages
 * @param {string} source a code or "auto"
 * @returns {Language[]}
 */
export function targetsOf(languages, source) {
  const sources = languages.filter(({ code }) => source === AUTO || code === source);
  const codes = new Set(sources.flatMap(({ targets }) => targets));
  const others = [...codes].filter((code) => code !== source);
  const names = new Map(languages.map(({ code, name }) => [code, name]));
  return (others.length ? others : [...codes]).map((code) => ({ code, name: names.get(code) ?? code, targets: [] }));
}

/**
 * Return a pair that the server has: the requested one if possible. Otherwise the source is detected (if there are
 * several), and the target is the preferred one, or the first.
 * @param {Language[]} languages
 * @param {{source: string, target: string}} requested
 * @param {string} [preferred] the target to begin with
 * @returns {{source: string, target: string}}
 */
export function fittingPair(languages, requested, preferred) {
  const sources = languages.filter(({ targets }) => targets.length).map(({ code }) => code);
  const otherwise = sources.length === 1 ? sources[0] : AUTO;
  const source = [AUTO, ...sources].includes(requested.source) ? requested.source : otherwise;
  const targets = targetsOf(languages, source).map(({ code }) => code);
  const target = [requested.target, preferred, targets[0]].find((code) => targets.includes(code)) ?? "";
  return { source, target };
}

/**
 * Say whether the server translates one way.
 * @param {Language[]} languages
 * @param {string} source
 * @param {string} target
 * @returns {boolean}
 */
export function translates(languages, source, target) {
  return languages.some(({ code, targets }) => code === source && targets.includes(target));
}
