// Queues: a row each, in the tree of Cohorts: open or closed, what runs and waits, what is used of each quota and was in
// the last day, and what is borrowed. Who sees one namespace sees the queues that its LocalQueues lead to, as sums.

import { orNull, queues, session, summaries } from "./api.js";
import { spark, usesOf, useLegend, useStack, useWords } from "./chart.js";
import { address, draw, folded, h, link, table, warning } from "./dom.js";
import { followSeen, lastDayOf } from "./lastday.js";
import { again, partAgain } from "./live.js";
import { narrowing } from "./narrow.js";
import { lacksQueues } from "./rights.js";
import { sorted, sortHead } from "./sort.js";
import { shortly } from "./start.js";
import { badge, empty, skeleton } from "./ui.js";
import { amount, count, ledgerDown, since, time } from "./words.js";

const LOOK_MS = 3000, SUMMARY_MS = 5000, ROWS_MAX = 300, LINES_MAX = 3;

// The namespace whose queues are asked for; "": all, which only those ask for who may.
export function namespaceOf({ params }) {
  return (lacksQueues() && params.get("namespace") === "") || !params.has("namespace") ? session.namespace : params.get("namespace");
}

/* ---- what a queue says of itself ---- */

// What a queue or a Cohort says of itself when it does not work, or has a spec that is wrong; "" where it does.
export function complaint({ conditions: [{ status, reason, message }] }) {
  return status === "True" && reason !== "InvalidSpec" ? "" : message || `it starts no Job: ${reason}`;
}

// A number as Kueue shows it: how far above its quota, for its weight. The largest there is stands for a weight of 0.
function share({ fairSharing: { weightedShare } = {} }) {
  if (weightedShare > Number.MAX_SAFE_INTEGER) return "Borrows with weight 0, so it gives back first.";
  return weightedShare ? `Weighted share ${weightedShare}.` : "";
}

export function complaints({ exists, metadata, status }) {
  return [exists ? "" : `${metadata.name} does not exist, but Jobs name it: create it.`, complaint(status)].filter(Boolean).map((sentence) => warning(sentence));
}

export function warnings(told) {
  return [told.ledgerUp ? "" : warning(ledgerDown(told.ledgerDownSince)),
    told.withoutQueue ? warning(`${count(told.withoutQueue, "Job")} wait for a queue that does not exist: `,
      link(["jobs"], "see which", { state: "Waiting" })) : ""];
}

// [word, kind, until when] of what lets Jobs start in a queue, or does not.
export function stateOf({ exists, status, open = {} }) {
  const { isOpen = true, until } = open, at = until ? shortly(until) : "";
  if (!exists) return ["Missing", "bad", ""];
  if (status.conditions[0].status !== "True") return [status.conditions[0].reason === "Stopped" ? "Stopped" : "Inactive", "warn", ""];
  return isOpen ? ["Open", "run", at && `until ${at}`] : ["Closed", "wait", at && `opens ${at}`];
}

export function stateBadge(queue) {
  const [word, kind, until] = stateOf(queue);
  return [badge(word, kind), until ? h("span", { class: "faint small" }, ` ${until}`) : ""];
}

export function troubleBadges({ stopping, troubles = [] }) {
  return [troubles.map(({ reason, jobs }) => badge(`${reason}: ${count(jobs, "Job")}`, "bad")), stopping ? badge(`${stopping} stopping`, "warn") : ""];
}

/* ---- rows ---- */

// A row: what is told of a queue or a Cohort, with all that columns are made of.
function queueRow(queue, known) {
  const { metadata: { name }, spec, status } = queue, group = known.groups.get(name) || {}, others = known.others.get(name);
  return { name, queue, cohort: spec?.cohortName || "", others, uses: usesOf(status.flavorsReservation, status.flavorsUsage), state: stateOf(queue)[0],
    running: status.admittedWorkloads, waiting: status.pendingWorkloads, mine: group, oldest: group.oldestQueuedAt && +new Date(group.oldestQueuedAt),
    next: group.nextStart && +new Date(group.nextStart.at), nextStart: group.nextStart, troubled: queue.troubles || queue.stopping || complaints(queue).length };
}

