// What was used and what it cost, day by day. The API adds up a whole stretch, so each day is a question of its own: one
// after the other, the last ones first, at most 31; kept for as long as the tab is open.

import { past, session } from "./api.js";
import { paced, pause } from "./live.js";

const DAYS_MAX = 31, DAY_MS = 86_400_000, FRESH_MS = 60_000;

const kept = new Map(); // question -> { at, told }
let whose = ""; // the token that it was asked with

function midnight(at) {
  return new Date(at).setHours(0, 0, 0, 0);
}

// When a stretch began, as the page's words for it say, by the reader's clock: "day", "24h", "7d", "month", "30d", "year".
export function beginOf(since, now = Date.now()) {
  const today = new Date(now), age = /^(\d+)([hd])$/.exec(since);
  if (age) return now - Number(age[1]) * (age[2] === "h" ? 3600_000 : DAY_MS);
  if (since === "day") return midnight(now);
  return +new Date(today.getFullYear(), since === "year" ? 0 : today.getMonth(), 1);
}

// The days between, the first ones left out where there are too many: [{ from, until }]. The last goes on.
export function daysOf(from, until) {
  const all = [];
  for (let at = from; at < until;) {
    const next = new Date(midnight(at));
    next.setDate(next.getDate() + 1);
    all.push({ from: at, until: +next });
    at = +next;
  }
  return all.slice(-DAYS_MAX);
}

// Equal parts of a stretch that began at `from`, of whole days: as many as may be asked.
export function partsOf(from, until) {
  const long = DAY_MS * Math.max(1, Math.ceil((until - from) / DAY_MS / DAYS_MAX)), all = [];
  for (let at = from; at < until; at += long) all.push({ from: at, until: at + long });
  return all;
}

// A run counts in the day of its start, whole, so a day changes until its runs have ended.
function isGood({ at }, { until }) {
  return until < at - 2 * DAY_MS || at > Date.now() - FRESH_MS;
}

// Asks for each, and calls back with what is known so far: a list as long as that of the days, undefined where not known.
export async function reportsOf(namespace, by, days, signal, onNews) {
  if (whose !== session.token) kept.clear();
  whose = session.token;
  const known = days.map(() => undefined);
  for (let i = days.length - 1; i >= 0 && !signal.aborted; i--) {
    const day = days[i], id = [namespace, by, day.from, day.until].join(" "), began = performance.now();
    if (!kept.has(id) || !isGood(kept.get(id), day)) {
      const words = { by, since: new Date(day.from).toISOString(), until: new Date(day.until).toISOString() };
      kept.set(id, { at: Date.now(), told: await past("reports", namespace, words, signal) });
      await pause(paced(0, performance.now() - began), signal);
    }
    known[i] = kept.get(id).told;
    if (!signal.aborted) onNews(known);
  }
}
