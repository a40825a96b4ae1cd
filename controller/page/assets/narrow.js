// A heading with a field that narrows what came, as one types, and a choice beside it. Both are in the address, so that
// it can be sent, and back and forward keep them.

import { h } from "./dom.js";
import { segments } from "./ui.js";

// The address of a place with these words. An empty namespace is said, too: all of them, where another is the usual one.
export function placeOf(place, params) {
  const given = [...new URLSearchParams(params)].filter(([name, value]) => value || name === "namespace");
  return given.length ? `#/${place}?${new URLSearchParams(given)}` : `#/${place}`;
}

// choices: [[text, { word of the address: value }], ...]; current: the text of one. onText() draws.
export function narrowing({ title, place, params, key = "text", hint, label, choices, current }, onText) {
  const nav = segments(label, choices.map(([text]) => [text, [place]]), current);
  const field = h("input", { type: "search", value: params.get(key) || "", placeholder: hint, "aria-label": "Filter", autocomplete: "off", spellcheck: "false" });
  const drawLinks = () => choices.forEach(([, words], i) => nav.children[i].setAttribute("href", placeOf(place, { ...Object.fromEntries(params), ...words })));
  field.addEventListener("input", () => {
    const text = field.value.trim();
    if (text) params.set(key, text);
    else params.delete(key);
    history.replaceState(null, "", placeOf(place, params));
    drawLinks();
    onText();
  });
  drawLinks();
  return h("div", { class: "toolbar", "data-own": true }, h("h2", {}, title), field, nav);
}
