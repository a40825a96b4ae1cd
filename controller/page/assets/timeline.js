// Runs that were, runs that are and starts that are expected, on one axis of time, a lane for each queue. Windows, prices
// and AdvanceReservations are behind them. axis.js says what stands where; here it is drawn.
//
// The element looks after itself: it draws at the width that it has, and once it is drawn anew (dom.js) it keeps where
// it was scrolled to, and the bar that has the focus although others came before that. A bar is a link to its Job. The
// picture is one stop of the Tab key; arrows go from bar to bar.

import { BAR, isMarked, itemWords, layout, priceWords, ROW } from "./axis.js";
import { session } from "./api.js";
import { address, draw, folded, h, jobLink, svg, table } from "./dom.js";
import { queueLink } from "./rights.js";
import { moment } from "./words.js";

const WIDTH_MIN = 720, HEIGHT_MAX = 420, ROWS_MAX = 400, COLOURS = 6, FONT = "11.5px system-ui, sans-serif", NOW_AT = 0.3;

/* ---- widths and colours ---- */

const pen = document.createElement("canvas").getContext("2d"), widths = new Map();
session.onChange(() => widths.clear()); // they have names of Jobs

function measure(text) {
  if (widths.size > 5000) widths.clear();
  if (!widths.has(text)) {
    pen.font = FONT;
    widths.set(text, pen.measureText(text).width);
  }
  return widths.get(text);
}

// The class that gives each queue its colour: by name, so that it has the same wherever the same queues are shown.
export function queueColours(names) {
  return new Map([...names].sort().map((name, i) => [name, `q${(i % COLOURS) + 1}`]));
}

/* ---- bars ---- */

function endMark(item, y) {
  const { outcome, x, wide } = item;
  if (!isMarked(item)) return [];
  const at = x + wide - 9, middle = y + BAR / 2;
  if (wide < 14) return svg("rect", { class: outcome === "Failed" ? "cut bad" : "cut", x: x + wide - Math.min(wide, 2), y, width: Math.min(wide, 2), height: BAR });
  return svg("path", { class: "end", d: outcome === "Failed" ? `M${at} ${middle - 3}l6 6m0 -6l-6 6` : `M${at + 1} ${middle - 3}v6m4 -6v6` });
}

function shapes(item, y, stripes) {
  if (item.kind === "wait") return svg("rect", { class: "bar", x: item.x, y: y + 5, width: item.wide, height: 5 });
  const box = { x: item.x, y, width: item.wide, height: BAR, rx: 3 }, isStriped = item.kind === "kept" || item.state === "Stopping";
  return [svg("rect", { class: "bar", ...box }), isStriped ? svg("rect", { ...box, fill: `url(#${stripes})` }) : [],
    item.foot ? svg("line", { class: "foot", x1: item.x, x2: item.x + item.foot, y1: y + BAR - 1, y2: y + BAR - 1 }) : [],
    item.tail ? svg("line", { class: "tail", x1: item.x + item.wide, x2: item.x + item.wide + item.tail, y1: y + BAR / 2, y2: y + BAR / 2 }) : [],
    endMark(item, y),
    item.text ? svg("text", { class: item.isBehind ? "behind" : "in", x: item.textX, y: y + (item.foot ? 10.5 : 11.5) }, item.text) : []];
}

const keyOf = ({ kind, namespace = "", name, from }) => `${kind} ${namespace}/${name} ${from}`;

function bar(item, y, { now, stripes }) {
  const [who, what] = itemWords(item, now), parts = shapes(item, y, stripes);
  const attributes = { class: `item ${item.kind} ${item.state}`, "data-key": keyOf(item), "data-who": who, "data-what": what, tabindex: -1, "aria-label": `${who}: ${what}` };
  if (!item.namespace || item.isHere) return svg("g", { ...attributes, role: "img" }, parts);
  return svg("a", { ...attributes, href: address(["job", item.namespace, item.name]) }, parts);
}

// A flag at a deadline; a wall where something will stop the run.
function marks({ flag, wall }, y) {
  return [flag === undefined ? [] : svg("path", { class: "deadline", d: `M${flag} ${y - 1}v${BAR + 2}M${flag} ${y - 1}l6 3l-6 3z` }),
    wall === undefined ? [] : svg("path", { class: "wall", d: `M${wall - 4} ${y}h4v${BAR}h-4` })];
}

/* ---- lanes ---- */

function ground(parts, name, y, height) {
  return parts.map(({ x, wide }) => svg("rect", { class: name, x, y, width: wide, height }));
}

const priceClass = ({ factor }) => (factor < 1 ? "cheap" : "dear");

