// One Job: where it stands and why, and the story of its runs on a line of time.

import { job, past, Refusal } from "./api.js";
import { h, span, svg, table, time } from "./dom.js";

const WIDTH = 1000, HEIGHT = 48;

function facts(pairs) {
  return h("dl", { class: "facts" }, pairs.filter(([, value]) => value).flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

function now({ spec, status }) {
  const bill = status.bill;
  return [
    h("p", { class: "sentence" }, status.message),
    status.trouble ? h("p", { class: "warning" }, `${status.trouble.reason}, ${status.trouble.pods} of ${status.trouble.of} pods: ${status.trouble.message} ${status.trouble.cure}`) : "",
    facts([["State", status.state], ["Queue", spec.queue], ["ClusterQueue", spec.clusterQueue], ["Place in line", status.position && String(status.position)],
      ["Priority", String(spec.priority)], ["Submitted by", spec.submittedBy], ["Queued", time(status.queuedAt)], ["Runs since", time(status.startedAt)],
      ["Starts", time(status.startAt)], ["Stops", time(status.stopsAt)], ["Deadline", time(status.deadline)],
      ["Expected to run", status.expectedSeconds && span(status.expectedSeconds)], ["Costs so far", bill && `${bill.cost} ${bill.currency}`]]),
  ];
}

// A bar for each wait and each run.
function picture(runs) {
  const moments = runs.flatMap((run) => [run.queuedAt, run.startedAt, run.stoppedAt]).filter(Boolean).map((text) => +new Date(text));
  const from = Math.min(...moments), to = Math.max(Date.now(), ...moments), x = (text) => (WIDTH * (new Date(text) - from)) / Math.max(1, to - from);
  const bars = runs.flatMap((run) => {
    const end = run.stoppedAt || new Date(to).toISOString();
    return [
      run.queuedAt && run.startedAt ? svg("rect", { class: "waited", x: x(run.queuedAt), y: 18, width: Math.max(1, x(run.startedAt) - x(run.queuedAt)), height: 12 }) : [],
      run.startedAt ? svg("rect", { class: `ran ${run.reason || ""}`, x: x(run.startedAt), y: 8, width: Math.max(2, x(end) - x(run.startedAt)), height: 32 }) : [],
    ].flat();
  });
  return svg("svg", { class: "story", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": `${runs.length} runs; the table below has them` }, bars);
}

function why(run) {
  if (run.state !== "Ended") return run.state;
  return run.preemptor ? `${run.reason} for ${run.preemptor}` : run.reason || "";
}

function story(runs) {
  const oldestFirst = [...runs].reverse();
  return [picture(oldestFirst), table("Its runs", ["Run", "Queued", "Waited", "Started", "Ran", "Why it ended", "Lost", "Cost"], oldestFirst.map((run) => [
    String(run.attempt), time(run.queuedAt), run.waitSeconds === undefined ? "" : span(run.waitSeconds), time(run.startedAt),
    run.runSeconds === undefined ? "" : span(run.runSeconds), why(run), run.lostSeconds ? span(run.lostSeconds) : "", run.cost ? `${run.cost} ${run.currency}` : ""]))];
}

async function runsOf(namespace, name, signal) {
  return (await past("histories", { job: name }, signal, namespace)).runs;
}

export async function jobPage({ content, words: [namespace, name], signal }) {
  let known = null;
  try {
    known = await job(namespace, name, signal);
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 404) throw error;
  }
  const runs = await runsOf(namespace, name, signal);
  content.replaceChildren(h("h2", {}, `${namespace}/${name}`),
    ...(known ? now(known) : [h("p", {}, "Sluice has no such Job now. What the ledger knows of it:")]),
    ...(runs.length ? story(runs) : [h("p", {}, "It has not run yet.")]));
}
