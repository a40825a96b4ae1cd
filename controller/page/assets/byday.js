// A picture of costs by day: stacked by team or by what is asked for, with the pod time that was lost in its own colour
// below. Where nothing has a price it is of CPU hours.

import { across, block, foldedTable, keys, percent } from "./chart.js";
import { draw, faint, h, svg } from "./dom.js";
import { empty, skeleton } from "./ui.js";
import { day, money, span } from "./words.js";

const SERIES = 5;

export const keyOf = ({ key }) => key || (key === null ? "(none)" : "(empty)");

/* ---- what is drawn ---- */

// What is drawn: cost in a currency, or CPU hours where nothing has a price.
function measureOf(told) {
  const currencies = new Map();
  for (const { currency, cost } of told.filter(Boolean).flatMap(({ rows }) => rows))
    if (currency) currencies.set(currency, (currencies.get(currency) || 0) + Number(cost || 0));
  const [currency] = [...currencies].sort(([, a], [, b]) => b - a)[0] || [];
  if (!currency) return { name: "CPU hours", of: (row) => row.cpuHours || 0, words: (n) => `${n.toFixed(1)} CPU hours`, others: 0 };
  const of = (row) => (row.currency === currency ? Number(row.cost || 0) : 0);
  return { name: currency, of, words: (n) => money(n.toFixed(6), currency), others: currencies.size - 1 };
}

// The dearest keys by name, and all others as one: [{ key, values: one of each day }].
function seriesOf(told, { of }) {
  const sums = new Map();
  told.forEach((one, i) => one?.rows.forEach((row) => {
    const key = keyOf(row), values = sums.get(key) || told.map(() => 0);
    values[i] += of(row);
    sums.set(key, values);
  }));
  const total = (values) => values.reduce((all, n) => all + n, 0), sorted = [...sums].sort(([, a], [, b]) => total(b) - total(a));
  const shown = sorted.slice(0, SERIES).sort(([a], [b]) => a.localeCompare(b)).map(([key, values]) => ({ key, values })), rest = sorted.slice(SERIES);
  return rest.length ? [...shown, { key: `${rest.length} others`, values: told.map((_, i) => rest.reduce((all, [, values]) => all + values[i], 0)) }] : shown;
}

/* ---- how it is drawn ---- */

const HIGH = 150, TOP = 16, LOST_HIGH = 34;

const withoutWeekday = (words) => words.replace(/^\w+ /, "");

function dayBlock(i, days, y, tall, name) {
  return block(i / days.length, (i + 1) / days.length, { class: name, y: y.toFixed(2), height: tall.toFixed(2) });
}

// Labels below: those for which there is room, and every other one on a phone.
function dayLabels(days, y) {
  const every = Math.ceil(days.length / 6);
  return days.map(({ from }, i) => {
    const after = days.length - 1 - i, x = after ? percent((i + 0.5) / days.length) : "100%";
    return after % every ? [] : svg("text", { class: (after / every) % 2 ? "wide" : undefined, x, y, "text-anchor": after ? "middle" : "end" }, withoutWeekday(day(from)));
  });
}

function stackedDays(days, series, measure, label) {
  const totals = days.map((_, i) => series.reduce((all, { values }) => all + values[i], 0)), most = Math.max(...totals, 1e-9), high = HIGH - TOP;
  const blocks = days.flatMap(({ from }, i) => {
    let base = HIGH;
    return series.map(({ key, values }, at) => {
      const tall = (high * values[i]) / most;
      base -= tall;
      if (!values[i]) return [];
      const part = dayBlock(i, days, base, tall, `series-${at + 1}`);
      part.append(svg("title", {}, `${day(from)}: ${key} ${measure.words(values[i])}`));
      return part;
    });
  });
  const marks = [[TOP, most], [TOP + high / 2, most / 2]];
  return [scaleLabels(marks.map(([y, n]) => [y, measure.words(n)]), HIGH + 18), svg("svg", { class: "by-day", height: HIGH + 18, role: "img", "aria-label": label },
    marks.map(([y]) => across(y)), blocks, across(HIGH), dayLabels(days, HIGH + 14))];
}

// Words of a scale beside its picture: [[y, words], ...].
function scaleLabels(marks, high) {
  const labels = h("span", { class: "scale faint small", "aria-hidden": "true" }, marks.map(([y, words]) => {
    const label = h("span", {}, words);
    label.style.top = `${y - 9}px`;
    return label;
  }), h("i", {}, marks[0][1])); // as wide as the largest
  labels.style.height = `${high}px`;
  return labels;
}

function lostDays(days, lost) {
  const most = Math.max(...lost), words = lostWords(days, lost);
  if (!most) return [];
  const tall = (i) => (LOST_HIGH * lost[i]) / most, blocks = days.map((_, i) => (lost[i] ? dayBlock(i, days, LOST_HIGH - tall(i), tall(i), "lost") : []));
  return [scaleLabels([[9, span(most)]], LOST_HIGH + 1),
    svg("svg", { class: "by-day", height: LOST_HIGH + 1, role: "img", "aria-label": words }, blocks, across(LOST_HIGH))];
}

function lostWords(days, lost) {
  const most = Math.max(...lost), sum = lost.reduce((all, n) => all + n, 0);
  return sum ? `pod time lost: ${span(sum)}, most on ${day(days[lost.indexOf(most)].from)}` : "no pod time was lost";
}

export function drawDays(part, days, told, by) {
  const measure = measureOf(told), series = seriesOf(told, measure);
  const lost = told.map((one) => one?.totals.reduce((all, row) => all + (row.lostSeconds || 0), 0) || 0);
  const missing = told.filter((one) => !one).length, label = `${measure.name} by day and ${by}`;
  if (!series.length) return draw(part, missing ? skeleton("picture", 1) : empty("No run started in these days."));
  draw(part, h("div", { class: "by-days" }, stackedDays(days, series, measure, label), lostDays(days, lost)),
    keys([...series.map(({ key }, i) => [`series-${i + 1}`, key]), ["lost", lostWords(days, lost)]]),
    missing ? faint(`${days.length - missing} of ${days.length} days are read.`) : "",
    measure.others ? faint(`Only ${measure.name} is drawn; other currencies are in the table below.`) : "",
    foldedTable("By day, as a table", ["Day", ...series.map(({ key }) => key), "Pod time lost"],
      days.map(({ from }, i) => [day(from), ...series.map(({ values }) => (told[i] ? measure.words(values[i]) : "not read yet")), span(lost[i])])));
}
