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
  return flavors.flatMap(({ name, resources }) => resources.filter((r) => r.borrowed).map((r) => `${r.borrowed} ${r.name} of ${name}`));
}

// A number as Kueue shows it: how far above its quota, for its weight.
function share({ weightedShare, borrowsWithoutWeight }) {
  if (borrowsWithoutWeight) return "Borrows with a weight of 0: the first to give back.";
  return weightedShare ? `Weighted share ${weightedShare}.` : "";
}

// What a queue or a Cohort says of itself when it does not work.
export function complaints({ active, exists = true, message, invalid, name }) {
  return [exists ? "" : `${name} does not exist, and Jobs name it: create it.`, active ? "" : message, invalid].filter(Boolean)
    .map((sentence) => warning(sentence));
}

export function numbers(queue) {
  const stuck = (queue.troubles || []).reduce((n, trouble) => n + trouble.jobs, 0);
  return h("p", {}, `${queue.pending.toLocaleString("en")} waiting, ${queue.reserving.toLocaleString("en")} with quota`,
    queue.stopping ? `, ${queue.stopping} stopping` : "", stuck ? h("strong", { class: "warning" }, `, ${count(stuck, "stuck Job")}`) : "");
}

function loans(member, from) {
  const amounts = borrowed(member.flavors).join(", "), words = amounts ? `Borrows ${amounts}${from ? ` from ${from}` : ""}.` : "";
  return words || share(member) ? h("p", {}, `${words} ${share(member)}`.trim()) : "";
}

function card(queue) {
  return h("article", { class: "card" }, h("h3", {}, link(["queue", queue.name], queue.name)), complaints(queue),
    numbers(queue), loans(queue, queue.cohort), quotaBars(queue.flavors));
}

function cards(list) {
  return list.length ? h("div", { class: "cards" }, list.map(card)) : "";
}

function drawCohort(cohort, tree) {
  tree.left.delete(cohort.name);
  const children = tree.cohorts.filter((child) => child.parent === cohort.name && tree.left.has(child.name));
  return h("section", { class: "cohort", "aria-label": `Cohort ${cohort.name}` }, h("h2", {}, `Cohort ${cohort.name}`),
    complaints({ ...cohort, exists: true }), loans(cohort, cohort.parent),
    cohort.flavors.length ? h("div", { class: "card own" }, faint("All of it together"), quotaBars(cohort.flavors)) : "",
    cards(tree.queues.filter((queue) => queue.cohort === cohort.name)), children.map((child) => drawCohort(child, tree)));
}

// Cohorts without a parent that is known come first; those of a circle, which have none, last.
function drawCohorts(told) {
  const cohorts = told.cohorts, names = new Set(cohorts.map((cohort) => cohort.name));
  const tree = { cohorts, queues: told.clusterQueues, left: new Set(names) };
  const roots = cohorts.filter((cohort) => !names.has(cohort.parent)).map((cohort) => drawCohort(cohort, tree));
  const others = cohorts.filter((cohort) => tree.left.has(cohort.name)).map((cohort) => (tree.left.has(cohort.name) ? drawCohort(cohort, tree) : ""));
  const alone = told.clusterQueues.filter((queue) => !names.has(queue.cohort));
  return [roots, others, alone.length ? h("section", {}, h("h2", {}, cohorts.length ? "Without a Cohort" : "Queues"), cards(alone)) : ""];
}

export function warnings(told) {
  return [told.ledgerUp ? "" : warning(ledgerDown(told.ledgerDownSince)),
    told.withoutQueue ? warning(`${count(told.withoutQueue, "Job")} wait for a queue that does not exist: `,
      link(["jobs"], "look at their sentences", { state: "Waiting" })) : ""];
}

const NONE = "There is no ClusterQueue yet. Create one, and a LocalQueue in a namespace that names it: kubectl explain clusterqueue.spec.";

export async function queuesPage(page) {
  await again(LOOK_MS, page, async () => {
    const told = await queues(page.signal);
    draw(page.content, warnings(told), told.clusterQueues.length ? drawCohorts(told) : h("p", {}, NONE));
  });
}
