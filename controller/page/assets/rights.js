// Whether the person may see queues, beside the Jobs of a namespace: a place that would be refused is no link.

import { budgets, Refusal, session } from "./api.js";
import { faint, link } from "./dom.js";

const WHO = "To see queues, budgets and nodes you need the role sluice-viewer in the whole cluster.";

// Asked once of who is signed in; a server that cannot say it refuses no link.
export async function learnRights(signal) {
  if (session.maySeeQueues !== undefined) return;
  try {
    await budgets(signal);
  } catch (error) {
    if (error instanceof Refusal && error.status === 401) throw error;
  }
}

export function lacksQueues() {
  return session.maySeeQueues === false;
}

// In place of what would be refused.
export function whoSeesQueues() {
  return faint(WHO);
}

export function queueLink(name, text = name, params = {}) {
  return lacksQueues() ? text : link(["queue", name], text, params);
}

// Links of the header that lead to queues have their address in data-queues; data-else is where one leads instead.
export function drawHeader() {
  for (const a of document.querySelectorAll("header a[data-queues]")) {
    const href = lacksQueues() ? a.dataset.else : a.dataset.queues;
    if (href) a.setAttribute("href", href);
    else a.removeAttribute("href");
    a.title = lacksQueues() && !href ? WHO : "";
  }
}
