// Why a Job waits, as a tree: its own sentence, clause by clause; the items of its sluice.dev/after, and the Jobs that
// block each, with their own sentences and what those wait for; the line, the window and the budget that it meets.

import { budgets, job, orNull, week } from "./api.js";
import { stateBadge } from "./badges.js";
import { faint, h, jobLink, link } from "./dom.js";
import { graph } from "./graph.js";
import { lacksQueues, queueLink } from "./rights.js";
import { windowWords } from "./week.js";
import { cents, count, money, moment, since } from "./words.js";

const DEPTH_MAX = 4, LOOKED_UP_MAX = 12;

/* ---- the Jobs that it waits for ---- */

// Looks up the Jobs that block this one, those that block them, and so on: a Map of name to Job, or to null where there
// is none now. A few levels, a few Jobs, each once.
async function lookAround(namespace, root, signal) {
  const known = new Map([[root.metadata.name, root]]);
  let level = [root];
  for (let depth = 0; depth < DEPTH_MAX && level.length; depth++) {
    const names = new Set(level.filter(Boolean).flatMap(blockers).filter((name) => !known.has(name)));
    const some = [...names].slice(0, LOOKED_UP_MAX - known.size + 1);
    level = await Promise.all(some.map((name) => orNull(job(namespace, name, signal), 404)));
    some.forEach((name, i) => known.set(name, level[i]));
  }
  return known;
}

function waited({ status }) {
  return status.startedAt ? [] : (status.after || []).filter((item) => item.state !== "Holds");
}

function blockers(one) {
  return waited(one).flatMap((item) => item.jobs || []);
}

const ENDED = "This Job neither waits nor runs now: it has ended or does not exist. Its page lists its runs.";

// A Job that stands in the tree already, above or beside, is not unfolded again.
function branch(namespace, name, tree) {
  const one = tree.known.get(name), isNew = !tree.drawn.has(name);
  tree.drawn.add(name);
  const words = one ? one.status.message : tree.known.has(name) ? ENDED : ""; // not looked up: the bounds
  return h("li", {}, jobLink(namespace, name), " ", one ? stateBadge(one) : "",
    words ? h("p", {}, words) : "", one && isNew ? items(namespace, one, tree) : "");
}

// What a selector takes can be looked at: {stage=shards}
function itemWords(namespace, { item, state }) {
  const labels = item.match(/\{([^{}]+)\}/)?.[1], name = labels ? link(["jobs"], item, { namespace, labels }) : h("code", {}, item);
  return [name, state === "Never" ? h("span", { class: "warning" }, " can no longer be met") : " is not met yet"];
}

function blockersOf(namespace, { jobs = [], more }, tree) {
  if (!jobs.length && !more) return "";
  return h("ul", {}, jobs.map((name) => branch(namespace, name, tree)), more ? h("li", {}, `and ${count(more, "other Job")}`) : "");
}

function items(namespace, one, tree) {
  const all = waited(one).map((item) => h("li", {}, itemWords(namespace, item), blockersOf(namespace, item, tree)));
  return all.length ? h("ul", {}, all) : "";
}

function held({ status }) {
  const all = status.after || [], holding = all.filter((item) => item.state === "Holds");
  return holding.length && holding.length < all.length ? faint(`Met: ${holding.map((item) => item.item).join(", ")}.`) : "";
}

/* ---- line, window, budget ---- */

function ahead({ spec, status }) {
  if (!status.position) return "";
  const words = status.position === 1 ? "First in line" : `${count(status.position - 1, "Job")} ahead of it`;
  return h("li", {}, `${words}: `, queueLink(spec.clusterQueue, `queue of ${spec.clusterQueue}`, { at: status.rank }));
}

const WINDOW = new Set(["OutsideWindow", "WindowTooShort"]);

function openings(told) {
  return told.windows.map((window) => h("li", {}, `The window of RunPolicy ${window.policy} is ${windowWords(told, window)}.`));
}

function budgetsOf({ spec, metadata }, all) {
  const isIts = (b) => b.clusterQueue === spec.clusterQueue || (b.namespace === metadata.namespace && b.localQueue === spec.queue);
  const words = (b) => ` has ${money(b.remaining, b.currency)} left of ${cents(b.amount)}${b.until ? `, until ${moment(b.until)}` : ""}.`;
  return all.budgets.filter(isIts).map((b) => h("li", {}, link(["money"], `Budget ${b.name}`), words(b)));
}

// Who may not see queues is told no more than the sentence says.
async function circumstances(known, signal) {
  if (lacksQueues()) return [];
  const { reason } = known.status, queue = known.spec.clusterQueue;
  const ofWeek = WINDOW.has(reason) && queue ? await orNull(week(queue, signal)) : null;
  const ofBudgets = reason === "BudgetExhausted" ? await orNull(budgets(signal)) : null;
  return [ofWeek ? openings(ofWeek) : "", ofBudgets ? budgetsOf(known, ofBudgets) : ""];
}

/* ---- all of it ---- */

const IN_LINE = /^(it is first|[\d,]+ Jobs? (is|are) ahead of it) in ClusterQueue /; // ahead() says it, with a link

function clauses({ message, position }) {
  const parts = message.split("; ").slice(1).filter((part) => !position || !IN_LINE.test(part));
  return parts.length ? h("ul", {}, parts.map((part) => h("li", {}, part))) : "";
}

// { why: its sentence and its circumstances; after: the items of sluice.dev/after as a picture and as a list, or "" }
export async function whyItWaits(known, signal) {
  const { metadata, status } = known, { namespace, name } = metadata;
  const tree = { known: await lookAround(namespace, known, signal), drawn: new Set([name]) }, list = [items(namespace, known, tree), held(known)];
  const why = h("div", { class: "why" }, h("p", { class: "sentence" }, status.message.split("; ")[0]), clauses(status), h("ul", {},
    status.reason && status.queuedAt ? h("li", {}, `Queued ${since(status.queuedAt)} ago: ${status.reason}.`) : "",
    status.startAt ? h("li", {}, `Cannot start before ${moment(status.startAt)}.`) : "",
    await circumstances(known, signal), ahead(known)));
  return { why, after: waited(known).length ? graph(namespace, known, tree.known, waited, h("div", { class: "why" }, list)) : "" };
}
