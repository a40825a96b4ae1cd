// Rows of which only those that can be seen are elements, so a hundred thousand are as quick as fifty. Rows have one
// height. The list is one stop of the Tab key: arrows, Page Up and Down, Home and End move in it, Enter opens the row;
// left and right fold a group.
//
// Its source has: total; at(index), which is a Job, a group ({ isGroup }) or nothing yet; look(first, last): these
// rows are looked at.

import { draw, h } from "./dom.js";

const ROW_PIXELS = 32, MARGIN_ROWS = 8;
const ROWS_MAX = 500_000; // browsers do not scroll elements that are much higher

function clamp(n, least, most) {
  return Math.max(least, Math.min(n, most));
}

// "8rem minmax(12rem, 2fr)"; narrow: what grows gives way to the others.
function template(columns, isNarrow = false) {
  return columns.map(({ least, grow, narrow }) => (grow ? `minmax(${isNarrow ? 0 : least}rem, ${grow}fr)` : `${isNarrow && narrow || least}rem`)).join(" ");
}

function leastWidth(columns) {
  return `${columns.reduce((all, { least }) => all + least + 0.8, 0.8)}rem`;
}

function headOf({ head, sorted, kind = "" }) {
  return h("span", { role: "columnheader", class: kind, "aria-sort": sorted }, head);
}

export class List {
  // columns: [{ head, least, narrow, grow, kind, sorted }], widths in rem; kind: classes of all its cells; "most" is left
  // out where the list is not wide, "more" where it is narrow. cells(item): what a row has, one for each column; of a group, one. open(item): the row was
  // chosen, by a click or Enter; true: it has been dealt with here. moved(item): an arrow came to it.
  constructor(label, columns, source, { cells, open, moved = () => {}, fold = null }) {
    Object.assign(this, { columns, source, cells, open, moved, fold, active: 0, scrolled: 0, isDue: false, chosen: "" });
    this.inner = h("div", { class: "rows", role: "rowgroup" });
    const head = h("div", { class: "row head", role: "row" }, columns.map(headOf));
    this.element = h("div", { class: "list", role: fold ? "treegrid" : "grid", tabindex: "0", "aria-label": label, "data-own": true },
      h("div", { class: "heads", role: "rowgroup" }, head), this.inner);
    this.size();
    this.element.addEventListener("scroll", () => {
      this.scrolled = this.element.scrollTop;
      this.drawSoon();
    });
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.inner.addEventListener("click", (event) => this.click(event));
    new ResizeObserver(() => this.drawSoon()).observe(this.element);
  }

  size() {
    const { style } = this.element, without = (...kinds) => this.columns.filter(({ kind = "" }) => !kinds.some((one) => kind.includes(one)));
    style.setProperty("--columns", template(this.columns));
    style.setProperty("--least", leastWidth(this.columns));
    style.setProperty("--middle", template(without("most")));
    style.setProperty("--narrow", template(without("most", "more"), true));
  }

  get count() { return Math.min(this.source.total, ROWS_MAX); }

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

  // To where another list of these rows was, once this one is shown.
  resume({ scrolled, active }) {
    this.inner.style.height = `${this.count * ROW_PIXELS}px`;
    this.element.scrollTop = scrolled;
    this.active = active;
  }

  key(event) {
    if (event.target !== this.element || event.ctrlKey || event.metaKey || event.altKey) return;
    const item = this.source.at(this.active), step = { ArrowDown: 1, ArrowUp: -1, PageDown: this.seen, PageUp: -this.seen, Home: -Infinity, End: Infinity }[event.key];
    const fold = { ArrowLeft: false, ArrowRight: true }[event.key];
    if (event.key === "Enter" && item) this.open(item);
    if (fold !== undefined && this.fold && item) this.turn(item, fold);
    else if (step === undefined) return;
    event.preventDefault();
    if (step === undefined) return;
    this.go(this.active + step);
    const now = this.source.at(this.active);
    if (now) this.moved(now);
  }

  // Left of a Job leads to the heading of its group.
  turn(item, isOpen) {
    if (item.isGroup) return this.fold(item, isOpen);
    let index = this.active;
    while (!isOpen && index > 0 && !this.source.at(index)?.isGroup) index--;
    if (!isOpen) this.go(index);
  }

  click(event) {
    const row = event.target.closest("[aria-rowindex]");
    if (!row || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
    this.active = Number(row.getAttribute("aria-rowindex")) - 2;
    const item = this.source.at(this.active);
    if (item && this.open(item)) {
      event.preventDefault();
      this.element.focus({ preventScroll: true });
    }
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
    this.source.look(first, last);
    this.inner.style.height = `${this.count * ROW_PIXELS}px`;
    this.element.setAttribute("aria-rowcount", this.count + 1);
    draw(this.inner, Array.from({ length: Math.max(0, last - first) }, (_, i) => this.row(first + i)));
    const active = document.getElementById(`row-${this.active}`);
    if (active) this.element.setAttribute("aria-activedescendant", active.id);
    else this.element.removeAttribute("aria-activedescendant");
  }

  row(index) {
    const item = this.source.at(index), isChosen = item?.metadata && this.chosen === `${item.metadata.namespace}/${item.metadata.name}`;
    const tree = this.fold ? { "aria-level": item?.isGroup ? 1 : 2, "aria-expanded": item?.isGroup ? String(item.isOpen) : undefined } : {};
    const attributes = { role: "row", id: `row-${index}`, "aria-rowindex": index + 2, "aria-selected": String(index === this.active), ...tree };
    const cells = item ? this.cells(item) : ["", "..."];
    const row = h("div", { class: `row${item?.isGroup ? " group" : ""}${isChosen ? " chosen" : ""}`, ...attributes },
      cells.map((cell, i) => h("span", { role: "gridcell", class: item?.isGroup ? "" : this.columns[i].kind || "" }, cell)));
    row.style.transform = `translateY(${index * ROW_PIXELS}px)`;
    return row;
  }
}
