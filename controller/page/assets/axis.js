// What stands where on an axis of time, and in which words: no element is made here (timeline.js does that).
//
// A lane is a ClusterQueue, or one Job. Its items are runs that were ("was"), runs that are ("is"), starts that are expected
// ("will"), AdvanceReservations ("kept"), and the waits of that Job ("wait"). A moment is in milliseconds; undefined: not known. A place is in pixels.

import { asks, count, money, span } from "./words.js";

export const ROW = 17, BAR = 15;
const TOP = 18, LINE = 15, BETWEEN = 10, AXIS = 22, ROWS_MAX = 14, ROWS_MINOR = 3, WAS_MAX = 300, OTHERS_MAX = 400, EMPTY_LANES_MAX = 6, TALL = 520;
const BOLD = 1.12; // how much wider bold letters are
const MINUTE_MS = 60_000, HOUR_MS = 60 * MINUTE_MS, DAY_MS = 24 * HOUR_MS;

const ms = (text) => (text ? +new Date(text) : undefined);

/* ---- words of time ---- */

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const weekday = new Intl.DateTimeFormat("en-GB", { weekday: "short" });
const date = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short" });

function isSameDay(a, b) {
  return new Date(a).toDateString() === new Date(b).toDateString();
}

// "14:10" on the day of `day`, "Tue 14:10" within six days of it, else "Tue 1 Dec 14:10".
export function clockOf(at, day) {
  if (isSameDay(at, day)) return clock.format(at);
  return `${(Math.abs(at - day) < 6 * DAY_MS ? weekday : date).format(at).replace(",", "")} ${clock.format(at)}`;
}

// "22:00-06:00", with a day wherever `day` and the next morning do not say it.
function stretchWords(from, until, day) {
  const isOneNight = until - from < DAY_MS;
  return isOneNight ? `${clockOf(from, day)}-${clock.format(until)}` : `${clockOf(from, day)} to ${clockOf(until, day)}`;
}

/* ---- ticks ---- */

// Where the words of a tick would touch the next ones, those of a day stay.
function withoutCrowding(all, view) {
  const rights = all.map(({ x, words, isDay }) => x + 3 + view.measure(words) * (isDay ? BOLD : 1)), isFree = (i) => rights[i] <= view.width
    && !(all[i].isDay === false && ((all[i - 1]?.isDay && rights[i - 1] + 6 > all[i].x) || (all[i + 1]?.isDay && rights[i] + 6 > all[i + 1].x)));
  return all.map((tick, i) => ({ ...tick, words: isFree(i) ? tick.words : "" }));
}

const STEPS_MS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720].map((n) => n * MINUTE_MS);

function stepOf(from, until, width, apart) {
  return STEPS_MS.find((step) => ((until - from) / step) * apart <= width) || DAY_MS;
}

// Round moments of the reader's clock, at least `apart` pixels from each other: [{at, words, isDay}].
export function ticks(from, until, width, apart = 64) {
  const step = stepOf(from, until, width, apart), all = [], at = new Date(from), days = Math.ceil((((until - from) / DAY_MS) * apart) / width);
  at.setHours(0, 0, 0, 0);
  while (+at <= until) {
    const isDay = at.getHours() === 0 && at.getMinutes() === 0;
    if (+at >= from) all.push({ at: +at, words: isDay ? date.format(at).replace(",", "") : clock.format(at), isDay });
    if (step < DAY_MS) at.setMinutes(at.getMinutes() + step / MINUTE_MS);
    else at.setDate(at.getDate() + Math.max(1, days));
  }
  return all;
}

/* ---- items ---- */

const KINDS = { Running: "is", Starting: "is", Stopping: "is", Expected: "will" };

function labelOf({ label, jobs = 1, name, sweep }) {
  if (label) return label;
  return jobs > 1 ? `${sweep || name} × ${jobs}` : name;
}

