// Jobs: the line with why each waits, flat or by queue, user or sweep; narrowed by one field, with the columns that were
// chosen. What is shown is in the address, so back and forward lead through it; the list keeps its place meanwhile.

import { Refusal, session } from "./api.js";
import { needsAttention } from "./badges.js";
import { cellsOf, chosenColumns, COLUMNS, columnsOf, columnText, comparing, sorting, USUAL } from "./columns.js";
import { address, draw, h, link } from "./dom.js";
import { Filter } from "./filter.js";
import { groupCells, Groups, WAYS } from "./groups.js";
import { Line } from "./line.js";
import { List } from "./list.js";
import { Panel } from "./panel.js";
import { Scan } from "./scan.js";
import { empty, segments, skeleton } from "./ui.js";
import { count, NO_JOBS } from "./words.js";

const NARROW = matchMedia("(max-width: 60rem)"); // a Job is a page of its own there

const SEEN_AT_MOST = 2000; // rows in which a Job is looked for

const nameOf = (item) => (item?.metadata ? `${item.metadata.namespace}/${item.metadata.name}` : "");

function jobPlace({ metadata }) {
  return address(["job", metadata.namespace, metadata.name]);
}

/* ---- a line alone, as the page of a queue has it ---- */

// A line with its list, in which the place of `at`, counted from 1, is shown. said: the paragraph for how many there
// are; emptyWords: what to say where there is none.
export function lineOf(which, label, page, { at = 0, emptyWords }) {
  const said = h("p", { class: "faint", "data-own": true }, "Loading the queue ...");
  let isFirst = true;
  const line = new Line(which, page, () => {
    said.textContent = line.total ? count(line.total, "Job") : emptyWords;
    list.element.hidden = line.total === 0;
    if (isFirst && at > 0) list.go(at - 1);
    isFirst = false;
    list.drawSoon();
  });
  const open = (job) => { location.hash = jobPlace(job); };
  const list = new List(label, columnsOf(USUAL), line, { cells: cellsOf(USUAL), open });
  list.element.hidden = true; // until something is known
  return { said, element: h("div", { class: "jobs", "data-own": true }, list.element), live: () => line.live() };
}

/* ---- what the address asks for ---- */

const SELECTED = ["namespace", "clusterQueue", "queue", "submittedBy", "state", "name", "labels"];
const LOOKED_AT = ["text", "reason"]; // what the server does not select
const ATTENTION = "Attention"; // no state of a Job: those that somebody should look at

function paramsNow() {
  return new URLSearchParams(location.hash.split("?")[1]);
}

// An empty namespace is said, too: all of them, where another is the usual one.
function place(params) {
  const given = [...params].filter(([name, value]) => value || (name === "namespace" && session.namespace));
  return given.length ? `#/jobs?${new URLSearchParams(given)}` : "#/jobs";
}

function changed(params, changes) {
  const all = new URLSearchParams(params);
  for (const [name, value] of Object.entries(changes)) all.set(name, value);
  return all;
}

function goTo(changes) {
  location.hash = place(changed(paramsNow(), changes));
}

// The filter was entered: what it says takes the place of what it said before.
function apply(words) {
  const params = paramsNow();
  for (const name of [...SELECTED, ...LOOKED_AT, "at", "turned"]) params.delete(name);
  location.hash = place(changed(params, words));
}

function askedOf(params) {
  const which = Object.fromEntries(SELECTED.map((name) => [name, params.get(name) || ""])), { namespace: _, ...others } = which;
  const wantsAttention = which.state === ATTENTION, sort = sorting(params.get("sort"));
  const isNarrowed = [...Object.values(others), ...LOOKED_AT.map((name) => params.get(name))].some(Boolean);
  if (wantsAttention) which.state = "";
  const isLookedAt = wantsAttention || LOOKED_AT.some((name) => params.get(name));
  const by = WAYS.some(([way]) => way === params.get("by")) ? params.get("by") : isNarrowed ? "flat" : "queue";
  return { which, by, sort, isNarrowed, isLookedAt, wantsAttention };
}

function matching(params, wantsAttention) {
  const parts = (params.get("text") || "").toLowerCase().split(/\s+/), reason = params.get("reason");
  return (job) => {
    const { metadata, status } = job, name = `${metadata.namespace}/${metadata.name}`;
    return parts.every((part) => name.includes(part)) && (!wantsAttention || needsAttention(status)) && (!reason || [status.reason, status.trouble?.reason].includes(reason));
  };
}

