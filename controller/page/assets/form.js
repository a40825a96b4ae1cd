// Questions whose words are in the address: a form that changes it.

import { address, h } from "./dom.js";

// values: [value, text] pairs.
export function choice(name, label, values, value) {
  return h("label", {}, label, h("select", { name }, values.map(([v, text]) => h("option", { value: v, selected: v === value }, text))));
}

export function field(name, label, value, hint = "") {
  return h("label", {}, label, h("input", { name, value: value || "", placeholder: hint, autocomplete: "off", spellcheck: "false" }));
}

// A namespace is always said, even where it is empty: all of them.
export function namespaceField(params) {
  return field("namespace", "Namespace", params.get("namespace"), "all");
}

function go(event, words) {
  event.preventDefault();
  const { namespace, ...others } = Object.fromEntries(new FormData(event.currentTarget));
  const all = address(words, others);
  location.hash = namespace === undefined ? all : `${all}${all.includes("?") ? "&" : "?"}${new URLSearchParams({ namespace: namespace.trim() })}`;
}

export function question(words, label, ...fields) {
  const change = (event) => go(event, words);
  return h("form", { class: "ask", "aria-label": label, onchange: change, onsubmit: change }, fields, h("button", {}, "Show"));
}
