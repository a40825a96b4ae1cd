// The first page: how much runs and waits, what comes next, what is full, why Jobs wait, and what needs somebody. Of
// all namespaces, or of one: then others are numbers.

import { budgets, jobs, orNull, past, queues, Refusal, spans, summaries, timelines, usage } from "./api.js";
import { attentionList, budgetItems, churnItem } from "./attention.js";
import { reasonBadge } from "./badges.js";
import { capacity, dayOf } from "./capacity.js";
import { address, draw, faint, h, jobLink, link, table, warning } from "./dom.js";
import { again, keptAgain } from "./live.js";
import { warnings } from "./queues.js";
import { lacksQueues } from "./rights.js";
import { shortly } from "./start.js";
import { timeline } from "./timeline.js";
import { card, empty, figure, segments, skeleton } from "./ui.js";
import { asks, cents, count, money, NO_JOBS, since, span, time } from "./words.js";

const LOOK_MS = 5000, AHEAD_MS = 15_000, QUEUES_MS = 10_000, PAST_MS = 60_000, DAY_MS = 300_000;
const QUEUES_MAX = 12; // of so many the last day is asked for

const SPANS = [["6 h", "6h", 6, "2h", 2], ["24 h", "24h", 24, "6h", 6], ["week", "7d", 168, "2d", 48]]; // text, ahead, hours of it; back, hours of it
const GROUPS = [["by queue", "queue"], ["by user", "user"], ["by sweep", "sweep"], ["by namespace", "namespace"]];

// What pages say of wait reasons; what is not here is said as the server's few words have it.
const WHY = new Map(Object.entries({
  WaitingForQuota: "Quota is full", OutsideWindow: "Outside their window", WindowTooShort: "Would not end before their window closes",
  WaitingForDependency: "Waiting for other Jobs", WaitingForPrice: "Waiting for a lower price", OnHold: "On hold", BudgetExhausted: "Budget is spent",
  WaitingForJobAhead: "Behind a Job that comes first", StartAfter: "Before their own start time", NodesFull: "Nodes are full", BackOff: "Pausing before a retry",
  WaitingForPreemptedWorkloads: "Starting: others make room", UserLimit: "Their user has as much as allowed", TooManyRunning: "LocalQueue runs as many as it may",
  NamespaceQuotaExceeded: "ResourceQuota is full", ReservedForOthers: "Kept by an AdvanceReservation", PendingEvaluation: "Being looked at",
  Suspended: "Queue is stopped", TooManyWaiting: "Too many wait in their LocalQueue", LedgerDown: "Postgres does not answer", Misconfigured: "A fix is needed",
  NoNodeSuits: "No node is large enough", ExceedsMaxQuota: "More than the whole quota", NoMatchingFlavor: "No flavor suits them",
  DependencyNeverSatisfied: "A Job they wait for failed", Deactivated: "Had their chances",
}));

