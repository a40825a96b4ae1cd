// The last day of ClusterQueues, for lines in a table: asked for the rows that are in sight, one after the other, and
// kept for some minutes.

import { Refusal, session, usage } from "./api.js";
import { paced, pause, visible } from "./live.js";

const KEPT_MS = 5 * 60_000, ASK_MS = 150, IDLE_MS = 500;

const kept = new Map(); // name of a ClusterQueue -> { at, told }; told: undefined where it could not be asked
session.onChange(() => kept.clear());

export function lastDayOf(name) {
  return kept.get(name)?.told;
}

function isInSight(row) {
  const { top, bottom } = row.getBoundingClientRect();
  return bottom > 0 && top < window.innerHeight;
}

// The first row in sight whose day is not known, or is old.
function nextName(root) {
  const isDue = (name) => !kept.has(name) || Date.now() - kept.get(name).at > KEPT_MS;
  const due = [...root.querySelectorAll("[data-day]")].filter((row) => isDue(row.dataset.day));
  return due.find(isInSight)?.dataset.day;
}

async function askFor(name, signal) {
  try {
    kept.set(name, { at: Date.now(), told: await usage(name, signal) });
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    kept.set(name, { at: Date.now(), told: lastDayOf(name) });
    return !(error instanceof Refusal && error.status === 403);
  }
}

// Asks for as long as the page is shown. Rows name their ClusterQueue in data-day; onNews() draws.
export async function followSeen(page, root, onNews) {
  for (let goesOn = true; goesOn && !page.signal.aborted; await visible(page.signal)) {
    const name = nextName(root), began = performance.now();
    if (name) {
      goesOn = await askFor(name, page.signal);
      if (!page.signal.aborted) onNews();
    }
    await pause(name ? paced(ASK_MS, performance.now() - began) : IDLE_MS, page.signal);
  }
}
