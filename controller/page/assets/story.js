// The story of one Job on a line of time: when it was queued, started, told to stop and for which Job, and resumed.
// The runs are the ledger's (JobHistory); what goes on now is the QueuedJob's.

import { h, namedJobLink, table } from "./dom.js";
import { movedWords, ON_HOLD, startWords } from "./start.js";
import { timeline } from "./timeline.js";
import { amount, count, money, moment, span, spanIfKnown, time } from "./words.js";

// The history of one namespace names no Job of another.
function isForUnnamedJob({ reason, preemptor }) {
  return reason === "Preempted" && !preemptor;
}

export function why(run) {
  if (run.state === "Running") return "goes on";
  if (run.state !== "Ended" && run.state !== "Stopping") return run.state;
  if (isForUnnamedJob(run)) return "Preempted for a Job of another namespace";
  return run.preemptor ? [`${run.reason || "Stopped"} for `, namedJobLink(run.preemptor)] : run.reason || run.state;
}

// The ledger's answer has cores, where other answers have thousandths of them.
function held(run) {
  const amounts = Object.entries(run.holds || {}).map(([name, n]) => `${amount(name, name === "cpu" ? 1000 * n : n)} ${name}`).join(", ");
  const parts = [[", with", amounts], [" of", run.flavors?.join(", ")], [" in ClusterQueue", run.clusterQueue]];
  return parts.filter(([, words]) => words).map(([word, words]) => `${word} ${words}`).join("");
}

function endOf(run) {
  return [why(run), spanIfKnown(run.runSeconds, " after "), run.lostSeconds ? `; ${span(run.lostSeconds)} of pod time lost` : ""];
}

// A run that ended by itself was told nothing: its last pods end.
function stopWords(run) {
  const { preemptor, reason } = run;
  if (isForUnnamedJob(run)) return "Stopping for a Job of another namespace";
  if (preemptor) return ["Stopping for ", namedJobLink(preemptor)];
  return reason && !["Finished", "Failed"].includes(reason) ? `Stopping: ${reason}` : "Last pods are ending";
}

function momentsOf(run) {
  const isAgain = run.attempt > 1, how = `run ${run.attempt}${spanIfKnown(run.waitSeconds, ", after a wait of ")}`;
  return [
    [run.queuedAt, isAgain ? "Queued again" : "Queued"],
    [run.startedAt ? "" : run.reservedAt, `Starting${held(run)}`],
    [run.startedAt, `${isAgain ? "Resumed" : "Started"}: ${how}${held(run)}`],
    [run.stoppingAt, stopWords(run)],
    [run.stoppedAt, ["Run ", String(run.attempt), " ended: ", endOf(run)]],
  ];
}

// Since when it waits: queuedAt, by which its place in line is judged, may be older than its last run.
function waitsSince(job, runs) {
  if (job?.status.state !== "Waiting" || !job.status.queuedAt) return undefined;
  const ends = runs.map((run) => run.stoppedAt).filter(Boolean);
  return [job.status.queuedAt, ...ends].reduce((a, b) => (new Date(a) > new Date(b) ? a : b));
}

// A Job on hold is in no queue. When that began is not known of one that has not run.
function waitWords({ status: { reason, message = "" } }, runs) {
  const isHeld = reason === ON_HOLD, because = message.split("; to queue it again")[0];
  if (runs.length) return isHeld ? because.replace(/^on hold/, "On hold") : "Queued again";
  return isHeld ? `Queued, and ${because}` : "Queued";
}

// What the ledger does not know yet: the wait that goes on, and the moments to come.
function momentsOfNow(job, runs) {
  if (!job) return [];
  const { start, startAt, stopsAt, deadline } = job.status, isKnown = runs.some((run) => run.state !== "Ended");
  return [
    !isKnown && [waitsSince(job, runs), waitWords(job, runs)],
    [startAt, "Cannot start before"],
    [startWords(job.status) && start.p50, `Expected start: ${startWords(job.status)}`],
    [movedWords(job.status) && start.moved.at, `Expected start moved: ${movedWords(job.status)}`],
    [stopsAt, "Its window closes and stops it"],
    [deadline, job.status.deadlineUnreachable ? "Deadline, which can no longer be met" : "Deadline"],
  ].filter(Boolean);
}

