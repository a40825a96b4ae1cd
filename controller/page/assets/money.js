// Costs: what Budgets have left and how long that lasts, and what was used and what it cost.

import { budgets } from "./api.js";
import { stack } from "./chart.js";
import { draw, faint, h, link, table, warning } from "./dom.js";
import { choice, field, namespaceField, question } from "./form.js";
import { remarks, showPast, SINCE } from "./history.js";
import { partAgain } from "./live.js";
import { lacksQueues, whoSeesQueues } from "./rights.js";
import { cents, dayIn, money, span, spanIfKnown } from "./words.js";

const LOOK_MS = 10_000;

/* ---- Budgets ---- */

// `until` is the midnight after it.
function lastDay(b) {
  return dayIn(b.timeZone, new Date(b.until) - 1);
}

function period(b) {
  if (!b.until) return "";
  const first = dayIn(b.timeZone, b.from), last = lastDay(b);
  return `, ${first === last ? first : `${first} to ${last}`} (${b.timeZone})`;
}

// "this month", by how many days it has.
function periodName(b) {
  const length = Math.round((new Date(b.until) - new Date(b.from)) / 86_400_000);
  const name = { 1: "today", 7: "this week", 28: "this month", 29: "this month", 30: "this month", 31: "this month", 365: "this year", 366: "this year" }[length];
  return name || `by ${lastDay(b)}`;
}

// "On course for EUR 0.17 of 40.00 this month (0 %)."
function pace(b) {
  const all = Number(b.amount);
  if (!b.until) return "";
  if (b.forecast === undefined) return "It is too early in this period for a forecast.";
  const share = all > 0 ? ` (${Math.round((100 * Number(b.forecast)) / all)} %)` : "";
  const end = b.exhaustedAt && new Date(b.exhaustedAt) > Date.now() ? ` The budget would be spent on ${dayIn(b.timeZone, b.exhaustedAt)}.` : "";
  return `On course for ${b.currency} ${cents(b.forecast)} of ${cents(b.amount)} ${periodName(b)}${share}.${end}`;
}

function queueLink(b) {
  if (b.clusterQueue) return link(["queue", b.clusterQueue], `ClusterQueue ${b.clusterQueue}`);
  return link(["jobs"], `LocalQueue ${b.namespace}/${b.localQueue}`, { namespace: b.namespace, queue: b.localQueue });
}

function budget(b) {
  const forecast = b.forecast === undefined ? [] : [["forecast", Number(b.forecast)]];
  return h("article", { class: "card" }, h("h3", {}, b.name), faint("of ", queueLink(b), period(b)),
    b.active ? "" : warning(`${b.reason}: ${b.message}`),
    stack([["own", Number(b.spent)], ["reserved", Number(b.reserved)]], Math.max(Number(b.amount), Number(b.spent) + Number(b.reserved)), Number(b.amount)),
    h("p", {}, `Spent ${cents(b.spent)}, reserved ${cents(b.reserved)}, left ${cents(b.remaining)} of ${money(b.amount, b.currency)}.`), h("p", {}, pace(b)));
}

function drawBudgets(part, told) {
  draw(part, told.budgets.length ? h("div", { class: "cards" }, told.budgets.map(budget))
    : h("p", {}, "There is no Budget. A Budget limits what a queue may spend: kubectl explain budget.spec."));
}

/* ---- the report ---- */

const BY = [["queue", "queue"], ["namespace", "team"], ["user", "user"], ["owner", "owner (CronJob or family)"], ["label", "label"]];
const HEADS = ["Key", "Jobs", "Starts", "Ended", "Wait p50", "Wait p99", "CPU hours", "GPU hours", "Pod time lost", "Cost"];

function ended(counts) {
  return Object.entries(counts).sort(([, a], [, b]) => b - a).map(([reason, n]) => `${n} ${reason}`).join(", ");
}

function cells(row, name) {
  return [name, String(row.jobs), String(row.starts), ended(row.ended), spanIfKnown(row.waitP50Seconds), spanIfKnown(row.waitP99Seconds),
    (row.cpuHours || 0).toFixed(1), (row.gpuHours || 0).toFixed(1), span(row.lostSeconds || 0), money(row.cost, row.currency)];
}

function report(told) {
  if (!told.rows.length) return h("p", {}, "No run started in this period.");
  return [table("What was used, and what it cost", HEADS, [...told.rows.map((row) => cells(row, row.key || (row.key === null ? "(none)" : "(empty)"))),
    ...told.totals.map((row) => cells(row, "All"))]), remarks(told)];
}

// Has the question all its words? by=label wants a key.
function words(params) {
  const by = params.get("by") || "queue", label = params.get("label") || "";
  return { by: by === "label" ? label && `label=${label}` : by, since: params.get("since") || "month" };
}

export async function moneyPage(page) {
  const { content, params, signal } = page, part = { budgets: h("div", { "data-own": true }), report: h("div", { "data-own": true }) };
  draw(content, h("h2", {}, "Budgets"), part.budgets, h("h2", {}, "Report"),
    question(["money"], "What to add up", choice("by", "By", BY, params.get("by") || "queue"), field("label", "Label", params.get("label"), "team"),
      choice("since", "Since", SINCE, params.get("since") || "month"), namespaceField(params)), part.report);
  if (lacksQueues()) draw(part.budgets, whoSeesQueues());
  else partAgain(LOOK_MS, page, async () => drawBudgets(part.budgets, await budgets(signal)), (sentence) => draw(part.budgets, warning(sentence)));
  const asked = words(params);
  if (!asked.by) return draw(part.report, h("p", {}, "Enter the label to add up by, such as team."));
  await showPast(page, part.report, "reports", asked, report);
}
