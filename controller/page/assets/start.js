// When a Job starts, by the queue played forward (docs/when.md), as far as somebody has asked lately.

import { neverStarts } from "./badges.js";
import { moment } from "./words.js";

export const ON_HOLD = "OnHold"; // the reason of a Job that starts only once it is released

const DAY_MS = 86_400_000, HORIZON = "30 days";
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const weekday = new Intl.DateTimeFormat("en-GB", { weekday: "short", hour: "2-digit", minute: "2-digit" });

// "14:10" of the same day as `day`, "Tue 14:10" of the next six, else with its date.
export function shortly(at, day = Date.now()) {
  const then = new Date(at), ahead = then - Date.now();
  if (then.toDateString() === new Date(day).toDateString()) return clock.format(then);
  return ahead > 0 && ahead < 6 * DAY_MS ? weekday.format(then).replace(",", "") : moment(at);
}

function isOver(at) {
  return new Date(at) <= Date.now();
}

function middle({ p10, p50 }) {
  if (p50) return isOver(p50) ? "any moment" : shortly(p50);
  return p10 ? `probably not before ${shortly(p10)}` : "unlikely";
}

function end({ p50, p90, misses, draws }) {
  if (p90 && !isOver(p90)) return `, 90 % sure by ${shortly(p90, p50 && !isOver(p50) ? p50 : undefined)}`;
  return misses && !p90 ? `; in ${misses} of ${draws} simulations it did not start within ${HORIZON}` : "";
}

// "Tue 14:10, 90 % sure by 15:30"; "" where it is not known, or the Job does not wait.
export function startWords({ reason, start }) {
  if (!reason || !start || reason === ON_HOLD) return "";
  if ((start.misses || 0) >= start.draws) return `none within ${HORIZON}`;
  return middle(start) + end(start);
}

// In a column, of a Job that waits: "~14:10"; "Sun 08:00", before which it cannot start; "never" as it is, or "> 30 days";
// "" where that is not known.
export function startCell({ reason, startAt, start }) {
  if (!reason) return "";
  if (startAt && !isOver(startAt)) return shortly(startAt);
  if (neverStarts(reason)) return "never";
  if (start && reason !== ON_HOLD && (start.misses || 0) >= start.draws) return `> ${HORIZON}`;
  if (!start?.p50) return "";
  return isOver(start.p50) ? "soon" : `~${shortly(start.p50)}`;
}

// "~20:43", of a run whose duration is known; "" else, or where that is over.
export function endCell({ startedAt, expectedSeconds }) {
  const end = startedAt && expectedSeconds ? new Date(startedAt).getTime() + 1000 * expectedSeconds : 0;
  return end > Date.now() ? `~${shortly(end)}` : "";
}

// "until 12:03 it was expected at 12:50; since then: 3 new Jobs are expected to start before this one"; "" where nothing else was told before.
export function movedWords({ reason, start }) {
  const moved = reason && start?.moved;
  return moved ? `until ${shortly(moved.at)} it was expected at ${shortly(moved.from)}${moved.why ? `; since then: ${moved.why}` : ""}` : "";
}
