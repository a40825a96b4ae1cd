// One Job: where it stands, why it waits, the story of its runs on a line of time, and what it costs.

import { job, orNull, past, Refusal } from "./api.js";
import { stateBadge } from "./badges.js";
import { ago } from "./columns.js";
import { draw, facts, faint, folded, h, link, warning } from "./dom.js";
import { again, partAgain, sentenceOf } from "./live.js";
import { Help } from "./review.js";
import { queueLink } from "./rights.js";
import { endCell, movedWords, ON_HOLD, startCell, startWords } from "./start.js";
import { jobTimeline, momentList, runTable } from "./story.js";
import { card, skeleton } from "./ui.js";
import { whyItWaits } from "./why.js";
import { asks, cents, ledgerDown, money, moment, since, span, sum, time } from "./words.js";
import { yaml } from "./yaml.js";

const LOOK_MS = 3000, LOOK_BACK_MS = 15_000;

function trouble(status) {
  const t = status.trouble;
  return t ? warning(`${t.reason}, ${t.pods} of ${t.of} pods: ${t.message}`) : "";
}

function priority({ priority: counts, claimedPriority: claimed }) {
  return claimed === undefined ? String(counts) : `${counts} (class value ${claimed}, capped by the ClusterQueue)`;
}

const HOW_KNOWN = { Annotation: "as annotation sluice.dev/expected-duration says", ActiveDeadlineSeconds: "at most, by activeDeadlineSeconds", History: "95 % of its earlier runs took no longer" };

function whereItStands({ metadata, spec, status }) {
  return facts([["State", stateBadge({ status }).textContent !== status.state && status.state],
    ["LocalQueue", link(["jobs"], spec.queue, { namespace: metadata.namespace, queue: spec.queue })],
    ["ClusterQueue", spec.clusterQueue && queueLink(spec.clusterQueue)],
    ["Priority", priority(spec)],
    ["Submitted by", spec.submittedBy && link(["history"], spec.submittedBy, { namespace: metadata.namespace, user: spec.submittedBy })],
    ["Start moved", movedWords(status)],
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

function pastOf(known, told) {
  if (told.complaint) return warning(told.complaint);
  if (!told.runs.length && !known) return h("p", {}, "No run of this Job is on record.");
  return [jobTimeline(known, told.runs), momentList(known, told.runs), told.runs.length ? runTable(told.runs) : "",
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

/* ---- at a glance ---- */

function startFigure({ status }) {
  const { startedAt, start, startAt, reason } = status, words = startWords(status);
  if (startedAt) return ["Started", ago(startedAt), endCell(status) ? `ends ${endCell(status)}` : moment(startedAt)];
  if (!reason) return null;
  if (reason === ON_HOLD) return ["Expected start", "once released", ""];
  if (startAt && startCell(status)) return ["Earliest start", startCell(status), words];
  const [first, ...rest] = words.split(/[,;] /);
  return ["Expected start", startCell(status) || (words && first) || "not known", rest.join("; ") || (start ? "" : "nothing is simulated yet")];
}

function costFigure({ status: { bill } }) {
  return bill && ["Cost so far", money(bill.cost, bill.currency), bill.expectedCost ? `${money(bill.expectedCost, bill.currency)} expected` : `${cents(bill.perHour)} an hour now`];
}

// What is asked first of a Job: when, in which place, how much.
function glance(known) {
  const { spec, status } = known;
  const figures = [startFigure(known), status.position && ["Position", status.position.toLocaleString("en"), `in ClusterQueue ${spec.clusterQueue}`], ["Requests", asks(spec), ""], costFigure(known)];
  return h("dl", { class: "glance" }, figures.filter(Boolean).map(([name, value, words]) => h("div", {}, h("dt", {}, name), h("dd", { class: "number" }, value), words ? h("dd", { class: "small" }, words) : "")));
}

/* ---- the parts ---- */

// Its parts beside a list or as a page: as cards there.
export class JobView {
  constructor(namespace, name, page, { isBeside = false } = {}) {
    Object.assign(this, { namespace, name, page, isBeside, told: { runs: [] }, pace: new LedgerPace(), help: new Help(page.signal) });
    this.element = h("div", { class: isBeside ? "job" : "job whole", "data-own": true }, skeleton("rows", 8));
  }

  part(title, ...children) {
    if (!this.isBeside) return card(title, "", children);
    return h("section", { "aria-label": title }, h("h3", {}, title), children);
  }

  async look() {
    const { namespace, name, page } = this, known = await orNull(job(namespace, name, page.signal), 404);
    if (this.pace.isDue(known)) this.told = await ledgerOf(namespace, name, page.signal);
    const waits = known?.status.reason ? await whyItWaits(known, page.signal) : null;
    const ofCosts = this.part("Costs", costs(known, this.told.runs));
    draw(this.element, known ? this.parts(known, waits, ofCosts) : [h("p", { class: "sentence" }, NONE), ofCosts], this.part("History", pastOf(known, this.told)), known ? this.yaml(known) : "");
  }

  // At the left what is so, at the right what can be done; below each other beside a list.
  parts(known, waits, ofCosts) {
    const { status } = known, help = this.help.show(known);
    return [h("div", { class: "first" }, stateBadge(known), glance(known)), h("div", { class: "sides" },
      h("div", {}, this.part("Now", trouble(status), status.ledgerDown ? warning(ledgerDown(status.ledgerDownSince)) : "", waits?.why || h("p", { class: "sentence" }, status.message), whereItStands(known))),
      h("div", {}, waits?.after ? this.part("Waiting for", waits.after) : "", help ? this.part(help, this.help.element) : "", ofCosts))];
  }

  // Of one that is folded nothing is written.
  yaml(known) {
    const details = folded("As YAML", h("pre", { tabindex: "0", "aria-label": "The QueuedJob as YAML" }, h("code", {}, yaml(known))));
    details.classList.add("yaml");
    return details;
  }

  // Beside a list: what goes wrong is said here, and the list goes on.
  async live() {
    const say = (sentence) => draw(this.element, h("div", { role: "alert" }, warning(sentence)));
    if (this.isBeside) await partAgain(LOOK_MS, this.page, () => this.look(), say);
    else await again(LOOK_MS, this.page, () => this.look());
  }
}

export async function jobPage(page) {
  const [namespace, name] = page.words, view = new JobView(namespace, name, page);
  draw(page.content, h("h2", {}, `Job ${namespace}/${name}`), view.element);
  await view.live();
}
