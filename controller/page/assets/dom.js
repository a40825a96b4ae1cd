// Elements, and how amounts and times are written. Text is only ever text: nothing that a Job says becomes markup.

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== ""));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.flat(Infinity));
  return element;
}

export function link(href, text) {
  return h("a", { href }, text);
}

// "2h 5m": two units where the second one matters.
export function span(seconds) {
  const s = Math.max(0, Math.round(seconds)), m = Math.floor(s / 60), hours = Math.floor(m / 60), d = Math.floor(hours / 24);
  if (s < 120) return `${s} s`;
  if (m < 180) return m < 10 && s % 60 ? `${m} min ${s % 60} s` : `${m} min`;
  if (hours < 48) return hours < 8 && m % 60 ? `${hours} h ${m % 60} min` : `${hours} h`;
  return d < 8 && hours % 24 ? `${d} d ${hours % 24} h` : `${d} d`;
}

const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

// A moment as the reader's clock shows it; the whole of it for programs and for who points at it.
export function time(text) {
  return text ? h("time", { datetime: text, title: text }, clock.format(new Date(text))) : "";
}

export function ago(text) {
  return text ? h("time", { datetime: text, title: text }, span((Date.now() - new Date(text)) / 1000)) : "";
}

export function table(caption, heads, rows) {
  return h("div", { class: "scroll" }, h("table", {}, h("caption", {}, caption),
    h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))),
    h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((cell, i) => h(i ? "td" : "th", i ? {} : { scope: "row" }, cell)))))));
}

// How much of a whole is used, in a bar that is also read out.
export function bar(used, whole, text) {
  const share = whole > 0 ? Math.min(1, used / whole) : 0;
  return h("span", { class: "measure" },
    h("meter", { min: 0, max: 1, value: share, high: 0.999, "aria-label": text }), h("span", {}, text));
}
