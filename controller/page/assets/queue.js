// One ClusterQueue: what runs and waits in it, use now and in the last day, its week with windows, prices, runs and
// expected starts on one axis, its LocalQueues, and its line.

import { orNull, queues, Refusal, spans, summaries, timelines, usage, week } from "./api.js";
import { usageChart, usesOf, useLegend, useStack, useWords } from "./chart.js";
import { draw, faint, h, link, table, warning } from "./dom.js";
import { lineOf } from "./jobs.js";
import { again, partAgain } from "./live.js";
import { complaint, complaints, namespaceOf, stateBadge, troubleBadges, warnings } from "./queues.js";
import { shortly } from "./start.js";
import { timeline } from "./timeline.js";
import { badge, card, empty, figure, segments, skeleton } from "./ui.js";
import { weekWords } from "./week.js";
import { count, since } from "./words.js";

const LOOK_MS = 3000, SUMMARY_MS = 5000, AXIS_MS = 15_000, LOOK_BACK_MS = 60_000, HOUR_MS = 3600_000;

/* ---- figures ---- */

function ofAll(all, mine) {
  return mine === undefined ? all.toLocaleString("en") : `${mine.toLocaleString("en")} of ${all.toLocaleString("en")}`;
}

function oldestFigure({ oldestQueuedAt }, waiting) {
  if (!oldestQueuedAt) return figure("Oldest", waiting ? "not known" : "none", waiting ? "" : "No Job waits.");
  return figure("Oldest", since(oldestQueuedAt), "since it was queued");
}

function nextFigure({ nextStart }, waiting) {
  if (!nextStart) return figure("Next start", waiting ? "not known" : "none", waiting ? "No waiting Job has an expected start yet." : "No Job waits.");
  const isDue = new Date(nextStart.at) <= Date.now(), p90 = nextStart.p90 ? ` · 90 % sure by ${shortly(nextStart.p90)}` : "";
  return figure("Next start", isDue ? "soon" : shortly(nextStart.at), `${nextStart.namespace}/${nextStart.name}${p90}`);
}

// Of who sees one namespace: hers, of all. group: null until the summary has told of it.
function figures(queue, group, others) {
  const { admittedWorkloads: running, pendingWorkloads: waiting, reservingWorkloads: reserving } = queue.status, mine = others && group, asked = mine ? mine.waiting || 0 : waiting;
  const starting = reserving - running, stopping = queue.stopping || 0;
  const changing = [starting > 0 ? `${starting} starting` : "", stopping ? `${stopping} stopping` : ""].filter(Boolean).join(" · ");
  return h("div", { class: "figures" },
    figure("Running", ofAll(running, mine && (mine.running || 0)), changing),
    figure("Waiting", ofAll(waiting, mine && (mine.waiting || 0)), others ? `${count(others.ahead ?? 0, "Job")} of other namespaces ahead` : ""),
    group ? [oldestFigure(group, asked), nextFigure(group, asked)] : [figure("Oldest", skeleton("word", 1)), figure("Next start", skeleton("word", 1))]);
}

/* ---- parts ---- */

function localQueues(told, name) {
  const mine = told.localQueues.filter((queue) => queue.spec.clusterQueue === name);
  if (!mine.length) return empty("No LocalQueue leads to this ClusterQueue, so no Job can enter it. Create one in a namespace.", "kubectl explain localqueue.spec");
  return table("LocalQueues", ["Namespace and name", "State", "Waiting", "Running"], mine.map(({ metadata, status }) => [
    link(["jobs"], `${metadata.namespace}/${metadata.name}`, { namespace: metadata.namespace, queue: metadata.name }),
    complaint(status) ? [badge("Inactive", "warn"), ` ${complaint(status)}`] : badge("Active", "run"),
    String(status.pendingWorkloads), String(status.admittedWorkloads)]));
}

function useNow(status) {
  const uses = usesOf(status.flavorsReservation, status.flavorsUsage);
  if (!uses.length) return empty("It has no quota, so nothing can start in it.", "kubectl explain clusterqueue.spec.resourceGroups");
  const line = (use) => h("div", { class: "held-of wide" }, h("span", { class: "of" }, `${use.flavor} ${use.resource}`), useStack(use),
    h("span", { class: "faint small" }, useWords(use)));
  return [uses.map(line), useLegend()];
}

function nominalOf(queue, { name, resource }) {
  return usesOf(queue.status.flavorsReservation).find((use) => use.flavor === name && use.resource === resource)?.quota || 0;
}

function lastDay(told, queue) {
  if (!told.flavors.length) return empty("No quota was used in the last day.");
  return told.flavors.map((flavor) => usageChart(told, flavor, nominalOf(queue, flavor)));
}

/* ---- the axis ---- */

const SPANS = [["day", "24h", 8], ["week", "7d", 24]]; // word, what is ahead, how many hours are behind

function spanOf(params) {
  return SPANS.find(([word]) => word === params.get("span")) || SPANS[1];
}

// Values that stay the same are not told anew: those of whole steps ago are those up to now.
function upToNow(told) {
  const stepMs = 1000 * told.stepSeconds, late = Math.max(0, Math.floor((Date.now() - new Date(told.until)) / stepMs)) * stepMs;
  return { ...told, from: +new Date(told.from) + late, until: +new Date(told.until) + late };
}

