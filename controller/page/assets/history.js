// What was: each run, the newest first. The words of the question are in the address; what is typed narrows what came.

import { past, Refusal } from "./api.js";
import { isStopped } from "./attention.js";
import { draw, faint, h, jobLink, link, warning } from "./dom.js";
import { field, namespaceField, question } from "./form.js";
import { partAgain } from "./live.js";
import { narrowing } from "./narrow.js";
import { sorted, sortHead } from "./sort.js";
import { why } from "./story.js";
import { badge, empty, skeleton } from "./ui.js";
import { count, money, span, spanIfKnown, time } from "./words.js";

export const SINCE = [["day", "today"], ["24h", "24 hours"], ["7d", "7 days"], ["month", "this month"], ["30d", "30 days"], ["year", "this year"]];

export function remarks(told) {
  return [told.more ? faint("Only the first 1,000 rows are shown. Narrow the filters.") : "", told.note ? faint(told.note) : ""];
}

/* ---- runs ---- */

const ROWS_FIRST = 50, ROWS_MORE = 200, STOPPED = "stopped";
const KINDS = { Finished: "run", Failed: "bad", Preempted: "warn", Running: "run", Starting: "run", Stopping: "warn" };

function wordOf({ state, reason }) {
  return state === "Ended" ? reason || state : state;
}

// The badge of how a run ended, or of its state, and a sentence where there is more to say.
function endOf(run) {
  const word = wordOf(run), said = why(run);
  const more = Array.isArray(said) ? [" for ", said[1]] : said.startsWith(`${word} `) ? said.slice(word.length) : "";
  return [badge(word, KINDS[word] || "wait"), more ? h("span", { class: "faint small" }, more) : ""];
}

const at = (text) => (text ? +new Date(text) : undefined);

const COLUMNS = [
  { key: "started", head: "Started", value: (run) => at(run.startedAt), cell: (run) => time(run.startedAt) },
  { key: "job", head: "Job", isText: true, value: (run) => `${run.namespace}/${run.job}`, cell: (run) => jobLink(run.namespace, run.job) },
  { key: "end", head: "How it ended", isText: true, value: wordOf, cell: endOf },
  { key: "run", head: "Run", class: "number", value: (run) => run.attempt, cell: (run) => String(run.attempt) },
  { key: "queue", head: "Queue", isText: true, value: (run) => run.clusterQueue || "", cell: (run) => run.clusterQueue || "" },
  { key: "user", head: "User", isText: true, value: (run) => run.submittedBy || "", cell: (run) => run.submittedBy || "" },
  { key: "wait", head: "Waited", class: "number", value: (run) => run.waitSeconds ?? undefined, cell: (run) => spanIfKnown(run.waitSeconds) },
  { key: "ran", head: "Ran", class: "number", value: (run) => run.runSeconds ?? undefined, cell: (run) => spanIfKnown(run.runSeconds) },
  { key: "lost", head: "Pod time lost", class: "number", value: (run) => run.lostSeconds || 0,
    cell: (run) => (run.lostSeconds ? h("span", { class: "warning" }, span(run.lostSeconds)) : "") },
  { key: "cost", head: "Cost", class: "number", value: (run) => (run.cost ? Number(run.cost) : undefined), cell: (run) => money(run.cost, run.currency) },
];

function row(run) {
  return h("tr", {}, COLUMNS.map(({ head, class: name, cell }, i) => h(i === 1 ? "th" : "td", { class: name, scope: i === 1 ? "row" : undefined, "data-head": head }, cell(run))));
}

function matches(run, text) {
  return [run.job, run.namespace, run.submittedBy, run.clusterQueue, wordOf(run), run.preemptor].some((word) => (word || "").toLowerCase().includes(text));
}

// Runs that started in the stretch and that Sluice stopped, which a report of it counts.
function wasStopped(since) {
  return (run) => run.state === "Ended" && isStopped(run.reason) && new Date(run.reservedAt) >= new Date(since);
}