function cohortRow(cohort, below) {
  const add = (key) => below.reduce((all, row) => all + row[key], 0);
  return { name: cohort.metadata.name, isCohort: true, queue: cohort, cohort: cohort.spec.parentName, uses: usesOf(cohort.flavors), state: "",
    running: add("running"), waiting: add("waiting"), mine: {} };
}

const fullest = ({ uses }) => Math.max(0, ...uses.map(({ quota, held }) => (quota ? held / quota : held ? 2 : 0)));

const COLUMNS = [
  { key: "name", head: "Queue", isText: true, value: (row) => row.name },
  { key: "state", head: "State", class: "state", isText: true, value: (row) => row.state },
  { key: "running", head: "Running", class: "number", value: (row) => row.running },
  { key: "waiting", head: "Waiting", class: "number", value: (row) => row.waiting },
  { key: "oldest", head: "Oldest", isRising: true, value: (row) => row.oldest },
  { key: "next", head: "Next start", isRising: true, value: (row) => row.next },
  { key: "use", head: "Use, and the last 24 hours", class: "of-use", value: fullest },
  { key: "borrows", head: "Borrows from", class: "borrows", value: (row) => row.uses.filter(({ borrowed }) => borrowed).length },
];
const OWN_COLUMNS = [...COLUMNS.slice(0, 4), { key: "ahead", head: "Ahead", class: "number", value: (row) => row.others?.ahead }, ...COLUMNS.slice(4, 6),
  { ...COLUMNS[6], head: "Use" }];

/* ---- cells ---- */

function nameCell({ name, isCohort, depth, folded: isFolded }, ns) {
  const words = isCohort ? h("button", { type: "button", class: "fold", "data-cohort": name, "aria-expanded": String(!isFolded) }, name, h("span", { class: "faint" }, " Cohort"))
    : link(["queue", name], name, { namespace: ns });
  const cell = h("th", { scope: "row" }, words);
  cell.style.paddingLeft = `${10 + 18 * depth}px`;
  return cell;
}

// Of who sees one namespace: hers, of all.
function numberCell(row, all, mine = 0) {
  return row.others ? `${mine.toLocaleString("en")} of ${all.toLocaleString("en")}` : all.toLocaleString("en");
}

function waitingCell(row, ns) {
  const words = numberCell(row, row.waiting, row.mine.waiting);
  return row.isCohort ? words : link(["jobs"], words, { clusterQueue: row.name, state: "Waiting", namespace: ns });
}

function nextCell({ nextStart, next }) {
  if (!nextStart) return "";
  const words = next <= Date.now() ? "any moment" : `~${shortly(nextStart.at)}`;
  const { namespace, name, p90 } = nextStart, title = `${namespace}/${name}${p90 ? `, 90 % sure by ${shortly(p90)}` : ""}`;
  return h("a", { href: address(["job", namespace, name]), title }, words);
}

function dayWords(resource, held) {
  const average = held.reduce((all, n) => all + n, 0) / Math.max(1, held.length);
  return `last 24 hours: average ${amount(resource, average)}, at most ${amount(resource, Math.max(0, ...held))} ${resource}`;
}

function dayOf(name, { flavor, resource }) {
  return lastDayOf(name)?.flavors.find((one) => one.name === flavor && one.resource === resource)?.units;
}

function useLine(row, use, isLong) {
  const held = isLong && !row.isCohort && lastDayOf(row.name) ? dayOf(row.name, use) || [0, 0] : null;
  return h("div", { class: "held-of" }, h("span", { class: "of" }, `${use.flavor} ${use.resource}`), useStack(use), h("span", { class: "faint small" }, useWords(use)),
    isLong ? (held ? spark(held, Math.max(use.quota, ...held), dayWords(use.resource, held)) : h("span")) : "");
}

function useCell(row, isLong) {
  const shown = row.uses.slice(0, LINES_MAX), more = row.uses.length - shown.length;
  return [shown.map((use) => useLine(row, use, isLong)), more > 0 ? link(["queue", row.name], `and ${more} more`) : ""];
}

