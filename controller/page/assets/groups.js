// Jobs by queue, user or sweep: a heading with its counts for each group, and below one that is unfolded its Jobs. To
// the list it is one source of rows (list.js): headings and Jobs have one height, so it scrolls as a line of Jobs does.
//
// Counts come from the summary; the Jobs of a group are a line of their own, read once it is looked at, and read anew
// while it is. Where a filter narrows the list to what no summary counts, the Jobs that match are read and counted here.

import { Refusal, summaries } from "./api.js";
import { badge } from "./ui.js";
import { h } from "./dom.js";
import { Line } from "./line.js";
import { paced, pause, visible, waitToRetry } from "./live.js";
import { Scan } from "./scan.js";
import { shortly } from "./start.js";
import { since, span } from "./words.js";

const READ_AGAIN_MS = 5000;

/* ---- what a Job belongs to ---- */

// A family is the name before what a CronJob or generateName puts behind it. The summary knows it from the Job itself.
function familyOf(name) {
  const cron = /^(.+)-\d{8,}$/.exec(name), generated = /^(.+-)[bcdfghjklmnpqrstvwxz2456789]{5}$/.exec(name);
  return cron ? `CronJob/${cron[1]}` : generated ? generated[1] : name;
}

const KEYS = {
  queue: ({ spec }) => spec.clusterQueue || "",
  user: ({ spec }) => spec.submittedBy || "",
  sweep: ({ metadata }) => familyOf(metadata.name),
};

export const WAYS = [["queue", "by queue"], ["user", "by user"], ["sweep", "by sweep"], ["flat", "flat"]];

// "team/lr-*", "team/nightly (CronJob)", "team/train" of one that is alone.
function sweepName({ key, namespace, alone }) {
  if (alone) return "Jobs of no sweep";
  const name = key.replace(CRON, ""), kind = name === key ? "" : " (CronJob)";
  return `${namespace ? `${namespace}/` : ""}${name}${!kind && name.endsWith("-") ? "*" : kind}`;
}

const NONE = { queue: "no ClusterQueue", user: "user not known", sweep: "" };

const CRON = /^CronJob\//, DIGITS = /^-\d+$/, GENERATED = /^[bcdfghjklmnpqrstvwxz2456789]{5}$/;

function isOfFamily(key) {
  const start = key.replace(CRON, ""), end = CRON.test(key) ? DIGITS : GENERATED;
  return ({ metadata: { name } }) => name === key || (name.startsWith(start) && end.test(name.slice(start.length)));
}

// Which Jobs a group of the summary has: by the server where it can select them, else by looking at each.
function sourceOf(by, group, which, page, onChange) {
  if (group.alone) return new Scan(which, page, onChange, { matches: isAlone(group.alone) });
  const { key, namespace } = group, asked = namespace ? { ...which, namespace } : which;
  if (by === "sweep") return new Scan(asked, page, onChange, { matches: isOfFamily(key) });
  if (!key) return new Scan(asked, page, onChange, { matches: (job) => KEYS[by](job) === "" });
  return new Line({ ...asked, ...(by === "queue" ? { clusterQueue: key } : { submittedBy: key }) }, page, onChange);
}

// Some that were read, as a source.
function fixed(items) {
  return { items, total: items.length, isRead: true, at: (index) => items[index], look() {}, renew() {} };
}

const COUNTED = new Map([["Waiting", "waiting"], ["Starting", "running"], ["Running", "running"], ["Stopping", "running"]]);

function counted(by, items) {
  const all = new Map(), key = (job) => `${by === "sweep" ? job.metadata.namespace : ""}/${KEYS[by](job)}`;
  for (const job of items) {
    const id = key(job);
    if (!all.has(id)) all.set(id, { key: KEYS[by](job), namespace: by === "sweep" ? job.metadata.namespace : undefined, running: 0, waiting: 0, items: [] });
    const group = all.get(id);
    group.items.push(job);
    if (COUNTED.has(job.status.state)) group[COUNTED.get(job.status.state)]++;
  }
  return [...all.values()];
}

/* ---- Jobs that are alone ---- */