function priceGround(parts, y, height) {
  return parts.flatMap((part) => ground([part], priceClass(part), y, height));
}

function moreText({ more, y, above, rowsHigh }, { at }) {
  return more ? svg("text", { class: "behind", x: Math.max(0, Math.min(at.width - measure(more), (at.nowX ?? 0) + 5)), y: y + above + rowsHigh - 4 }, more) : [];
}

function lanePicture(lane, look) {
  const top = lane.y + lane.above, y = (item) => top + item.row * ROW, height = lane.height - lane.above + 4;
  return svg("g", { class: look.colours.get(lane.name) }, ground(lane.openings, "window", top - 2, height), priceGround(lane.prices, top - 2, height),
    lane.words.map(({ x, line, text }) => svg("text", { class: "behind", x, y: lane.y + 10 + 15 * line }, text)),
    lane.items.map((item) => bar(item, y(item), look)), lane.items.map((item) => marks(item, y(item))), moreText(lane, look));
}

function laneName(lane, colours) {
  const element = h("div", { class: `lane ${colours.get(lane.name)}`, title: lane.cohort ? `${lane.name}, Cohort ${lane.cohort}` : lane.name },
    lane.name ? h("strong", {}, queueLink(lane.name)) : "", lane.head.map((words) => h("span", {}, words)));
  element.style.top = `${lane.y}px`;
  return element;
}

