// Why a Job waits, as a tree: its own sentence, clause by clause; the Jobs that it waits for, each with its own
// sentence, and what those wait for; the line, the window and the budget that it meets.

import { budgets, job, Refusal, week } from "./api.js";
import { h, jobLink, link } from "./dom.js";
import { count, money, moment, since } from "./words.js";

const DEPTH_MAX = 4, LOOKED_UP_MAX = 12;
const NAME = "[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?";
// The places of a sentence of queue/explain/explain_dependencies.c where the name of a Job stands.
const PLACES = [`waits (?:in vain )?for (?:after[a-z]*:)?(${NAME})(?=[ ,:;]|$)`, `(?:: |; )(${NAME}) (?:succeeded|failed|was deleted)`, `(${NAME}) itself waits`, `singleton: (${NAME}) `];
const WAITS_FOR_JOBS = new Set(["WaitingForDependency", "DependencyNeverSatisfied"]);

function namesIn({ reason, message = "" }, self) {
  if (!WAITS_FOR_JOBS.has(reason)) return [];
  const names = PLACES.flatMap((place) => [...message.matchAll(new RegExp(place, "g"))].map((found) => found[1]));
  return [...new Set(names)].filter((name) => name !== self);
}

// A selector stands in braces.
function selectorsIn({ reason, message = "" }) {
  return WAITS_FOR_JOBS.has(reason) ? [...message.matchAll(/\{([^{}]+)\}/g)].map((found) => found[1]) : [];
}

/* ---- the Jobs that it waits for ---- */

async function lookUp(namespace, name, signal) {
  try {
    return await job(namespace, name, signal);
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return null;
    throw error;
  }
}

// {name, job, children, isCut}: a few levels of what is known; each Job once.
async function treeOf(namespace, name, known, search, depth) {
  const names = known ? namesIn(known.status, name).filter((n) => !search.seen.has(n)) : [], children = [];
  for (const other of names) {
    if (depth === DEPTH_MAX || search.seen.size >= LOOKED_UP_MAX) return { name, job: known, children, isCut: true };
    search.seen.add(other);
    children.push(await treeOf(namespace, other, await lookUp(namespace, other, search.signal), search, depth + 1));
  }
  return { name, job: known, children };
}

function branch(namespace, node) {
  const { status } = node.job || {};
  return h("li", {}, jobLink(namespace, node.name), " ", status ? h("span", { class: `state ${status.state}` }, status.state) : "",
    h("p", {}, status ? status.message : "It does not wait or run now: it has ended, or there is none. Its page has its runs."), branches(namespace, node));
}

function branches(namespace, { children, isCut }) {
  if (!children.length && !isCut) return "";
  return h("ul", {}, children.map((child) => branch(namespace, child)), isCut ? h("li", {}, "There are more behind these.") : "");
}

/* ---- line, window, budget ---- */

function ahead({ spec, status }) {
  if (!status.position) return "";
  const words = status.position === 1 ? "It is the first in line" : `${count(status.position - 1, "Job")} ahead of it`;
  return h("li", {}, `${words}: `, link(["queue", spec.clusterQueue], `the line of ${spec.clusterQueue}`, { at: status.position }));
}

const WINDOW = new Set(["OutsideWindow", "WindowTooShort"]);

function opening({ windows }) {
  return windows.map(({ policy, open }) => {
    const next = open.find((span) => new Date(span.until) > Date.now());
    const words = !next ? "does not open in these seven days" : new Date(next.from) <= Date.now() ? `is open until ${moment(next.until)}` : `opens ${moment(next.from)}, until ${moment(next.until)}`;
    return h("li", {}, `The window of RunPolicy ${policy} ${words}.`);
  });
}

function purse({ spec, metadata }, all) {
  const isIts = (b) => b.clusterQueue === spec.clusterQueue || (b.namespace === metadata.namespace && b.localQueue === spec.queue);
  return all.budgets.filter(isIts).map((b) => h("li", {}, link(["money"], `Budget ${b.name}`), ` has ${money(b.remaining, b.currency)} left of ${b.amount}, until ${moment(b.until)}.`));
}

// Who may not see queues is told no more than the sentence says.
async function seen(question) {
  try {
    return await question;
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

async function circumstances(known, signal) {
  const { reason } = known.status, queue = known.spec.clusterQueue;
  const windows = WINDOW.has(reason) && queue ? await seen(week(queue, signal)) : null;
  const money_ = reason === "BudgetExhausted" ? await seen(budgets(signal)) : null;
  return [windows ? opening(windows) : "", money_ ? purse(known, money_) : ""];
}

/* ---- all of it ---- */

function clauses(message) {
  const parts = message.split("; ");
  return parts.length > 1 ? h("ul", {}, parts.slice(1).map((part) => h("li", {}, part))) : "";
}

export async function whyItWaits(known, signal) {
  const { metadata, status } = known, { namespace, name } = metadata;
  const tree = await treeOf(namespace, name, known, { seen: new Set([name]), signal }, 0);
  return h("div", { class: "why" }, h("p", { class: "sentence" }, status.message.split("; ")[0]), clauses(status.message), h("ul", {},
    status.reason && status.queuedAt ? h("li", {}, `It has waited for ${since(status.queuedAt)}: ${status.reason}.`) : "",
    status.startAt ? h("li", {}, `Time alone lets it start at ${moment(status.startAt)}, if it fits then.`) : "", await circumstances(known, signal), ahead(known),
    selectorsIn(status).map((labels) => h("li", {}, "Jobs with the labels ", link(["jobs"], labels, { namespace, labels })))), tree.children.length ? h("p", {}, "What it waits for:") : "", branches(namespace, tree));
}
