// One field that narrows the list: words such as ns:team state:waiting label:stage=test, and a bare one for a part of
// the name. They are written to the address, and read from there. What may be written is suggested as it is typed.

import { session, summaries } from "./api.js";
import { h } from "./dom.js";

// Word of the field: parameter of the address, as other pages link it.
const WORDS = { __proto__: null, ns: "namespace", queue: "clusterQueue", localqueue: "queue", state: "state", user: "submittedBy", label: "labels", reason: "reason", name: "name" };
const HINTS = { ns: "a namespace", queue: "a ClusterQueue", state: "Waiting, Running, ...", user: "who submitted it", label: "a label, such as stage=test" };
const STATES = ["Attention", "Waiting", "Starting", "Running", "Stopping", "Deleting"];
const ALL_NAMESPACES = "*";
const SHOWN_MAX = 8, KEPT_MS = 60_000;

/* ---- text and address ---- */

// By spaces, but for those within quotes.
function split(text) {
  return text.match(/(?:[^\s"]|"[^"]*"?)+/g) || [];
}

const unquoted = (text) => text.replaceAll('"', "");
const quoted = (text) => (/\s/.test(text) ? `"${text}"` : text);

function properState(value) {
  return STATES.find((state) => state.toLowerCase() === value.toLowerCase()) || value;
}

function put(params, word) {
  const [, key, value] = /^([a-z]+):(.*)$/s.exec(word) || [], name = WORDS[key];
  if (!name) params.text = params.text ? `${params.text} ${unquoted(word)}` : unquoted(word);
  else if (name === "labels" && params.labels) params.labels += `,${unquoted(value)}`;
  else params[name] = name === "state" ? properState(unquoted(value)) : unquoted(value);
}

// { namespace, clusterQueue, ..., text } of what was written. "ns:*" is an empty namespace: all of them.
export function parsed(text) {
  const params = {};
  for (const word of split(text)) put(params, word);
  if (params.namespace === ALL_NAMESPACES) params.namespace = "";
  return params;
}

export function written(params) {
  const words = Object.entries(WORDS).map(([key, name]) => [key, params.get(name)]).filter(([, value]) => value);
  return [...words.map(([key, value]) => `${key}:${quoted(value)}`), params.get("text") || ""].filter(Boolean).join(" ");
}

/* ---- what may be written ---- */

const lists = new Map(); // "by/namespace" -> { ms, keys }
session.onChange(() => lists.clear());

// The keys of a summary, as of the last minute; none where it cannot be had.
async function keysOf(by, namespace) {
  const id = `${by}/${namespace}`;
  if (!lists.has(id) || Date.now() - lists.get(id).ms > KEPT_MS)
    lists.set(id, { ms: Date.now(), keys: summaries(namespace, by).then(({ groups }) => groups.map(({ key }) => key).filter(Boolean), () => []) });
  return lists.get(id).keys;
}

const BY = { ns: "namespace", queue: "queue", user: "user" };

// The values that a word may have: [value, ...].
async function valuesOf(key, { namespace, labels }) {
  if (key === "state") return STATES;
  if (key === "label") return labels();
  if (key === "ns" && !session.mayAll) return session.who?.namespaces || [session.namespace].filter(Boolean);
  return BY[key] ? keysOf(BY[key], key === "ns" ? "" : namespace()) : [];
}

// Suggestions for the word at which the caret is: [{ text, hint }].
async function suggestions(word, where) {
  const [, key, part] = /^([a-z]+):(.*)$/s.exec(word) || [];
  if (!key) return Object.entries(HINTS).filter(([name]) => name.startsWith(word)).map(([name, hint]) => ({ text: `${name}:`, hint }));
  const wanted = unquoted(part).toLowerCase(), found = (await valuesOf(key, where)).filter((value) => value.toLowerCase().includes(wanted));
  return found.slice(0, SHOWN_MAX).map((value) => ({ text: `${key}:${quoted(value)}`, hint: "" }));
}

/* ---- the field ---- */

const HOW = "Filter: ns: queue: state: user: label: or a part of a name";

export class Filter {
  // apply(params): the words were entered. where: { namespace(), labels() }, what is shown now.
  constructor(apply, where) {
    Object.assign(this, { apply, where, found: [], chosen: -1, turn: 0 });
    this.input = h("input", { id: "filter", role: "combobox", "aria-label": "Filter Jobs", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": "filter-words",
      placeholder: HOW, autocomplete: "off", spellcheck: "false", autocapitalize: "none", enterkeyhint: "search" });
    this.options = h("ul", { id: "filter-words", role: "listbox", "aria-label": "Suggestions" });
    this.options.hidden = true;
    this.element = h("form", { class: "filter", role: "search", "aria-label": "Which Jobs", "data-own": true, onsubmit: (event) => this.enter(event) },
      this.input, h("button", { type: "button", class: "clear", "aria-label": "Clear the filter", onclick: () => this.clear() }, "×"), this.options);
    for (const event of ["input", "focus", "click"]) this.input.addEventListener(event, () => this.suggest());
    this.input.addEventListener("blur", () => this.close());
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.options.addEventListener("pointerdown", (event) => this.point(event));
  }

  show(params) {
    this.input.value = written(params);
    this.element.classList.toggle("narrows", this.input.value !== "");
    this.close();
  }

  enter(event) {
    event.preventDefault();
    this.close();
    this.apply(parsed(this.input.value));
  }

  clear() {
    this.input.value = "";
    this.input.focus();
    this.apply({});
  }

  // [start, end] of the word at the caret.
  word() {
    const { value, selectionStart: caret } = this.input, start = value.slice(0, caret).search(/(?:[^\s"]|"[^"]*"?)*$/);
    return [start, caret];
  }

  async suggest() {
    const turn = ++this.turn, [start, end] = this.word(), found = await suggestions(this.input.value.slice(start, end), this.where);
    if (turn !== this.turn || document.activeElement !== this.input) return;
    this.found = found;
    this.chosen = -1;
    this.draw();
  }

  draw() {
    const isOpen = this.found.length > 0;
    this.options.hidden = !isOpen;
    this.input.setAttribute("aria-expanded", String(isOpen));
    this.options.replaceChildren(...this.found.map(({ text, hint }, i) => h("li", { id: `filter-word-${i}`, role: "option", "aria-selected": String(i === this.chosen) }, h("b", {}, text), hint ? h("span", { class: "faint" }, ` ${hint}`) : "")));
    if (this.chosen >= 0) this.input.setAttribute("aria-activedescendant", `filter-word-${this.chosen}`);
    else this.input.removeAttribute("aria-activedescendant");
  }

  close() {
    this.turn++;
    this.found = [];
    this.chosen = -1;
    this.draw();
  }

  // A name of a word waits for its value; a value is whole, and is asked for.
  accept(i) {
    const [start, end] = this.word(), { text } = this.found[i], rest = this.input.value.slice(end), isWhole = !text.endsWith(":");
    const head = this.input.value.slice(0, start) + text + (isWhole && !rest ? " " : "");
    this.input.value = head + rest;
    this.input.setSelectionRange(head.length, head.length);
    if (isWhole) this.apply(parsed(this.input.value));
    this.suggest();
  }

  key(event) {
    const n = this.found.length, step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape" && n) this.close();
    else if (event.key === "Enter" && this.chosen >= 0) this.accept(this.chosen);
    else if (step && n) this.chosen = (Math.max(this.chosen, step > 0 ? -1 : 0) + step + n) % n;
    else return;
    event.preventDefault();
    event.stopPropagation();
    this.draw();
  }

  point(event) {
    const option = event.target.closest("[role=option]");
    event.preventDefault(); // the focus stays in the field
    if (option) this.accept([...this.options.children].indexOf(option));
  }
}
