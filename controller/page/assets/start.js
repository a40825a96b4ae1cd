// When a Job starts, by the queue played forward (docs/when.md), as far as somebody has asked lately.

import { moment } from "./words.js";

const DAY_MS = 86_400_000, HORIZON = "30 days";
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const weekday = new Intl.DateTimeFormat("en-GB", { weekday: "short", hour: "2-digit", minute: "2-digit" });

// "14:10" of the same day as `day`, "Tue 14:10" of the next six, else with its date.
function shortly(at, day = Date.now()) {
  const then = new Date(at), ahead = then - Date.now();
  if (then.toDateString() === new Date(day).toDateString()) return clock.format(then);
  return ahead > 0 && ahead < 6 * DAY_MS ? weekday.format(then).replace(",", "") : moment(at);
}

function isOver(at) {
  return new Date(at) <= Date.now();
}

function middle({ p10, p50 }) {
  if (p50) return isOver(p50) ? "any moment now" : shortly(p50);
  return p10 ? `probably not before ${shortly(p10)}` : "unlikely";
}

function end({ p50, p90, misses, draws }) {
  if (p90 && !isOver(p90)) return `; by ${shortly(p90, p50 && !isOver(p50) ? p50 : undefined)} with 90 %`;
  return misses && !p90 ? `; not within ${HORIZON} in ${misses} of ${draws} plays` : "";
}

// "Tue 14:10; by 15:30 with 90 %"; "" where it is not known, or the Job does not wait.
export function startWords({ reason, start }) {
  if (!reason || !start) return "";
  if ((start.misses || 0) >= start.draws) return `not within ${HORIZON}, as things are`;
  return middle(start) + end(start);
}

// The same in a column: "about 14:10", or the time at which time alone lets it go on.
export function startCell({ reason, startAt, start }) {
  if (!reason) return "";
  if (startAt) return `not before ${shortly(startAt)}`;
  if (!start?.p50) return "";
  return isOver(start.p50) ? "soon" : `about ${shortly(start.p50)}`;
}

// "was 12:50 until 12:03; since: 3 Jobs came that start before it"; "" where nothing else was told before.
export function movedWords({ reason, start }) {
  const moved = reason && start?.moved;
  return moved ? `was ${shortly(moved.from)} until ${shortly(moved.at)}${moved.why ? `; since: ${moved.why}` : ""}` : "";
}
