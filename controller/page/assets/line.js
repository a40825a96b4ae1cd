// A line of Jobs that may be a hundred thousand long, of which a few pages are kept: those that are looked at. Pages
// of one moment are asked for in any order, so a jump to the end costs one question.
//
// It stays true in one of two ways. A line of up to WATCHED_MAX Jobs is watched: changes go into the rows that are
// kept, and where the order may have changed, what is looked at is read anew; so it is every few seconds while
// somebody is in front of the page, for when Jobs start. In a longer line each start at its
// head changes every place behind it, and a watch would tell of each. There, what is looked at is read anew every
// few seconds.

import { follow, jobs, Refusal } from "./api.js";
import { isAttended } from "./attended.js";
import { paced, pause, visible, waitToRetry, whileVisible } from "./live.js";
import { span } from "./words.js";

const PAGE = 100, KEPT_PAGES = 20, WATCHED_MAX = 5000; // two screens of rows; what is read anew is one or two of these
const READ_AGAIN_MS = 5000, SETTLE_MS = 1500, DRAW_MS = 200;
const STARTS_MS = 10_000; // a watch does not tell that a start was worked out anew

const GONE = { state: "Gone", message: "It has ended, or no longer matches the filters." };

// 403: no right to it. 410: the moment or the version is too old to be known.
function isRefusal(error, status) {
  return error instanceof Refusal && error.status === status;
}

export class Line {
  // which: as api.js has it. onChange(): what is kept is different.
  constructor(which, page, onChange) {
    Object.assign(this, { which, page, onChange, total: 0, moment: "", version: "" });
    this.pages = new Map(); // number -> Jobs; the one that was looked at last is the last
    this.places = new Map(); // uid -> [page, place in it]
    this.looked = [0, 0];
    this.isStale = this.isFilling = this.isRenewing = this.mayNotWatch = false;
    this.tookMs = this.readMs = this.timer = 0;
  }

  get isRead() { return this.readMs > 0; }

  // Shows what another line of these Jobs has read, until it has read it anew.
  take({ pages, places, looked, total, moment, version, readMs }) {
    Object.assign(this, { pages, places, looked, total, moment, version, readMs });
  }

  at(index) {
    return this.pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  }

  // These rows are looked at: what is missing is asked for.
  look(first, last) {
    this.looked = [Math.floor(first / PAGE), Math.floor(Math.max(first, last - 1) / PAGE)];
    if (this.missing() !== undefined) this.fill();
  }

  missing() {
    for (let n = this.looked[0]; n <= this.looked[1]; n++)
      if (!this.pages.has(n) && n * PAGE < this.total && (n === 0 || this.moment)) return n;
    return undefined;
  }

  async fill() {
    if (this.isFilling) return;
    this.isFilling = true;
    try {
      for (;;) {
        const n = this.missing(), { moment } = this;
        if (n === undefined || this.isRenewing) return;
        const { items } = await jobs(this.which, { moment, first: n * PAGE, limit: PAGE }, this.page.signal);
        if (moment === this.moment) this.keep(n, items); // else it was read anew meanwhile
        this.onChange();
      }
    } catch (error) {
      await (isRefusal(error, 410) ? this.renew() : waitToRetry(error, this.page)).catch(this.page.complain);
    } finally {
      this.isFilling = false;
    }
  }

  keep(n, items) {
    this.pages.delete(n);
    this.pages.set(n, items);
    items.forEach((job, i) => this.places.set(job.metadata.uid, [n, i]));
    for (const old of this.pages.keys()) {
      if (this.pages.size <= KEPT_PAGES) return;
      this.drop(old);
    }
  }

  drop(n) {
    for (const job of this.pages.get(n)) this.places.delete(job.metadata.uid);
    this.pages.delete(n);
  }

  // Reads what is looked at as of now. The first answer is of the first page, or of one Job where that is not
  // looked at: it tells the moment and how many there are.
  async renew() {
    if (this.isRenewing) return;
    this.isRenewing = true;
    try {
      const began = performance.now(), [from, to] = this.looked, signal = this.page.signal, read = [];
      const head = await jobs(this.which, { limit: from === 0 ? PAGE : 1 }, signal);
      if (from === 0) read.push([0, head.items]);
      for (let n = Math.max(1, from); n <= to && n * PAGE < head.total; n++)
        read.push([n, (await jobs(this.which, { moment: head.moment, first: n * PAGE, limit: PAGE }, signal)).items]);
      this.pages.clear();
      this.places.clear();
      Object.assign(this, { total: head.total, moment: head.moment, version: head.version, isStale: false, tookMs: performance.now() - began, readMs: performance.now() });
      for (const [n, items] of read) this.keep(n, items);
    } finally {
      this.isRenewing = false;
    }
    this.onChange();
  }

  /* ---- how it changes ---- */

  change({ type, object }) {
    const place = this.places.get(object.metadata.uid), old = place && this.pages.get(place[0])[place[1]];
    if (type === "ADDED" && !old) this.total++;
    if (type === "DELETED") this.total--;
    if (old) this.pages.get(place[0])[place[1]] = type === "DELETED" ? { ...old, status: GONE } : object;
    if (type !== "MODIFIED" || old?.status.state !== object.status.state || old?.status.rank !== object.status.rank || old?.status.position !== object.status.position) this.isStale = true;
    this.drawSoon();
  }

  drawSoon() {
    if (this.timer) return;
    this.timer = setTimeout(() => { this.timer = 0; this.onChange(); }, DRAW_MS);
  }

  wantsStarts() {
    return isAttended() && this.total > 0 && performance.now() - this.readMs > STARTS_MS;
  }

  // While it is watched: reads anew what is looked at, when the order may be another, and for when Jobs start.
  async settle(signal) {
    while (!signal.aborted) {
      await pause(paced(SETTLE_MS, this.tookMs), signal);
      if ((this.isStale || this.wantsStarts()) && !signal.aborted) await this.renew().catch(() => {}); // the watch says what is wrong
    }
  }

  async watch() {
    const ending = new AbortController(), signal = whileVisible(AbortSignal.any([this.page.signal, ending.signal]));
    this.page.tell("Live.");
    this.settle(signal);
    try {
      await follow(this.which, this.version, signal, (event) => this.change(event));
    } catch (error) {
      if (signal.aborted) return;
      if (!isRefusal(error, 403)) throw error;
      this.mayNotWatch = true;
    } finally {
      ending.abort();
    }
    await pause(SETTLE_MS, this.page.signal); // a proxy may end each watch at once
  }

  async readAgain() {
    this.page.tell(`Live: the rows in view are updated every ${span(READ_AGAIN_MS / 1000)}.`);
    await pause(paced(READ_AGAIN_MS, this.tookMs), this.page.signal);
  }

  isWatched() {
    return this.total <= WATCHED_MAX && !this.which.lineOf && !this.mayNotWatch;
  }

  // Until the page is left.
  async live() {
    while (!this.page.signal.aborted) {
      try {
        await this.renew();
        await (this.isWatched() ? this.watch() : this.readAgain());
      } catch (error) {
        await (isRefusal(error, 410) ? pause(SETTLE_MS, this.page.signal) : waitToRetry(error, this.page));
      }
      await visible(this.page.signal);
    }
  }
}