// A start that was expected by now is expected any moment.
function barItem(bar, now) {
  const kind = KINDS[bar.state] || "is", from = kind === "will" ? Math.max(ms(bar.from), now) : ms(bar.from), until = ms(bar.until), p90 = ms(bar.p90);
  const shown = kind === "is" ? Math.max(until ?? now, now) : Math.max(until ?? from, p90 ?? from);
  return { ...bar, kind, jobs: bar.jobs ?? 1, label: labelOf(bar), from, until, p90, deadline: ms(bar.deadline), stopsAt: ms(bar.stopsAt),
    end: Math.max(shown, from), isOpen: until === undefined || (kind === "is" && until < now) };
}

function spanItem(was, now) {
  const from = ms(was.from), until = ms(was.until);
  return { ...was, kind: "was", state: "Ended", name: was.job, jobs: was.jobs ?? 1, label: labelOf({ ...was, name: was.job }), from, until,
    end: Math.max(until ?? now, from), isOpen: until === undefined };
}

function reservationItem({ name, from, until }) {
  return { kind: "kept", state: "Reserved", name, jobs: 0, label: name, from: ms(from), until: ms(until), end: ms(until) };
}

function waitItem({ from, until }, now) {
  return { kind: "wait", state: "Waiting", name: "Waiting", jobs: 0, label: "", from: ms(from), until: ms(until), end: Math.max(ms(until) ?? now, ms(from)) };
}

// A run that goes on is told by both; the timeline knows more of it.
function isToldTwice(was, lane) {
  return !was.until && lane.bars !== undefined;
}

// The lanes with their items; a queue that has nothing but a past comes last.
export function lanesOf({ lanes, spans, now }) {
  const named = new Map(lanes.map((lane) => [lane.clusterQueue, { ...lane, name: lane.clusterQueue }]));
  for (const { clusterQueue: name = "" } of spans) if (!named.has(name)) named.set(name, { name });
  return [...named.values()].map((lane) => ({ ...lane, items: [
    ...(lane.bars || []).map((bar) => barItem(bar, now)), ...(lane.waits || []).map((wait) => waitItem(wait, now)), ...(lane.reservations || []).map(reservationItem),
    ...spans.filter((was) => (was.clusterQueue ?? "") === lane.name && !isToldTwice(was, lane)).map((was) => spanItem(was, now)),
  ] }));
}

/* ---- what a bar is, in words ---- */

const jobName = ({ namespace, name }) => (namespace ? `${namespace}/${name}` : name);

function whoWords(item) {
  if (item.isHere) return `${item.label[0].toUpperCase()}${item.label.slice(1)}`;
  return item.jobs > 1 ? `${item.label}, in ${item.namespace}: ${count(item.jobs, "Job")}, the first is ${item.name}` : jobName(item);
}

function startWords({ from, p90, certain, jobs }, now) {
  const at = from <= now ? "any moment" : clockOf(from, now);
  if (certain) return `expected start ${at}`;
  return `expected start ${at}${p90 > from ? `, 90 % sure${jobs > 1 ? " of all" : ""} by ${clockOf(p90, now)}` : ""}`;
}

function isWords(item, now) {
  const word = { Starting: "starting", Stopping: "stopping", Running: "running" }[item.state] || item.state;
  return `${word} since ${clockOf(item.from, now)}`;
}

function wasWords({ from, until, outcome, runs, lostSeconds, cost, currency }, now) {
  return [`${(outcome || "ended").toLowerCase()}`, runs > 1 && `${runs} runs`, `${clockOf(from, now)} to ${until ? clockOf(until, now) : "now"}`,
    until && `ran ${span((until - from) / 1000)}`, lostSeconds > 0 && `${span(lostSeconds)} of pod time lost`,
    cost !== undefined && money(cost, currency)];
}

function endWords({ kind, until, stopsAt, deadline }, now) {
  const ends = until === undefined ? "end not known" : until < now ? `was expected to end by ${clockOf(until, now)}` : `expected to end ${clockOf(until, now)}`;
  return [kind === "is" || until ? ends : "", stopsAt && `its window stops it at ${clockOf(stopsAt, now)}`, deadline && `deadline ${clockOf(deadline, now)}`];
}