async function axis(name, ns, params, signal) {
  const [word, ahead, hours] = spanOf(params), which = { clusterQueue: name };
  const [told, was] = await Promise.all([timelines(ns, { until: ahead, ...which }, signal), orNull(spans(ns, { since: `${hours}h`, ...which }, signal))]);
  const now = Date.now(), stretch = { from: now - hours * HOUR_MS, until: now + (new Date(told.until) - new Date(told.asOf)), now };
  return [timeline({ lanes: told.lanes, spans: was?.spans || [], ...stretch, label: `Runs, starts, windows and prices of ${name}, ${word}` }),
    was ? "" : faint("Earlier runs cannot be read now.")];
}

// What is told of windows, prices and quota. In one namespace the lane of its queue has them. An answer that stays the
// same may be hours old: its moment is not now.
async function weekOf(name, ns, signal) {
  if (!ns) return { ...(await week(name, signal)), now: Date.now() };
  const { lanes: [lane], asOf, until } = await timelines(ns, { until: "7d", clusterQueue: name }, signal);
  return { from: asOf, now: Date.now(), until, windows: lane?.windows || [], prices: lane?.prices || [], quotas: [] };
}

/* ---- the page ---- */

function head(name, queue, params, ns) {
  const { queueingStrategy, cohortName } = queue.spec;
  return h("div", { class: "toolbar" }, h("h2", {}, `ClusterQueue ${name}`), stateBadge(queue), troubleBadges(queue),
    h("span", { class: "faint" }, [queueingStrategy, cohortName ? ` · Cohort ${cohortName}` : "", ns ? ` · as ${ns} sees it` : ""]));
}

// A card whose heading has an element at its right.
function cardWith(title, aside, ...children) {
  return h("section", { class: "card", "aria-label": title }, h("div", { class: "head" }, h("h2", {}, title), aside), children);
}

// The parts of the page, each drawn by its own question.
function layOut(page, name, ns, line) {
  const own = (shape, n) => h("div", { "data-own": true }, skeleton(shape, n));
  const parts = { now: own("figures", 4), use: own("rows", 2), day: own("picture", 1), axis: own("picture", 1), week: own("rows", 1), local: own("rows", 2) };
  parts.local.className = "bare";
  const params = Object.fromEntries(page.params), choices = SPANS.map(([word]) => [word, ["queue", name], { ...params, span: word }]);
  const use = card("Use now", "", parts.use), local = card("LocalQueues that lead here", "", parts.local);
  draw(page.content, parts.now,
    cardWith("Runs, starts, windows and prices", segments("How far", choices, spanOf(page.params)[0]), parts.axis, parts.week),
    h("div", { class: "two" }, ns ? [use, local] : [h("div", { class: "stacked" }, use, local), card("The last day", "", parts.day)]),
    cardWith(ns ? "Your Jobs in the queue" : "Queue", line.said, line.element));
  return parts;
}

export async function queuePage(page) {
  const [name] = page.words, { params, signal } = page, ns = namespaceOf(page), at = Number(params.get("at")) || 0;
  const say = (sentence) => { line.said.textContent = sentence; };
  const quiet = { ...page, tell: (sentence, isTrouble) => isTrouble && say(sentence), complain: (error) => say(error.message) };
  const which = ns ? { namespace: ns, clusterQueue: name, state: "Waiting" } : { lineOf: name, state: "Waiting" };
  const line = lineOf(which, `Queue of ${name}`, quiet, { at, emptyWords: "No Job waits here." });
  const parts = layOut(page, name, ns, line), sayIn = (part) => (sentence) => draw(part, warning(sentence));
  let queue, told, group = null, others, whenKnown;
  const known = new Promise((done) => { whenKnown = done; });
  const drawNow = () => draw(parts.now, warnings(told), head(name, queue, params, ns), complaints(queue), figures(queue, group, others));
  line.live().catch(quiet.complain);
  known.then(() => {
    if (!ns) partAgain(LOOK_BACK_MS, page, async () => draw(parts.day, lastDay(upToNow(await usage(name, signal)), queue)), sayIn(parts.day));
    partAgain(AXIS_MS, page, async () => draw(parts.axis, await axis(name, ns, params, signal)), sayIn(parts.axis));
    partAgain(LOOK_BACK_MS, page, async () => draw(parts.week, weekWords(await weekOf(name, ns, signal))), sayIn(parts.week));
    partAgain(SUMMARY_MS, page, async () => {
      const summary = await orNull(summaries(ns, "queue", signal), 403, 404);
      group = summary?.groups.find(({ key }) => key === name) || {};
      others = summary?.others?.find(({ clusterQueue }) => clusterQueue === name);
      drawNow();
    }, () => {});
  });
  await again(LOOK_MS, page, async () => {
    told = await queues(signal, ns);
    queue = told.clusterQueues.find((one) => one.metadata.name === name);
    if (!queue) throw new Refusal(404, ns ? `No LocalQueue of ${ns} leads to a ClusterQueue ${name}.` : `There is no ClusterQueue ${name}. The page Queues lists all of them.`);
    drawNow();
    draw(parts.use, useNow(queue.status));
    draw(parts.local, localQueues(told, name));
    whenKnown();
  });
}
