// The plan: what ran, what runs and what is expected to start, by queue, over hours or a week. The stretch is in the
// address: span, and at, from when on. Without at it goes with the clock.

import { orNull, spans, timelines } from "./api.js";
import { address, draw, h, warning } from "./dom.js";
import { again, partAgain } from "./live.js";
import { timeline } from "./timeline.js";
import { card, empty, segments, skeleton } from "./ui.js";
import { count, moment } from "./words.js";

const HOUR_MS = 3600_000, DAY_MS = 24 * HOUR_MS, AHEAD_MS = 7 * DAY_MS;
const SPANS = { "6h": { words: "6 hours", length: 6 * HOUR_MS, behind: 2 * HOUR_MS, ahead: "4 hours" },
  "24h": { words: "24 hours", length: DAY_MS, behind: 8 * HOUR_MS, ahead: "16 hours" },
  "7d": { words: "7 days", length: 7 * DAY_MS, behind: 2 * DAY_MS, ahead: "5 days" } };
const LOOK_MS = 5000, LOOK_BACK_MS = 20_000, LOOK_BACK_SOON_MS = 8000;

function spanOf(params) {
  return SPANS[params.get("span")] ? params.get("span") : "24h";
}

// {from, until, isLive}: isLive where it goes with the clock.
export function stretchOf(params, now) {
  const { length, behind } = SPANS[spanOf(params)], at = +new Date(params.get("at") || NaN), isLive = Number.isNaN(at);
  const from = isLive ? now - behind : Math.min(at, now + AHEAD_MS - length / 8);
  return { from, until: from + length, isLive };
}

function place(params, changes) {
  const { span, at, namespace } = { ...Object.fromEntries(params), ...changes };
  return { span, at, namespace };
}

// Half a stretch earlier or later, at a round moment.
function moved({ from, until }, half) {
  const round = Math.max(HOUR_MS / 4, (until - from) / 96);
  return new Date(Math.round((from + (half * (until - from)) / 2) / round) * round).toISOString().replace(".000", "");
}

function controls(params, stretch, now) {
  const to = (text, changes) => h("a", { class: "step", href: address(["plan"], place(params, changes)) }, text);
  const isLast = stretch.until >= now + AHEAD_MS;
  return h("div", { class: "plan-controls" }, to("← Earlier", { at: moved(stretch, -1) }),
    stretch.isLive ? "" : to("Now", { at: undefined }), isLast ? "" : to("Later →", { at: moved(stretch, 1) }),
    segments("Length of the plan", Object.entries(SPANS).map(([span, { words }]) => [words, ["plan"], place(params, { span })]), SPANS[spanOf(params)].words));
}

function title({ from, until, isLive }, params) {
  return isLive ? `Now and next ${SPANS[spanOf(params)].ahead}` : `${moment(from)} to ${moment(until)}`;
}

/* ---- what is asked ---- */

const iso = (at) => new Date(at).toISOString();

// What is ahead is asked as a length of time from now, in whole hours.
async function ahead(namespace, { until }, now, signal) {
  if (until <= now) return undefined;
  return timelines(namespace, { until: `${Math.min(168, Math.max(1, Math.ceil((until - now) / HOUR_MS)))}h` }, signal);
}

async function behind(namespace, { from, until }, now, signal) {
  if (from >= now) return { spans: [] };
  return spans(namespace, { since: iso(from), ...(until < now ? { until: iso(until) } : {}) }, signal);
}

// The ledger is asked again now and then, and sooner where other Jobs run than before.
class Past {
  constructor() {
    this.askedMs = -Infinity;
    this.running = "";
  }

  async look(running, ask) {
    const isDue = performance.now() - this.askedMs > (running === this.running ? LOOK_BACK_MS : LOOK_BACK_SOON_MS);
    if (isDue) {
      this.told = await ask();
      this.askedMs = performance.now();
      this.running = running;
    }
    return this.told;
  }
}

function runningOf(told) {
  return (told?.lanes || []).flatMap((lane) => lane.bars.filter((bar) => bar.state !== "Expected").map((bar) => `${bar.namespace}/${bar.name}/${bar.jobs}`)).join();
}

/* ---- what is said ---- */

function othersWords(told) {
  const n = (told?.lanes || []).reduce((sum, { others }) => sum + (others ? others.running + others.waiting : 0), 0);
  return n ? `Others have ${count(n, "Job")} in these queues.` : "";
}

function forecastWords(told) {
  if (!told) return "";
  if (told.noForecasts) return "Expected starts are switched off in this cluster.";
  if (!told.forecastsOf) return "Expected starts are being worked out.";
  return `Expected starts: ${count(told.forecastsOf.draws, "simulation")}, as of ${moment(told.forecastsOf.asOf).slice(-5)}.`;
}

function remarks(told, was) {
  return [forecastWords(told), othersWords(told), was ? "" : "Earlier runs cannot be read now.", was?.more ? "There are more earlier runs than are shown: choose a shorter stretch." : ""].filter(Boolean).join(" ");
}

function nothing(namespace, stretch, now) {
  const what = stretch.until <= now ? "ran in this time" : "runs, waits or ran in this time";
  return empty(`No Job ${namespace ? `of ${namespace} ` : ""}${what}.`, stretch.isLive ? `kubectl get queuedjobs ${namespace ? `-n ${namespace}` : "-A"}` : undefined);
}

// was: null where the ledger cannot be asked, which takes nothing from what is ahead.
function shown(params, stretch, now, told, was) {
  const lanes = told?.lanes || [], past = was?.spans || [], namespace = params.get("namespace");
  if (!lanes.length && !past.length && was) return nothing(namespace, stretch, now);
  return [timeline({ lanes, spans: past, ...stretch, now, label: `Plan, ${title(stretch, params)}`, height: Infinity }), h("p", { class: "faint small" }, remarks(told, was))];
}

export async function planPage(page) {
  const { params, signal } = page, namespace = params.get("namespace") || "", past = new Past();
  const drawAll = (stretch, now, ...inside) => signal.aborted || draw(page.content, h("h2", {}, namespace ? `Plan of ${namespace}` : "Plan"),
    card(title(stretch, params), controls(params, stretch, now), inside));
  const look = async () => {
    const now = Date.now(), stretch = stretchOf(params, now), told = await ahead(namespace, stretch, now, signal);
    const was = await past.look(runningOf(told), () => orNull(behind(namespace, stretch, now, signal)));
    drawAll(stretch, now, shown(params, stretch, now, told, was));
  };
  const now = Date.now(), stretch = stretchOf(params, now);
  if (!page.content.querySelector("sluice-timeline")) drawAll(stretch, now, skeleton("picture", 1));
  if (stretch.until > now) await again(LOOK_MS, page, look);
  else await partAgain(Infinity, page, look, (sentence) => drawAll(stretch, now, warning(sentence)));
}
