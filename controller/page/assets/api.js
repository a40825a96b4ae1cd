// What the page asks, with the rights of the token that was pasted, or of the proxy in front. The token stays in
// this tab.

import { isAttended } from "./attended.js";
import { onOwnClock } from "./words.js";

const ROOT = "/apis/visibility.sluice.dev/v1alpha1";
const PAGE_JOBS = 500;

const forgetting = []; // what modules do when another person looks

export const session = {
  get token() { return sessionStorage.getItem("token") || ""; },
  get namespace() { return sessionStorage.getItem("namespace") || ""; },
  isLetInWithoutToken: false, // a proxy in front has signed the person in
  who: null, // what whoAmI() said; null: not known
  maySeeQueues: undefined, // of all namespaces; not known yet, or true or false
  turn: 0, // another one for each person
  isDoubted: false, // an answer was as if somebody else were signed in, or nobody
  get mayAll() { return this.who ? this.who.mayAll : this.maySeeQueues !== false; },
  choose(namespace) { sessionStorage.setItem("namespace", namespace); },
  signIn(token, namespace) {
    this.signOut();
    sessionStorage.setItem("token", token);
    this.choose(namespace);
  },
  signOut() {
    sessionStorage.clear();
    Object.assign(this, { isLetInWithoutToken: false, who: null, maySeeQueues: undefined, isDoubted: false });
    this.turn++;
    for (const forget of forgetting) forget();
  },
  // Calls forget() whenever the person changes: it drops what was told to the one before.
  onChange(forget) { forgetting.push(forget); },
  // Takes what whoAmI() said. A proxy in front may have let in another person than before.
  know(who) {
    if (this.who && this.who.user !== who.user) this.signOut();
    Object.assign(this, { who, maySeeQueues: who.mayAll, isDoubted: false });
  },
};

// What the server refused, in its own sentence.
export class Refusal extends Error {
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }

  // It may pass by itself.
  get isPassing() { return this.status >= 500 || this.status === 429 || this.status === 410; }
}

const SENTENCES = new Set(["message", "invalid", "cure", "why"]);

function parse(text) {
  return JSON.parse(text, (name, value) => (SENTENCES.has(name) && typeof value === "string" ? onOwnClock(value) : value));
}

async function refusal(answer) {
  let said = {};
  try {
    said = parse(await answer.text());
  } catch { /* a proxy's words, not ours */ }
  const refused = new Refusal(answer.status, said.message || said.error || `the server answered ${answer.status}`);
  return Object.assign(refused, { againSeconds: Number(answer.headers.get("Retry-After")) || 0 });
}

// The answer, or null where the server refuses with one of these statuses. None given: with any but 401.
export async function orNull(question, ...statuses) {
  try {
    return await question;
  } catch (error) {
    const isExpected = error instanceof Refusal && (statuses.length ? statuses.includes(error.status) : error.status !== 401);
    if (!isExpected) throw error;
    return null;
  }
}

// The server leads nowhere else: a proxy in front wants the person to sign in.
const SIGNED_OUT = "You are no longer signed in at the proxy in front of this page. Reload the page.";

// What is told of queues wants rights that roles give together, as sluice-viewer does.
const OF_QUEUES = /v1alpha1\/(queuereports|budgetreports|nodereports|overcommits|clusterqueues\/[^/]+\/usage)(\?|$)/;

function learnFrom(path, { ok, status }) {
  if (OF_QUEUES.test(path) && !session.who && (ok || status === 403)) session.maySeeQueues = ok;
}

// An answer that comes when the person has changed is for nobody.
function dropIfLate(turn) {
  if (session.turn !== turn) throw new DOMException("another person is signed in", "AbortError");
}

async function ask(path, signal, more = {}) {
  const { token, turn } = session, headers = { ...more, ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  if (!isAttended()) headers["Sluice-Unattended"] = "true";
  const answer = await fetch(path, { headers, signal, cache: "no-store", redirect: "manual" });
  dropIfLate(turn);
  if (answer.type === "opaqueredirect" || [401, 403].includes(answer.status)) session.isDoubted = true;
  if (answer.type === "opaqueredirect") throw new Refusal(302, SIGNED_OUT);
  learnFrom(path, answer);
  if (!answer.ok && answer.status !== 304) throw await refusal(answer);
  session.isLetInWithoutToken ||= !token;
  return answer;
}

// The last answers, by path, with their tags: the server says 304 where one would be the same again. Text, not what it
// says, which those that asked may change.
const known = new Map(), KNOWN_MAX = 12, KNOWN_CHARS_MAX = 500_000;
session.onChange(() => known.clear());

function keep(path, tag, text) {
  known.delete(path);
  if (!tag || text.length > KNOWN_CHARS_MAX) return;
  known.set(path, { tag, text });
  if (known.size > KNOWN_MAX) known.delete(known.keys().next().value);
}

async function textOf(path, signal) {
  const { turn } = session, old = known.get(path), answer = await ask(path, signal, old ? { "If-None-Match": old.tag } : {});
  const text = answer.status === 304 ? old.text : await answer.text();
  dropIfLate(turn);
  keep(path, answer.headers.get("ETag") || old?.tag, text);
  return text;
}

async function get(path, words, signal) {
  return parse(await textOf(path + query(words), signal));
}

function query(words) {
  const given = Object.entries(words).filter(([, value]) => value !== undefined && value !== "");
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

// A name as a part of a path. What cannot be one ("..") would ask for something else.
function segment(name) {
  if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name)) throw new Refusal(400, `"${name}" cannot be a name: write small letters, digits, hyphens and dots.`);
  return name;
}

