// Costs: what each day cost, by team or by what is asked for, with the pod time that was lost; what Budgets have left and
// how long that lasts; and the report that adds it up.

import { budgets } from "./api.js";
import { block, foldedTable, percent } from "./chart.js";
import { beginOf, daysOf, partsOf, reportsOf } from "./days.js";
import { draw, faint, h, link, svg, table, warning } from "./dom.js";
import { choice, field, namespaceField, question } from "./form.js";
import { remarks, showPast, SINCE } from "./history.js";
import { partAgain } from "./live.js";
import { lacksQueues, whoSeesQueues } from "./rights.js";
import { badge, card, empty, figure, segments, skeleton } from "./ui.js";
import { cents, day, dayIn, money, span, spanIfKnown } from "./words.js";

const LOOK_MS = 10_000, CURVE_MS = 300_000, SERIES = 5;

/* ---- by day ---- */

const keyOf = ({ key }) => key || (key === null ? "(none)" : "(empty)");

// What is drawn: cost in a currency, or CPU hours where nothing has a price.
function measureOf(told) {
  const currencies = new Map();
  for (const { rows } of told.filter(Boolean)) for (const { currency, cost } of rows) if (currency) currencies.set(currency, (currencies.get(currency) || 0) + Number(cost || 0));
  const [currency] = [...currencies].sort(([, a], [, b]) => b - a)[0] || [];
  if (!currency) return { name: "CPU hours", of: (row) => row.cpuHours || 0, words: (n) => `${n.toFixed(1)} CPU hours`, others: 0 };
  return { name: currency, of: (row) => (row.currency === currency ? Number(row.cost || 0) : 0), words: (n) => money(n.toFixed(6), currency), others: currencies.size - 1 };
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

const HIGH = 150, TOP = 16, LOST_HIGH = 34;

// Labels below: each day where there is room for them.
function dayLabels(days, y) {
  const every = Math.ceil(days.length / 6);
  return days.map(({ from }, i) => ((days.length - 1 - i) % every ? [] : svg("text", { x: i === days.length - 1 ? "100%" : percent((i + 0.5) / days.length), y, "text-anchor": i === days.length - 1 ? "end" : "middle" }, day(from).replace(/^\w+ /, ""))));
}

function stackedDays(days, series, measure, label) {
  const totals = days.map((_, i) => series.reduce((all, { values }) => all + values[i], 0)), most = Math.max(...totals, 1e-9), high = HIGH - TOP, x = (i) => i / days.length;
  const blocks = days.flatMap(({ from }, i) => {
    let base = HIGH;
    return series.map(({ key, values }, at) => {
      const tall = (high * values[i]) / most;
      base -= tall;
      return values[i] ? svg("rect", { class: `series-${at + 1}`, x: percent(x(i)), width: percent(1 / days.length), y: base.toFixed(2), height: tall.toFixed(2) }, svg("title", {}, `${day(from)}: ${key} ${measure.words(values[i])}`)) : [];
    });
  });
  const marks = [[TOP, most], [TOP + high / 2, most / 2]];
  return [scaleLabels(marks.map(([y, n]) => [y, measure.words(n)]), HIGH + 18), svg("svg", { class: "by-day", height: HIGH + 18, role: "img", "aria-label": label },
    marks.map(([y]) => svg("line", { class: "tick", x1: 0, x2: "100%", y1: y, y2: y })), blocks,
    svg("line", { class: "tick", x1: 0, x2: "100%", y1: HIGH, y2: HIGH }), dayLabels(days, HIGH + 14))];
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
  const blocks = days.map(({ from }, i) => (lost[i] ? block(i / days.length, (i + 1) / days.length, { class: "lost", y: (LOST_HIGH * (1 - lost[i] / most)).toFixed(2), height: ((LOST_HIGH * lost[i]) / most).toFixed(2) }) : []));
  return [scaleLabels([[9, span(most)]], LOST_HIGH + 1), svg("svg", { class: "by-day", height: LOST_HIGH + 1, role: "img", "aria-label": words }, blocks, svg("line", { class: "tick", x1: 0, x2: "100%", y1: LOST_HIGH, y2: LOST_HIGH }))];
}

function lostWords(days, lost) {
  const most = Math.max(...lost), sum = lost.reduce((all, n) => all + n, 0);
  return sum ? `pod time lost: ${span(sum)}, most on ${day(days[lost.indexOf(most)].from)}` : "no pod time was lost";
}

function drawDays(part, days, told, by) {
  const measure = measureOf(told), series = seriesOf(told, measure), lost = told.map((one) => one?.totals.reduce((all, row) => all + (row.lostSeconds || 0), 0) || 0);
  const missing = told.filter((one) => !one).length, label = `${measure.name} by day and ${by}`;
  if (!series.length) return draw(part, missing ? skeleton("picture", 1) : empty("No run started in these days."));
  draw(part, h("div", { class: "by-days" }, stackedDays(days, series, measure, label), lostDays(days, lost)),
    h("p", { class: "keys faint small" }, series.map(({ key }, i) => h("span", {}, h("i", { class: `series-${i + 1}`, "aria-hidden": "true" }), key)), h("span", {}, h("i", { class: "lost", "aria-hidden": "true" }), lostWords(days, lost))),
    missing ? faint(`${days.length - missing} of ${days.length} days are read.`) : "",
    measure.others ? faint(`Only ${measure.name} is drawn; other currencies are in the table below.`) : "",
    foldedTable("By day, as a table", ["Day", ...series.map(({ key }) => key), "Pod time lost"],
      days.map(({ from }, i) => [day(from), ...series.map(({ values }) => (told[i] ? measure.words(values[i]) : "not read yet")), span(lost[i])])));
}

/* ---- Budgets ---- */

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
  const from = +new Date(b.from), until = +new Date(b.until), now = Math.min(Date.now(), until), amount = Number(b.amount), spent = Number(b.spent), held = spent + Number(b.reserved);
  const most = Math.max(amount, held, Number(b.forecast || 0)) || 1, high = BURN_HIGH - BURN_TOP;
  const x = (at) => (at - from) / (until - from), y = (n) => BURN_TOP + high * (1 - n / most), path = (list) => list.map(([at, n], i) => `${i ? "L" : "M"}${(1000 * x(at)).toFixed(1)} ${y(n).toFixed(2)}`).join("");
  const inner = (d, name) => svg("svg", { width: "100%", height: BURN_HIGH, viewBox: `0 0 1000 ${BURN_HIGH}`, preserveAspectRatio: "none" }, svg("path", { class: name, d }));
  const words = `${b.name}: ${cents(b.spent)} of ${money(b.amount, b.currency)} spent${b.forecast === undefined ? "" : `, ${cents(b.forecast)} expected by the end`}`;
  const days = [from, now, until].map((at, i) => svg("text", { x: percent(i === 1 ? Math.min(0.85, Math.max(0.15, x(at))) : x(at)), y: BURN_HIGH + 14, "text-anchor": ["start", "middle", "end"][i] }, i === 1 ? "now" : dayIn(b.timeZone, i ? until - 1 : from).replace(/^\w+ /, "")));
  return svg("svg", { class: "burn", height: BURN_HIGH + 18, role: "img", "aria-label": words },
    points.length ? [inner(`${path(points)}L${(1000 * x(now)).toFixed(1)} ${BURN_HIGH}L0 ${BURN_HIGH}Z`, "area"), inner(path(points), "spent")] : [],
    b.forecast === undefined ? [] : inner(path([[now, spent], [until, Number(b.forecast)]]), "ahead"),
    svg("line", { class: "limit", x1: 0, x2: "100%", y1: y(amount), y2: y(amount) }), svg("text", { x: 2, y: y(amount) - 3 }, money(b.amount, b.currency)),
    svg("line", { class: "held-now", x1: percent(x(now)), x2: percent(x(now)), y1: y(spent), y2: y(held) }), svg("line", { class: "tick", x1: 0, x2: "100%", y1: BURN_HIGH, y2: BURN_HIGH }),
    svg("line", { class: "now", x1: percent(x(now)), x2: percent(x(now)), y1: BURN_HIGH - 6, y2: BURN_HIGH }), days);
}

