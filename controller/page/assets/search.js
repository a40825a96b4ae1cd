// Search: a Job by namespace/name, Jobs and queues by a part of the name. The server finds whole names; for a part of
// one the line is read page by page, with what was looked at so far, until enough is found or the page is left.

import { job, jobs, orNull, queues, Refusal } from "./api.js";
import { address, draw, faint, h, jobLink, link, warning } from "./dom.js";
import { sentenceOf } from "./live.js";
import { lacksQueues } from "./rights.js";
import { count } from "./words.js";

const FOUND_MAX = 100, PAGE = 2000;

// "job/name", "namespace/name", "namespace/", "name"
function wordsOf(text) {
  const [namespace, name] = text.includes("/") ? text.split("/", 2) : ["", text];
  return { namespace: namespace.trim(), name: name.trim() };
}

function drawQueues(part, told, name) {
  const found = (told?.clusterQueues || []).map((queue) => queue.metadata.name).filter((queue) => queue.includes(name)).slice(0, FOUND_MAX);
  draw(part, found.length ? [h("h3", {}, "Queues"), h("ul", {}, found.map((queue) => h("li", {}, link(["queue", queue], queue))))] : "");
}

function jobItem({ metadata, status }) {
  return h("li", {}, jobLink(metadata.namespace, metadata.name), " ", h("span", { class: `state ${status.state}` }, status.state));
}

// A page of the line as it was when the first was read or, where that is no longer kept, as it is now.
async function pageOf(which, moment, first, signal) {
  try {
    return await jobs(which, { moment, first, limit: PAGE }, signal);
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 410) throw error;
    const { moment: now } = await jobs(which, { limit: 1 }, signal);
    return jobs(which, { moment: now, first, limit: PAGE }, signal);
  }
}

// Reads the line until FOUND_MAX Jobs have that in their names.
async function scan(words, signal, say) {
  const matches = [];
  for (let first = 0, moment = "", total = 1; first < total && matches.length < FOUND_MAX && !signal.aborted; first += PAGE) {
    const list = await pageOf({ namespace: words.namespace }, moment, first, signal);
    ({ moment, total } = list);
    matches.push(...list.items.filter(({ metadata }) => metadata.name.includes(words.name)));
    say(matches.slice(0, FOUND_MAX), Math.min(total, first + list.items.length), total);
  }
}

function progress(matches, looked, total) {
  if (matches.length >= FOUND_MAX) return `Only the first ${FOUND_MAX} are shown: write more of the name.`;
  return looked < total ? `${looked.toLocaleString("en")} of ${count(total, "Job")} looked at ...` : `${count(total, "Job")} looked at, ${matches.length} found.`;
}

function drawJobs(part, words) {
  return (matches, looked, total) => {
    draw(part, h("h3", {}, "Jobs that wait or run"), faint(progress(matches, looked, total)), matches.length ? h("ul", {}, matches.map(jobItem)) : "",
      h("p", {}, link(["history"], `History of Jobs named ${words.name}`, { job: words.name, namespace: words.namespace, since: "30d" })));
  };
}

const HOW = "Write the name of a Job, a part of it, or namespace/name.";
const NO_NAME = "No Job can have this name: names have small letters, digits, hyphens and dots.";

export async function searchPage(page) {
  const text = page.params.get("text") || "", words = wordsOf(text), { signal } = page;
  if (!words.name && !words.namespace) return draw(page.content, h("h2", {}, "Search"), h("p", {}, HOW));
  if (!/^[-a-z0-9.]*$/.test(words.namespace + words.name)) return draw(page.content, h("h2", {}, "Search"), h("p", {}, NO_NAME));
  if (words.namespace && words.name && await orNull(job(words.namespace, words.name, signal)))
    return location.replace(address(["job", words.namespace, words.name]));
  const part = { queues: h("div", { "data-own": true }), jobs: h("div", { "data-own": true }) };
  draw(page.content, h("h2", {}, `Search for ${text}`), part.queues, part.jobs);
  const where = words.namespace || page.namespace;
  if (!lacksQueues()) orNull(queues(signal)).then((told) => drawQueues(part.queues, words.namespace ? null : told, words.name), () => {});
  try {
    await scan({ ...words, namespace: where }, signal, drawJobs(part.jobs, words));
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 403) throw error;
    draw(part.jobs, warning(`${sentenceOf(error)}. Or write namespace/name.`));
  }
}
