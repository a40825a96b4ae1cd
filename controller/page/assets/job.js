// One Job: where it stands, why it waits, the story of its runs on a line of time, and what it costs.

import { job, orNull, past, Refusal } from "./api.js";
import { draw, facts, faint, h, link, warning } from "./dom.js";
import { again, sentenceOf } from "./live.js";
import { queueLink } from "./rights.js";
import { movedWords, startWords } from "./start.js";
import { momentList, picture, runTable } from "./story.js";
import { whyItWaits } from "./why.js";
import { asks, cents, ledgerDown, money, since, span, sum, time } from "./words.js";

const LOOK_MS = 3000, LOOK_BACK_MS = 15_000;

function trouble(status) {
  const t = status.trouble;
  return t ? warning(`${t.reason}, ${t.pods} of ${t.of} pods: ${t.message} ${t.cure}`) : "";
}

function priority({ priority: counts, claimedPriority: claimed }) {
  return claimed === undefined ? String(counts) : `${counts} (class value ${claimed}, capped by the ClusterQueue)`;
}

const HOW_KNOWN = { Annotation: "as annotation sluice.dev/expected-duration says", ActiveDeadlineSeconds: "at most, by activeDeadlineSeconds", History: "95 % of its earlier runs took no longer" };

function whereItStands({ metadata, spec, status }) {
  return facts([["State", h("span", { class: `state ${status.state}` }, status.state)],
    ["Position", status.position && status.position.toLocaleString("en")],
    ["LocalQueue", link(["jobs"], spec.queue, { namespace: metadata.namespace, queue: spec.queue })],
    ["ClusterQueue", spec.clusterQueue && queueLink(spec.clusterQueue)],
    ["Requests", asks(spec)],
    ["Priority", priority(spec)],
    ["Submitted by", spec.submittedBy && link(["history"], spec.submittedBy, { namespace: metadata.namespace, user: spec.submittedBy })],
    ["Expected start", startWords(status)], ["Start moved", movedWords(status)],
    ["Queued", time(status.queuedAt)], ["Running since", status.startedAt && [time(status.startedAt), ` (${since(status.startedAt)})`]],
    ["Expected duration", status.expectedSeconds && `${span(status.expectedSeconds)}, ${HOW_KNOWN[status.expectedFrom] || ""}`],
    ["Stopped by its window", time(status.stopsAt)], ["Deadline", time(status.deadline)]]);
}

// Runs that have ended, by currency, and the one that goes on.
function costs(known, runs) {
  const bill = known?.status.bill, ended = runs.filter((run) => run.cost !== undefined && run.currency);
  const currencies = [...new Set(ended.map((run) => run.currency))], of = (currency) => ended.filter((run) => run.currency === currency);
  const before = currencies.map((currency) => money(sum(of(currency).map((run) => run.cost)), currency)).join(", ");
  const pairs = [["This run so far", bill && `${money(bill.cost, bill.currency)}, ${cents(bill.perHour)} an hour now (PricePlan ${bill.plan})`],
    ["This run, expected", bill?.expectedCost && money(bill.expectedCost, bill.currency)], ["Runs that have ended", before]];
  return pairs.some(([, value]) => value) ? facts(pairs) : faint(runs.length ? "No PricePlan applies to this Job, so no costs are counted." : "No costs yet: this Job has not run.");
}

const COLOURS = "Grey: waiting. Blue: running. Green: the run that finished the Job. Orange: stopping, or failed.";

function story(known, told) {
  if (told.complaint) return warning(told.complaint);
  if (!told.runs.length && !known) return h("p", {}, "No run of this Job is on record.");
  return [picture(known, told.runs), faint(COLOURS), momentList(known, told.runs), told.runs.length ? runTable(told.runs) : "",
    told.more ? faint("Only the newest runs are shown.") : "", told.note ? faint(told.note) : ""];
}

// What the ledger says of it; a ledger that is away, or no right to it, takes nothing from the rest of the page.
async function ledgerOf(namespace, name, signal) {
  try {
    const told = await past("histories", namespace, { job: name }, signal);
    return { runs: [...told.runs].reverse(), more: told.more, note: told.note };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { runs: [], complaint: `Its runs cannot be read: ${sentenceOf(error)}` };
  }
}

const LOOKS_AFTER_CHANGE = 3; // what the Job shows first may reach the ledger a little later

// The ledger is asked at each of a few looks after the Job has changed, and every LOOK_BACK_MS.
class LedgerPace {
  constructor() {
    this.seen = "";
    this.askedMs = this.left = 0;
  }

  isDue(known) {
    const seen = known ? [known.metadata.uid, known.status.state, known.status.startedAt, known.status.story].join() : "gone";
    if (seen !== this.seen) this.left = LOOKS_AFTER_CHANGE;
    this.seen = seen;
    const isDue = this.left > 0 || performance.now() - this.askedMs > LOOK_BACK_MS;
    this.left = Math.max(0, this.left - 1);
    if (isDue) this.askedMs = performance.now();
    return isDue;
  }
}

const NONE = "No Job of this name waits or runs now. It has ended, was deleted or never existed. Its recorded runs are below.";

function part(title, ...children) {
  return h("section", { "aria-label": title }, h("h3", {}, title), children);
}

async function head(known, signal) {
  if (!known) return h("p", { class: "sentence" }, NONE);
  const { ledgerDown: isDown, ledgerDownSince } = known.status;
  const why = known.status.reason ? await whyItWaits(known, signal) : h("p", { class: "sentence" }, known.status.message);
  return [trouble(known.status), isDown ? warning(ledgerDown(ledgerDownSince)) : "", why, whereItStands(known)];
}

export async function jobPage(page) {
  const [namespace, name] = page.words, pace = new LedgerPace();
  let told = { runs: [] };
  await again(LOOK_MS, page, async () => {
    const known = await orNull(job(namespace, name, page.signal), 404);
    if (pace.isDue(known)) told = await ledgerOf(namespace, name, page.signal);
    const top = await head(known, page.signal);
    draw(page.content, h("h2", {}, `Job ${namespace}/${name}`), h("section", { "aria-label": "Now" }, top),
      part("History", story(known, told)), part("Costs", costs(known, told.runs)));
  });
}
