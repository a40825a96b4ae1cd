// Search: namespaces, queues, users and Jobs by a part of their names, in any case; a Job by namespace/name. The server
// finds whole names; for a part of a Job's name the line is read page by page, with what was looked at so far, until
// enough is found or the page is left.

import { job, jobs, orNull, queues, Refusal, session, summaries } from "./api.js";
import { address, draw, faint, h, jobLink, link, warning } from "./dom.js";
import { stateBadge } from "./badges.js";
import { sentenceOf } from "./live.js";
import { lacksQueues } from "./rights.js";
import { card, empty } from "./ui.js";
import { count } from "./words.js";

const FOUND_MAX = 100, NAMES_MAX = 12, PAGE = 2000;

// "namespace/name", "namespace/", "name"; small, as all names of Kubernetes are.
function wordsOf(text) {
  const [namespace, name] = text.includes("/") ? text.split("/", 2) : ["", text];
  return { text: text.toLowerCase(), namespace: namespace.trim().toLowerCase(), name: name.trim().toLowerCase() };
}

/* ---- names: few, so all are asked for ---- */

function matching(names, { text, namespace, name }) {
  const part = namespace && !name ? namespace : text;
  return [...new Set(names)].filter((one) => one.toLowerCase().includes(part)).sort((a, b) => a.length - b.length || a.localeCompare(b));
}

function nameCard(title, found, linkOf) {
  const left = found.length - NAMES_MAX;
  return found.length ? card(title, "", h("ul", { class: "found" }, found.slice(0, NAMES_MAX).map((one) => h("li", {}, linkOf(one)))), left > 0 ? faint(`And ${left} more.`) : "") : "";
}

function localQueueLink(name) {
  const [namespace, queue] = name.split("/");
  return link(["jobs"], name, { namespace, queue });
}

async function findNames(part, words, { signal, namespace }) {
  const mine = lacksQueues() ? namespace : "", groups = (by) => orNull(summaries(mine, by, signal)).then((told) => (told?.groups || []).map(({ key }) => key));
  const [told, users, all] = await Promise.all([orNull(queues(signal, mine)), groups("user"), mine ? [] : groups("namespace")]);
  const clusterQueues = (told?.clusterQueues || []).map((queue) => queue.metadata.name);
  const localQueues = (told?.localQueues || []).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  draw(part, nameCard("Namespaces", matching([...(session.who?.namespaces || []), ...all], words), (one) => link(["overview"], one, { namespace: one })),
    nameCard("Queues", matching(clusterQueues, words), (one) => link(["queue", one], one)),
    nameCard("LocalQueues", matching(localQueues, words), localQueueLink),
    nameCard("Users", matching(users.filter(Boolean), words), (one) => link(["jobs"], one, { namespace: mine, submittedBy: one })));
}

/* ---- Jobs ---- */

function jobItem(one) {
  const { metadata, spec } = one;
  return h("li", {}, stateBadge(one), jobLink(metadata.namespace, metadata.name), h("span", { class: "faint small" }, [spec.clusterQueue, spec.submittedBy].filter(Boolean).join(" · ")));
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
  if (matches.length >= FOUND_MAX) return `The first ${FOUND_MAX}: write more of the name.`;
  return looked < total ? `${looked.toLocaleString("en")} of ${count(total, "Job")} looked at ...` : `${count(total, "Job")} looked at, ${matches.length} found.`;
}

function drawJobs(part, words) {
  return (matches, looked, total) => {
    draw(part, card("Jobs that wait or run", progress(matches, looked, total), matches.length ? h("ul", { class: "found jobs-found" }, matches.map(jobItem)) : "",
      h("p", {}, link(["history"], `History of Jobs named ${words.name}`, { job: words.name, namespace: words.namespace, since: "30d" }))));
  };
}

const HOW = "Write a part of the name of a Job, a queue, a user or a namespace; or namespace/name.";

function isName(text) {
  return /^[-a-z0-9.]*$/.test(text);
}

export async function searchPage(page) {
  const text = page.params.get("text") || "", words = wordsOf(text), { signal, tell } = page;
  if (!words.name && !words.namespace) return draw(page.content, h("h2", {}, "Search"), empty(HOW));
  const mayBeJob = isName(words.namespace) && isName(words.name);
  if (mayBeJob && words.namespace && words.name && await orNull(job(words.namespace, words.name, signal)))
    return location.replace(address(["job", words.namespace, words.name]));
  const part = { names: h("div", { class: "cards", "data-own": true }), jobs: h("div", { "data-own": true }) };
  draw(page.content, h("h2", {}, `Search for ${text}`), part.names, part.jobs);
  findNames(part.names, words, page).catch(page.complain);
  if (!mayBeJob) return draw(part.jobs, faint("No Job can have this name: names have small letters, digits, hyphens and dots."));
  try {
    await scan({ ...words, namespace: words.namespace || (lacksQueues() ? page.namespace : "") }, signal, drawJobs(part.jobs, words));
    tell("Searched.");
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 403) throw error;
    draw(part.jobs, warning(`${sentenceOf(error)}. Or write namespace/name.`));
  }
}
