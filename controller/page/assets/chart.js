// Pictures of amounts over a whole, and over time. They are SVG whose widths are shares of the room that there is, so
// that text in them is never stretched. Beside each stands the same in words.

import { folded, h, svg, table } from "./dom.js";
import { amount, day, moment, span, units } from "./words.js";

const HOUR_MS = 3600_000, DAY_MS = 24 * HOUR_MS, ROWS_MAX = 100;

export function percent(share) {
  return `${(100 * Math.max(0, Math.min(1, share))).toFixed(3)}%`;
}

// A part of a picture: from and to are shares of its width.
export function block(from, to, attributes) {
  return svg("rect", { x: percent(from), width: percent(to - from), ...attributes });
}

function upright(at, attributes) {
  return svg("line", { x1: percent(at), x2: percent(at), ...attributes });
}

// Parts one after the other, and marks, on a scale that has room for all of them. parts and marks: [class, amount].
// The words beside it say the same.
export function bar(parts, marks) {
  const all = parts.reduce((n, [, part]) => n + part, 0), scale = Math.max(all, ...marks.map(([, at]) => at)) || 1;
  let from = 0;
  const blocks = parts.map(([name, part]) => block(from / scale, (from += part) / scale, { y: 2, height: 12, class: name }));
  const track = svg("rect", { class: "track", y: 2, width: "100%", height: 12 });
  const lines = marks.map(([name, at]) => upright(at / scale, { class: name, y1: 0, y2: 16 }));
  return svg("svg", { class: "bar", height: 16, "aria-hidden": "true" }, track, blocks, lines);
}

// A resource of a flavor: what is held of the quota, and what is borrowed beyond.
// A Cohort has what all below it bring.
export function quotaBar({ name, nominal, total, borrowed, subtree = nominal }) {
  const quota = units(name, subtree), held = units(name, total), within = Math.min(held, quota), over = held - within;
  const words = `${total} of ${subtree} ${name}`;
  return h("div", { class: "measure" }, bar([["held", within], ["over", over]], [["mark", quota]]),
    h("span", {}, words, over > 0 ? h("strong", {}, borrowed !== "0" ? `, ${borrowed} borrowed` : ", more than its quota") : ""));
}

/* ---- time ---- */

// The midnights of the reader's clock within a stretch of time.
function midnights(from, until) {
  const at = new Date(from), all = [];
  at.setHours(0, 0, 0, 0);
  for (at.setDate(at.getDate() + 1); at < until; at.setDate(at.getDate() + 1)) all.push(+at);
  return all;
}

export function scaleOf(from, until) {
  return (at) => (at - from) / Math.max(1, until - from);
}

function quartersOfDays(from, until) {
  return [0, 6, 12, 18, 24, 30, 36, 42, 48].map((n) => new Date(from).setHours(n, 0, 0, 0)).filter((t) => t > from && t < until);
}

// Marks for the days, or for the hours of a shorter stretch.
export function ticks(from, until, y) {
  const x = scaleOf(from, until), isLong = until - from > 2 * DAY_MS, at = isLong ? midnights(from, until) : quartersOfDays(from, until);
  const words = (t) => (isLong ? [day(t).slice(0, 3), svg("tspan", { class: "wide" }, day(t).slice(3).replace(",", ""))] : moment(t).slice(-5));
  return at.map((t) => [upright(x(t), { class: "tick", y1: 0, y2: y }),
    x(t) < 0.93 ? svg("text", { x: percent(x(t)), dx: 3, y: y - 2 }, words(t)) : []]);
}

export function nowLine(from, until, now, height) {
  return now >= from && now <= until ? upright(scaleOf(from, until)(now), { class: "now", y1: 0, y2: height }) : [];
}

export function foldedTable(title, heads, rows) {
  const shown = rows.slice(0, ROWS_MAX);
  return folded(title, table(shown.length < rows.length ? `The first ${ROWS_MAX} of ${rows.length}` : title, heads, shown));
}

const HEIGHT = 84, GROUND = 66;

// What was held of one resource of a flavor over the last day, as means of steps: in a moment it may have been more, and
// now it may be. quota: its nominal units now.
export function usageChart(told, { name, resource, units: held }, quota) {
  const from = +new Date(told.from), until = +new Date(told.until), step = told.stepSeconds * 1000;
  const most = Math.max(...held, quota, 1), x = scaleOf(from, until);
  const y = (n) => GROUND - (GROUND - 6) * (n / most), at = (i) => from + i * step;
  const steps = held.map((n, i) => block(x(at(i)), x(Math.min(until, at(i + 1))), { class: "held", y: y(n), height: GROUND - y(n) }));
  const average = held.reduce((sum, n) => sum + n, 0) / Math.max(1, held.length), a = (n) => amount(resource, n);
  const length = told.stepSeconds === 900 ? "quarter hour" : span(told.stepSeconds);
  const words = `average ${a(average)}; fullest ${length} ${a(Math.max(0, ...held))}; the quota is ${a(quota)} now`;
  return h("figure", {}, h("figcaption", {}, h("strong", {}, `${name}, ${resource}`), `: ${words}`),
    svg("svg", { class: "chart", height: HEIGHT, role: "img", "aria-label": `${resource} of ${name} over the last day: ${words}` }, steps,
      svg("line", { class: "limit", x1: 0, x2: "100%", y1: y(quota), y2: y(quota) }), ticks(from, until, HEIGHT)),
    foldedTable("As a table", ["From", `${resource} held`], held.map((n, i) => [moment(at(i)), a(n)])));
}
