// The story of one Job on a line of time: when it was queued, started, told to stop and for which Job, and resumed.
// The runs are the ledger's (JobHistory); what goes on now is the QueuedJob's.

import { block, nowLine, scaleOf, ticks } from "./chart.js";
import { h, jobLink, svg, table } from "./dom.js";
import { movedWords, ON_HOLD, startWords } from "./start.js";
import { amount, count, money, moment, span, spanIfKnown, time } from "./words.js";

const HEIGHT = 66, GROUND = 46;

// Names of other Jobs in a run are NAMESPACE/NAME.
function nameLink(name) {
  const [namespace, ...rest] = name.split("/");
  return jobLink(namespace, rest.join("/"));
}

// The history of one namespace names no Job of another.
function isForUnnamedJob({ reason, preemptor }) {
  return reason === "Preempted" && !preemptor;
}

export function why(run) {
  if (run.state === "Running") return "goes on";
  if (run.state !== "Ended" && run.state !== "Stopping") return run.state;
  if (isForUnnamedJob(run)) return "Preempted for a Job of another namespace";
  return run.preemptor ? [`${run.reason || "Stopped"} for `, nameLink(run.preemptor)] : run.reason || run.state;
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
  if (preemptor) return ["Stopping for ", nameLink(preemptor)];
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

function waitBlock(from, to) {
  return block(from, to, { class: "waited", y: 22, height: 12 });
}

// A run is as high as the picture. One that was short is seen, too.
function runBlock(from, to, kind) {
  return block(from, Math.max(to, from + 0.002), { class: kind, y: 8, height: GROUND - 8 });
}

function blocksOf(run, x, now) {
  const place = (text) => (text ? x(new Date(text)) : undefined), kind = run.state === "Ended" ? run.reason || "" : "";
  const start = place(run.startedAt), stopping = place(run.stoppingAt), end = place(run.stoppedAt) ?? x(now);
  return [
    run.queuedAt ? waitBlock(x(new Date(run.queuedAt)), start ?? end) : [],
    start === undefined ? [] : runBlock(start, end, `ran ${kind}`),
    stopping === undefined ? [] : runBlock(stopping, end, "stopping"),
  ];
}

export function picture(job, runs) {
  const waits = waitsSince(job, runs), now = Date.now();
  const known = runs.flatMap((run) => [run.queuedAt, run.startedAt]).concat(waits || []).filter(Boolean).map((text) => +new Date(text));
  if (!known.length) return "";
  const isOver = !job && runs.every((run) => run.stoppedAt), end = isOver ? Math.max(...runs.map((run) => +new Date(run.stoppedAt))) : now;
  const from = Math.min(...known), until = Math.max(end, from + 1000), x = scaleOf(from, until);
  const words = `${count(runs.length, "run")} since ${moment(from)}: the list below has each moment`;
  return svg("svg", { class: "story", height: HEIGHT, role: "img", "aria-label": words },
    runs.map((run) => blocksOf(run, x, until)), waits ? waitBlock(x(new Date(waits)), 1) : [],
    ticks(from, until, HEIGHT), nowLine(from, until, now, GROUND));
}

export function runTable(runs) {
  return table("Runs", ["Run", "Queued", "Waited", "Started", "Ran", "Why it ended", "Pod time lost", "Cost"], runs.map((run) => [
    String(run.attempt), time(run.queuedAt), spanIfKnown(run.waitSeconds), time(run.startedAt),
    spanIfKnown(run.runSeconds), why(run), run.lostSeconds ? span(run.lostSeconds) : "", money(run.cost, run.currency)]));
}
