// Jobs in the order of the line, each with why it waits; as they change.

import { follow, jobs } from "./api.js";
import { h, link, span } from "./dom.js";
import { List } from "./list.js";

function words(params) {
  const fields = ["clusterQueue", "queue", "submittedBy"].filter((name) => params.get(name)).map((name) => `spec.${name}=${params.get(name)}`);
  if (params.get("state")) fields.push(`status.state=${params.get("state")}`);
  return { fieldSelector: fields.join(","), labelSelector: params.get("labels") || "" };
}

function asks(spec) {
  return Object.entries(spec.requests || {}).map(([name, amount]) => `${amount} ${name}`).join(", ");
}

function row(job) {
  const { metadata, spec, status } = job;
  return [
    h("span", { class: "position" }, status.position ? String(status.position) : ""),
    link(`#/job/${metadata.namespace}/${metadata.name}`, `${metadata.namespace}/${metadata.name}`),
    h("span", { class: `state ${status.state}` }, status.state),
    h("span", { class: "asks" }, asks(spec)),
    h("span", { class: "why", title: status.message }, status.waitsFor || (status.startedAt ? span((Date.now() - new Date(status.startedAt)) / 1000) : "")),
  ];
}

const key = (job) => job.metadata.uid;

// Keeps the order in which they were listed; a Job that is new comes last until the page is opened anew.
class Line {
  constructor() {
    this.by = new Map();
  }

  change({ type, object }) {
    if (type === "BOOKMARK") return;
    if (type === "DELETED") this.by.delete(key(object));
    else this.by.set(key(object), object);
  }

  get items() {
    return [...this.by.values()];
  }
}

export async function jobsPage({ content, params, signal, tell, complain }) {
  const asked = words(params), line = new Line();
  let token = "", loading = false, all = false;
  const list = new List("Jobs in line", row, load);
  let version;

  async function load() {
    if (loading || all) return;
    loading = true;
    try {
      const page = await jobs(asked, token, signal);
      version = version || page.version;
      page.items.forEach((job) => line.by.set(key(job), job));
      token = page.next;
      all = !token;
      list.set(line.items);
      tell(`${line.by.size} Jobs${all ? "" : " so far"}`);
      if (all) changes();
    } catch (error) {
      complain(error);
    } finally {
      loading = false;
    }
  }

  let drawing = false;
  function soon() {
    if (drawing) return;
    drawing = true;
    setTimeout(() => {
      drawing = false;
      list.set(line.items);
      tell(`${line.by.size} Jobs`);
    }, 250);
  }

  function changes() {
    follow(asked, version, signal, (event) => {
      line.change(event);
      soon();
    }).catch(complain);
  }

  content.replaceChildren(h("h2", {}, params.get("clusterQueue") ? `The line of ${params.get("clusterQueue")}` : "Jobs"), list.element);
  await load();
}
