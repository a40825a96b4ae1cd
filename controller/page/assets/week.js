// The week of a ClusterQueue in words and tables: when it may start Jobs, what an hour costs; and how its quota changes, as a strip.

import { block, foldedTable, nowLine, percent, scaleOf, ticks } from "./chart.js";
import { faint, h, svg } from "./dom.js";
import { moment } from "./words.js";

// A list that was cut is right until its own `until`.
function until(week, { steps, until: cut }, i) {
  return i + 1 < steps.length ? steps[i + 1].from : cut || week.until;
}

function cutWords({ more, until: cut }) {
  return more ? faint(`There are more changes than can be shown. This is complete until ${moment(cut)}.`) : "";
}

function strip(week, words, height, ...shapes) {
  const from = +new Date(week.from), end = +new Date(week.until);
  return svg("svg", { class: "week", height: height + 16, role: "img", "aria-label": words },
    svg("rect", { class: "track", width: "100%", height }), shapes, ticks(from, end, height + 16), nowLine(from, end, +new Date(week.now), height));
}

function part(week, from, end, attributes) {
  const x = scaleOf(+new Date(week.from), +new Date(week.until));
  return block(x(new Date(from)), x(new Date(end)), attributes);
}

function isWithin(week, span) {
  return new Date(span.from) <= new Date(week.now) && new Date(week.now) < new Date(span.until);
}

/* ---- open and closed ---- */

export function windowWords(week, { calendar, calendarKnown = true, open }) {
  if (!calendarKnown) return `closed: there is no Calendar ${calendar}, so nothing starts; create it, or correct spec.calendar`;
  const current = open.find((span) => isWithin(week, span)), next = open.find((span) => new Date(span.from) > new Date(week.now));
  if (current) return `open now, until ${current.until === week.until ? "the end of this week" : moment(current.until)}`;
  return next ? `closed now, opens ${moment(next.from)}` : "closed, and does not open in these seven days";
}

function ofWindow(week, window) {
  const zone = window.zone ? `, ${window.zone}` : "";
  return h("div", { class: "track-of" }, h("p", {}, h("strong", {}, window.policy), ` (RunPolicy, Calendar ${window.calendar}${zone}): ${windowWords(week, window)}.`),
    foldedTable("Open, as a table", ["From", "Until"], window.open.map((span) => [moment(span.from), moment(span.until)])), cutWords(window));
}

/* ---- prices, and quotas in steps ---- */

// A column for each step; its words stand above it where there is room, and only the first where there is little. The
// columns stand on 0, or on the least value: a factor may be below 0.
function stepTrack(week, list, { value, text, words }) {
  const { steps } = list, least = Math.min(...steps.map(value), 0), most = Math.max(...steps.map(value), least + 1e-6);
  const x = scaleOf(+new Date(week.from), +new Date(week.until)), high = 44;
  const shapes = steps.map((step, i) => {
    const top = high - 2 - (high - 18) * ((value(step) - least) / (most - least)), end = until(week, list, i);
    const from = x(new Date(step.from)), wide = x(new Date(end)) - from;
    return [part(week, step.from, end, { class: "step", y: top, height: high - top }),
      wide > 0.02 ? svg("text", { class: wide < 0.2 ? "value wide" : "value", x: percent(from), dx: 3, y: top - 3 },
        wide > 0.06 ? text(step) : text(step).split(" ")[0]) : []];
  });
  return strip(week, words, high, shapes);
}

function stepNow(week, list) {
  return list.steps.find((step, i) => isWithin(week, { from: step.from, until: until(week, list, i) })) || list.steps[0];
}

function ofPrices(week, list) {
  const { plan, currency, steps } = list;
  if (!steps.length) return "";
  const now = stepNow(week, list), words = `factor ${now.factor} now${now.rate ? ` (${now.rate})` : ""}`;
  return h("div", { class: "track-of" }, h("p", {}, h("strong", {}, plan), ` (PricePlan, ${currency}): ${words}.`),
    foldedTable("Prices, as a table", ["From", "Factor", "Rate"], steps.map((step) => [moment(step.from), step.factor, step.rate || ""])),
    cutWords(list));
}

function quotaTrack(week, list) {
  const { flavor, resource, steps } = list;
  if (steps.length < 2) return "";
  const words = `${stepNow(week, list).nominal} now`;
  return h("div", { class: "track-of" }, h("p", {}, h("strong", {}, `Quota of ${flavor}, ${resource}`), `: ${words}.`),
    stepTrack(week, list, { value: (step) => step.nominalUnits, text: (step) => step.nominal, words: `Quota of ${flavor}, ${resource}: ${words}` }),
    foldedTable("Quota, as a table", ["From", resource], steps.map((step) => [moment(step.from), step.nominal])), cutWords(list));
}

// What windows, prices and quota are in the week: the axis above shows when.
export function weekWords(week) {
  return h("div", { class: "week-words" }, week.windows.length ? week.windows.map((window) => ofWindow(week, window)) : h("p", {}, "Always open: no RunPolicy applies."),
    week.prices.map((price) => ofPrices(week, price)), week.quotas.map((quota) => quotaTrack(week, quota)));
}