// Where the rows come from: the server's line, Jobs that are looked at here, or groups of either.
function sourceOf(asked, params, page, onChange) {
  const { which, by, sort } = asked, isScanned = asked.isLookedAt || sort || (by !== "flat" && asked.isNarrowed);
  const scan = isScanned ? new Scan(which, page, () => by === "flat" && onChange(), { matches: matching(params, asked.wantsAttention), compare: sort && comparing(sort) }) : null;
  if (by === "flat") return scan || new Line(which, page, onChange);
  const turned = new Set((params.get("turned") || "").split(",").filter(Boolean).map(decodeURIComponent));
  return new Groups(by, which, page, onChange, { scan, turned, isOpenAtFirst: by === "queue" || Boolean(scan) });
}

/* ---- the columns ---- */

class ColumnMenu {
  constructor() {
    this.boxes = new Map(COLUMNS.map((column) => [column, h("input", { type: "checkbox", value: column, onchange: () => this.choose() })]));
    const labels = COLUMNS.map((column) => h("label", {}, this.boxes.get(column), columnText(column)));
    this.element = h("details", { class: "menu", "data-own": true, onkeydown: (event) => {
      if (event.key !== "Escape" || !this.element.open) return;
      event.stopPropagation();
      this.element.open = false;
      this.element.firstChild.focus();
    } }, h("summary", {}, "Columns"), h("div", { class: "choices", role: "group", "aria-label": "Columns" }, labels));
    document.addEventListener("pointerdown", ({ target }) => { if (!this.element.contains(target)) this.element.open = false; });
  }

  show(chosen) {
    for (const [column, box] of this.boxes) box.checked = chosen.includes(column);
  }

  choose() {
    const chosen = COLUMNS.filter((column) => this.boxes.get(column).checked), isUsual = chosen.join() === USUAL.join();
    goTo({ columns: isUsual ? "" : chosen.join(",") });
  }
}

/* ---- the page ---- */

// How one comes to see the Jobs of an empty list.
function emptyWords({ isNarrowed }, namespace) {
  return isNarrowed ? empty("No jobs match these filters.") : empty(NO_JOBS, `kubectl get jobs ${namespace ? `-n ${namespace}` : "-A"} -L sluice.dev/queue-name`);
}

let frame = null; // what stays while the list is another: the filter keeps the focus
let view = null, kept = null; // what is shown; the list that was shown last, for the one that follows it

session.onChange(() => {
  view = kept = null;
  frame?.filter.show(new URLSearchParams());
  frame?.top.replaceChildren();
});

// What makes two lists show the same rows.
function identity(params) {
  const names = [...SELECTED, ...LOOKED_AT, "by", "sort", "turned"];
  return JSON.stringify(names.map((name) => params.get(name) || ""));
}

class JobsView {
  constructor(page, asked) {
    Object.assign(this, { page, asked, params: page.params, looksLeft: 3 });
    this.said = h("p", { class: "faint said", role: "status", "data-own": true });
    this.place = h("div", { class: "place", "data-own": true }, skeleton("rows", 14));
    this.source = sourceOf(asked, page.params, page, () => this.changed());
    const chosen = chosenColumns(page.params.get("columns")), cells = cellsOf(chosen), heading = groupCells(asked.by);
    this.list = new List("Jobs", columnsOf(chosen, asked.sort, (sort) => goTo({ sort, at: "" })), this.source, { cells: (item) => (item.isGroup ? heading(item) : cells(item)),
      open: (item) => this.open(item), moved: (item) => this.moved(item), fold: asked.by === "flat" ? null : (group, isOpen) => this.turn(group, isOpen) });
    this.list.element.addEventListener("keydown", (event) => { if (event.key === "Escape") this.close(); });
    this.panel = new Panel(page, { step: (n) => this.step(n), closed: () => this.close() });
    this.element = h("div", { class: "split", "data-own": true }, h("div", { class: "jobs" }, this.place, this.list.element), this.panel.element);
    this.list.element.hidden = true;
    this.choose(page.params.get("job") || "");
  }

  // Shows what the list before has read, where that had the same rows.
  resume(old) {
    const rows = identity(this.params), isSame = old?.rows === rows && old.source.constructor === this.source.constructor;
    kept = { rows, source: this.source, list: this.list };
    if (!isSame || !old.source.isRead) return;
    this.source.take(old.source);
    this.changed();
    this.list.resume(old.list);
  }