function waitWords({ from, until, end }, now) {
  return `${clockOf(from, now)} to ${until ? clockOf(until, now) : "now"}, ${span((end - from) / 1000)}`;
}

// [who, what]: what stands beside a bar that is pointed at, and is its name for those who cannot see it.
export function itemWords(item, now) {
  if (item.kind === "wait") return [item.name, waitWords(item, now)];
  if (item.kind === "kept") return [item.name, `AdvanceReservation, ${stretchWords(item.from, item.until, now)}`];
  const what = item.kind === "was" ? wasWords(item, now)
    : [item.kind === "will" ? startWords(item, now) : isWords(item, now), ...endWords(item, now), asks(item)];
  return [whoWords(item), what.filter(Boolean).join(", ")];
}

/* ---- ground: windows and prices ---- */

function common(a, b) {
  return a.flatMap((x) => b.map((y) => ({ from: Math.max(x.from, y.from), until: Math.min(x.until, y.until) }))).filter((both) => both.from < both.until);
}

// When all windows of a lane are open; undefined where it has none.
export function openOf({ windows = [] }) {
  const spans = windows.map(({ calendarKnown = true, open }) => (calendarKnown ? open : []).map(({ from, until }) => ({ from: ms(from), until: ms(until) })));
  return spans.length ? spans.reduce(common) : undefined;
}

// Where the factor of a price is not 1: [{from, until, factor}], one for steps that cost the same.
export function pricesOf({ prices = [] }, until) {
  const { steps = [], until: cut } = prices[0] || {}, all = [];
  steps.forEach((step, i) => {
    const part = { from: ms(step.from), until: i + 1 < steps.length ? ms(steps[i + 1].from) : ms(cut) ?? until, factor: Number(step.factor), plan: prices[0].plan };
    if (all.at(-1)?.factor === part.factor) all.at(-1).until = part.until;
    else all.push(part);
  });
  return all.filter(({ factor }) => factor !== 1);
}

export function priceWords({ factor }) {
  return factor < 1 ? `${Math.round(100 * (1 - factor))} % cheaper` : `${Math.round(100 * (factor - 1))} % dearer`;
}

// What lanes tell ends with the stretch that was asked for, which may be a little shorter than the one that is shown.
function goesOnAfter(part, view) {
  return part.until >= view.until - 2 * MINUTE_MS;
}

// What may stand at an opening, the best first.
function openWords({ from, until }, view) {
  const goesOn = goesOnAfter({ until }, view), opens = `opens ${clockOf(from, view.now)}`;
  if (until <= view.now) return [];
  if (from <= view.now) return goesOn ? ["open"] : [`open, closes ${clockOf(until, view.now)}`, "open"];
  return goesOn ? [opens] : [`open ${stretchWords(from, until, view.now)}`, opens, `${clock.format(from)}-${clock.format(until)}`];
}

function groundWords(price, view) {
  const words = priceWords(price), goesOn = goesOnAfter(price, view);
  if (price.from <= view.now && view.now < price.until) return [goesOn ? words : `${words} until ${clockOf(price.until, view.now)}`, words];
  return [goesOn ? `from ${clockOf(price.from, view.now)}, ${words}` : `${stretchWords(price.from, price.until, view.now)}, ${words}`, words];
}

/* ---- places ---- */

// Rows such that no two of a row overlap, each item in the first that is free: its row, or undefined where all are full. For
// what is minor a few rows do.
export function pack(items, most = Infinity) {
  const rows = [];
  return items.map(({ x, right, isMinor }) => {
    let row = rows.findIndex((taken) => taken.every((t) => right <= t.x || x >= t.right));
    if (row < 0) {
      if (rows.length >= (isMinor ? Math.min(ROWS_MINOR, most) : most)) return undefined;
      row = rows.push([]) - 1;
    }
    rows[row].push({ x, right });
    return row;
  });
}

const FIRST = { wait: 0, is: 0, kept: 1, will: 2, was: 4 }, LATER = 3, SHARE = 0.6;