// Above rows that are fewer than the filter says.
function onlyStopped(params) {
  const { show, ...others } = Object.fromEntries(params), stretch = SINCE.find(([value]) => value === params.get("since"))?.[1] || (params.get("since") === "1h" ? "the last hour" : params.get("since"));
  return show === STOPPED ? faint(`Only runs that started in this time (${stretch}) and were stopped. `, link(["history"], "Show all runs", others)) : "";
}

// The field Job takes whole names alone, as the server does; the filter finds a part of one.
function partOf(params) {
  const { job, ...others } = Object.fromEntries(params);
  return job ? h("p", {}, link(["history"], `Runs with "${job}" in a name`, { ...others, text: job })) : "";
}

// most: so many rows at most; the button asks for more of them.
function runs(told, params, most, onMore) {
  const text = (params.get("text") || "").trim().toLowerCase(), isAsked = params.get("show") === STOPPED ? wasStopped(told.since) : () => true;
  const found = told.runs.filter((run) => isAsked(run) && matches(run, text));
  if (!told.runs.length) return [empty(params.get("job") ? `No run of a Job of the whole name ${params.get("job")} in this period. The filter above finds parts of names.`
    : "No runs in this period. Choose a longer period or another namespace."), partOf(params)];
  if (!found.length) return empty("No runs match this filter.");
  const rows = sorted(found, COLUMNS, params, () => 0), shown = rows.slice(0, most), all = count(found.length, "run");
  const words = shown.length < found.length ? `The first ${shown.length} of ${all}` : all;
  return [h("p", { class: "faint small" }, words), h("div", { class: "scroll card", tabindex: "0", role: "region", "aria-label": "Runs" },
    h("table", { class: "queues runs" }, h("caption", { class: "hidden" }, words),
    h("thead", {}, h("tr", {}, COLUMNS.map((column) => sortHead("history", column, COLUMNS, params)))), h("tbody", {}, shown.map(row)))), shown.length < found.length ? h("button", { type: "button", onclick: onMore }, `Show ${Math.min(ROWS_MORE, found.length - shown.length)} more`) : ""];
}

/* ---- questions about the past ---- */

// The answer to a question about the past, below its form. One is enough; a ledger that is away is asked again.
export async function showPast(page, part, resource, words, drawn) {
  const namespace = page.params.get("namespace"), look = async () => draw(part, drawn(await past(resource, namespace, words, page.signal)));
  draw(part, skeleton("rows", 6));
  await partAgain(Infinity, page, look, (sentence, { status }) => {
    if (status === 401) page.complain(new Refusal(status, sentence));
    else draw(part, h("div", { role: "alert" }, warning(sentence)), status === 403 ? faint("Or enter a namespace above in which you have a role.") : "");
  });
}

export async function historyPage(page) {
  const { content } = page, params = new URLSearchParams(page.params), since = params.get("since") || "7d", answer = h("div", { "data-own": true });
  let known, most = ROWS_FIRST;
  const more = () => {
    most += ROWS_MORE;
    show();
  };
  const drawn = () => [onlyStopped(params), runs(known, params, most, more), remarks(known)];
  const show = () => known && draw(answer, drawn());
  draw(content, narrowing({ title: "History", place: "history", params, hint: "Job, user, queue or end", label: "Since",
    choices: SINCE.map(([value, text]) => [text, { since: value }]), current: SINCE.find(([value]) => value === since)?.[1] }, show),
  h("details", { open: params.has("job") || params.has("user") }, h("summary", {}, "Namespace, Job, user"), question(["history"], "Which runs",
    namespaceField(params), field("job", "Job", params.get("job"), "its whole name"), field("user", "User", params.get("user")), h("input", { type: "hidden", name: "since", value: since }))), answer);
  const words = { since, user: params.get("user") || "", job: params.get("job") || "" };
  await showPast(page, answer, "histories", words, (told) => {
    known = told;
    return drawn();
  });
}