// Whose quota is free in the same Cohort, which is what is lent: names, the largest first.
function lenders(row, use, rows) {
  const free = (one) => one.uses.filter((u) => u.flavor === use.flavor && u.resource === use.resource).reduce((all, u) => all + u.quota - u.held, 0);
  return rows.filter((one) => !one.isCohort && one !== row && one.cohort === row.cohort && free(one) > 0).sort((a, b) => free(b) - free(a)).map((one) => one.name);
}

function borrowsCell(row, rows) {
  const words = row.uses.filter(({ borrowed }) => borrowed).map((use) => {
    const from = row.isCohort ? [] : lenders(row, use, rows);
    const where = `${row.cohort}${from.length ? `: free at ${from.slice(0, 3).join(", ")}` : ""}`;
    return h("div", {}, `${use.borrowed} ${use.resource} of ${use.flavor} `, h("span", { class: "faint small" }, where));
  });
  return [words, share(row.queue.status) ? h("div", { class: "faint small" }, share(row.queue.status)) : ""];
}

function cellOf(key, row, rows, ns) {
  const cells = {
    state: () => (row.isCohort ? "" : stateBadge(row.queue)), running: () => numberCell(row, row.running, row.mine.running), waiting: () => waitingCell(row, ns),
    ahead: () => row.others?.ahead?.toLocaleString("en"), oldest: () => row.mine.oldestQueuedAt && time(row.mine.oldestQueuedAt, since(row.mine.oldestQueuedAt)),
    next: () => nextCell(row), use: () => useCell(row, !ns), borrows: () => borrowsCell(row, rows),
  };
  return cells[key]();
}

function saysRow(row, columns) {
  const said = [complaints({ ...row.queue, exists: row.isCohort || row.queue.exists }), row.isCohort ? "" : troubleBadges(row.queue)].flat(2).filter(Boolean);
  return said.length ? h("tr", { class: "says" }, h("td", { colspan: columns.length }, said)) : "";
}

function drawRow(row, columns, rows, ns) {
  const cells = columns.slice(1).map(({ key, head, class: name }) => h("td", { class: name, "data-head": head }, cellOf(key, row, rows, ns)));
  return [h("tr", { class: row.isCohort ? "of-cohort" : undefined, "data-day": row.isCohort || ns ? undefined : row.name }, nameCell(row, ns), cells), saysRow(row, columns)];
}

/* ---- the tree ---- */

const foldedCohorts = new Set(); // for as long as the person stays
session.onChange(() => foldedCohorts.clear());

// Rows in the order that is shown, each with its depth. Cohorts without a parent that is known come first; those of a
// circle, which have none, then; queues of no Cohort last. A Cohort's row adds up all queues below it, shown or not.
function treeOf(rows, cohorts, order, isNarrowed) {
  const left = new Set(cohorts.map((cohort) => cohort.metadata.name)), names = new Set(left), all = [];
  function add(cohort, depth) {
    const { name } = cohort.metadata, at = all.length, below = rows.filter((row) => row.cohort === name), isFolded = foldedCohorts.has(name);
    left.delete(name);
    all.push(null, ...order(below).map((row) => ({ ...row, depth: depth + 1 })));
    for (const child of cohorts) if (child.spec.parentName === name && left.has(child.metadata.name)) below.push(...add(child, depth + 1));
    const isEmpty = isNarrowed && all.length === at + 1;
    all[at] = { ...cohortRow(cohort, below), depth, folded: isFolded };
    if (isEmpty || isFolded) all.length = isEmpty ? at : at + 1;
    return below;
  }
  for (const cohort of cohorts) if (!names.has(cohort.spec.parentName)) add(cohort, 0);
  for (const cohort of cohorts) if (left.has(cohort.metadata.name)) add(cohort, 0);
  return [...all, ...order(rows.filter((row) => !names.has(row.cohort))).map((row) => ({ ...row, depth: 0 }))];
}

/* ---- which are shown ---- */

const ONLY = [["all", () => true], ["waiting", (row) => row.waiting > 0], ["closed", (row) => row.state !== "Open"],
  ["borrowing", (row) => row.uses.some((use) => use.borrowed)], ["in trouble", (row) => row.troubled]];

