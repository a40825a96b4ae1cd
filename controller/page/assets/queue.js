// One ClusterQueue: quota and use now and over the last day, its week, its LocalQueues, and its line.

import { queues, Refusal, usage, week } from "./api.js";
import { usageChart } from "./chart.js";
import { draw, faint, h, link, table, warning } from "./dom.js";
import { lineOf } from "./jobs.js";
import { again, partAgain } from "./live.js";
import { complaint, complaints, numbers, quotaBars, warnings } from "./queues.js";
import { weekStrip } from "./week.js";
import { units } from "./words.js";

const LOOK_MS = 3000, LOOK_BACK_MS = 60_000;

function localQueues(told, name) {
  const mine = told.localQueues.filter((queue) => queue.spec.clusterQueue === name);
  if (!mine.length) return h("p", {}, "No LocalQueue leads to this ClusterQueue, so no Job can enter it. Create a LocalQueue in a namespace.");
  return table("LocalQueues", ["Namespace and name", "Waiting", "Running", "State"], mine.map(({ metadata, status }) => [
    link(["jobs"], `${metadata.namespace}/${metadata.name}`, { namespace: metadata.namespace, queue: metadata.name }),
    String(status.pendingWorkloads), String(status.admittedWorkloads), complaint(status) || "active"]));
}

function nominalOf(queue, { name, resource }) {
  const flavor = queue.status.flavorsReservation.find((f) => f.name === name), quota = flavor?.resources.find((r) => r.name === resource);
  return quota ? units(resource, quota.nominal) : 0;
}

function lastDay(told, queue) {
  if (!told.flavors.length) return h("p", {}, "No quota was used in the last day.");
  return told.flavors.map((flavor) => usageChart(told, flavor, nominalOf(queue, flavor)));
}

// The parts of the page, each drawn by its own question.
function layOut(page, name, line) {
  const parts = { now: h("div", { "data-own": true }), day: h("div", { "data-own": true, class: "charts" }), week: h("div", { "data-own": true }) };
  draw(page.content, h("h2", {}, `ClusterQueue ${name}`), parts.now, h("h3", {}, "The last day"), parts.day, parts.week,
    h("h3", {}, "Queue"), line.said, line.element);
  return parts;
}

export async function queuePage(page) {
  const [name] = page.words, at = Number(page.params.get("at")) || 0;
  const say = (sentence) => { line.said.textContent = sentence; };
  const quiet = { ...page, tell: (sentence, isTrouble) => isTrouble && say(sentence), complain: (error) => say(error.message) };
  const line = lineOf({ lineOf: name, state: "Waiting" }, `Queue of ${name}`, quiet, { at, emptyWords: "No Job waits here." });
  const parts = layOut(page, name, line), sayIn = (part) => (sentence) => draw(part, warning(sentence));
  let queue, whenKnown;
  const known = new Promise((done) => { whenKnown = done; });
  line.live().catch(quiet.complain);
  known.then(() => {
    partAgain(LOOK_BACK_MS, page, async () => draw(parts.day, lastDay(await usage(name, page.signal), queue)), sayIn(parts.day));
    partAgain(LOOK_BACK_MS, page, async () => draw(parts.week, weekStrip(await week(name, page.signal))), sayIn(parts.week));
  });
  await again(LOOK_MS, page, async () => {
    const told = await queues(page.signal);
    queue = told.clusterQueues.find((one) => one.metadata.name === name);
    if (!queue) throw new Refusal(404, `There is no ClusterQueue ${name}. The page Queues lists all of them.`);
    const { queueingStrategy, cohortName } = queue.spec, kind = `${queueingStrategy}, in ${cohortName ? `Cohort ${cohortName}` : "no Cohort"}`;
    draw(parts.now, warnings(told), complaints(queue), faint(kind), numbers(queue),
      h("div", { class: "flavors" }, quotaBars(queue.status.flavorsReservation)), localQueues(told, name));
    whenKnown();
  });
}