function scoped(resource, namespace) {
  return namespace ? `${ROOT}/namespaces/${segment(namespace)}/${resource}` : `${ROOT}/${resource}`;
}

export const queues = (signal, namespace = "") => get(scoped("queuereports", namespace), {}, signal);
export const summaries = (namespace, by, signal) => get(scoped("summaries", namespace), { by }, signal);
// words: { until: "24h", clusterQueue }
export const timelines = (namespace, words, signal) => get(scoped("timelines", namespace), words, signal);
// What was, folded: { since: "6h", until, clusterQueue }.
export const spans = (namespace, words, signal) => get(scoped("histories", namespace), { ...words, fold: "true" }, signal);
export const whoAmI = (signal) => get("/page/session", {}, signal);
export const week = (clusterQueue, signal) => get(`${ROOT}/clusterqueues/${segment(clusterQueue)}/week`, {}, signal);
export const usage = (clusterQueue, signal) => get(`${ROOT}/clusterqueues/${segment(clusterQueue)}/usage`, { since: "24h" }, signal);
export const budgets = (signal) => get(`${ROOT}/budgetreports`, {}, signal);
export const nodeReport = (signal) => get(`${ROOT}/nodereports`, {}, signal);
export const nodes = (signal) => get(`${ROOT}/overcommits`, {}, signal);
export const job = (namespace, name, signal) => get(`${scoped("queuedjobs", namespace)}/${segment(name)}`, {}, signal);
// What would make a Job start earlier; each question makes the server play the queue.
export const startReview = (namespace, name, signal) => get(`${scoped("queuedjobs", namespace)}/${segment(name)}/start`, {}, signal);
// resource: "reports" or "histories".
export const past = (resource, namespace, words, signal) => get(scoped(resource, namespace), words, signal);

/* ---- Jobs: lists, and how they change ---- */

// Which Jobs: {namespace, clusterQueue, lineOf, queue, submittedBy, state, name, labels}. lineOf names a ClusterQueue
// whose line is asked for by the right to see that queue, in all namespaces.
function selectors(which) {
  const fields = { "spec.clusterQueue": which.clusterQueue, "spec.queue": which.queue, "spec.submittedBy": which.submittedBy,
    "status.state": which.state, "metadata.name": which.name };
  const given = Object.entries(fields).filter(([, value]) => value);
  return { fieldSelector: given.map(([name, value]) => `${name}=${value.replace(/[\\,=]/g, "\\$&")}`).join(","), labelSelector: which.labels || "" };
}

// A page of them: {items, total, version, moment}. The token that a page gives for the next one is the moment that
// was read and the number of Jobs before it, so pages of one moment are asked for in any order (job_query.h).
export async function jobs(which, { moment = "", first = 0, limit = PAGE_JOBS } = {}, signal) {
  const path = which.lineOf ? `${ROOT}/clusterqueues/${segment(which.lineOf)}/queuedjobs` : scoped("queuedjobs", which.namespace);
  const list = await get(path, { ...selectors(which), limit, continue: moment && `${moment}.${first}` }, signal);
  const { resourceVersion, remainingItemCount = 0, continue: token = "" } = list.metadata;
  const total = first + list.items.length + remainingItemCount;
  return { items: list.items, total, version: resourceVersion, moment: token.split(".")[0] || moment };
}

const SILENCE_MS = 150_000; // a bookmark comes every minute

// Calls back with each change, until the server or the signal ends it. It is a fetch that is read as it comes:
// EventSource cannot send a token.
export async function follow(which, version, signal, onChange) {
  const silence = new AbortController(), both = AbortSignal.any([signal, silence.signal]);
  const path = scoped("queuedjobs", which.namespace) + query({ ...selectors(which), watch: "1", allowWatchBookmarks: "1", resourceVersion: version });
  const answer = await ask(path, both);
  let timer = 0;
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(new Error("the server has been silent for too long")), SILENCE_MS);
  };
  try {
    wait();
    for await (const line of lines(answer.body)) {
      wait();
      const event = parse(line);
      if (event.type === "ERROR") throw new Refusal(event.object.code, event.object.message);
      if (event.type !== "BOOKMARK") onChange(event);
    }
  } catch (error) { // Chromium 150 says of the stream that it was aborted, and not why
    throw both.aborted ? both.reason : error;
  } finally {
    clearTimeout(timer);
  }
}

async function* lines(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    yield* parts.filter(Boolean);
  }
}
