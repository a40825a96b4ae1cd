// Budgets: what each has spent in its period, by when, and what it will have at the end, as a curve.

import { budgets } from "./api.js";
import { across, foldedTable, keys, percent, upright } from "./chart.js";
import { partsOf, reportsOf } from "./days.js";
import { draw, faint, h, link, svg, warning } from "./dom.js";
import { partAgain } from "./live.js";
import { badge, empty } from "./ui.js";
import { cents, dayIn, money } from "./words.js";

const LOOK_MS = 10_000, CURVE_MS = 300_000;

// `until` is the midnight after it.
function lastDay(b) {
  return dayIn(b.timeZone, new Date(b.until) - 1);
}

function period(b) {
  if (!b.until) return "";
  const first = dayIn(b.timeZone, b.from), last = lastDay(b);
  return `, ${first === last ? first : `${first} to ${last}`} (${b.timeZone})`;
}

// "this month", by how many days it has.
function periodName(b) {
  const length = Math.round((new Date(b.until) - new Date(b.from)) / 86_400_000);
  const name = { 1: "today", 7: "this week", 28: "this month", 29: "this month", 30: "this month", 31: "this month", 365: "this year", 366: "this year" }[length];
  return name || `by ${lastDay(b)}`;
}

// "On course for EUR 0.17 of 40.00 this month (0 %)."
function pace(b) {
  const all = Number(b.amount);
  if (!b.until) return "";
  if (b.forecast === undefined) return "It is too early in this period for a forecast.";
  const share = all > 0 ? ` (${Math.round((100 * Number(b.forecast)) / all)} %)` : "";
  const end = b.exhaustedAt && new Date(b.exhaustedAt) > Date.now() ? ` The budget would be spent on ${dayIn(b.timeZone, b.exhaustedAt)}.` : "";
  return `On course for ${b.currency} ${cents(b.forecast)} of ${cents(b.amount)} ${periodName(b)}${share}.${end}`;
}

function queueLink(b) {
  if (b.clusterQueue) return link(["queue", b.clusterQueue], `ClusterQueue ${b.clusterQueue}`);
  return link(["jobs"], `LocalQueue ${b.namespace}/${b.localQueue}`, { namespace: b.namespace, queue: b.localQueue });
}

function budgetBadge(b) {
  const left = Number(b.remaining), will = Number(b.forecast ?? b.spent), all = Number(b.amount);
  if (!b.active) return badge("Not in force", "bad");
  return left <= 0 ? badge("Spent", "bad") : will > all ? badge("Over by the end", "warn") : badge("On course", "run");
}

const BURN_HIGH = 110, BURN_TOP = 14;

// What had been spent by when, from the beginning of the period on: [[ms, amount], ...]. told: of each part of the period
// the sums by queue; of a LocalQueue there are none, so only what is spent now is known.
function curveOf(b, parts, told, now) {
  const points = [[+new Date(b.from), 0]], spent = Number(b.spent);
  let all = 0;
  if (!b.clusterQueue || !told || told.some((one) => !one)) return [];
  parts.forEach(({ until }, i) => {
    all += told[i].rows.filter((row) => row.key === b.clusterQueue && row.currency === b.currency).reduce((sum, { cost }) => sum + Number(cost || 0), 0);
    if (until < now) points.push([until, Math.min(all, spent)]);
  });
  return [...points, [now, spent]];
}