  changed() {
    const { source, list } = this;
    if (!list || (!source.isRead && !source.total)) return;
    this.said.textContent = source.words ? source.words() : count(source.total, "Job");
    list.element.hidden = source.total === 0;
    draw(this.place, source.total === 0 ? emptyWords(this.asked, this.asked.which.namespace) : "");
    this.seek();
    list.drawSoon();
  }

  // The place that the address names, or the Job beside the list, is brought into sight, where it is read at first.
  seek() {
    const at = Number(this.params.get("at")) || 0, name = this.panel.shown, { source, list } = this;
    if (this.looksLeft-- <= 0) return;
    let index = at - 1;
    if (name) for (index = Math.min(source.total, SEEN_AT_MOST) - 1; index >= 0 && nameOf(source.at(index)) !== name; index--);
    if (index < 0) return;
    list.go(index);
    this.looksLeft = 0;
  }

  /* ---- the Job beside the list ---- */

  choose(name) {
    this.list.chosen = name;
    this.element.classList.toggle("beside", name !== "");
    this.panel.show(name);
    this.list.drawSoon();
  }

  // how: as the history has it, "pushState" or "replaceState".
  goTo(name, how) {
    history[how](how === "replaceState" ? history.state : null, "", place(changed(paramsNow(), { job: name })));
    this.choose(name);
    drawTop(this);
  }

  open(item) {
    if (item.isGroup) this.turn(item);
    else if (NARROW.matches) location.hash = jobPlace(item);
    else this.goTo(nameOf(item), "pushState");
    return true;
  }

  moved(item) {
    if (this.panel.shown && !item.isGroup) this.goTo(nameOf(item), "replaceState");
  }

  // To the next row that is a Job.
  step(n) {
    const { list, source } = this;
    let index = list.active + n;
    while (source.at(index)?.isGroup) index += n;
    if (index < 0 || index >= source.total) return;
    list.go(index);
    const item = source.at(index);
    if (item) this.moved(item);
  }

  close() {
    if (!this.panel.shown) return;
    this.goTo("", "pushState");
    this.list.element.focus({ preventScroll: true });
  }

  turn(group, isOpen) {
    this.source.turn(group, isOpen);
    const turned = [...this.source.turned].map(encodeURIComponent).join(",");
    history.replaceState(history.state, "", place(changed(paramsNow(), { turned })));
    kept.rows = identity(paramsNow());
  }
}

// The ways lead to this list with what is beside it.
function drawTop({ said, asked }) {
  draw(frame.top, h("h2", {}, "Jobs"), said, h("p", { class: "said" }, link(["history"], "History", { namespace: asked.which.namespace })), ways(paramsNow(), asked.by));
}

function ways(params, by) {
  const all = WAYS.map(([way, text]) => [text, ["jobs"], { ...Object.fromEntries(params), by: way, at: "", turned: "" }]);
  return segments("Grouped", all, WAYS.find(([way]) => way === by)[1]);
}

// "stage=test" of the Jobs that are at hand.
function labelsOf({ source }) {
  const found = new Set();
  for (let i = 0; i < Math.min(source.total, 500); i++)
    for (const [name, value] of Object.entries(source.at(i)?.metadata?.labels || {})) found.add(`${name}=${value}`);
  return [...found].sort();
}

function makeFrame() {
  const filter = new Filter(apply, { namespace: () => paramsNow().get("namespace") || "", labels: () => labelsOf(view) }), menu = new ColumnMenu();
  return { filter, menu, top: h("div", { class: "bar", "data-own": true }), bottom: h("div", { class: "bar", "data-own": true }, filter.element, menu.element) };
}

async function showJobs(page, asked) {
  frame ||= makeFrame();
  const isInside = view?.list.element.contains(document.activeElement);
  view = new JobsView(page, asked);
  frame.filter.show(page.params);
  frame.menu.show(chosenColumns(page.params.get("columns")));
  drawTop(view);
  draw(page.content, frame.top, frame.bottom, view.element);
  view.resume(kept);
  if (isInside) view.list.element.focus({ preventScroll: true });
  await view.source.live();
}

// A server that has no summary yet, or no right to it, leaves the line.
export async function jobsPage(page) {
  const asked = askedOf(page.params);
  try {
    await showJobs(page, asked);
  } catch (error) {
    const isWithoutSummary = asked.by !== "flat" && error instanceof Refusal && [403, 404].includes(error.status);
    if (!isWithoutSummary) throw error;
    await showJobs(page, { ...asked, by: "flat" });
  }
}
