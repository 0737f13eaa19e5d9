/** Making elements. Whatever text comes from a server or a user becomes a text node, never markup. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Set properties on an element: `text` is its text, `on…` a listener, anything else an attribute.
 * @param {Element} element
 * @param {Object<string, *>} properties false, null and undefined leave an attribute away
 * @returns {Element} the same element
 */
function dress(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === false || value === null || value === undefined) continue;
    if (name === "text") element.textContent = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  return element;
}

/**
 * Make an HTML element.
 * @param {string} tag
 * @param {Object<string, *>} [properties]
 * @param {...(Node|string)} children strings become text nodes
 * @returns {HTMLElement}
 */
export function make(tag, properties = {}, ...children) {
  const element = dress(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/**
 * Make an SVG element.
 * @param {string} tag
 * @param {Object<string, *>} [properties]
 * @param {...(Node|string)} children
 * @returns {SVGElement}
 */
export function makeSvg(tag, properties = {}, ...children) {
  const element = dress(document.createElementNS(SVG, tag), properties);
  element.append(...children);
  return element;
}

/**
 * Make a group of radio buttons that looks like one divided button: arrow keys and screen readers work by themselves.
 * @param {string} name unique on the page
 * @param {string} legend what is chosen
 * @param {{value: string, label: string}[]} options
 * @param {string} chosen value of the chosen option
 * @param {(value: string) => void} onChoose
 * @returns {HTMLFieldSetElement}
 */
export function makeChoice(name, legend, options, chosen, onChoose) {
  const buttons = options.map(({ value, label }) =>
    make("label", { class: "choice-option" },
      make("input", { type: "radio", name, value, checked: value === chosen, onchange: () => onChoose(value) }),
      make("span", { text: label })));
  return make("fieldset", { class: "choice" }, make("legend", { text: legend }), ...buttons);
}

/**
 * Check the radio button of a group that has a value, if there is one.
 * @param {Element} group
 * @param {string} value
 */
export function checkChoice(group, value) {
  for (const input of group.querySelectorAll("input[type=radio]")) input.checked = input.value === value;
}