function whyWords({ reason, waitsFor }) {
  const words = WHY.get(reason) || waitsFor || reason;
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/* ---- figures ---- */

function place(text, words, params) {
  return h("a", { href: address(words, params), class: "plain" }, text);
}

// A start that is due may be a moment ago by this clock.
function startsAt(at) {
  return new Date(at) <= Date.now() ? "any moment" : shortly(at);
}

function startFigure({ nextStart, waiting }, namespace) {
  const name = namespace ? "Your next start" : "Next start";
  if (!nextStart) return figure(name, waiting.jobs ? "not known" : "none", waiting.jobs ? "No waiting Job has an expected start yet." : "No Job waits.");
  const { namespace: ns, name: job, at, p90 } = nextStart;
  return figure(name, place(startsAt(at), ["job", ns, job]), [jobLink(ns, job), p90 ? ` · 90\u00a0% sure by ${shortly(p90)}` : " · certain"]);
}

function waitingWords({ waiting, others = [] }, day) {
  const ahead = others.reduce((sum, one) => sum + one.ahead, 0), half = day?.totals[0]?.waitP50Seconds;
  return [ahead ? `${count(ahead, "Job")} of others ahead` : "", waiting.oldestQueuedAt ? `oldest ${since(waiting.oldestQueuedAt)}` : "", half === undefined || half === null ? "" : `half waited under ${span(Math.max(1, half))} today`]
    .filter(Boolean).join(" · ");
}

function showAttention() {
  const part = document.getElementById("attention");
  part?.scrollIntoView({ block: "start" });
  part?.focus({ preventScroll: true });
}

// Counts what the card lists: Jobs, and items that are no Jobs (attention.js). others: the words of those.
function attentionFigure({ attentionJobs, attentionWords }, others, params) {
  const words = attentionWords.slice(0, 3).map(({ word, jobs }) => `${jobs} ${reasonBadge(word).textContent.toLowerCase()}`);
  const all = attentionJobs + others.length, number = count(all, others.length ? "item" : "Job");
  const go = (event) => {
    event.preventDefault();
    showAttention();
  };
  const to = h("a", { href: address(["overview"], { ...params, show: "attention" }), class: "plain", onclick: go }, number);
  return figure("Needs attention", all ? to : "nothing", [...words, ...others].join(" · ") || "All is as it should be.", attentionJobs ? "bad" : all ? "warn" : "");
}

// The Budget of which most is spent says how the month goes.
function paceWords(told) {
  const open = (told?.budgets || []).filter((b) => b.active && Number(b.amount) > 0), shareOf = (b) => Number(b.forecast ?? b.spent) / Number(b.amount);
  const [most] = open.sort((a, b) => shareOf(b) - shareOf(a));
  if (!most) return "";
  const course = most.forecast === undefined ? "" : `, on course for ${Math.round(100 * shareOf(most))}\u00a0%`;
  return `${most.name}: ${Math.round((100 * Number(most.spent)) / Number(most.amount))}\u00a0% of ${cents(most.amount)}${course}`;
}

function spentFigure(month, told, namespace) {
  const name = `Spent in ${new Intl.DateTimeFormat("en-GB", { month: "long", timeZone: "UTC" }).format(Date.now())}`;
  const sums = (month?.totals || []).filter((row) => row.currency).sort((a, b) => Number(b.cost) - Number(a.cost));
  const number = sums.length ? money(sums[0].cost, sums[0].currency) : month ? "nothing" : "...";
  return figure(name, place(number, ["money"]), [sums.slice(1).map((row) => `and ${money(row.cost, row.currency)}`).join(", "), paceWords(told)].filter(Boolean).join(" · ")
    || (!sums.length ? "no price holds" : namespace ? `by Jobs of ${namespace}` : "no Budget limits it"));
}

function figures(known, namespace, params) {
  const { told } = known, { running } = told, other = [told.starting && `${told.starting} starting`, told.stopping && `${told.stopping} stopping`].filter(Boolean).join(", ");
  return h("div", { class: "figures" },
    figure("Running", place(count(running.jobs, "Job"), ["jobs"], { namespace, state: "Running" }), [asks(running), other].filter(Boolean).join(" · ") || "nothing runs"),
    figure("Waiting", place(count(told.waiting.jobs, "Job"), ["jobs"], { namespace, state: "Waiting" }), waitingWords(told, known.day)),
    startFigure(told, namespace), attentionFigure(told, known.items.map(({ word }) => word), params), spentFigure(known.month, known.budgets, namespace));
}

/* ---- why Jobs wait ---- */

// What somebody decided.
const DECIDED = new Set(["OnHold", "Suspended", "BudgetExhausted"]);

function kindOf({ reason, needsChange }) {
  if (DECIDED.has(reason)) return "warn";
  return needsChange ? "bad" : "soon";
}

const UNTIL = { NextStart: "next start", Opening: "opens", Pause: "goes on" };

function reasonRow(one, all, namespace) {
  const kind = kindOf(one), part = h("i", { "aria-hidden": "true" });
  part.style.width = `${((100 * one.jobs) / Math.max(1, all)).toFixed(1)}%`;
  return h("li", { class: kind }, h("a", { href: address(["jobs"], { namespace, state: "Waiting", reason: one.reason }) }, part,
    h("span", {}, whyWords(one), one.until ? h("em", {}, ` · ${UNTIL[one.untilIs] || "until"} ${shortly(one.until)}`) : kind === "bad" ? h("em", {}, " · needs a change") : "")),
    h("strong", {}, one.jobs.toLocaleString("en")));
}

function reasons({ reasons: list, waiting }, namespace) {
  if (!list.length) return faint("No Job waits.");
  return h("ul", { class: "reasons" }, list.map((one) => reasonRow(one, waiting.jobs, namespace)));
}

/* ---- groups ---- */

function groupName(by, { key, namespace: ns }, namespace) {
  const of = { namespace: ns || namespace };
  if (by === "queue") return key ? link(["queue", key], key) : "(none)";
  if (by === "user") return key ? link(["jobs"], key, { ...of, submittedBy: key }) : "(not known)";
  if (by === "namespace") return link(["overview"], key, { namespace: key });
  return link(["jobs"], `${ns}/${key}`, { ...of, by: "sweep", text: key.replace("CronJob/", "") });
}

function othersOf(told, key) {
  const one = told.others?.find((other) => other.clusterQueue === key);
  return one ? [`${one.waiting.toLocaleString("en")} waiting, ${one.running.toLocaleString("en")} running`, one.ahead ? h("span", { class: "faint" }, `; ${count(one.ahead, "Job")} ahead of yours`) : ""] : "";
}

function startOf({ nextStart: next, waiting }) {
  return next ? [time(next.at, startsAt(next.at)), next.p90 ? h("span", { class: "faint wide" }, ` to ${shortly(next.p90)}`) : ""] : waiting ? "not known" : "";
}

function groupRow(told, by, one, namespace) {
  const cells = [groupName(by, one, namespace), one.running.toLocaleString("en"), one.waiting.toLocaleString("en"), startOf(one),
    one.oldestQueuedAt ? since(one.oldestQueuedAt) : "", one.waiting && one.reason ? whyWords(one) : "", one.attention ? h("span", { class: "badge bad" }, one.attention.toLocaleString("en")) : ""];
  return told.others && by === "queue" ? [...cells, othersOf(told, one.key)] : cells;
}

const HEADS = { queue: "Queue", user: "User", sweep: "Sweep", namespace: "Namespace" };

// Queues in which others have Jobs and this namespace has none stand there, too.
function groupList(told, by) {
  const have = new Set(told.groups.map((one) => one.key));
  const missing = by === "queue" ? (told.others || []).filter((one) => !have.has(one.clusterQueue)).map((one) => ({ key: one.clusterQueue, running: 0, waiting: 0, attention: 0 })) : [];
  return [...told.groups, ...missing];
}

function groups(told, by, namespace) {
  const list = groupList(told, by), heads = [HEADS[by], "Running", "Waiting", "Next start", "Oldest", "Mostly", "Attention", ...(told.others && by === "queue" ? ["Others"] : [])];
  if (!list.length) return empty(NO_JOBS, "kubectl label job NAME sluice.dev/queue-name=QUEUE");
  return [table(`Jobs ${by === "sweep" ? "by CronJob or generateName" : `by ${by}`}`, heads, list.slice(0, 100).map((one) => groupRow(told, by, one, namespace))),
    told.moreGroups || list.length > 100 ? faint(`And ${(told.moreGroups + Math.max(0, list.length - 100)).toLocaleString("en")} more.`) : ""];
}

/* ---- what starts next ---- */

const NEXT_MAX = 6;

function nextRow({ from, p90, certain, namespace, name, jobs, requests, clusterQueue }) {
  const more = jobs > 1 ? h("span", { class: "faint" }, ` and ${(jobs - 1).toLocaleString("en")} alike`) : "";
  return [time(from, startsAt(from)), [jobLink(namespace, name), more], link(["queue", clusterQueue], clusterQueue), p90 ? shortly(p90) : certain ? "certain" : "", asks({ requests })];
}

// lanes: as a Timeline has them.
function nextStarts(lanes) {
  const coming = lanes.flatMap(({ clusterQueue, bars }) => bars.filter(({ state }) => state === "Expected").map((bar) => ({ ...bar, clusterQueue })));
  coming.sort((a, b) => a.from.localeCompare(b.from));
  if (!coming.length) return faint("No start is expected in this time.");
  return table("What starts next", ["Start", "Job", "Queue", "90\u00a0% sure by", "Requests"], coming.slice(0, NEXT_MAX).map(nextRow));
}

/* ---- the page ---- */

function part(...shape) {
  return h("div", { "data-own": true }, shape.length ? skeleton(...shape) : "");
}

// A card whose parts are drawn by their own questions.
function layOut(page, by, ahead) {
  const here = (params) => ({ ...Object.fromEntries(page.params), ...params }), parts = { warnings: part(), figures: part("figures"), ahead: part("picture", 1), capacity: part("rows"),
    reasons: part("rows"), groups: part("rows"), next: part("rows", 3), attention: part("rows", 3) };
  const choices = SPANS.map(([text, value]) => [text, ["overview"], here({ span: value })]);
  const kinds = GROUPS.filter(([, value]) => !page.namespace || value !== "namespace").map(([text, value]) => [text, ["overview"], here({ by: value })]);
  parts.groups.className = "groups";
  parts.next.className = "next";
  const needs = card("Needs attention", "", parts.attention);
  needs.id = "attention";
  needs.tabIndex = -1;
  draw(page.content, h("h2", { class: "hidden" }, page.namespace ? `Overview of ${page.namespace}` : "Overview"), parts.warnings, parts.figures,
    card(`Now and the next ${{ "6h": "6 hours", "24h": "24 hours", "7d": "7 days" }[ahead]}`, segments("How far ahead", choices, SPANS.find(([, value]) => value === ahead)[0]), parts.ahead),
    h("div", { class: "two" }, card("Capacity by queue", lacksQueues() ? "" : "right: last 24 h", parts.capacity),
      card("Why Jobs wait", link(["jobs"], "all that wait", { namespace: page.namespace, state: "Waiting" }), parts.reasons)),
    h("div", { class: "two wider" }, h("div", { class: "column" }, card("Jobs", segments("Group Jobs", kinds, GROUPS.find(([, value]) => value === by)[0]), parts.groups),
      card("Next starts", link(["jobs"], "all that wait", { namespace: page.namespace, state: "Waiting" }), parts.next)), needs));
  return parts;
}

// Timeline and history, which are asked for at their own pace.
function followAhead(page, ahead, { ahead: target, next }) {
  const [, , hours, since_, back] = SPANS.find(([, value]) => value === ahead), { namespace, signal } = page;
  let lanes = null, was = [];
  const show = () => {
    const now = Date.now();
    if (lanes) draw(target, timeline({ lanes: lanes.lanes, spans: was, from: now - back * 3600_000, until: now + hours * 3600_000, now, label: `Now and the next ${ahead}` }));
  };
  keptAgain(AHEAD_MS, page, target, async () => {
    lanes = await timelines(namespace, { until: ahead }, signal);
    draw(next, nextStarts(lanes.lanes));
    show();
  });
  keptAgain(PAST_MS, page, target, async () => {
    was = (await orNull(spans(namespace, { since: since_ }, signal)))?.spans || [];
    show();
  });
}

async function lastDay(told, signal) {
  const busy = [...told.clusterQueues].sort((a, b) => b.status.reservingWorkloads - a.status.reservingWorkloads).slice(0, QUEUES_MAX), usages = [];
  for (const queue of busy) usages.push(await orNull(usage(queue.metadata.name, signal)));
  return dayOf(usages.filter(Boolean));
}

function followQueues(page, parts) {
  let told, day, dayMs = -Infinity;
  keptAgain(QUEUES_MS, page, parts.capacity, async () => {
    told = await queues(page.signal, lacksQueues() ? page.namespace : "");
    draw(parts.warnings, warnings(told));
    draw(parts.capacity, capacity(told, day));
    if (lacksQueues() || performance.now() - dayMs < DAY_MS) return;
    dayMs = performance.now();
    day = await lastDay(told, page.signal);
    draw(parts.capacity, capacity(told, day));
  });
}

// What the ledger tells: waits of today, stops of the last hour, money of the month. One question after the other: few of
// one namespace may wait for it.
function followPast(page, known, show) {
  const { namespace, signal } = page, report = (words) => orNull(past("reports", namespace, { by: "queue", ...words }, signal)), nowhere = h("div");
  keptAgain(PAST_MS, page, nowhere, async () => {
    const day = await report({ since: "day" }), hour = await report({ since: "1h" }), month = await report({ since: "month" });
    const all = lacksQueues() ? null : await orNull(budgets(signal));
    const mine = namespace && all ? { budgets: all.budgets.filter((b) => b.namespace === namespace) } : all;
    Object.assign(known, { day, month, budgets: mine, items: [...(mine ? budgetItems(mine.budgets) : []), ...(hour ? churnItem(hour, namespace) : [])] });
    show();
  });
}

// Roles of before have Jobs and no sums of them; a controller of before, in a rolling update, has no sums at all.
const OLDER = { 403: "The roles of this cluster are older than its controller, so there is no overview for you: an admin applies deploy/rbac.",
  404: "The controller is older than this page, so there is no overview yet." };

async function showOlder({ content, namespace, signal }, error) {
  const mayList = error instanceof Refusal && OLDER[error.status] && await orNull(jobs({ namespace }, { limit: 1 }, signal));
  if (!mayList) throw error;
  draw(content, h("div", { class: "card lone", role: "alert" }, warning(OLDER[error.status]), h("p", {}, link(["jobs"], "See the Jobs", { namespace }))));
}

export async function overviewPage(page) {
  const ending = new AbortController(), signal = AbortSignal.any([page.signal, ending.signal]);
  try {
    await showOverview({ ...page, signal });
  } catch (error) {
    ending.abort();
    if (!page.signal.aborted) await showOlder(page, error);
  }
}

async function showOverview(page) {
  const { namespace, params, signal } = page, by = GROUPS.some(([, value]) => value === params.get("by")) ? params.get("by") : "queue";
  const ahead = SPANS.some(([, value]) => value === params.get("span")) ? params.get("span") : "24h", parts = layOut(page, by, ahead);
  const known = { told: null, items: [] };
  let isShown = false;
  const show = () => {
    if (!known.told) return;
    draw(parts.figures, figures(known, namespace, Object.fromEntries(params)));
    draw(parts.reasons, reasons(known.told, namespace));
    draw(parts.groups, groups(known.told, by, namespace));
    draw(parts.attention, attentionList(known.told.attention, 8, known.items.map(({ element }) => element)));
    if (params.get("show") === "attention" && !isShown) showAttention();
    isShown = true;
  };
  followAhead(page, ahead, parts);
  followQueues(page, parts);
  followPast(page, known, show);
  await again(LOOK_MS, page, async () => {
    known.told = await summaries(namespace, by, signal);
    show();
  });
}
