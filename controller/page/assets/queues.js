// Queues: what each has, what is used and what waits; in the tree of Cohorts. Looked at again every few seconds.

import { queues } from "./api.js";
import { bar, h, link } from "./dom.js";

const LOOK_MS = 3000;

function flavors(queue) {
  return h("dl", { class: "flavors" }, queue.flavors.flatMap((flavor) => flavor.resources.map((resource) => [
    h("dt", {}, `${flavor.name}, ${resource.name}`),
    h("dd", {}, bar(resource.reservedUnits, resource.nominalUnits,
      `${resource.reserved} of ${resource.nominal}${resource.borrowed ? `, ${resource.borrowed} borrowed` : ""}`)),
  ])));
}

function card(queue) {
  const line = `#/jobs?clusterQueue=${encodeURIComponent(queue.name)}`;
  const stuck = (queue.troubles || []).reduce((n, trouble) => n + trouble.jobs, 0);
  return h("article", { class: "card" },
    h("h3", {}, link(line, queue.name)),
    queue.message ? h("p", { class: queue.active ? "" : "warning" }, queue.message) : "",
    queue.invalid ? h("p", { class: "warning" }, queue.invalid) : "",
    h("p", {}, `${queue.pending} waiting, ${queue.reserving} with quota`,
      queue.stopping ? `, ${queue.stopping} stopping` : "", stuck ? h("strong", {}, `, ${stuck} stuck`) : ""),
    flavors(queue));
}

function cohorts(list) {
  const by = new Map();
  for (const queue of list) by.set(queue.cohort, [...(by.get(queue.cohort) || []), queue]);
  return [...by].sort(([a], [b]) => a.localeCompare(b));
}

function draw(content, told) {
  const sections = cohorts(told.clusterQueues).map(([cohort, list]) => h("section", {},
    h("h2", {}, cohort ? `Cohort ${cohort}` : "Without a Cohort"), h("div", { class: "cards" }, list.map(card))));
  const warnings = told.ledgerUp ? [] : [h("p", { class: "warning" }, "The ledger is away: what runs goes on, and nothing new starts.")];
  content.replaceChildren(...warnings, ...(sections.length ? sections : [h("p", {}, "There is no ClusterQueue yet.")]));
}

export async function queuesPage({ content, signal, complain }) {
  draw(content, await queues(signal));
  const timer = setInterval(async () => {
    try {
      draw(content, await queues(signal));
    } catch (error) {
      clearInterval(timer);
      complain(error);
    }
  }, LOOK_MS);
  signal.addEventListener("abort", () => clearInterval(timer));
}
