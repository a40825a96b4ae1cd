// Elements. Text is only ever set as text: nothing that a Job says becomes markup. A page that is drawn anew keeps
// the elements that it has, so that focus, selection and what was unfolded stay where they are.

function isShown(child) {
  return child !== undefined && child !== null && child !== false && child !== "";
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter(isShown));
  return element;
}

export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export const faint = (...children) => h("p", { class: "faint" }, children);
export const warning = (...children) => h("p", { class: "warning" }, children);

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

// The address of a place in the page. Names are encoded, so that none can become another address.
export function address(words, params = {}) {
  const given = Object.entries(params).filter(([, value]) => isShown(value));
  return `#/${words.map(encodeURIComponent).join("/")}${given.length ? `?${new URLSearchParams(given)}` : ""}`;
}

export function link(words, text, params) {
  return h("a", { href: address(words, params) }, text);
}

export function jobLink(namespace, name) {
  return link(["job", namespace, name], `${namespace}/${name}`);
}

// Links to a Job that is named NAMESPACE/NAME.
export function namedJobLink(name) {
  const [namespace, ...rest] = name.split("/");
  return jobLink(namespace, rest.join("/"));
}

// A folded table stands beside each picture: the same, for those who cannot see it.
export function folded(title, ...children) {
  return h("details", {}, h("summary", {}, title), children);
}

export function table(caption, heads, rows) {
  const cell = (content, i) => h(i ? "td" : "th", i ? {} : { scope: "row" }, content);
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, h("table", {}, h("caption", {}, caption),
    h("thead", {}, h("tr", {}, heads.map((head) => (head instanceof Node ? head : h("th", { scope: "col" }, head))))),
    h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map(cell))))));
}

export function facts(pairs) {
  return h("dl", { class: "facts" }, pairs.filter(([, value]) => isShown(value)).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

/* ---- drawn anew ---- */

// An element with data-own looks after its own children, and one with a method renew() takes what its successor has.
function isSame(old, fresh) {
  const isOwn = (node) => node.dataset?.own !== undefined;
  return old.nodeName === fresh.nodeName && !isOwn(old) && !isOwn(fresh);
}

function copyAttributes(old, fresh) {
  for (const { name } of [...old.attributes])
    if (!fresh.hasAttribute(name) && name !== "open" && name !== "style") old.removeAttribute(name);
  for (const { name, value } of fresh.attributes)
    if (name !== "style" && old.getAttribute(name) !== value) old.setAttribute(name, value);
  if (old.style.cssText !== fresh.style.cssText) old.style.cssText = fresh.style.cssText;
}

function place(parent, old, fresh) {
  if (old === fresh) return;
  if (!old) parent.append(fresh);
  else if (old.renew && old.nodeName === fresh.nodeName) old.renew(fresh);
  else if (!isSame(old, fresh)) old.replaceWith(fresh);
  else if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
  } else {
    copyAttributes(old, fresh);
    draw(old, ...fresh.childNodes);
    if ("value" in fresh && old !== document.activeElement && old.value !== fresh.value) old.value = fresh.value;
  }
}

// The children of an element become these. Listeners of elements that stay are those that they had.
export function draw(parent, ...children) {
  const fresh = children.flat(Infinity).filter(isShown).map((child) => (child instanceof Node ? child : document.createTextNode(child)));
  fresh.forEach((node, i) => place(parent, parent.childNodes[i], node));
  while (parent.childNodes.length > fresh.length) parent.lastChild.remove();
}
