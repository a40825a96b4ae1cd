// What was: each run, and sums of them. The words of the question are in the address.

import { past } from "./api.js";
import { h, link, span, table, time } from "./dom.js";

function choice(name, label, values, value) {
  return h("label", {}, label, h("select", { name }, values.map(([v, text]) => h("option", { value: v, selected: v === value }, text))));
}

const SINCE = [["day", "today"], ["7d", "7 days"], ["month", "this month"], ["30d", "30 days"], ["year", "this year"]];

function ask(page, fields) {
  return h("form", { class: "ask", onchange: (event) => {
    location.hash = `#/${page}?${new URLSearchParams(new FormData(event.currentTarget))}`;
  } }, fields);
}

function remarks(told) {
  return [told.more ? h("p", {}, "There are more: these are the first 1,000.") : "", told.note ? h("p", {}, told.note) : ""];
}

function why(run) {
  if (run.state !== "Ended") return run.state;
  return run.preemptor ? `${run.reason} for ${run.preemptor}` : run.reason || "";
}

export async function historyPage({ content, params, signal }) {
  const since = params.get("since") || "7d", told = await past("histories", { since, user: params.get("user") || "" }, signal);
  content.replaceChildren(h("h2", {}, "History"), ask("history", [choice("since", "Since", SINCE, since)]),
    table(`${told.runs.length} runs`, ["Job", "Run", "User", "Queued", "Started", "Ran", "Why it ended", "Lost", "Cost"], told.runs.map((run) => [
      link(`#/job/${run.namespace}/${run.job}`, `${run.namespace}/${run.job}`), String(run.attempt), run.submittedBy || "", time(run.queuedAt), time(run.startedAt),
      run.runSeconds === undefined ? "" : span(run.runSeconds), why(run), run.lostSeconds ? span(run.lostSeconds) : "", run.cost ? `${run.cost} ${run.currency}` : ""])),
    ...remarks(told).filter(Boolean));
}

const BY = [["queue", "queue"], ["namespace", "team"], ["user", "user"], ["owner", "CronJob or family"]];

function ended(counts) {
  return Object.entries(counts).sort(([, a], [, b]) => b - a).map(([reason, n]) => `${n} ${reason}`).join(", ");
}

export async function moneyPage({ content, params, signal }) {
  const by = params.get("by") || "queue", since = params.get("since") || "month", told = await past("reports", { by, since }, signal);
  const line = (row, name) => [name, String(row.jobs), String(row.starts), ended(row.ended), row.waitP50Seconds === null ? "" : span(row.waitP50Seconds),
    row.waitP99Seconds === null ? "" : span(row.waitP99Seconds), row.cpuHours.toFixed(1), row.gpuHours.toFixed(1), span(row.lostSeconds), row.cost ? `${row.cost} ${row.currency}` : ""];
  content.replaceChildren(h("h2", {}, "Money"), ask("money", [choice("by", "By", BY, by), choice("since", "Since", SINCE, since)]),
    table("What was used, and what it cost", ["", "Jobs", "Starts", "Ended", "Wait, median", "Wait, 99 %", "CPU hours", "GPU hours", "Lost", "Cost"],
      [...told.rows.map((row) => line(row, row.key === null ? "(none)" : row.key)), ...told.totals.map((row) => line(row, "total"))]),
    ...remarks(told).filter(Boolean));
}