const ALONE = "alone";

// The earliest of two times, of which either may be missing.
const earlier = (a, b) => (a && b ? (a < b ? a : b) : a || b);

function joinAlone(all, { key, namespace, running, waiting, attention = 0, oldestQueuedAt, nextStart, items = [] }) {
  all.alone.add(`${namespace}/${key}`);
  const next = earlier(all.nextStart?.at, nextStart?.at) === nextStart?.at && nextStart ? nextStart : all.nextStart;
  return { ...all, running: all.running + running, waiting: all.waiting + waiting, attention: all.attention + attention,
    oldestQueuedAt: earlier(all.oldestQueuedAt, oldestQueuedAt), nextStart: next, items: [...all.items, ...items] };
}

// A sweep of one Job is none: those are one group, behind the others.
function withAlone(groups) {
  const ones = groups.filter(({ running, waiting }) => running + waiting <= 1);
  if (ones.length < 2) return groups;
  const { items, ...alone } = ones.reduce(joinAlone, { key: ALONE, alone: new Set(), running: 0, waiting: 0, attention: 0, items: [] });
  return [...groups.filter((group) => !ones.includes(group)), items.length ? { ...alone, items } : alone];
}

function isAlone(alone) {
  return ({ metadata: { namespace, name } }) => [name, familyOf(name)].some((key) => alone.has(`${namespace}/${key}`));
}

const idOf = ({ key, namespace = "" }) => (namespace ? `${namespace}/${key}` : key);

/* ---- the rows ---- */

export class Groups {
  // scan: of the Jobs that a filter leaves, or null: the summary counts all of `which`. turned: ids of the groups that
  // are not as they are at first; isOpenAtFirst: then all are unfolded.
  constructor(by, which, page, onChange, { scan = null, turned = new Set(), isOpenAtFirst }) {
    Object.assign(this, { by, which, page, onChange, scan, turned, isOpenAtFirst, groups: [], total: 0, more: 0, isRead: false, isKicked: false });
    this.inView = new Set();
  }

  // Shows what another one of these has read, until it has read it anew.
  take({ groups, more, isRead }) {
    Object.assign(this, { more, isRead });
    this.put(groups.map(({ source, ...told }) => (source.take ? told : { ...told, items: source.items })));
    for (const [i, { source }] of groups.entries()) this.groups[i].source.take?.(source);
  }

  // One that is alone is unfolded at first, too.
  isOpen(group) { return (this.isOpenAtFirst || this.groups.length === 1) !== this.turned.has(idOf(group)); }

  /* ---- where which row is ---- */

  place() {
    this.total = 0;
    for (const group of this.groups) {
      group.first = this.total;
      group.isOpen = this.isOpen(group);
      this.total += 1 + (group.isOpen ? this.sizeOf(group) : 0);
    }
  }

  sizeOf({ source, running, waiting }) {
    return source.isRead ? source.total : running + waiting;
  }