// What is, what is expected, and what was, of which the latest come first, for rows may not do for all. Where what runs
// alone would fill them, the rest of it comes after what is expected.
function byWeight(items, rows) {
  const sorted = [...items].sort((a, b) => FIRST[a.kind] - FIRST[b.kind] || (a.kind === "was" ? b.end - a.end : a.from - b.from));
  const most = Math.ceil(SHARE * rows), weight = ({ kind }, i) => (kind === "is" && i >= most ? LATER : FIRST[kind]);
  return sorted.map((item, i) => [weight(item, i), item]).sort(([a], [b]) => a - b).map(([, item]) => item);
}

function isSeen({ from, end }, view) {
  return from < view.until && end >= view.from;
}

const WIDE_MIN = { was: 2, wait: 1, is: 6, kept: 6, will: 6 }, TAIL = 18; // what is drawn of an end that is not known

function placed(item, view) {
  const x = Math.max(0, view.x(item.from)), end = Math.min(view.width, view.x(item.end)), wide = Math.max(WIDE_MIN[item.kind], end - x - 1);
  const tail = item.isOpen && item.kind === "is" && x + wide < view.width - TAIL ? TAIL : 0;
  return { ...item, x, wide, tail, right: x + wide + tail + 1, isMinor: item.kind === "was" && wide < 4, foot: item.p90 > item.from ? Math.max(3, Math.min(view.width, view.x(item.p90)) - x) : 0 };
}

function cut(text, room, measure) {
  let n = text.length;
  while (n > 6 && measure(`${text.slice(0, n)}…`) > room) n--;
  return n > 6 ? `${text.slice(0, n)}…` : "";
}

const MARK = 11; // what the sign of an end takes

// A run that did not finish has a sign at its end.
export function isMarked({ kind, outcome }) {
  return kind === "was" && Boolean(outcome) && outcome !== "Finished";
}

// Where a label stands within a bar: not on the line of now, if it fits before or after.
function within(item, wide, { nowX = -1 }) {
  const at = item.x + 5, isCrossed = at < nowX && at + wide > nowX - 2;
  return isCrossed && nowX + 5 + wide <= item.x + item.wide - 4 ? nowX + 5 : at;
}

// Where the label of each item stands: within it, else behind it where nothing else stands, else cut, else nowhere.
function addLabels(items, view) {
  const rows = [];
  for (const item of items) (rows[item.row] ||= []).push(item);
  for (const row of rows) {
    row.sort((a, b) => a.x - b.x);
    row.forEach((item, i) => {
      const room = (row[i + 1]?.x ?? view.width) - item.right - 8, wide = view.measure(item.label) * (item.kind === "is" ? BOLD : 1), inner = item.wide - 9 - (isMarked(item) ? MARK : 0);
      if (wide <= inner) Object.assign(item, { text: item.label, textX: within(item, wide, view) });
      else if (item.kind !== "was" && wide <= room) Object.assign(item, { text: item.label, textX: item.right + 4, isBehind: true });
      else if (inner > 48) Object.assign(item, { text: cut(item.label, inner, (text) => view.measure(text) * BOLD), textX: item.x + 5 });
    });
  }
}

// Words at parts of a ground may go on until the next part.
function wordsAt(parts, words, view) {
  return parts.map((part, i) => ({ x: part.x + 3, room: (parts[i + 1]?.x ?? view.width) - part.x - 11, candidates: words(part, view) }));
}

// Words one after the other in lines above a lane: each candidate is tried in each line. Returns how many lines they take.
export function placeWords(all, lines, view) {
  const taken = Array.from({ length: lines }, () => []), words = [];
  for (const { x, room, candidates, ...rest } of all) {
    const place = candidates.map((text) => placeOf(text, Math.max(0, x), room, taken, view)).find(Boolean);
    if (!place) continue;
    taken[place.line].push({ left: place.x, right: place.x + place.wide });
    words.push({ ...rest, ...place });
  }
  return { words, lines: taken.filter((line) => line.length).length };
}

