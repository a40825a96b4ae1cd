// Jobs in the order of the line, each with why it waits; as they change.

import { address, draw, h, jobLink } from "./dom.js";
import { choice, field, namespaceField, question } from "./form.js";
import { Line } from "./line.js";
import { List } from "./list.js";
import { startCell, startWords } from "./start.js";
import { asks, count, since } from "./words.js";

const STATES = [["", "any"], ...["Waiting", "Starting", "Running", "Stopping", "Deleting"].map((state) => [state, state])];
const HEADS = ["Position", "Job", "State", "Requests", "Start", "Why"];

function when({ state, startedAt, queuedAt }) {
  const began = startedAt || queuedAt;
  return [state, began ? h("span", { class: "wide" }, ` for ${since(began)}`) : ""];
}

function cells({ metadata, spec, status }) {
  const name = jobLink(metadata.namespace, metadata.name), { trouble } = status;
  name.tabIndex = -1; // the list is one stop of the Tab key
  return [status.position ? status.position.toLocaleString("en") : "", name, h("span", { class: `state ${status.state}` }, when(status)),
    asks(spec), h("span", { title: startWords(status) }, startCell(status)), h("span", { class: trouble ? "warning" : "", title: status.message }, trouble ? `${trouble.reason}: ${trouble.message}` : status.message)];
}

function open({ metadata }) {
  location.hash = address(["job", metadata.namespace, metadata.name]);
}

// A line with its list, in which the place of `at`, counted from 1, is shown. said: the paragraph for how many there
// are; emptyWords: what to say where there is none.
export function lineOf(which, label, page, { at = 0, emptyWords }) {
  const said = h("p", { class: "faint", "data-own": true }, "Loading the queue ...");
  let isFirst = true;
  const line = new Line(which, page, () => {
    said.textContent = line.total ? count(line.total, "Job") : emptyWords;
    list.element.hidden = line.total === 0;
    if (isFirst && at > 0) list.go(at - 1);
    isFirst = false;
    list.drawSoon();
  });
  const list = new List(label, HEADS, line, { cells, open });
  list.element.hidden = true; // until something is known
  return { said, element: list.element, live: () => line.live() };
}

const WORDS = ["namespace", "clusterQueue", "queue", "submittedBy", "state", "name", "labels"];

function which(params) {
  return Object.fromEntries(WORDS.map((name) => [name, params.get(name) || ""]));
}

export async function jobsPage(page) {
  const { content, params } = page, asked = which(params), isNarrowed = Object.values(asked).some(Boolean);
  const line = lineOf(asked, "Jobs in queue order", page, { at: Number(params.get("at")) || 0,
    emptyWords: isNarrowed ? "No jobs match these filters."
      : "No Job waits or runs. A Job is queued when it has the label sluice.dev/queue-name and spec.suspend: true." });
  draw(content, h("h2", {}, "Jobs"), question(["jobs"], "Which Jobs", namespaceField(params),
    field("clusterQueue", "ClusterQueue", asked.clusterQueue), field("queue", "LocalQueue", asked.queue),
    choice("state", "State", STATES, asked.state), field("submittedBy", "User", asked.submittedBy),
    field("labels", "Labels", asked.labels, "team=a")), line.said, line.element);
  await line.live();
}
