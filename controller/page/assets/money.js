// Costs: what each day cost, by team or by what is asked for; what Budgets have left and how long that lasts; and the
// report that adds it up.

import { orNull, summaries } from "./api.js";
import { showBudgets } from "./budgets.js";
import { drawDays, keyOf } from "./byday.js";
import { beginOf, daysOf, reportsOf } from "./days.js";
import { draw, h, link, table, warning } from "./dom.js";
import { choice, field, namespaceField, question } from "./form.js";
import { remarks, showPast, SINCE } from "./history.js";
import { partAgain } from "./live.js";
import { lacksQueues } from "./rights.js";
import { card, empty, figure, segments, skeleton } from "./ui.js";
import { count, money, span, spanIfKnown } from "./words.js";

/* ---- the report ---- */

const BY = [["queue", "queue"], ["namespace", "team"], ["user", "user"], ["owner", "owner (CronJob or family)"], ["label", "label"]];
const HEADS = ["Key", "Cost", "Pod time lost", "Jobs", "Starts", "Ended", "Wait p50", "Wait p99", "CPU hours", "GPU hours"];

function ended(counts) {
  return Object.entries(counts).sort(([, a], [, b]) => b - a).map(([reason, n]) => `${n} ${reason}`).join(", ");
}

function cells(row, name) {
  return [name, money(row.cost, row.currency), span(row.lostSeconds || 0), String(row.jobs), String(row.starts), ended(row.ended),
    spanIfKnown(row.waitP50Seconds), spanIfKnown(row.waitP99Seconds), (row.cpuHours || 0).toFixed(1), (row.gpuHours || 0).toFixed(1)];
}

function figures({ totals }) {
  const costs = totals.filter(({ currency }) => currency).map((row) => money(row.cost, row.currency));
  const sum = (key) => totals.reduce((all, row) => all + (row[key] || 0), 0);
  const preempted = totals.reduce((all, { ended: counts }) => all + (counts.Preempted || 0), 0);
  return h("div", { class: "figures" },
    figure("Cost", costs.join(", ") || "-", costs.length ? "of runs that ended" : "nothing has a price"),
    figure("CPU hours", sum("cpuHours").toFixed(1), `${sum("gpuHours").toFixed(1)} GPU hours`),
    figure("Pod time lost", span(sum("lostSeconds")), preempted ? `${preempted.toLocaleString("en")} runs were preempted` : "", sum("lostSeconds") > 0 ? "warn" : ""),
    figure("Jobs", sum("jobs").toLocaleString("en"), `${sum("starts").toLocaleString("en")} starts`));
}

function report(told) {
  if (!told.rows.length) return empty("No run started in this period.");
  const rows = [...told.rows.map((row) => cells(row, keyOf(row))), ...told.totals.map((row) => cells(row, "All"))];
  return h("section", { class: "card report", "aria-label": "Report" }, table("What was used, and what it cost", HEADS, rows), remarks(told));
}

/* ---- the page ---- */

// Has the question all its words? by=label wants a key.
function words(params) {
  const by = params.get("by") || (params.get("namespace") ? "queue" : "namespace"), label = params.get("label") || "";
  return { by: by === "label" ? label && `label=${label}` : by, word: by, since: params.get("since") || "month" };
}

function toolbar(params, asked) {
  const others = Object.fromEntries(params), choices = SINCE.map(([value, text]) => [text, ["money"], { ...others, since: value }]);
  const current = SINCE.find(([value]) => value === asked.since)?.[1];
  return [h("div", { class: "toolbar", "data-own": true }, h("h2", {}, "Costs"), segments("Since", choices, current)),
    question(["money"], "What to add up", choice("by", "By", BY, asked.word), field("label", "Label", params.get("label"), "team"),
      h("input", { type: "hidden", name: "since", value: asked.since }), namespaceField(params))];
}

// Who sees one namespace sees no Budgets, but that Jobs wait for one.
async function showSpentBudgets(namespace, signal, part) {
  const told = await orNull(summaries(namespace, "queue", signal)), spent = told?.reasons.find(({ reason }) => reason === "BudgetExhausted");
  if (!spent) return;
  const jobs = link(["jobs"], `${count(spent.jobs, "Job")} of ${namespace}`, { namespace, state: "Waiting", reason: spent.reason });
  draw(part, h("h2", {}, "Budgets"), warning(jobs, ` ${spent.jobs === 1 ? "waits" : "wait"}, for a Budget has too little left for ${spent.jobs === 1 ? "it" : "them"} in this period. Its page says which.`));
}

export async function moneyPage(page) {
  const { content, params, signal } = page, own = (...inside) => h("div", { "data-own": true }, inside);
  const asked = words(params), namespace = params.get("namespace") || "", from = beginOf(asked.since), days = daysOf(from, Date.now());
  const part = { figures: own(skeleton("figures", 4)), days: own(skeleton("picture", 1)), budgets: own(lacksQueues() ? "" : skeleton("picture", 1)), report: own() };
  const byWord = (BY.find(([value]) => value === asked.word) || BY[1])[1].split(" ")[0], title = `By day and ${byWord}`;
  const drawn = (told) => drawDays(part.days, days, told, byWord);
  const remark = from < days[0].from ? "the last 31 days" : "a run counts on the day of its start";
  draw(content, toolbar(params, asked), part.figures, card(title, remark, part.days), lacksQueues() ? "" : h("h2", {}, "Budgets"), part.budgets, h("h2", {}, "Report"), part.report);
  if (lacksQueues()) showSpentBudgets(namespace, signal, part.budgets).catch(page.complain);
  else showBudgets(page, part.budgets);
  if (!asked.by) {
    draw(part.figures);
    draw(part.days);
    return draw(part.report, empty("Enter the label to add up by, such as team."));
  }
  partAgain(Infinity, page, () => reportsOf(namespace, asked.by, days, signal, drawn), (sentence) => draw(part.days, warning(sentence)));
  await showPast(page, part.report, "reports", { by: asked.by, since: new Date(from).toISOString() }, (told) => {
    draw(part.figures, figures(told));
    return report(told);
  });
}
