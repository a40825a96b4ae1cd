// What needs somebody: Jobs that do not run or never can, Budgets that are spent, runs that are stopped again and
// again. Each with what cures it.

import { reasonBadge } from "./badges.js";
import { faint, h, jobLink, link } from "./dom.js";
import { lacksQueues } from "./rights.js";
import { badge } from "./ui.js";
import { cents, count, dayIn, money, since, span } from "./words.js";

const CHURN_STOPS = 10; // as many in an hour are no accident

function sentenceOf(text) {
  return text && !/[.!?]$/.test(text) ? `${text}.` : text || "";
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function item(mark, name, words, cure = "") {
  return h("li", {}, mark, h("span", {}, name), h("p", { title: words }, words), cure ? h("p", { class: "cure" }, cure) : "");
}

// "vision/lr-1 and 35 alike"
function nameOf({ namespace, name, jobs = 1 }) {
  return [jobLink(namespace, name), jobs > 1 ? h("span", { class: "faint" }, ` and ${(jobs - 1).toLocaleString("en")} alike`) : ""];
}

function ofJob(one) {
  const { word, message, cure } = one;
  return item(reasonBadge(word), [nameOf(one), one.since ? h("span", { class: "faint small" }, ` · for ${since(one.since)}`) : ""],
    capital(sentenceOf(message)), capital(sentenceOf(cure)));
}

// attention: as a summary has it, worst first. more: further items, as budgetItems() and churnItem() make them.
export function attentionList(attention, max = 100, more = []) {
  const shown = attention.slice(0, max), left = attention.length - shown.length;
  if (!shown.length && !more.length) return faint("Nothing needs you now.");
  return [h("ul", { class: "attention" }, shown.map(ofJob), more), left ? faint(`And ${left} more.`) : ""];
}

/* ---- Budgets ---- */

function spent(b) {
  const until = b.until ? ` until ${dayIn(b.timeZone, b.until)}` : "";
  return item(badge("Budget spent", "bad"), link(["money"], b.name), `${money(b.spent, b.currency)} of ${cents(b.amount)} are spent${until}.`,
    "Raise spec.amount, or wait for the next period.");
}

function willBeSpent(b) {
  return item(badge("Budget", "warn"), link(["money"], b.name),
    `${money(b.spent, b.currency)} of ${cents(b.amount)} are spent: at this pace the rest lasts until ${dayIn(b.timeZone, b.exhaustedAt)}.`);
}

// Items that are no Jobs: { word: what the figure says of it, element }. budgets: as a BudgetReport has them.
export function budgetItems(budgets) {
  const open = budgets.filter((b) => b.active);
  const over = open.filter((b) => Number(b.remaining) <= 0), soon = open.filter((b) => Number(b.remaining) > 0 && b.exhaustedAt && new Date(b.exhaustedAt) < new Date(b.until));
  return [...over.map((b) => ({ word: "budget spent", element: spent(b) })), ...soon.map((b) => ({ word: "budget", element: willBeSpent(b) }))];
}

/* ---- churn ---- */

const BY_ITSELF = new Set(["Finished", "Failed", "Deleted", "Held"]);

// True: a run ended because Sluice stopped it.
export function isStopped(reason) {
  return Boolean(reason) && !BY_ITSELF.has(reason);
}

const MIN_RUN = "minRun of a ClusterQueue spares runs that are young.";
const OF_ONE = "A higher class, checkpoints or shorter runs help. An admin can set minRun of the ClusterQueue, which spares runs that are young.";

// report: a UsageReport of the last hour: of runs that started in it. namespace: of which it is, or "".
export function churnItem({ totals }, namespace) {
  const [all] = totals, ended = Object.entries(all?.ended || {}).filter(([reason]) => isStopped(reason));
  const stops = ended.reduce((sum, [, n]) => sum + n, 0), lost = totals.reduce((sum, row) => Math.max(sum, row.lostSeconds || 0), 0);
  if (stops < CHURN_STOPS) return [];
  const why = ended.sort(([, a], [, b]) => b - a).map(([reason, n]) => `${n} ${reason}`).join(", ");
  const place = link(["history"], `${count(stops, "run")} of the last hour were stopped`, { namespace, since: "1h", show: "stopped" });
  return [{ word: "churn", element: item(badge("Churn", "warn"), place, `${why}. ${span(lost)} of pod time are lost.`, lacksQueues() ? OF_ONE : MIN_RUN) }];
}