  // The group in which the row is: of the last one that begins at or before it.
  groupAt(index) {
    let low = 0, high = this.groups.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.groups[middle].first <= index) low = middle;
      else high = middle;
    }
    return this.groups[low];
  }

  at(index) {
    const group = this.groupAt(index);
    return !group || index === group.first ? group : group.source.at(index - group.first - 1);
  }

  look(first, last) {
    this.inView.clear();
    for (const group of this.groups) {
      const from = Math.max(0, first - group.first - 1), to = Math.min(this.sizeOf(group), last - group.first - 1);
      if (!group.isOpen || from >= to) continue;
      this.inView.add(group);
      group.source.look(from, to);
    }
    this.readNew();
  }

  // Folds or unfolds. isOpen: as it is to be; undefined: the other way round.
  turn(group, isOpen = !group.isOpen) {
    if (isOpen === group.isOpen) return;
    const id = idOf(group);
    if (this.turned.has(id)) this.turned.delete(id);
    else this.turned.add(id);
    this.changed();
  }

  changed() {
    this.place();
    this.onChange();
  }

  /* ---- how they stay true ---- */

  // Groups stay where they are, so that none moves away from under a hand; new ones come last.
  put(groups) {
    const known = new Map(this.groups.map((group) => [idOf(group), group])), fresh = new Map(groups.map((group) => [idOf(group), group]));
    const stay = this.groups.filter((group) => fresh.has(idOf(group))), come = groups.filter((group) => !known.has(idOf(group)));
    this.groups = [...stay, ...come].sort((a, b) => Boolean(a.alone) - Boolean(b.alone)).map((group) => this.joined(known.get(idOf(group)), fresh.get(idOf(group))));
    this.changed();
  }

  joined(old, { items, source: _, ...told }) {
    if (old?.alone) { // by which its source looks
      old.alone.clear();
      for (const id of told.alone) old.alone.add(id);
      told.alone = old.alone;
    }
    const kept = old?.source ?? sourceOf(this.by, told, this.which, this.page, () => this.changed());
    return { ...told, isGroup: true, source: items ? fixed(items) : kept };
  }

  async read() {
    if (this.scan) {
      if (!this.scan.isDue) return;
      await this.scan.renew();
      return this.put(this.arranged(counted(this.by, this.scan.items)));
    }
    const told = await summaries(this.which.namespace, this.by, this.page.signal);
    this.more = told.moreGroups || 0;
    this.put(this.arranged(told.groups));
  }

  // Jobs that are alone come last, also where a sweep is new.
  arranged(groups) { return this.by === "sweep" ? withAlone(groups) : groups; }

  // Groups that have come into view are read; one after the other, for the server's sake.
  async readNew() {
    if (this.isKicked) return;
    this.isKicked = true;
    try {
      for (let group; (group = [...this.inView].find(({ source }) => !source.isRead)); this.changed()) await group.source.renew();
    } catch (error) {
      await waitToRetry(error, this.page).catch(this.page.complain);
    } finally {
      this.isKicked = false;
    }
  }

  async renew() {
    await this.read();
    this.isRead = true;
    for (const { source } of [...this.inView]) if (source.isRead && (source.isDue ?? true)) await source.renew();
    this.changed();
  }

  // Until the page is left.
  async live() {
    const { page } = this;
    while (!page.signal.aborted) {
      const began = performance.now();
      try {
        await this.renew();
        page.tell(`Live: the rows in view are updated every ${span((this.scan?.againMs ?? READ_AGAIN_MS) / 1000)}.`);
        await pause(paced(READ_AGAIN_MS, performance.now() - began), page.signal);
      } catch (error) {
        await (error instanceof Refusal && error.status === 410 ? pause(READ_AGAIN_MS / 5, page.signal) : waitToRetry(error, page));
      }
      await visible(page.signal);
    }
  }

  words() {
    const { running, waiting } = this.groups.reduce((all, group) => ({ running: all.running + group.running, waiting: all.waiting + group.waiting }), { running: 0, waiting: 0 });
    const more = this.more ? ` · ${this.more.toLocaleString("en")} more groups are not shown` : "";
    return `${running.toLocaleString("en")} running · ${waiting.toLocaleString("en")} waiting${more}`;
  }
}

/* ---- a heading ---- */

function startsAt({ nextStart }) {
  return nextStart?.at ? ` · next start ${new Date(nextStart.at) <= Date.now() ? "any moment" : shortly(nextStart.at)}` : "";
}

// "13 running · 117 waiting · next start 20:43 · oldest 27m"
export function groupCells(by) {
  return (group) => {
    const { key, running, waiting, attention, oldestQueuedAt } = group;
    const name = h("strong", {}, by === "sweep" ? sweepName(group) : key || NONE[by]);
    const words = `${running.toLocaleString("en")} running · ${waiting.toLocaleString("en")} waiting${startsAt(group)}${waiting && oldestQueuedAt ? ` · oldest ${since(oldestQueuedAt)}` : ""}`;
    return [[h("span", { class: "turn", "aria-hidden": "true" }, group.isOpen ? "▾" : "▸"), name, h("span", { class: "faint" }, ` ${words} `),
      attention ? badge(`${attention} need${attention === 1 ? "s" : ""} attention`, "bad") : ""]];
  };
}