function burnUp(b, points) {
  const from = +new Date(b.from), until = +new Date(b.until), now = Math.min(Date.now(), until);
  const amount = Number(b.amount), spent = Number(b.spent), held = spent + Number(b.reserved);
  const most = Math.max(amount, held, Number(b.forecast || 0)) || 1, high = BURN_HIGH - BURN_TOP;
  const x = (at) => (at - from) / (until - from), y = (n) => BURN_TOP + high * (1 - n / most);
  const path = (list) => list.map(([at, n], i) => `${i ? "L" : "M"}${(1000 * x(at)).toFixed(1)} ${y(n).toFixed(2)}`).join("");
  const box = { width: "100%", height: BURN_HIGH, viewBox: `0 0 1000 ${BURN_HIGH}`, preserveAspectRatio: "none" };
  const inner = (d, name) => svg("svg", box, svg("path", { class: name, d }));
  const words = `${b.name}: ${cents(b.spent)} of ${money(b.amount, b.currency)} spent${b.forecast === undefined ? "" : `, ${cents(b.forecast)} expected by the end`}`;
  const label = (share, anchor, text) => svg("text", { x: percent(share), y: BURN_HIGH + 14, "text-anchor": anchor }, text);
  const dayLabel = (at) => dayIn(b.timeZone, at).replace(/^\w+ /, "");
  return svg("svg", { class: "burn", height: BURN_HIGH + 18, role: "img", "aria-label": words },
    points.length ? [inner(`${path(points)}L${(1000 * x(now)).toFixed(1)} ${BURN_HIGH}L0 ${BURN_HIGH}Z`, "area"), inner(path(points), "spent")] : [],
    b.forecast === undefined ? [] : inner(path([[now, spent], [until, Number(b.forecast)]]), "ahead"),
    across(y(amount), "limit"), svg("text", { x: 2, y: y(amount) - 3 }, money(b.amount, b.currency)),
    upright(x(now), { class: "held-now", y1: y(spent), y2: y(held) }), across(BURN_HIGH), upright(x(now), { class: "now", y1: BURN_HIGH - 6, y2: BURN_HIGH }),
    label(0, "start", dayLabel(from)), label(Math.min(0.85, Math.max(0.15, x(now))), "middle", "now"), label(1, "end", dayLabel(until - 1)));
}

function budget(b, points) {
  const expected = b.forecast === undefined ? [] : [[lastDay(b), cents(b.forecast), "expected"]];
  const rows = [...points.map(([at, n]) => [dayIn(b.timeZone, at), cents(n.toFixed(6)), "spent"]), ...expected];
  return h("article", { class: "card" }, h("div", { class: "head" }, h("h3", {}, b.name), budgetBadge(b)), faint("of ", queueLink(b), period(b)),
    b.active ? "" : warning(`${b.reason}: ${b.message}`), b.until ? burnUp(b, points) : "",
    h("p", {}, `Spent ${cents(b.spent)}, reserved ${cents(b.reserved)}, left ${cents(b.remaining)} of ${money(b.amount, b.currency)}.`), h("p", {}, pace(b)),
    rows.length ? foldedTable("As a table", ["By", b.currency, ""], rows) : "");
}

function drawBudgets(part, told, curves) {
  draw(part, told.budgets.length ? [h("div", { class: "budgets" }, told.budgets.map((b) => budget(b, curves.get(b.name) || []))),
    keys([["line spent", "spent"], ["line ahead", "expected, at the pace so far"], ["line held-now", "reserved by runs that go on"], ["line limit", "the Budget"]])]
    : empty("There is no Budget. A Budget limits what a queue may spend.", "kubectl explain budget.spec"));
}

// Each Budget's curve, where the ledger tells it. Budgets of the same period share their questions.
async function readCurves(list, curves, signal, onNews) {
  for (const b of list.filter(({ clusterQueue, from, until }) => clusterQueue && from && until)) {
    const now = Math.min(Date.now(), +new Date(b.until)), parts = partsOf(+new Date(b.from), now);
    await reportsOf("", "queue", parts, signal, (told) => curves.set(b.name, curveOf(b, parts, told, now)));
    onNews();
  }
}

export function showBudgets(page, part) {
  const curves = new Map(), say = (sentence) => draw(part, warning(sentence));
  let told = null, whenKnown;
  const known = new Promise((done) => { whenKnown = done; });
  partAgain(LOOK_MS, page, async () => {
    told = await budgets(page.signal);
    drawBudgets(part, told, curves);
    whenKnown();
  }, say);
  known.then(() => partAgain(CURVE_MS, page, () => readCurves(told.budgets, curves, page.signal, () => page.signal.aborted || drawBudgets(part, told, curves)), () => {}));
}
