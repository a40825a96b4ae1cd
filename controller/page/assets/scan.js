// Jobs by what the server cannot select or sort: a part of the name, a reason, a family. The list that it does give is
// read page by page, and what matches is kept and sorted here; so there is a bound to it, and the page says when it is met.

import { jobs, Refusal } from "./api.js";
import { isAttended } from "./attended.js";
import { paced, pause, visible, waitToRetry } from "./live.js";
import { count, span } from "./words.js";

const PAGE = 1000, KEPT_MAX = 5000, READ_AGAIN_MS = 15_000; // for each page that is read

export class Scan {
  // which: as api.js has it. matches(job); compare: of Array.sort(), or none: as the line is. onChange(): what is kept
  // is different.
  constructor(which, page, onChange, { matches = () => true, compare = null } = {}) {
    Object.assign(this, { which, page, onChange, matches, compare, items: [], lookedAt: 0, of: 0, readMs: 0, isRead: false, isCut: false });
  }

  get total() { return this.items.length; }

  at(index) { return this.items[index]; }

  look() {}

  // What takes long is read anew less often.
  get againMs() { return READ_AGAIN_MS * Math.max(1, Math.ceil(this.lookedAt / PAGE)); }

  get isDue() { return !this.isRead || (isAttended() && performance.now() - this.readMs > this.againMs); }

  take({ items, lookedAt, of, isRead, isCut }) {
    Object.assign(this, { items, lookedAt, of, isRead, isCut });
  }

  show(found) {
    this.items = this.compare ? [...found].sort(this.compare) : [...found];
    this.onChange();
  }

  // Reads all of one moment; a moment that is too old to be known is begun anew by who asks again.
  async renew() {
    const { signal } = this.page, found = [], isFirst = !this.isRead;
    for (let first = 0, moment = "", total = 1; first < total && found.length < KEPT_MAX; first += PAGE) {
      const list = await jobs(this.which, { moment, first, limit: PAGE }, signal);
      ({ moment, total } = list);
      found.push(...list.items.filter(this.matches));
      Object.assign(this, { lookedAt: Math.min(total, first + list.items.length), of: total });
      if (isFirst) this.show(found.slice(0, KEPT_MAX));
    }
    this.isCut = found.length > KEPT_MAX || this.lookedAt < this.of;
    this.isRead = true;
    this.readMs = performance.now();
    this.show(found.slice(0, KEPT_MAX));
  }

  // "3 of 148 Jobs"; what there is to say of how it came about.
  words() {
    if (this.isCut) return `the first ${KEPT_MAX.toLocaleString("en")} of ${count(this.of, "Job")}: narrow the filter`;
    const some = this.total === this.of ? "" : `${this.total.toLocaleString("en")} of `;
    return this.lookedAt < this.of ? `${this.total.toLocaleString("en")} found, ${this.lookedAt.toLocaleString("en")} of ${count(this.of, "Job")} looked at ...` : `${some}${count(this.of, "Job")}`;
  }

  // Until the page is left.
  async live() {
    const { page } = this;
    while (!page.signal.aborted) {
      const began = performance.now();
      try {
        if (!this.isRead || isAttended()) await this.renew();
        page.tell(`Live: updated every ${span(this.againMs / 1000)}.`);
        await pause(paced(this.againMs, performance.now() - began), page.signal);
      } catch (error) {
        await (error instanceof Refusal && error.status === 410 ? pause(READ_AGAIN_MS / 10, page.signal) : waitToRetry(error, page));
      }
      await visible(page.signal);
    }
  }
}
