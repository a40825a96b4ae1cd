// What was: each run, the newest first. The words of the question are in the address.

import { past } from "./api.js";
import { draw, h, jobLink, table } from "./dom.js";
import { choice, field, namespaceField, question } from "./form.js";
import { why } from "./story.js";
import { count, money, span, time } from "./words.js";

export const SINCE = [["day", "today"], ["24h", "24 hours"], ["7d", "7 days"], ["month", "this month"], ["30d", "30 days"], ["year", "this year"]];

export function remarks(told) {
  return [told.more ? h("p", { class: "faint" }, "There are more: these are the first 1,000. Narrow the question.") : "", told.note ? h("p", { class: "faint" }, told.note) : ""];
}

function runs(told) {
  if (!told.runs.length) return h("p", {}, "No run was in that time. Ask for a longer one, or for another namespace.");
  return table(count(told.runs.length, "run"), ["Job", "Run", "User", "Queued", "Started", "Ran", "Why it ended", "Work lost", "Cost"], told.runs.map((run) => [
    jobLink(run.namespace, run.job), String(run.attempt), run.submittedBy || "", time(run.queuedAt), time(run.startedAt),
    run.runSeconds === undefined ? "" : span(run.runSeconds), why(run), run.lostSeconds ? span(run.lostSeconds) : "", money(run.cost, run.currency)]));
}

export async function historyPage({ content, params, signal }) {
  const since = params.get("since") || "7d", answer = h("div");
  const told = past("histories", params.get("namespace"), { since, user: params.get("user") || "", job: params.get("job") || "" }, signal);
  draw(content, h("h2", {}, "History"), question(["history"], "Which runs", namespaceField(params), choice("since", "Since", SINCE, since),
    field("job", "Job", params.get("job")), field("user", "User", params.get("user"))), answer);
  const shown = await told;
  if (!signal.aborted) draw(content.lastChild, runs(shown), remarks(shown));
}
