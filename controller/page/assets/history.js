// What was: each run, the newest first. The words of the question are in the address.

import { past, Refusal } from "./api.js";
import { draw, faint, h, jobLink, table, warning } from "./dom.js";
import { choice, field, namespaceField, question } from "./form.js";
import { partAgain } from "./live.js";
import { why } from "./story.js";
import { count, money, span, spanIfKnown, time } from "./words.js";

export const SINCE = [["day", "today"], ["24h", "24 hours"], ["7d", "7 days"], ["month", "this month"], ["30d", "30 days"], ["year", "this year"]];

const HEADS = ["Job", "Run", "User", "Queued", "Started", "Ran", "Why it ended", "Pod time lost", "Cost"];

export function remarks(told) {
  return [told.more ? faint("Only the first 1,000 rows are shown. Narrow the filters.") : "", told.note ? faint(told.note) : ""];
}

function runs(told) {
  if (!told.runs.length) return h("p", {}, "No runs in this period. Choose a longer period or another namespace.");
  return table(count(told.runs.length, "run"), HEADS, told.runs.map((run) => [
    jobLink(run.namespace, run.job), String(run.attempt), run.submittedBy || "", time(run.queuedAt), time(run.startedAt),
    spanIfKnown(run.runSeconds), why(run), run.lostSeconds ? span(run.lostSeconds) : "", money(run.cost, run.currency)]));
}

// The answer to a question about the past, below its form. One is enough; a ledger that is away is asked again.
export async function showPast(page, part, resource, words, drawn) {
  const namespace = page.params.get("namespace"), look = async () => draw(part, drawn(await past(resource, namespace, words, page.signal)));
  draw(part, faint("Loading ..."));
  await partAgain(Infinity, page, look, (sentence, { status }) => {
    if (status === 401) page.complain(new Refusal(status, sentence));
    else draw(part, h("div", { role: "alert" }, warning(sentence)), status === 403 ? faint("Or enter a namespace above in which you have a role.") : "");
  });
}

export async function historyPage(page) {
  const { content, params } = page, since = params.get("since") || "7d", answer = h("div", { "data-own": true });
  draw(content, h("h2", {}, "History"), question(["history"], "Which runs", namespaceField(params), choice("since", "Since", SINCE, since),
    field("job", "Job", params.get("job")), field("user", "User", params.get("user"))), answer);
  const words = { since, user: params.get("user") || "", job: params.get("job") || "" };
  await showPast(page, answer, "histories", words, (told) => [runs(told), remarks(told)]);
}
