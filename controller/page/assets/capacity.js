// What is used of each flavor, and by which queue: its own quota, what it has borrowed, who lends and until when; and
// how full it was in the last day.

import { foldedTable, percent, spark } from "./chart.js";
import { faint, h, link } from "./dom.js";
import { shortly } from "./start.js";
import { empty } from "./ui.js";
import { amount, units } from "./words.js";

const ROWS_MAX = 10, COLOURS = 6;

// Queues by name, so that each has its colour everywhere: --queue-1 to --queue-6.
export function queueColour(name, names) {
  return `var(--queue-${(names.indexOf(name) % COLOURS) + 1})`;
}

/* ---- rows: one of each resource of a flavor ---- */

function keyOf(flavor, resource) {
  return `${flavor} ${resource}`;
}

function rowOf(rows, flavor, resource) {
  const key = keyOf(flavor, resource);
  if (!rows.has(key)) rows.set(key, { key, flavor, resource, quota: 0, used: 0, parts: [] });
  return rows.get(key);
}

function addQueue(rows, queue) {
  for (const { name: flavor, resources } of queue.status.flavorsReservation || [])
    for (const { name, nominal = "0", total, borrowed = "0" } of resources) {
      const row = rowOf(rows, flavor, name), [own, held, lent] = [nominal, total, borrowed].map((text) => units(name, text));
      row.quota += own;
      row.used += held;
      row.parts.push({ queue, own: held - lent, borrowed: lent, idle: Math.max(0, own - held) });
    }
}

// Quota that a Cohort has beside what its queues bring.
function addCohort(rows, cohort) {
  for (const { name: flavor, resources } of cohort.flavors || [])
    for (const { name, nominal } of resources) if (nominal) rowOf(rows, flavor, name).quota += units(name, nominal);
}

export function capacityRows(told) {
  const rows = new Map();
  for (const queue of told.clusterQueues) addQueue(rows, queue);
  for (const cohort of told.cohorts || []) addCohort(rows, cohort);
  const all = [...rows.values()].filter((row) => row.quota || row.used);
  return all.length > ROWS_MAX ? all.sort((a, b) => b.used / (b.quota || 1) - a.used / (a.quota || 1)) : all; // the fullest are shown
}

/* ---- who lends ---- */

// A queue whose window is closed takes its quota back when that opens.
function backAt({ open }) {
  return open && !open.isOpen && open.until ? ` until ${shortly(open.until)}` : "";
}

function lenders(row) {
  const cohorts = new Set(row.parts.filter((part) => part.borrowed).map((part) => part.queue.spec.cohortName));
  return row.parts.filter((part) => part.idle && part.queue.spec.cohortName && cohorts.has(part.queue.spec.cohortName));
}

function loan(row) {
  const borrowed = row.parts.reduce((sum, part) => sum + part.borrowed, 0), from = lenders(row);
  if (!borrowed) return "";
  const some = from.slice(0, 2).map(({ queue }) => queue.metadata.name + backAt(queue)), more = from.length - some.length;
  return ` · ${amount(row.resource, borrowed)} ${some.length ? `lent by ${some.join(", ")}${more ? ` and ${more} more` : ""}` : "borrowed"}`;
}

/* ---- how it is shown ---- */

function block(size, of, colour, kind) {
  const element = h("i", { class: kind });
  element.style.width = percent(size / of);
  element.style.color = colour;
  return element;
}

function bar(row, names) {
  const of = Math.max(row.quota, row.used) || 1;
  const blocks = row.parts.map(({ queue, own, borrowed }) => [[own, "own"], [borrowed, "borrowed"]]
    .map(([size, kind]) => (size ? block(size, of, queueColour(queue.metadata.name, names), kind) : "")));
  return h("div", { class: "use", "aria-hidden": "true" }, blocks);
}

function line(row, names, day) {
  const held = day?.get(row.key), free = Math.max(0, row.quota - row.used), a = (n) => amount(row.resource, n);
  return h("li", {}, h("span", { class: "name" }, `${row.flavor} ${row.resource}`), bar(row, names),
    h("span", { class: "faint small" }, `${a(row.used)} of ${a(row.quota)}${loan(row) || (free ? ` · free: ${a(free)}` : "")}`), held ? spark(held, Math.max(row.quota, ...held), `${row.key} of the last day: at most ${a(Math.max(...held))}`) : h("span"));
}

function legend(rows, names) {
  const shown = names.filter((name) => rows.some((row) => row.parts.some(({ queue, own, borrowed }) => queue.metadata.name === name && own + borrowed)));
  const mark = (name) => {
    const element = h("i");
    element.style.color = queueColour(name, names);
    return element;
  };
  const isLent = rows.some((row) => row.parts.some((part) => part.borrowed));
  return h("ul", { class: "legend" }, shown.slice(0, 12).map((name) => h("li", {}, mark(name), link(["queue", name], name))),
    isLent ? h("li", {}, h("i", { class: "borrowed" }), "borrowed: may be taken back") : "");
}

function tableOf(rows) {
  return foldedTable("As a table", ["Flavor", "Queue", "Own quota in use", "Borrowed"], rows.flatMap((row) => row.parts.map((part) =>
    [row.key, part.queue.metadata.name, amount(row.resource, part.own), amount(row.resource, part.borrowed)])));
}

// told: a QueueReport. day: Map of a row's key to what was held in each step of the last day; undefined: not known.
export function capacity(told, day) {
  const rows = capacityRows(told), shown = rows.slice(0, ROWS_MAX), names = told.clusterQueues.map((queue) => queue.metadata.name).sort();
  if (!rows.length) return empty("No queue has quota yet. A ClusterQueue says how much there is of each flavor:", "kubectl explain clusterqueue.spec.resourceGroups");
  return [h("ul", { class: "capacity" }, shown.map((row) => line(row, names, day))), legend(shown, names),
    rows.length > shown.length ? faint(link(["queues"], `And ${rows.length - shown.length} more`)) : "", tableOf(rows)];
}

// Adds up what queues held, as clusterqueues/NAME/usage tells it.
export function dayOf(usages) {
  const day = new Map();
  for (const { flavors } of usages)
    for (const { name, resource, units: held } of flavors) {
      const key = keyOf(name, resource), sum = day.get(key);
      day.set(key, sum ? sum.map((n, i) => n + (held[i] || 0)) : held);
    }
  return day;
}
