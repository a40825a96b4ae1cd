// Queues: what each has, what is used and what waits, in the tree of Cohorts.

import { queues } from "./api.js";
import { quotaBar } from "./chart.js";
import { draw, faint, h, link, warning } from "./dom.js";
import { again } from "./live.js";
import { count, ledgerDown } from "./words.js";

const LOOK_MS = 3000;

export function quotaBars(flavors) {
  return flavors.map(({ name, resources }) => h("div", { class: "flavor" }, h("p", { class: "flavor-name" }, name), resources.map(quotaBar)));
}

// "4 cpu of spot"
function borrowed(flavors) {
  return flavors.flatMap(({ name, resources }) => resources.filter((r) => r.borrowed !== "0").map((r) => `${r.borrowed} ${r.name} of ${name}`));
}

// A number as Kueue shows it: how far above its quota, for its weight. The largest there is stands for a weight of 0.
function share({ fairSharing: { weightedShare } = {} }) {
  if (weightedShare > Number.MAX_SAFE_INTEGER) return "Borrows with weight 0, so it gives back first.";
  return weightedShare ? `Weighted share ${weightedShare}.` : "";
}

// What a queue or a Cohort says of itself when it does not work, or has a spec that is wrong; "" where it does.
export function complaint({ conditions: [{ status, reason, message }] }) {
  return status === "True" && reason !== "InvalidSpec" ? "" : message;
}

export function complaints({ exists, metadata, status }) {
  return [exists ? "" : `${metadata.name} does not exist, but Jobs name it: create it.`, complaint(status)].filter(Boolean).map((sentence) => warning(sentence));
}

export function numbers({ status, stopping, troubles = [] }) {
  const stuck = troubles.reduce((n, trouble) => n + trouble.jobs, 0), { pendingWorkloads: waiting, admittedWorkloads: running } = status;
  return h("p", {}, `${waiting.toLocaleString("en")} waiting, ${running.toLocaleString("en")} running`,
    stopping ? `, ${stopping} stopping` : "", stuck ? h("strong", { class: "warning" }, `, ${count(stuck, "stuck Job")}`) : "");
}

function loans(status, flavors, from) {
  const amounts = borrowed(flavors).join(", "), words = amounts ? `Borrows ${amounts}${from ? ` from ${from}` : ""}.` : "";
  return words || share(status) ? h("p", {}, `${words} ${share(status)}`.trim()) : "";
}

function card(queue) {
  const { metadata: { name }, spec, status } = queue, flavors = status.flavorsReservation;
  return h("article", { class: "card" }, h("h3", {}, link(["queue", name], name)), complaints(queue),
    numbers(queue), loans(status, flavors, spec.cohortName), quotaBars(flavors));
}

function cards(list) {
  return list.length ? h("div", { class: "cards" }, list.map(card)) : "";
}

function drawCohort(cohort, tree) {
  const { metadata: { name }, spec, status, flavors } = cohort;
  tree.left.delete(name);
  const children = tree.cohorts.filter((child) => child.spec.parentName === name && tree.left.has(child.metadata.name));
  return h("section", { class: "cohort", "aria-label": `Cohort ${name}` }, h("h2", {}, `Cohort ${name}`),
    complaints({ ...cohort, exists: true }), loans(status, flavors, spec.parentName),
    flavors.length ? h("div", { class: "card own" }, faint("The whole Cohort"), quotaBars(flavors)) : "",
    cards(tree.queues.filter((queue) => queue.spec.cohortName === name)), children.map((child) => drawCohort(child, tree)));
}

// Cohorts without a parent that is known come first; those of a circle, which have none, last.
function drawCohorts(told) {
  const cohorts = told.cohorts, names = new Set(cohorts.map((cohort) => cohort.metadata.name));
  const tree = { cohorts, queues: told.clusterQueues, left: new Set(names) };
  const roots = cohorts.filter((cohort) => !names.has(cohort.spec.parentName)).map((cohort) => drawCohort(cohort, tree));
  const others = cohorts.map((cohort) => (tree.left.has(cohort.metadata.name) ? drawCohort(cohort, tree) : ""));
  const alone = told.clusterQueues.filter((queue) => !names.has(queue.spec.cohortName));
  return [roots, others, alone.length ? h("section", {}, h("h2", {}, cohorts.length ? "Without a Cohort" : "Queues"), cards(alone)) : ""];
}

export function warnings(told) {
  return [told.ledgerUp ? "" : warning(ledgerDown(told.ledgerDownSince)),
    told.withoutQueue ? warning(`${count(told.withoutQueue, "Job")} wait for a queue that does not exist: `,
      link(["jobs"], "see which", { state: "Waiting" })) : ""];
}

const NONE = "There is no ClusterQueue yet. Create one, and a LocalQueue in a namespace that names it: kubectl explain clusterqueue.spec.";

export async function queuesPage(page) {
  await again(LOOK_MS, page, async () => {
    const told = await queues(page.signal);
    draw(page.content, warnings(told), told.clusterQueues.length ? drawCohorts(told) : h("p", {}, NONE));
  });
}