// The first line in which a text is free of the others, from x on or right behind one of them.
function placeOf(text, x, room, taken, view) {
  const wide = view.measure(text), last = Math.min(x + room, view.width) - wide;
  for (const [line, others] of taken.entries()) {
    const isFree = (left) => left <= last && others.every((t) => left >= t.right + 8 || left + wide + 8 <= t.left);
    const left = [x, ...others.map((t) => t.right + 8).filter((at) => at > x)].find(isFree);
    if (left !== undefined) return { text, x: left, wide, line };
  }
  return undefined;
}

function groundOf(stretches, view) {
  return stretches.filter(({ from, until }) => from < view.until && until > view.from).map((part) => {
    const x = Math.max(0, view.x(part.from));
    return { ...part, x, wide: Math.min(view.width, view.x(part.until)) - x };
  });
}

// What a lane has now is said of a stretch that now is in.
function headWords({ running, waiting, others }) {
  const theirs = (others?.running || 0) + (others?.waiting || 0);
  if (running === 0 && waiting === 0 && !theirs) return ["no Jobs now"];
  return [running !== undefined && `${running.toLocaleString("en")} running`, waiting !== undefined && `${waiting.toLocaleString("en")} waiting`,
    theirs && `others: ${count(theirs, "Job")}`].filter(Boolean);
}

const jobsOf = (items) => items.reduce((n, item) => n + item.jobs, 0);

// A window that closes is seen behind the lane; what else stops a run has a sign.
function isWallSeen(stopsAt, open = []) {
  return open.some(({ until }) => Math.abs(until - stopsAt) < MINUTE_MS);
}

// What a lane does not show: runs that were, and Jobs that wait.
function moreWords(hidden, more) {
  const past = jobsOf(hidden.filter((item) => item.kind === "was")), now = jobsOf(hidden.filter((item) => item.kind !== "was")) + more;
  return [now && `and ${now.toLocaleString("en")} more ${now === 1 ? "Job" : "Jobs"}`, past && `${now ? "" : "and "}${count(past, "earlier run")}`].filter(Boolean).join(", ");
}

// Those that have a row, and as many of them as are drawn: what was has its own share.
function firstOf(places, { was, other }) {
  const left = { was, other };
  return places.filter(({ kind, row }) => row !== undefined && left[kind === "was" ? "was" : "other"]-- > 0);
}

// The bars of a lane: those that are drawn, with their rows and labels, and those that there is no room for.
function barsOf(lane, view) {
  const items = byWeight(lane.items.filter((item) => isSeen(item, view)), view.rows).map((item) => placed(item, view));
  const rows = lane.waits ? items.map(() => 0) : pack(items, view.rows); // one Job does one thing at a time
  const places = items.map((item, i) => ({ ...item, row: rows[i] })), drawn = firstOf(places, view.drawn), isDrawn = new Set(drawn);
  addLabels(drawn, view);
  return { drawn, hidden: places.filter((item) => !isDrawn.has(item)) };
}

// What is behind the bars of a lane, and the words above them.
function behindOf(lane, view, isPriceShared) {
  const open = openOf(lane), openings = groundOf(open || [], view), prices = isPriceShared ? [] : groundOf(pricesOf(lane, view.until), view);
  const closed = open && !openings.length ? [{ x: 3, room: view.width, candidates: ["closed all this time"] }] : [];
  const { words, lines } = placeWords([...closed, ...wordsAt(openings, openWords, view), ...wordsAt(prices, groundWords, view)], 2, view);
  return { open, openings, prices, words, above: lines * LINE };
}

