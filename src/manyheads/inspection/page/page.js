"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const place = (id) => document.getElementById(id);
const NAMES = { encoder: "encoder self-attention", decoder: "decoder self-attention", cross: "cross-attention" };
const SPACE = "\u2581";
// Places in the arrays; on the page, layers and heads are counted from 1.
const chosen = { kind: "cross" in data.attention ? "cross" : "encoder", layer: 0, head: -1, query: 1 };
chosen.layer = data.attention[chosen.kind].length - 1;

// Everything a model or a user wrote goes through textContent, so that it is text and nothing else.
function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

const shown = (token) => token.replaceAll(SPACE, "\u00b7").replace("</s>", "\u220e");
const queries = () => (chosen.kind === "encoder" ? data.source_tokens : data.target_tokens);
const keys = () => (chosen.kind === "decoder" ? data.target_inputs : data.source_tokens);
const layer = () => data.attention[chosen.kind][chosen.layer];

// What one token looks at [keys]: in the chosen head, or in the mean of all.
function weights(query) {
  if (chosen.head >= 0) return layer()[chosen.head][query];
  return keys().map((_, key) => layer().reduce((sum, head) => sum + head[query][key], 0) / data.heads);
}

function paint(cell, weight) {
  cell.style.setProperty("--weight", weight);
  cell.classList.toggle("strong", weight > 0.6);
  return cell;
}

function fill(id, options, value) {
  place(id).replaceChildren(...options.map(([number, text]) => element("option", text, { value: number })));
  place(id).value = value;
}

function drawControls() {
  const layers = data.attention[chosen.kind].length;
  fill("kind", Object.keys(data.attention).map((kind) => [kind, NAMES[kind]]), chosen.kind);
  fill("layer", Array.from({ length: layers }, (_, n) => [n, n + 1]), chosen.layer);
  fill("head", [[-1, "mean of all"], ...Array.from({ length: data.heads }, (_, n) => [n, n + 1])], chosen.head);
}

function drawQueries() {
  place("queries").replaceChildren(...queries().map((token, number) => {
    const made = element("button", shown(token), { type: "button", class: "token", dir: "auto" });
    for (const event of ["pointerenter", "focus", "click"]) made.addEventListener(event, () => look(number));
    return made;
  }));
}

function drawMatrix() {
  place("matrix-title").textContent = `${NAMES[chosen.kind]}, layer ${chosen.layer + 1}, ` + (chosen.head < 0 ? "mean of all heads" : `head ${chosen.head + 1}`);
  const top = element("tr");
  top.append(element("th"), ...keys().map((token) => element("th", shown(token), { scope: "col", dir: "auto" })));
  const head = element("thead");
  head.append(top);
  const body = element("tbody");
  queries().forEach((_, number) => {
    const row = weights(number);
    const line = element("tr");
    line.addEventListener("pointerenter", () => look(number));
    line.append(element("th", shown(queries()[number]), { scope: "row", dir: "auto" }));
    line.append(...row.map((weight, key) => paint(element("td", "", { title: `${shown(queries()[number])} \u2192 ${shown(keys()[key])}: ${weight.toFixed(3)}` }), weight)));
    body.append(line);
  });
  place("matrix").replaceChildren(head, body);
}

// One line per head: what it looks at from the chosen token.
function drawHeads() {
  place("heads").replaceChildren(...layer().map((head, number) => {
    const row = head[chosen.query];
    const most = row.indexOf(Math.max(...row));
    const line = element("tr", undefined, { class: number === chosen.head ? "chosen" : "" });
    line.append(element("th", `head ${number + 1}`, { scope: "row" }));
    line.append(...row.map((weight, key) => paint(element("td", weight > 0.15 ? shown(keys()[key]) : "", { title: `${shown(keys()[key])}: ${weight.toFixed(3)}`, dir: "auto" }), weight)));
    line.append(element("td", `mostly ${shown(keys()[most])} (${row[most].toFixed(2)})`, { class: "most" }));
    return line;
  }));
}

function look(number) {
  chosen.query = number;
  [...place("queries").children].forEach((one, index) => one.setAttribute("aria-pressed", index === number));
  [...place("matrix").tBodies[0].rows].forEach((one, index) => one.classList.toggle("chosen", index === number));
  const row = weights(number);
  const verb = chosen.kind === "encoder" ? "reads" : "writes";
  place("keys-title").textContent = `While it ${verb} \u201c${shown(queries()[number])}\u201d, it looks at`;
  place("keys").replaceChildren(...keys().map((token, key) => paint(element("span", shown(token), { class: "token", title: row[key].toFixed(3), dir: "auto" }), row[key])));
  drawHeads();
}

function draw() {
  chosen.layer = Math.min(chosen.layer, data.attention[chosen.kind].length - 1);
  chosen.query = Math.min(chosen.query, queries().length - 1);
  drawControls();
  drawQueries();
  drawMatrix();
  look(chosen.query);
}

place("texts").textContent = data.translation ? `${data.text} \u2192 ${data.translation}` : data.text;
place("kind").addEventListener("change", (event) => { chosen.kind = event.target.value; draw(); });
place("layer").addEventListener("change", (event) => { chosen.layer = Number(event.target.value); draw(); });
place("head").addEventListener("change", (event) => { chosen.head = Number(event.target.value); draw(); });
place("controls").addEventListener("submit", (event) => event.preventDefault());
draw();