function matches(row, params) {
  const text = (params.get("text") || "").trim().toLowerCase(), [, holds] = ONLY.find(([word]) => word === params.get("only")) || ONLY[0];
  return holds(row) && [row.name, row.cohort, ...row.uses.map((use) => use.flavor)].some((word) => word.toLowerCase().includes(text));
}

/* ---- the page ---- */

const NONE = ["There is no ClusterQueue yet. Create one, and a LocalQueue in a namespace that names it.", "kubectl explain clusterqueue.spec"];
const NO_OWN = ["No LocalQueue of this namespace leads to a queue, so no Job can enter one. An admin creates it.", "kubectl explain localqueue.spec"];

function dayTable(rows) {
  const lately = (name, use) => (dayOf(name, use) ? dayWords(use.resource, dayOf(name, use)) : lastDayOf(name) ? "not used" : "not asked yet");
  const of = ({ name, uses }) => uses.map((use) => [name, `${use.flavor} ${use.resource}`, useWords(use), lately(name, use)]);
  return folded("Use and the last 24 hours, as a table", table("Use", ["Queue", "Of", "Held", "Last 24 hours"], rows.filter((row) => !row.isCohort).flatMap(of)));
}

function queueTable(told, known, params, ns) {
  const columns = ns ? OWN_COLUMNS : COLUMNS, all = told.clusterQueues.map((queue) => queueRow(queue, known));
  const order = (rows) => sorted(rows.filter((row) => matches(row, params)), columns, params, (a, b) => a.name.localeCompare(b.name));
  const rows = treeOf(all, told.cohorts || [], order, params.has("text") || params.has("only")), shown = rows.slice(0, ROWS_MAX);
  if (!rows.length) return empty("No queues match this filter.");
  return [h("div", { class: "scroll card", tabindex: "0", role: "region", "aria-label": "Queues" }, h("table", { class: "queues" }, h("caption", { class: "hidden" }, "Queues"),
    h("thead", {}, h("tr", {}, columns.map((column) => sortHead("queues", column, columns, params)))),
    h("tbody", {}, shown.flatMap((row) => drawRow(row, columns, all, ns))))),
    shown.length < rows.length ? h("p", { class: "faint" }, `The first ${ROWS_MAX} of ${rows.length} rows: narrow them by the filter.`) : "", useLegend(),
    ns ? h("p", { class: "faint small" }, "1 of 4: yours, of all in the queue. Ahead: Jobs of other namespaces before your first. Of those only sums are told.") : dayTable(shown)];
}

const byKey = (list, key) => new Map((list || []).map((one) => [one[key], one]));

export async function queuesPage(page) {
  const { content, signal } = page, params = new URLSearchParams(page.params), ns = namespaceOf(page), part = h("div", { "data-own": true }, skeleton("rows", 6));
  let told, known = { groups: new Map(), others: new Map() };
  const show = () => {
    if (!told || signal.aborted) return;
    draw(part, warnings(told), told.clusterQueues.length ? queueTable(told, known, params, ns) : empty(...(ns ? NO_OWN : NONE)));
  };
  part.addEventListener("click", ({ target }) => {
    const name = target.closest("[data-cohort]")?.dataset.cohort;
    if (name === undefined) return;
    if (!foldedCohorts.delete(name)) foldedCohorts.add(name);
    show();
  });
  draw(content, narrowing({ title: "Queues", place: "queues", params, hint: "queue, Cohort or flavor", label: "Which queues",
    choices: ONLY.map(([word]) => [word, { only: word === "all" ? "" : word }]), current: params.get("only") || "all" }, show), part);
  partAgain(SUMMARY_MS, page, async () => {
    const summary = await orNull(summaries(ns, "queue", signal));
    known = { groups: byKey(summary?.groups, "key"), others: byKey(summary?.others, "clusterQueue") };
    show();
  }, () => {});
  if (!ns) followSeen(page, part, show);
  await again(LOOK_MS, page, async () => {
    told = await queues(signal, ns);
    show();
  });
}