function laneLayout(lane, view, isPriceShared) {
  const { drawn, hidden } = barsOf(lane, view), { open, above, ...behind } = behindOf(lane, view, isPriceShared), isNow = view.nowX !== undefined;
  const head = isNow ? headWords(lane) : [], more = moreWords(hidden, isNow ? lane.more || 0 : 0);
  const rowsHigh = ROW * Math.max(0, ...drawn.map(({ row }) => row + 1)) + (more ? LINE : 0), headHigh = (lane.name ? 17 : 0) + head.length * 14;
  const inView = (at) => (at >= view.from && at <= view.until ? view.x(at) : undefined);
  const items = drawn.map((item) => ({ ...item, flag: inView(item.deadline), wall: isWallSeen(item.stopsAt, open) ? undefined : inView(item.stopsAt) }));
  return { ...lane, ...behind, items, hidden, above, head, more, rowsHigh, height: Math.max(above + rowsHigh, headHigh, ROW) };
}

// Prices that all lanes share are one ground behind all of them.
function sharedPrices(lanes, view) {
  const first = JSON.stringify(lanes[0]?.prices?.[0]?.steps);
  return lanes.length > 1 && first && lanes.every((lane) => JSON.stringify(lane.prices?.[0]?.steps) === first) ? groundOf(pricesOf(lanes[0], view.until), view) : undefined;
}

function isEmpty(lane, view) {
  return !lane.running && !lane.waiting && !lane.items.some((item) => isSeen(item, view));
}

function stacked(lanes, top) {
  let y = top;
  return lanes.map((lane) => {
    const at = { ...lane, y };
    y += lane.height + BETWEEN;
    return at;
  });
}

// The lanes with as many rows as fit, and at least two.
function mostRows(withRows, isLow) {
  let least = 2, most = ROWS_MAX, best = withRows(most);
  if (isLow(best)) return best;
  for (best = withRows(least); most - least > 1; ) {
    const rows = Math.floor((least + most) / 2), lanes = withRows(rows);
    if (isLow(lanes)) [least, best] = [rows, lanes];
    else most = rows;
  }
  return best;
}

// The scale of a picture, and what its lanes need to know of it.
function viewOf({ from, until, now }, width, measure) {
  const x = (at) => ((at - from) / Math.max(1, until - from)) * width;
  return { from, until, now, width, measure, x, nowX: now >= from && now <= until ? x(now) : undefined };
}

// "now", and the prices that all lanes share.
function topWords(shared, view) {
  const now = view.nowX === undefined ? [] : [{ x: view.nowX - view.measure("now") / 2, room: view.width, candidates: ["now"], isNow: true }];
  return placeWords([...now, ...wordsAt(shared, groundWords, view)], 1, view).words;
}

function shareOf(lanes) {
  const of = (most) => Math.ceil(most / Math.max(1, lanes.length));
  return { was: of(WAS_MAX), other: of(OTHERS_MAX) };
}

// The whole picture: lanes with their places; left: those that there is no room for; empty: those that have nothing, where
// there are many. A tall one has its hours above, too. measure(text): its width in pixels. height: what it should not be
// higher than, by fewer rows of each lane, and then by fewer lanes.
export function layout(model, { width, measure, height = Infinity }) {
  const view = viewOf(model, width, measure), all = lanesOf(model), known = all.length <= EMPTY_LANES_MAX ? all : all.filter((lane) => !isEmpty(lane, view));
  const shared = sharedPrices(known, view), high = (lanes) => lanes.reduce((n, lane) => n + lane.height + BETWEEN, TOP + AXIS);
  view.drawn = shareOf(known);
  const lanes = mostRows((rows) => known.map((lane) => laneLayout(lane, { ...view, rows }, shared !== undefined)), (some) => high(some) <= height);
  while (lanes.length > 1 && high(lanes) > height) lanes.pop();
  const isTall = high(lanes) > TALL, above = isTall ? LINE : 0, hours = ticks(model.from, model.until, width).map((tick) => ({ ...tick, x: view.x(tick.at) }));
  return { width, height: high(lanes) + above, bottom: high(lanes) + above - AXIS, isTall, lanes: stacked(lanes, TOP + above), prices: shared || [],
    top: topWords(shared || [], view), ticks: withoutCrowding(hours, view), nowX: view.nowX,
    left: known.slice(lanes.length), empty: all.filter((lane) => !known.includes(lane)) };
}
