// What was used and what it cost, day by day. The API adds up a whole stretch, so each day is a question of its own: one
// after the other, the last ones first, at most 31; kept for as long as the person stays.

import { past, session } from "./api.js";
import { pause } from "./live.js";

const DAYS_MAX = 31, DAY_MS = 86_400_000, FRESH_MS = 60_000;

const kept = new Map(); // question -> { at, told }
session.onChange(() => kept.clear());

function midnight(at) {
  return new Date(at).setHours(0, 0, 0, 0);
}

const AGES = { h: 3600_000, d: DAY_MS, w: 7 * DAY_MS };

// When a stretch began, by the reader's clock: an age ("24h", "7d", "4w"), "day", "month", "year" or a moment. Of what is
// none of these: this month.
export function beginOf(since, now = Date.now()) {
  const today = new Date(now), [, n, unit] = /^(\d+)([hdw])$/.exec(since) || [], at = Date.parse(since);
  if (unit) return now - Number(n) * AGES[unit];
  if (/^\d{4}-/.test(since) && at < now) return at;
  if (since === "day") return midnight(now);
  return +new Date(today.getFullYear(), since === "year" ? 0 : today.getMonth(), 1);
}

// The days between, the first ones left out where there are too many: [{ from, until }]. The last goes on.
export function daysOf(from, until) {
  const all = [];
  for (let at = Math.max(from, midnight(until - DAYS_MAX * DAY_MS)); at < until;) {
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
  const known = days.map(() => undefined);
  for (let i = days.length - 1; i >= 0 && !signal.aborted; i--) {
    const day = days[i], id = [namespace, by, day.from, day.until].join(" "), began = performance.now();
    if (!kept.has(id) || !isGood(kept.get(id), day)) {
      const words = { by, since: new Date(day.from).toISOString(), until: new Date(day.until).toISOString() };
      kept.set(id, { at: Date.now(), told: await past("reports", namespace, words, signal) });
      await pause(2 * (performance.now() - began), signal); // the ledger has others to answer
    }
    known[i] = kept.get(id).told;
    if (!signal.aborted) onNews(known);
  }
}
