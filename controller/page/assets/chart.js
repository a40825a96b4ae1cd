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

export function upright(at, attributes) {
  return svg("line", { x1: percent(at), x2: percent(at), ...attributes });
}

// Parts one after the other on a track: [[class, amount], ...] of `all`, and a mark, such as a quota. The words beside
// it say the same. A window without colours shows the parts by their patterns and edges.
export function stack(parts, all, mark) {
  const shares = parts.filter(([, n]) => n > 0).map(([name, n]) => {
    const part = h("i", { class: name });
    part.style.width = percent(n / (all || 1));
    return part;
  });
  const line = mark === undefined ? [] : h("b");
  if (mark !== undefined) line.style.left = percent(mark / (all || 1));
  return h("span", { class: "stack", "aria-hidden": "true" }, shares, line);
}

// Values over time as a line, on a scale from 0 to `most`. words: what the line says.
export function spark(values, most, words) {
  const y = (n) => (20 - 18 * (n / (most || 1))).toFixed(1), last = Math.max(1, values.length - 1);
  const d = values.map((n, i) => `${i ? "L" : "M"}${((96 * i) / last).toFixed(1)} ${y(n)}`).join("");
  return svg("svg", { class: "day-line", viewBox: "0 0 96 22", preserveAspectRatio: "none", role: "img", "aria-label": words },
    svg("title", {}, words), svg("path", { d }));
}

// What colours and patterns mean: [[class, words], ...].
export function keys(list) {
  return h("p", { class: "keys faint small" }, list.map(([name, words]) => h("span", {}, h("i", { class: name, "aria-hidden": "true" }), words)));
}

// A line from one end of a picture to the other.
export function across(y, name = "tick") {
  return svg("line", { class: name, x1: 0, x2: "100%", y1: y, y2: y });
}

/* ---- quota ---- */

// What is held of each resource of each flavor: { flavor, resource, quota, held, used, borrowed, words } in the server's
// units. Of what is held, pods that do not run yet have reserved what is not used. A Cohort has what all below it bring.
export function usesOf(held, used = held) {
  const inUse = new Map(used.flatMap(({ name, resources }) => resources.map((r) => [`${name} ${r.name}`, units(r.name, r.total)])));
  return held.flatMap(({ name: flavor, resources }) => resources.map((r) => {
    const all = units(r.name, r.total), subtree = r.subtree ?? r.nominal;
    return { flavor, resource: r.name, quota: units(r.name, subtree), held: all, used: Math.min(all, inUse.get(`${flavor} ${r.name}`) ?? all),
      borrowed: r.borrowed === "0" ? "" : r.borrowed, words: `${r.total} of ${subtree}` };
  }));
}

export function useWords({ resource, quota, held, used, borrowed, words }) {
  const over = borrowed ? ` · ${borrowed} borrowed` : held > quota ? " · more than its quota" : "";
  return `${words}${over}${held > used ? ` · ${amount(resource, held - used)} reserved` : ""}`;
}

export function useStack({ quota, held, used, borrowed }) {
  const own = Math.min(used, quota);
  return stack([["own", own], [borrowed ? "borrowed" : "over", used - own], ["reserved", held - used]], Math.max(quota, held), held > quota ? quota : undefined);
}

export function useLegend() {
  return keys([["own", "own quota"], ["borrowed", "borrowed: may be taken back"], ["reserved", "reserved: its pods do not run yet"]]);
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