function stripesOf(id) {
  return svg("defs", {}, svg("pattern", { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    svg("rect", { class: "stripe", width: 3, height: 6 })));
}

function tickWords(at, y) {
  return at.ticks.filter(({ words }) => words).map(({ x, words, isDay }) => svg("text", { class: isDay ? "day" : "", x: x + 3, y }, words));
}

function picture(look) {
  const { at } = look, first = at.lanes[0]?.y ?? 0, upright = (x, name, from) => svg("line", { class: name, x1: x, x2: x, y1: from, y2: at.bottom });
  return svg("svg", { width: at.width, height: at.height }, stripesOf(look.stripes), priceGround(at.prices, first - 2, at.bottom - first),
    at.ticks.map(({ x, isDay }) => upright(x, isDay ? "tick midnight" : "tick", 18)),
    at.lanes.map((lane) => lanePicture(lane, look)), at.nowX === undefined ? [] : upright(at.nowX, "present", 14),
    at.top.map(({ x, text, isNow }) => svg("text", { class: isNow ? "present" : "", x, y: 11 }, text)),
    at.isTall ? tickWords(at, 26) : [], tickWords(at, at.bottom + 14));
}

/* ---- beside the picture ---- */

const LEGEND = [["wait", "waiting"], ["was", "earlier run"], ["is", "running"], ["will", "expected start; thick foot: 50 to 90 % sure"], ["kept", "AdvanceReservation"],
  ["window", "window open"], ["cheap", "cheaper hours"], ["dear", "dearer hours"], ["failed", "failed"], ["stopped", "stopped early"],
  ["wall", "stopped by its window"], ["deadline", "deadline"], ["tail", "end not known"]];

function namesInUse(at) {
  const items = at.lanes.flatMap((lane) => lane.items), prices = [...at.prices, ...at.lanes.flatMap((lane) => lane.prices)], has = (check) => items.some(check);
  return new Set([...items.map((item) => item.kind), ...prices.map(priceClass), at.lanes.some((lane) => lane.openings.length) && "window",
    has((i) => isMarked(i) && i.outcome === "Failed") && "failed", has((i) => isMarked(i) && i.outcome !== "Failed") && "stopped",
    has((i) => i.wall !== undefined) && "wall", has((i) => i.flag !== undefined) && "deadline", has((i) => i.tail) && "tail"]);
}

const SIGNS = { failed: "M4 4l6 6m0 -6l-6 6", stopped: "M5 4v6m4 -6v6", wall: "M4 1h5v12h-5", deadline: "M4 1v12M4 1l6 3l-6 3z", tail: "M0 7h14" };

const KINDS = ["wait", "was", "is", "will", "kept"];

function box(name) {
  return svg("rect", { class: KINDS.includes(name) ? "bar" : name, x: 1, y: name === "wait" ? 5 : 1, width: 12, height: name === "wait" ? 5 : 12, rx: name === "wait" ? 0 : 3 });
}

function sign(name) {
  const shape = SIGNS[name] ? svg("path", { class: ["failed", "stopped"].includes(name) ? "end" : name, d: SIGNS[name] })
    : box(name);
  return svg("svg", { class: `item ${name}`, width: 14, height: 14, "aria-hidden": "true" }, shape, name === "will" ? svg("line", { class: "foot", x1: 1, x2: 8, y1: 12, y2: 12 }) : []);
}

function legend(at) {
  const names = namesInUse(at);
  return LEGEND.filter(([name]) => names.has(name)).map(([name, words]) => h("li", {}, sign(name), words));
}

function namesOf(lanes) {
  const shown = lanes.slice(0, 12).map((lane) => lane.name).join(", ");
  return lanes.length > 12 ? `${shown} and ${lanes.length - 12} more queues` : shown;
}

function leftWords({ left, empty }) {
  return [left.length ? `No room for ${namesOf(left)}.` : "", empty.length ? `No Jobs in this time: ${namesOf(empty)}.` : ""].filter(Boolean).join(" ");
}

const STATES = { was: (item) => item.outcome || "Ended", kept: () => "AdvanceReservation", wait: () => "" };

function itemRow(lane, item) {
  const many = item.jobs > 1 ? [" ", `(${item.label})`] : "", name = item.namespace && !item.isHere ? jobLink(item.namespace, item.name) : item.isHere ? item.label : item.name;
  return [[name, many], lane.name, (STATES[item.kind] || (() => item.state))(item), moment(item.from), item.p90 ? moment(item.p90) : "", item.until ? moment(item.until) : ""];
}

function groundRows(lane, prices) {
  return [...lane.openings.map((part) => ["Window open", lane.name, "", moment(part.from), "", moment(part.until)]),
    ...prices.map((part) => [priceWords(part), lane.name, "", moment(part.from), "", moment(part.until)])];
}

function tableOf(at) {
  const rows = at.lanes.flatMap((lane) => [...[...lane.items, ...lane.hidden].sort((a, b) => a.from - b.from).map((item) => itemRow(lane, item)),
    ...groundRows(lane, lane.prices)]).concat(at.prices.map((part) => [priceWords(part), "all", "", moment(part.from), "", moment(part.until)]));
  const isOneJob = at.lanes.every((lane) => !lane.name), shown = rows.slice(0, ROWS_MAX), heads = ["What", "ClusterQueue", "State", "From", "90 % sure by", "Until"];
  const columns = (cells) => cells.filter((_, i) => i !== 1 || !isOneJob);
  return table(shown.length < rows.length ? `The first ${ROWS_MAX} of ${rows.length}` : "The same as a table", columns(heads), shown.map(columns));
}

/* ---- the element ---- */

let made = 0;

class Timeline extends HTMLElement {
  constructor() {
    super();
    this.stripes = `stripes-${++made}`;
    this.names = h("div", { class: "lanes" });
    this.view = h("div", { class: "view", tabindex: "0", role: "group" });
    this.axis = h("div", { class: "axis" }, this.names, this.view);
    this.tip = h("div", { class: "tip", "aria-hidden": "true", hidden: true }); // a bar is named by its own words
    this.signs = h("ul", { class: "legend" });
    this.left = h("p", { class: "faint small" });
    this.table = folded("As a table");
    this.table.addEventListener("toggle", () => this.drawTable());
    this.view.addEventListener("keydown", (event) => this.walk(event));
    this.view.addEventListener("pointerover", (event) => this.tell(event.target.closest(".item")));
    this.view.addEventListener("pointerleave", () => this.tell(null));
    this.view.addEventListener("focusin", (event) => this.tell(event.target.closest(".item")));
    this.view.addEventListener("focusout", () => this.tell(null));
    this.view.addEventListener("scroll", () => this.tell(null));
    this.sizes = new ResizeObserver(() => this.isConnected && this.room() !== this.roomDrawn && this.render());
  }

  connectedCallback() {
    this.replaceChildren(this.axis, this.tip, this.signs, this.left, this.table);
    this.sizes.observe(this);
    this.render();
  }

  disconnectedCallback() {
    this.sizes.disconnect();
  }

  // What its successor would show (dom.js).
  renew(fresh) {
    this.model = fresh.model;
    if (this.isConnected) this.render();
  }

  room() {
    return Math.floor(this.view.clientWidth);
  }

  render() {
    const { model } = this, focused = this.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
    this.makeRoom();
    const at = layout(model, { width: Math.max(model.widthMin, this.roomDrawn), measure, height: model.height });
    const look = { at, now: model.now, stripes: this.stripes, colours: queueColours([...at.lanes, ...at.left, ...at.empty].map((lane) => lane.name)) };
    this.at = at;
    this.view.setAttribute("aria-label", `${model.label}. Arrow keys go from bar to bar; the table below says the same.`);
    draw(this.names, at.lanes.map((lane) => laneName(lane, look.colours)));
    draw(this.view, picture(look));
    draw(this.signs, legend(at));
    draw(this.left, leftWords(at));
    this.drawTable();
    this.keepInSight(at);
    if (focused) this.focusOn(focused);
  }

  // For names and for bars; a lone Job has no name beside it.
  makeRoom() {
    const { lanes } = this.model, isNamed = lanes.length !== 1 || lanes[0].clusterQueue !== "";
    this.names.hidden = !isNamed;
    this.axis.style.gridTemplateColumns = isNamed ? `${this.nameWidth()}px minmax(0, 1fr)` : "minmax(0, 1fr)";
    this.roomDrawn = this.room();
  }

  // As the longest name wants, and no more than there is room for.
  nameWidth() {
    const { lanes, spans } = this.model, names = [...lanes, ...spans].map((one) => one.clusterQueue || "");
    const least = lanes.some((lane) => lane.others) ? measure("others: 999 Jobs") : 78, wanted = names.reduce((wide, name) => Math.max(wide, 1.2 * measure(name)), least);
    return Math.round(Math.min(wanted + 24, this.clientWidth < 600 ? 112 : 220));
  }

  drawTable() {
    if (this.table.open && this.at) draw(this.table, this.table.firstChild, tableOf(this.at));
  }

  // What is now, unless somebody has scrolled since this stretch is shown.
  keepInSight({ nowX, width }) {
    const { from, until } = this.model, { seen, roomDrawn: room } = this, length = until - from;
    if (seen?.room === room && seen.length === length && Math.abs(from - seen.from) < length / 20) return;
    this.seen = { from, length, room };
    this.view.scrollLeft = nowX === undefined ? 0 : Math.min(width, nowX - NOW_AT * room);
  }

  /* -- from bar to bar -- */

  bars() {
    return [...this.view.querySelectorAll(".item[data-key]")];
  }

  // The bar that had it, or what the same Job is now.
  focusOn(key) {
    const bars = this.bars(), there = bars.find((one) => one.dataset.key === key) || bars.find((one) => one.dataset.key.split(" ")[1] === key.split(" ")[1]);
    if (there !== document.activeElement) (there || this.view).focus({ preventScroll: true });
    if (there) this.tell(there);
  }

  walk(event) {
    const steps = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }, step = steps[event.key];
    if (event.key === "Escape") return this.tell(null);
    if (!step && event.key !== "Home" && event.key !== "End") return;
    event.preventDefault();
    const bars = this.bars().map((element) => ({ element, box: element.querySelector("rect").getBoundingClientRect() }));
    bars.sort((a, b) => a.box.top - b.box.top || a.box.left - b.box.left);
    const at = bars.findIndex(({ element }) => element === document.activeElement);
    nextBar(bars, at, step || (event.key === "Home" ? "first" : "last"))?.element.focus();
  }

  /* -- what is pointed at -- */

  tell(item) {
    const one = item?.dataset.who ? item : null;
    this.tip.hidden = !one;
    if (!one) return;
    draw(this.tip, h("strong", {}, one.dataset.who), h("span", {}, one.dataset.what));
    const box = one.querySelector("rect").getBoundingClientRect(), here = this.getBoundingClientRect(), wide = this.tip.offsetWidth;
    this.tip.style.left = `${Math.max(0, Math.min(here.width - wide, box.left - here.left))}px`;
    this.tip.style.top = `${box.bottom - here.top + 5}px`;
  }
}

// bars are sorted by row, and by time within a row.
function nextBar(bars, at, step) {
  if (at < 0 || step === "first") return bars[0];
  if (step === "last") return bars.at(-1);
  const [along, down] = step, { top, left } = bars[at].box;
  if (along) return bars[at + along];
  const rows = bars.filter(({ box }) => (box.top - top) * down > 1), row = rows.filter(({ box }) => box.top === (down > 0 ? rows[0] : rows.at(-1)).box.top);
  return row.reduce((best, one) => (!best || Math.abs(one.box.left - left) < Math.abs(best.box.left - left) ? one : best), undefined);
}

customElements.define("sluice-timeline", Timeline);

// lanes: of a Timeline; spans: of a RunSpans, may be []. from, until, now: in milliseconds, a Date, or RFC 3339.
// height: what the picture should not be higher than. widthMin: where there is less room it is scrolled.
export function timeline({ lanes = [], spans = [], from, until, now = Date.now(), label, height = HEIGHT_MAX, widthMin = WIDTH_MIN }) {
  const element = document.createElement("sluice-timeline");
  element.model = { lanes, spans, from: +new Date(from), until: +new Date(until), now: +new Date(now), label, height, widthMin };
  return element;
}
