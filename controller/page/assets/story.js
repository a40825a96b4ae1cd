// The story of one Job on a line of time: when it was queued, started, told to stop and for which Job, and resumed.
// The runs are the ledger's (JobHistory); what goes on now is the QueuedJob's.

import { block, nowLine, scaleOf, ticks } from "./chart.js";
import { h, jobLink, svg, table } from "./dom.js";
import { amount, money, moment, span, time } from "./words.js";

const HEIGHT = 66, GROUND = 46;

// Names of other Jobs in a run are NAMESPACE/NAME.
function nameLink(name) {
  const [namespace, ...rest] = name.split("/");
  return jobLink(namespace, rest.join("/"));
}

export function why(run) {
  if (run.state !== "Ended" && run.state !== "Stopping") return run.state;
  return run.preemptor ? [`${run.reason || "Stopped"} for `, nameLink(run.preemptor)] : run.reason || run.state;
}

// The ledger's answer has cores, where other answers have thousandths of them.
function held(run) {
  const amounts = Object.entries(run.holds || {}).map(([name, n]) => `${amount(name, name === "cpu" ? 1000 * n : n)} ${name}`);
  return [amounts.length && ` with ${amounts.join(", ")}`, run.flavors?.length && ` of ${run.flavors.join(", ")}`, run.clusterQueue && ` in ClusterQueue ${run.clusterQueue}`].filter(Boolean).join("");
}

function endOf(run) {
  return [why(run), run.runSeconds === undefined ? "" : ` after ${span(run.runSeconds)}`, run.lostSeconds ? `; ${span(run.lostSeconds)} of work, over its pods, was lost` : ""];
}

function momentsOf(run) {
  const isAgain = run.attempt > 1;
  return [
    [run.queuedAt, isAgain ? "Queued again" : "Queued"],
    [run.startedAt ? "" : run.reservedAt, `Is about to start${held(run)}`],
    [run.startedAt, `${isAgain ? "Resumed" : "Started"} (run ${run.attempt}${run.waitSeconds === undefined ? "" : `, after a wait of ${span(run.waitSeconds)}`})${held(run)}`],
    [run.stoppingAt, run.preemptor ? ["Told to stop for ", nameLink(run.preemptor)] : `Its pods end${run.reason ? `: ${run.reason}` : ""}`],
    [run.stoppedAt, ["Run ", String(run.attempt), " ended: ", endOf(run)]],
  ];
}

// What the ledger does not know yet: the wait that goes on, and the moments to come.
function momentsOfNow(job, runs) {
  if (!job) return [];
  const { state, queuedAt, startAt, stopsAt, deadline } = job.status, known = runs.some((run) => run.state !== "Ended");
  return [
    state === "Waiting" && !known && [queuedAt, runs.length ? "Queued again" : "Queued"],
    [startAt, "May start then, at the earliest"],
    [stopsAt, "Notice: its window will stop it then"],
    [deadline, job.status.deadlineUnreachable ? "Its deadline, which it cannot meet any more" : "Its deadline"],
  ].filter(Boolean);
}

export function momentList(job, runs) {
  const all = [...runs.flatMap(momentsOf), ...momentsOfNow(job, runs)].filter(([at]) => at);
  all.sort(([a], [b]) => new Date(a) - new Date(b));
  return h("ol", { class: "moments" }, all.map(([at, words]) => h("li", { class: new Date(at) > Date.now() ? "to-come" : "" }, time(at), h("span", {}, words))));
}

/* ---- as a picture ---- */

function blocksOf(run, x, now) {
  const end = x(run.stoppedAt ? new Date(run.stoppedAt) : now), start = run.startedAt && x(new Date(run.startedAt)), stopping = run.stoppingAt && x(new Date(run.stoppingAt));
  return [
    run.queuedAt ? block(x(new Date(run.queuedAt)), start ?? end, { class: "waited", y: 22, height: 12 }) : [],
    start === undefined ? [] : block(start, Math.max(end, start + 0.002), { class: `ran ${run.state === "Ended" ? run.reason || "" : ""}`, y: 8, height: GROUND - 8 }),
    stopping === undefined ? [] : block(stopping, Math.max(end, stopping + 0.002), { class: "stopping", y: 8, height: GROUND - 8 }),
  ];
}

export function picture(job, runs) {
  const waits = job?.status.state === "Waiting" && job.status.queuedAt, now = Date.now();
  const known = runs.flatMap((run) => [run.queuedAt, run.startedAt]).concat(waits || []).filter(Boolean).map((text) => +new Date(text));
  if (!known.length) return "";
  const isOver = !job && runs.every((run) => run.stoppedAt), end = isOver ? Math.max(...runs.map((run) => +new Date(run.stoppedAt))) : now;
  const from = Math.min(...known), until = Math.max(end, from + 1000), x = scaleOf(from, until);
  return svg("svg", { class: "story", height: HEIGHT, role: "img", "aria-label": `${runs.length} runs since ${moment(from)}: the list below has each moment` },
    runs.map((run) => blocksOf(run, x, until)), waits ? block(x(new Date(waits)), 1, { class: "waited", y: 22, height: 12 }) : [],
    ticks(from, until, HEIGHT), nowLine(from, until, now, GROUND));
}

export function runTable(runs) {
  return table("Its runs", ["Run", "Queued", "Waited", "Started", "Ran", "Why it ended", "Work lost", "Cost"], runs.map((run) => [
    String(run.attempt), time(run.queuedAt), run.waitSeconds === undefined ? "" : span(run.waitSeconds), time(run.startedAt),
    run.runSeconds === undefined ? "" : span(run.runSeconds), why(run), run.lostSeconds ? span(run.lostSeconds) : "", money(run.cost, run.currency)]));
}