export function momentList(job, runs) {
  const all = [...runs.flatMap(momentsOf), ...momentsOfNow(job, runs)].filter(([at]) => at);
  all.sort(([a], [b]) => new Date(a) - new Date(b));
  const kind = (at) => (new Date(at) > Date.now() ? "to-come" : "");
  return h("ol", { class: "moments" }, all.map(([at, words]) => h("li", { class: kind(at) }, time(at), h("span", {}, words))));
}

/* ---- as a picture ---- */

const ms = (text) => (text ? +new Date(text) : undefined);

// A run that has ended, as a span of its lane.
function spanOf({ namespace, job, attempt, startedAt, stoppedAt, reason, state, lostSeconds, cost, currency }) {
  return { clusterQueue: "", namespace, job, label: `run ${attempt}`, isHere: true, jobs: 1, from: startedAt, until: stoppedAt, outcome: reason || state, lostSeconds, cost, currency };
}

function barOf({ metadata, spec, status }, from, words) {
  return { ...words, namespace: metadata.namespace, name: metadata.name, isHere: true, from, requests: spec.requests, pods: spec.pods, deadline: status.deadline };
}

function later(at, seconds) {
  return seconds === undefined ? undefined : new Date(ms(at) + 1000 * seconds).toISOString();
}

// What goes on, and what is expected: the run, or the start of the next one.
function barsOf(job) {
  if (!job) return [];
  const { state, reason, startedAt, stopsAt, startAt, start, expectedSeconds } = job.status;
  if (startedAt && state !== "Waiting") return [barOf(job, startedAt, { state, label: state.toLowerCase(), until: later(startedAt, expectedSeconds), stopsAt })];
  const at = reason && reason !== ON_HOLD ? startAt || start?.p50 : undefined;
  return at ? [barOf(job, at, { state: "Expected", label: "expected", p90: startAt ? undefined : start.p90, certain: Boolean(startAt), until: later(at, expectedSeconds) })] : [];
}

function waitsOf(job, runs) {
  const since = waitsSince(job, runs), ended = runs.filter((run) => run.queuedAt).map((run) => ({ from: run.queuedAt, until: run.startedAt || run.stoppedAt }));
  return since ? [...ended.filter(({ until }) => until), { from: since }] : ended;
}

// The stretch of a Job's life, with a little room at both ends. A moment to come that is far off would leave no room for the rest.
function lifeOf(job, known, bars, now) {
  const begin = Math.min(...known, now), told = Math.max(...known, ...bars.flatMap((bar) => [ms(bar.p90) ?? 0, ms(bar.until) ?? 0]), job ? now : 0);
  const far = [job?.status.stopsAt, job?.status.deadline].map(ms).filter((at) => at > told && at - begin < 3 * (told - begin));
  const length = Math.max(60_000, Math.max(told, ...far) - begin);
  return { from: begin - length * 0.01, until: begin + length * 1.06 };
}

// When a Job waited, ran and is expected to start, on the axis of the plan. job: undefined once it is gone. "": nothing is known of it.
export function jobTimeline(job, runs) {
  const now = Date.now(), bars = barsOf(job), ended = runs.filter((run) => run.startedAt && run.stoppedAt), waits = waitsOf(job, runs);
  const known = [...ended.flatMap((run) => [run.startedAt, run.stoppedAt]), ...bars.map((bar) => bar.from), ...waits.flatMap(({ from, until }) => [from, until])].map(ms).filter(Boolean);
  if (!known.length) return "";
  return timeline({ lanes: [{ clusterQueue: "", bars, waits }], spans: ended.map(spanOf), ...lifeOf(job, known, bars, now), now, widthMin: 320,
    label: `${count(runs.length, "run")} since ${moment(Math.min(...known))}` });
}

export function runTable(runs) {
  return table("Runs", ["Run", "Queued", "Waited", "Started", "Ran", "Why it ended", "Pod time lost", "Cost"], runs.map((run) => [
    String(run.attempt), time(run.queuedAt), spanIfKnown(run.waitSeconds), time(run.startedAt),
    spanIfKnown(run.runSeconds), why(run), run.lostSeconds ? span(run.lostSeconds) : "", money(run.cost, run.currency)]));
}
