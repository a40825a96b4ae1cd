// What the person may see: a place that would be refused is no link, and is not asked for.

import { Refusal, session, whoAmI } from "./api.js";
import { faint, link } from "./dom.js";

const SOON_MS = 5000, OFTEN_MS = 60_000, SELDOM_MS = 300_000;

let askedMs = -Infinity, waitMs = SOON_MS;

session.onChange(() => { waitMs = SOON_MS; });

// Who sees one namespace alone begins in the likeliest.
async function askWho(signal) {
  askedMs = performance.now();
  session.know(await whoAmI(signal));
  const { mayAll, namespaces } = session.who;
  if (!mayAll && !session.namespace && namespaces.length) session.choose(namespaces[0]);
}

// Asks before the first page of a person; a server that cannot say it refuses no link.
export async function learnRights(signal) {
  if (session.who) return;
  try {
    await askWho(signal);
  } catch (error) {
    if (error instanceof Refusal && error.status !== 401) return;
    throw error;
  }
}

// Namespaces that are missing may be found later. Without a token, a proxy in front may have let in another person.
function isDue() {
  const ageMs = performance.now() - askedMs;
  if (session.who.more || hasNothing()) return ageMs > waitMs;
  return !session.token && ageMs > (session.isDoubted ? SOON_MS : OFTEN_MS);
}

// Asks again where another answer is likely, more and more seldom. True: it is another.
export async function renewRights(signal) {
  if (!session.who || !isDue()) return false;
  const before = JSON.stringify(session.who);
  waitMs = Math.min(SELDOM_MS, 2 * waitMs);
  await askWho(signal).catch(() => {}); // the page itself says what is wrong
  return Boolean(session.who) && JSON.stringify(session.who) !== before;
}

document.addEventListener("visibilitychange", () => { session.isDoubted = true; });

// True: there is no namespace that this person is known to have a role in.
export function hasNothing() {
  const { who } = session;
  return Boolean(who) && !who.mayAll && !who.namespaces.length && !session.namespace;
}

// True: the person may see some namespaces, and of queues what is told in those.
export function lacksQueues() {
  return session.maySeeQueues === false;
}

// In place of what would be refused.
export function whoSees(what) {
  return faint(`To see ${what} you need the role sluice-viewer in the whole cluster. Other pages say what concerns your Jobs.`);
}

// Of a queue that Jobs of the person's own namespace are in, so it is told of.
export function queueLink(name, text = name, params = {}) {
  return link(["queue", name], text, params);
}

// Links of the header to what only those see who may see all.
export function drawNavigation() {
  for (const a of document.querySelectorAll("header a[data-all]")) a.hidden = lacksQueues();
}
