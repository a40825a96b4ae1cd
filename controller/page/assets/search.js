// Search: namespaces, queues, users and Jobs by a part of their names, in any case; a Job by namespace/name, also one
// that has ended. The server finds whole names; for a part of a Job's name the line is read page by page, with what was
// looked at so far, until enough is found or the page is left. Of Jobs that have ended the whole name is looked for; a
// part of it narrows the newest runs (history.js).

import { job, jobs, orNull, past, queues, Refusal, session, summaries } from "./api.js";
import { address, draw, faint, h, jobLink, link, namedJobLink, warning } from "./dom.js";
import { stateBadge } from "./badges.js";
import { sentenceOf } from "./live.js";
import { lacksQueues } from "./rights.js";
import { endCell, startCell } from "./start.js";
import { card, empty } from "./ui.js";
import { count } from "./words.js";

const FOUND_MAX = 100, NAMES_MAX = 12, PAGE = 2000, BACK = "30d", BACK_WORDS = "30 days";

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

// "reports · mia · starts ~14:10 · WaitingForQuota"
function jobItem(one) {
  const { metadata, spec, status } = one, start = startCell(status), end = endCell(status);
  const words = [spec.clusterQueue, spec.submittedBy, start && (start === "never" ? "never starts" : `starts ${start}`), end && `ends ${end}`, status.reason];
  return h("li", {}, stateBadge(one), jobLink(metadata.namespace, metadata.name), h("span", { class: "faint small" }, words.filter(Boolean).join(" · ")));
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

function drawJobs(part) {
  return (matches, looked, total) => {
    draw(part, card("Jobs that wait or run", progress(matches, looked, total), matches.length ? h("ul", { class: "found jobs-found" }, matches.map(jobItem)) : ""));
  };
}

/* ---- Jobs that have ended ---- */

// Names of the Jobs, namespace/name, that have runs under this whole name, those of the newest run first.
async function endedJobs(namespace, name, signal) {
  const told = await orNull(past("histories", namespace, { job: name, since: BACK }, signal));
  return [...new Set((told?.runs || []).map((run) => `${run.namespace}/${run.job}`))];
}

function drawEnded(part, words, namespace, found) {
  const ones = found.slice(0, NAMES_MAX).map((one) => h("li", {}, namedJobLink(one)));
  const newest = link(["history"], `Runs with "${words.name}" in a name, among the newest 1,000`, { text: words.name, namespace, since: BACK });
  draw(part, card("Runs of the past", BACK_WORDS, ones.length ? [faint(`Jobs of the whole name ${words.name}:`), h("ul", { class: "found" }, ones)] : faint(`No Job of the whole name ${words.name} has run.`),
    h("p", {}, newest)));
}

const HOW = "Write a part of the name of a Job, a queue, a user or a namespace; namespace/name; or a label, team=vision.";

// "team=vision", "sluice.dev/queue-name=q": a whole one, as the server selects them.
const LABEL = /^[A-Za-z0-9][-\w./]*=[-\w.]*$/;

function isName(text) {
  return /^[-a-z0-9.]*$/.test(text);
}

// True of one that waits or runs, and of one of which runs are recorded.
async function isJob({ namespace, name }, signal) {
  return Boolean(await orNull(job(namespace, name, signal))) || (await endedJobs(namespace, name, signal)).length > 0;
}

export async function searchPage(page) {
  const text = page.params.get("text") || "", words = wordsOf(text), { signal, tell } = page;
  if (!words.name && !words.namespace) return draw(page.content, h("h2", {}, "Search"), empty(HOW));
  const mayBeJob = isName(words.namespace) && isName(words.name);
  if (mayBeJob && words.namespace && words.name && await isJob(words, signal)) return location.replace(address(["job", words.namespace, words.name]));
  const part = { names: h("div", { class: "cards", "data-own": true }), jobs: h("div", { "data-own": true }), ended: h("div", { "data-own": true }) };
  draw(page.content, h("h2", {}, `Search for ${text}`), part.names, part.jobs, part.ended);
  findNames(part.names, words, page).catch(page.complain);
  const mine = lacksQueues() ? page.namespace : "";
  if (LABEL.test(text.trim())) return draw(part.jobs, card("Labels", "", h("p", {}, link(["jobs"], `Jobs with label ${text.trim()}`, { namespace: mine, labels: text.trim() }))));
  if (!mayBeJob) return draw(part.jobs, faint("No Job can have this name: names have small letters, digits, hyphens and dots."));
  const namespace = words.namespace || mine;
  if (words.name) endedJobs(namespace, words.name, signal).then((found) => drawEnded(part.ended, words, namespace, found), page.complain);
  try {
    await scan({ ...words, namespace }, signal, drawJobs(part.jobs));
    tell("Searched.");
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 403) throw error;
    draw(part.jobs, warning(`${sentenceOf(error)}. Or write namespace/name.`));
  }
}
