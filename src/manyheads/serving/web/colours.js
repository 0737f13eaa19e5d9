/**
 * Colour scales. Their stops are in style.css, so that light and dark have their own; lightness changes steadily along
 * a scale, which keeps it readable without colour vision and in print.
 */

const SHADES = 256;

/**
 * Resolve a custom property of the style sheet to red, green and blue.
 * @param {string} name such as "--scale-0"
 * @returns {number[]}
 */
function resolve(name) {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const numbers = getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
  probe.remove();
  return numbers.slice(0, 3);
}

/**
 * Return a colour of the style sheet for a canvas.
 * @param {string} name such as "--ink"
 * @returns {string}
 */
export function colour(name) {
  return `rgb(${resolve(name).join(" ")})`;
}

/**
 * A scale: a value between its ends becomes a colour.
 * @typedef {object} Scale
 * @property {number} low
 * @property {number} high
 * @property {Uint8ClampedArray} shades red, green, blue of 256 steps
 */

/**
 * Interpolate a scale through the stops.
 * @param {number[][]} stops
 * @param {number} low
 * @param {number} high
 * @returns {Scale}
 */
function interpolate(stops, low, high) {
  const shades = new Uint8ClampedArray(SHADES * 3);
  for (let shade = 0; shade < SHADES; shade++) {
    const place = (shade / (SHADES - 1)) * (stops.length - 1);
    const before = Math.min(stops.length - 2, Math.floor(place));
    for (let channel = 0; channel < 3; channel++) {
      const [from, to] = [stops[before][channel], stops[before + 1][channel]];
      shades[shade * 3 + channel] = from + (to - from) * (place - before);
    }
  }
  return { low, high, shades };
}

/**
 * The scale of weights and of other amounts: the least is the page's surface, the greatest the strongest colour.
 * @param {number} [low]
 * @param {number} [high]
 * @returns {Scale}
 */
export function weightScale(low = 0, high = 1) {
  return interpolate(["--scale-0", "--scale-1", "--scale-2", "--scale-3"].map(resolve), low, high);
}

/**
 * A scale with a middle, for values of both signs.
 * @param {number} extent the greatest absolute value
 * @returns {Scale}
 */
export function signedScale(extent) {
  return interpolate(["--scale-minus", "--scale-0", "--scale-plus"].map(resolve), -extent, extent);
}

/**
 * Return the shade of a value, a place in `shades`.
 * @param {Scale} scale
 * @param {number} value
 * @returns {number}
 */
export function shadeOf(scale, value) {
  const share = (value - scale.low) / (scale.high - scale.low);
  return 3 * Math.min(SHADES - 1, Math.max(0, Math.round(share * (SHADES - 1))));
}
