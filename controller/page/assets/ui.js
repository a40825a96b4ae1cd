// What pages are built of: badges, cards, figures, a choice of stretches, what stands in the place of what is to come,
// and what is said where there is nothing.

import { h, link } from "./dom.js";

// kind: run, wait, soon, warn or bad. The word says what the colour says.
export function badge(word, kind, title) {
  return h("span", { class: `badge ${kind}`, title }, word);
}

// aside: what stands at the right of the heading.
export function card(title, aside, ...children) {
  return h("section", { class: "card", "aria-label": title }, h("div", { class: "head" }, h("h2", {}, title), aside ? h("span", { class: "faint" }, aside) : ""), children);
}

// A figure with its name above and a word on it below. kind: as of a badge, or none.
export function figure(name, number, words = "", kind = "") {
  return h("div", { class: "card figure" }, h("p", { class: "faint" }, name), h("p", { class: `number ${kind}` }, number), h("p", { class: "faint small" }, words));
}

// A choice among few, each of which is a place: [[text, words, params], ...]; the current one is marked.
export function segments(label, choices, current) {
  return h("nav", { class: "segments", "aria-label": label }, choices.map(([text, words, params]) => {
    const a = link(words, text, params);
    if (text === current) a.setAttribute("aria-current", "true");
    return a;
  }));
}

// Grey in the shape of what comes. shape: "figures", "rows", "word" or "picture".
export function skeleton(shape, n = 5) {
  return h("div", { class: `skeleton ${shape}`, "aria-hidden": "true" }, Array.from({ length: n }, () => h("i")));
}

// Where there is nothing: a sentence, and the one command that changes it.
export function empty(sentence, command) {
  return h("div", { class: "empty" }, h("p", {}, sentence), command ? copyable(command) : "");
}

// Copies what is shown: a command that is drawn anew keeps its button.
export function copyable(command) {
  const button = h("button", { class: "copy", type: "button", onclick: async () => {
    await navigator.clipboard.writeText(button.previousElementSibling.textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  } }, "Copy");
  return h("p", { class: "command" }, h("code", {}, command), navigator.clipboard ? button : "");
}
