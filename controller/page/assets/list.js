// A list that is drawn in part: only rows that can be seen are elements, so a hundred thousand are as quick as
// fifty. Rows have one height. By keyboard: arrows, Page Up and Down, Home, End; Enter follows the row's link.

import { h } from "./dom.js";

const ROW_PIXELS = 36, MARGIN_ROWS = 10;

export class List {
  // draw(item): an element; more(): asked when the end comes near.
  constructor(label, draw, more) {
    this.items = [];
    this.draw = draw;
    this.more = more;
    this.at = 0;
    this.inner = h("div", { class: "rows" });
    this.element = h("div", { class: "list", role: "listbox", tabindex: "0", "aria-label": label }, this.inner);
    this.element.addEventListener("scroll", () => this.show());
    this.element.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.show()).observe(this.element);
  }

  set(items) {
    this.items = items;
    this.at = Math.min(this.at, Math.max(0, items.length - 1));
    this.show();
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW_PIXELS) - 1);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[event.key];
    if (event.key === "Enter") this.inner.querySelector("[aria-selected=true] a")?.click();
    if (step === undefined) return;
    event.preventDefault();
    this.at = Math.max(0, Math.min(this.items.length - 1, this.at + step));
    const top = this.at * ROW_PIXELS, seen = this.element.scrollTop;
    if (top < seen) this.element.scrollTop = top;
    else if (top + ROW_PIXELS > seen + this.element.clientHeight) this.element.scrollTop = top + ROW_PIXELS - this.element.clientHeight;
    this.show();
  }

  show() {
    const first = Math.max(0, Math.floor(this.element.scrollTop / ROW_PIXELS) - MARGIN_ROWS);
    const count = Math.ceil(this.element.clientHeight / ROW_PIXELS) + 2 * MARGIN_ROWS;
    const last = Math.min(this.items.length, first + count);
    this.inner.style.height = `${this.items.length * ROW_PIXELS}px`;
    this.inner.replaceChildren(...this.items.slice(first, last).map((item, i) => this.row(item, first + i)));
    const active = this.inner.querySelector("[aria-selected=true]");
    if (active) this.element.setAttribute("aria-activedescendant", active.id);
    if (last > this.items.length - 2 * MARGIN_ROWS) this.more();
  }

  row(item, index) {
    const row = h("div", { class: "row", role: "option", id: `row-${index}`, "aria-selected": String(index === this.at),
      "aria-posinset": index + 1, "aria-setsize": this.items.length }, this.draw(item));
    row.style.transform = `translateY(${index * ROW_PIXELS}px)`;
    return row;
  }
}
