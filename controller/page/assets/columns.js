// The columns of a list of Jobs: what each shows, how wide it is, and by what it is sorted.

import { stateBadge } from "./badges.js";
import { h, jobLink } from "./dom.js";
import { endCell, shortly, startCell, startWords } from "./start.js";
import { amount, asks, money, moment, span, time, units } from "./words.js";

const SHORT = new Map([["memory", ""], ["ephemeral-storage", "disk"]]);

function each(name, quantity, pods) {
  const short = SHORT.get(name) ?? name.replace(/^.*\//, "");
  return `${amount(name, units(name, quantity) / pods)} ${short}`.trim();
}

// "4 × 8 cpu, 16Gi": the pods, and what each of them asks for.
function requests({ pods = 1, requests: all = {} }) {
  const one = Object.entries(all).map(([name, quantity]) => each(name, quantity, pods || 1)).join(", ");
  return pods > 1 ? `${pods} × ${one}` : one;
}

// "12m ago": seconds are told of the first minute alone.
export function ago(at) {
  const seconds = (Date.now() - new Date(at)) / 1000;
  return `${span(seconds < 60 ? seconds : seconds - seconds % 60)} ago`;
}

function starts({ status }) {
  if (status.startedAt) return h("span", { title: moment(status.startedAt) }, ago(status.startedAt));
  return h("span", { title: startWords(status) || (status.startAt ? `Cannot start before ${moment(status.startAt)}.` : "") }, startCell(status));
}

function started({ status: { startedAt, startAt, start } }) {
  return startedAt || startAt || start?.p50;
}

// What other columns say: since when it runs, and its place in line.
const SINCE = /^runs since .+?: (?=holds )/, IN_LINE = /; (it is first|[\d,]+ Jobs? (is|are) ahead of it) in ClusterQueue [^;]+/;
const NEEDS = /^needs (.+?) in flavor (\S+) \(/, HOLDS = /^holds (.+) in flavor ([^;\s]+)/, WINDOW = /; RunPolicy (\S+) \(Calendar \S+\) will stop it [^;]+/;

// Begins with what differs from row to row; the title has the sentence as it is. An amount that stands under Requests
// is left out: "quota of spot: 160 of 128 in use", "until Tue 07:00 (nights), flavor spot".
function shortened({ spec, status }) {
  const all = asks({ requests: spec.requests }), words = (status.message || "").replace(SINCE, "").replace(IN_LINE, "");
  const needs = NEEDS.exec(words), holds = HOLDS.exec(words), window = WINDOW.exec(words);
  if (needs) return needs[1] === all ? words.replace(NEEDS, `quota of ${needs[2]}: `).replace(")", "") : words;
  const held = holds?.[1] === all ? words.replace(HOLDS, `flavor ${holds[2]}`) : words;
  return window && status.stopsAt ? `until ${shortly(status.stopsAt)} (${window[1]}), ${held.replace(WINDOW, "")}` : held;
}

function why(job) {
  const { status } = job, { trouble, message = "" } = status, end = endCell(status);
  const words = trouble ? `${trouble.reason}: ${trouble.message}` : shortened(job);
  return h("span", { class: trouble ? "warning" : "faint", title: message }, words, end ? ` · ends ${end}` : "");
}

function name({ metadata }) {
  const link = jobLink(metadata.namespace, metadata.name);
  link.replaceChildren(h("span", { class: "namespace" }, `${metadata.namespace}/`), metadata.name);
  link.tabIndex = -1; // the list is one stop of the Tab key
  link.title = `${metadata.namespace}/${metadata.name}`;
  return link;
}

// Orders states as the list of the server does: what holds quota comes first.
const STATES = ["Running", "Starting", "Stopping", "Deleting", "Ended", "Waiting"];

// text: what it is called; cell(job); by(job): what it is sorted by; undefined comes last.
const ALL = {
  __proto__: null,
  state: { text: "State", least: 8.6, narrow: 7.6, cell: stateBadge, by: (job) => STATES.indexOf(job.status.state) },
  job: { text: "Job", least: 11, grow: 1.3, cell: name, by: ({ metadata }) => `${metadata.namespace}/${metadata.name}` },
  position: { text: "Position", least: 4.6, kind: "right", cell: ({ status }) => status.position?.toLocaleString("en") || "", by: ({ status }) => status.position },
  requests: { text: "Requests", least: 8.5, grow: 0.6, cell: ({ spec }) => h("span", { title: asks(spec) }, requests(spec)), by: ({ spec }) => units("cpu", spec.requests?.cpu || "0") },
  start: { text: "Start", least: 7.5, narrow: 5.4, cell: starts, by: started },
  why: { text: "Why", least: 10, grow: 2.4, kind: "most", cell: why, by: ({ status }) => status.reason },
  queue: { text: "ClusterQueue", least: 7.5, grow: 0.4, cell: ({ spec }) => spec.clusterQueue || "", by: ({ spec }) => spec.clusterQueue },
  local: { text: "LocalQueue", least: 7.5, grow: 0.4, cell: ({ spec }) => spec.queue || "", by: ({ spec }) => spec.queue },
  user: { text: "User", least: 8, grow: 0.6, cell: ({ spec }) => spec.submittedBy || "", by: ({ spec }) => spec.submittedBy },
  priority: { text: "Priority", least: 5, kind: "right", cell: ({ spec }) => String(spec.priority ?? ""), by: ({ spec }) => -(spec.priority ?? 0) },
  queued: { text: "Queued", least: 7, cell: ({ status }) => (status.queuedAt ? h("span", { title: moment(status.queuedAt) }, ago(status.queuedAt)) : ""), by: ({ status }) => status.queuedAt },
  deadline: { text: "Deadline", least: 9, cell: ({ status }) => time(status.deadline), by: ({ status }) => status.deadline },
  cost: { text: "Cost so far", least: 6.5, kind: "right", cell: ({ status }) => (status.bill ? money(status.bill.cost, status.bill.currency) : ""), by: ({ status }) => (status.bill ? -Number(status.bill.cost) : undefined) },
};
const ON_A_PHONE = new Set(["state", "job", "start"]);

export const COLUMNS = Object.keys(ALL);
export const USUAL = ["state", "job", "position", "requests", "start", "why"];

export const columnText = (column) => ALL[column].text;

// The columns of the address, those that there are; the usual ones where it says none.
export function chosenColumns(words) {
  const chosen = (words || "").split(",").filter((column) => ALL[column]);
  return chosen.length ? chosen : USUAL;
}

// "start": upwards; "-start": downwards; null: as the line is.
export function sorting(words) {
  const column = (words || "").replace(/^-/, "");
  return ALL[column] ? { column, isDown: words.startsWith("-") } : null;
}

function compare(a, b) {
  if (a === b) return 0;
  if (a === undefined || a === "") return 1;
  return b === undefined || b === "" || a < b ? -1 : 1;
}

// Compares Jobs, for Array.sort(); what has no value comes last either way.
export function comparing({ column, isDown }) {
  const { by } = ALL[column];
  return (a, b) => {
    const x = by(a), y = by(b), isEmpty = [x, y].some((value) => value === undefined || value === "");
    return isDown && !isEmpty ? compare(y, x) : compare(x, y);
  };
}

const ARROWS = { ascending: " ↑", descending: " ↓" };

// A click on the head of a column sorts by it, the second one downwards, the third one not at all.
function headOf(column, sort, sortBy) {
  const isIts = sort?.column === column, next = isIts ? (sort.isDown ? "" : `-${column}`) : column;
  const sorted = isIts ? (sort.isDown ? "descending" : "ascending") : undefined;
  return { sorted, head: h("button", { type: "button", title: next ? "Sort by this column" : "In the order of the line", onclick: () => sortBy(next) },
    ALL[column].text, sorted ? h("span", { "aria-hidden": "true" }, ARROWS[sorted]) : "") };
}

// As List has them. sortBy(words): where the list can be sorted; else the heads are words.
export function columnsOf(chosen, sort = null, sortBy = null) {
  return chosen.map((column) => {
    const { text, least, narrow, grow, kind = "" } = ALL[column];
    return { least, narrow, grow, kind: [kind, ON_A_PHONE.has(column) ? "" : "more"].join(" ").trim(), ...(sortBy ? headOf(column, sort, sortBy) : { head: text }) };
  });
}

export function cellsOf(chosen) {
  return (job) => chosen.map((column) => ALL[column].cell(job));
}