function budget(b, points) {
  const rows = [...points.map(([at, n]) => [dayIn(b.timeZone, at), cents(n.toFixed(6)), "spent"]), ...(b.forecast === undefined ? [] : [[lastDay(b), cents(b.forecast), "expected"]])];
  return h("article", { class: "card" }, h("div", { class: "head" }, h("h3", {}, b.name), budgetBadge(b)), faint("of ", queueLink(b), period(b)),
    b.active ? "" : warning(`${b.reason}: ${b.message}`), b.until ? burnUp(b, points) : "",
    h("p", {}, `Spent ${cents(b.spent)}, reserved ${cents(b.reserved)}, left ${cents(b.remaining)} of ${money(b.amount, b.currency)}.`), h("p", {}, pace(b)),
    rows.length ? foldedTable("As a table", ["By", b.currency, ""], rows) : "");
}

function drawBudgets(part, told, curves) {
  draw(part, told.budgets.length ? [h("div", { class: "budgets" }, told.budgets.map((b) => budget(b, curves.get(b.name) || []))),
    h("p", { class: "keys faint small" }, [["spent", "spent"], ["ahead", "expected, at the pace so far"], ["held-now", "reserved by runs that go on"], ["limit", "the Budget"]].map(([name, words]) => h("span", {}, h("i", { class: `line ${name}`, "aria-hidden": "true" }), words)))]
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

function showBudgets(page, part) {
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

/* ---- the report ---- */

const BY = [["queue", "queue"], ["namespace", "team"], ["user", "user"], ["owner", "owner (CronJob or family)"], ["label", "label"]];
const HEADS = ["Key", "Jobs", "Starts", "Ended", "Wait p50", "Wait p99", "CPU hours", "GPU hours", "Pod time lost", "Cost"];

function ended(counts) {
  return Object.entries(counts).sort(([, a], [, b]) => b - a).map(([reason, n]) => `${n} ${reason}`).join(", ");
}

function cells(row, name) {
  return [name, String(row.jobs), String(row.starts), ended(row.ended), spanIfKnown(row.waitP50Seconds), spanIfKnown(row.waitP99Seconds),
    (row.cpuHours || 0).toFixed(1), (row.gpuHours || 0).toFixed(1), span(row.lostSeconds || 0), money(row.cost, row.currency)];
}

function figures({ totals }) {
  const costs = totals.filter(({ currency }) => currency).map((row) => money(row.cost, row.currency)), sum = (key) => totals.reduce((all, row) => all + (row[key] || 0), 0);
  const preempted = totals.reduce((all, { ended: counts }) => all + (counts.Preempted || 0), 0);
  return h("div", { class: "figures" }, figure("Cost", costs.join(", ") || "-", costs.length ? "of runs that ended" : "nothing has a price"), figure("CPU hours", sum("cpuHours").toFixed(1), `${sum("gpuHours").toFixed(1)} GPU hours`),
    figure("Pod time lost", span(sum("lostSeconds")), preempted ? `${preempted.toLocaleString("en")} runs were preempted` : "", sum("lostSeconds") > 0 ? "warn" : ""),
    figure("Jobs", sum("jobs").toLocaleString("en"), `${sum("starts").toLocaleString("en")} starts`));
}

function report(told) {
  if (!told.rows.length) return empty("No run started in this period.");
  return [h("section", { class: "card report", "aria-label": "Report" }, table("What was used, and what it cost", HEADS, [...told.rows.map((row) => cells(row, keyOf(row))), ...told.totals.map((row) => cells(row, "All"))]), remarks(told))];
}

/* ---- the page ---- */

// Has the question all its words? by=label wants a key.
function words(params) {
  const by = params.get("by") || (params.get("namespace") ? "user" : "namespace"), label = params.get("label") || "";
  return { by: by === "label" ? label && `label=${label}` : by, word: by, since: params.get("since") || "month" };
}

function toolbar(params, asked) {
  const others = Object.fromEntries(params), choices = SINCE.map(([value, text]) => [text, ["money"], { ...others, since: value }]);
  return [h("div", { class: "toolbar", "data-own": true }, h("h2", {}, "Costs"), segments("Since", choices, SINCE.find(([value]) => value === asked.since)?.[1])),
    question(["money"], "What to add up", choice("by", "By", BY, asked.word), field("label", "Label", params.get("label"), "team"),
      h("input", { type: "hidden", name: "since", value: asked.since }), namespaceField(params))];
}

export async function moneyPage(page) {
  const { content, params, signal } = page, own = (...inside) => h("div", { "data-own": true }, inside), asked = words(params), namespace = params.get("namespace") || "";
  const part = { budgets: own(skeleton("picture", 1)), days: own(skeleton("picture", 1)), figures: own(skeleton("figures", 4)), report: own() }, from = beginOf(asked.since), days = daysOf(from, Date.now());
  const byWord = (BY.find(([value]) => value === asked.word) || BY[1])[1].split(" ")[0], title = `By day and ${byWord}`;
  draw(content, toolbar(params, asked), part.figures, card(title, from < days[0].from ? "the last 31 days" : "a run counts on the day of its start", part.days), h("h2", {}, "Budgets"), part.budgets, h("h2", {}, "Report"), part.report);
  if (lacksQueues()) draw(part.budgets, whoSeesQueues());
  else showBudgets(page, part.budgets);
  if (!asked.by) {
    draw(part.figures);
    draw(part.days);
    return draw(part.report, empty("Enter the label to add up by, such as team."));
  }
  partAgain(Infinity, page, () => reportsOf(namespace, asked.by, days, signal, (told) => drawDays(part.days, days, told, byWord)), (sentence) => draw(part.days, warning(sentence)));
  await showPast(page, part.report, "reports", { by: asked.by, since: new Date(from).toISOString() }, (told) => {
    draw(part.figures, figures(told));
    return report(told);
  });
}
