// A line that is drawn in part: only rows that can be seen are elements, so a hundred thousand are as quick as fifty.
// Rows have one height. It is one stop of the Tab key: arrows, Page Up and Down, Home and End move in it, Enter opens
// the Job of the row.

import { draw, h } from "./dom.js";

const ROW_PIXELS = 56, MARGIN_ROWS = 8;
const ROWS_MAX = 250_000; // browsers do not scroll elements that are much higher

function clamp(n, least, most) {
  return Math.max(least, Math.min(n, most));
}

export class List {
  // cells(job): what a row has, one for each head; open(job): follows it.
  constructor(label, heads, line, { cells, open }) {
    Object.assign(this, { line, cells, open, active: 0, isDue: false });
    this.inner = h("div", { class: "rows", role: "rowgroup" });
    const head = h("div", { class: "row head", role: "row" }, heads.map((text) => h("span", { role: "columnheader" }, text)));
    this.element = h("div", { class: "list", role: "grid", tabindex: "0", "aria-label": label, "data-own": true },
      h("div", { class: "heads", role: "rowgroup" }, head), this.inner);
    this.element.addEventListener("scroll", () => this.drawSoon());
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.inner.addEventListener("pointerdown", (event) => this.point(event));
    new ResizeObserver(() => this.drawSoon()).observe(this.element);
  }

  get count() { return Math.min(this.line.total, ROWS_MAX); }

  // So many rows are seen at once.
  get seen() { return Math.max(1, Math.floor((this.element.clientHeight - this.inner.offsetTop) / ROW_PIXELS)); }

  // Scrolls as little as shows the row.
  go(index) {
    this.active = clamp(index, 0, this.count - 1);
    const first = Math.ceil(this.element.scrollTop / ROW_PIXELS), last = first + this.seen - 1;
    this.inner.style.height = `${this.count * ROW_PIXELS}px`;
    if (this.active < first) this.element.scrollTop = this.active * ROW_PIXELS;
    else if (this.active > last) this.element.scrollTop = (this.active - this.seen + 1) * ROW_PIXELS;
    this.drawSoon();
  }

  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: this.seen, PageUp: -this.seen, Home: -Infinity, End: Infinity }[event.key];
    const job = this.line.at(this.active);
    if (event.key === "Enter" && job) this.open(job);
    if (step === undefined) return;
    event.preventDefault();
    this.go(this.active + step);
  }

  point(event) {
    const row = event.target.closest("[aria-rowindex]");
    if (row) this.active = Number(row.getAttribute("aria-rowindex")) - 2;
    this.drawSoon();
  }

  drawSoon() {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => { this.isDue = false; this.show(); });
  }

  show() {
    const top = Math.floor(this.element.scrollTop / ROW_PIXELS), whole = Math.ceil(this.element.scrollTop / ROW_PIXELS);
    const first = Math.max(0, Math.min(top, this.count - 1) - MARGIN_ROWS), last = Math.min(this.count, top + this.seen + MARGIN_ROWS);
    // A row that was scrolled out of sight is not the active one any more: the next to it is.
    const inSight = clamp(this.active, whole, whole + this.seen - 1);
    this.active = clamp(inSight, 0, this.count - 1);
    this.line.look(first, last);
    this.inner.style.height = `${this.count * ROW_PIXELS}px`;
    this.element.setAttribute("aria-rowcount", this.count + 1);
    draw(this.inner, Array.from({ length: Math.max(0, last - first) }, (_, i) => this.row(first + i)));
    const active = document.getElementById(`row-${this.active}`);
    if (active) this.element.setAttribute("aria-activedescendant", active.id);
    else this.element.removeAttribute("aria-activedescendant");
  }

  row(index) {
    const job = this.line.at(index);
    const attributes = { role: "row", id: `row-${index}`, "aria-rowindex": index + 2, "aria-selected": String(index === this.active) };
    const row = h("div", { class: "row", ...attributes }, (job ? this.cells(job) : ["", "..."]).map((cell) => h("span", { role: "gridcell" }, cell)));
    row.style.transform = `translateY(${index * ROW_PIXELS}px)`;
    return row;
  }
}
