// What the person may see: a place that would be refused is no link, and is not asked for.

import { Refusal, session, whoAmI } from "./api.js";
import { faint, link } from "./dom.js";

// Asked once of who is signed in; a server that cannot say it refuses no link. Who sees one namespace alone begins in
// the likeliest.
export async function learnRights(signal) {
  if (session.who) return;
  try {
    session.who = await whoAmI(signal);
    session.maySeeQueues = session.who.mayAll;
    if (!session.who.mayAll && !session.namespace && session.who.namespaces.length) session.choose(session.who.namespaces[0]);
  } catch (error) {
    if (error instanceof Refusal && error.status !== 401) return;
    throw error;
  }
}

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
