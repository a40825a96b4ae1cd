// What would help a Job: commands to copy, which run with the reader's own rights, and what would start it earlier. The
// latter makes the server play the queue, so it is asked for by a button.

import { startReview } from "./api.js";
import { draw, faint, h, warning } from "./dom.js";
import { sentenceOf } from "./live.js";
import { shortly } from "./start.js";
import { copyable } from "./ui.js";
import { since, span } from "./words.js";

const RELEASED = new Set(["OnHold", "Deactivated"]);

// [what it does, command], by the state of the Job.
function commandsOf({ metadata, status }) {
  const { namespace, name } = metadata, job = `job/${name}`, ns = `-n ${namespace}`;
  const hold = (words) => [words, `sluice hold ${job} ${ns} --because 'REASON'`];
  if (RELEASED.has(status.reason)) return [["Let it go on", `sluice release ${job} ${ns}`], ["Another LocalQueue", `sluice move ${job} --queue QUEUE ${ns}`]];
  if (status.state === "Waiting") return [hold("Put it on hold"), ["Another LocalQueue", `sluice move ${job} --queue QUEUE ${ns}`], ["What would start it earlier", `sluice when ${job} ${ns} --why-not-earlier`]];
  return ["Running", "Starting"].includes(status.state) ? [hold("Stop it and put it on hold")] : [];
}

/* ---- what would start it earlier ---- */

const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, PLAIN = /^[\w.\-/ ]+$/, NUMBER = /^\d{1,9}$/;

// The command for a change, as `sluice when --why-not-earlier` prints it; "" for none.
const CURES = {
  __proto__: null,
  Pods: (ns, job, to) => NUMBER.test(to) && `kubectl patch job ${job} -n ${ns} --type merge -p '{"spec":{"parallelism":${to}}}'`,
  LocalQueue: (ns, job, to) => NAME.test(to) && `sluice move job/${job} --queue ${to} -n ${ns}`,
  PriorityClass: (ns, job, to) => NAME.test(to) && `sluice priority job/${job} ${to} -n ${ns}`,
  ExpectedDuration: (ns, job, to) => PLAIN.test(to) && `kubectl annotate job ${job} -n ${ns} --overwrite 'sluice.dev/expected-duration=${to}'`,
  MaxPrice: (ns, job, to) => PLAIN.test(to) && `kubectl annotate job ${job} -n ${ns} --overwrite 'sluice.dev/max-price=${to}'`,
  Toleration: (ns, job, to) => NAME.test(to) && `kubectl get resourceflavors.sluice.dev ${to} -o yaml`,
  NodeLabels: (ns, job, to) => NAME.test(to) && `kubectl get resourceflavors.sluice.dev ${to} -o yaml`,
};

const REMARKS = { __proto__: null, ExpectedDuration: " Only if it takes no longer.", Toleration: " Tolerate its spec.nodeTaints in spec.template.spec.tolerations:", NodeLabels: " Match its spec.nodeLabels in spec.template.spec.nodeSelector:" };

const helps = ({ starts, earlierSeconds }) => starts === true || earlierSeconds > 0;

function gain({ starts, earlierSeconds, start }) {
  return starts ? `starts ${start.p50 ? shortly(start.p50) : ""}`.trim() : `${span(earlierSeconds)} earlier`;
}

function variant({ namespace, name }, one) {
  const command = CURES[one.change]?.(namespace, name, one.to || "");
  return h("li", {}, h("strong", {}, gain(one)), ` ${one.text}.`, REMARKS[one.change] || "", command ? copyable(command) : "");
}

function texts(head, all) {
  return all.length ? faint(`${head}: ${all.map(({ text }) => text).join("; ")}.`) : "";
}

function answer({ metadata, status }) {
  const { variants = [], notPlayed = [], draws, asOf } = status, helpful = variants.filter(helps);
  return [helpful.length ? h("ul", { class: "variants" }, helpful.map((one) => variant(metadata, one))) : h("p", {}, "No change of the Job alone starts it earlier."),
    texts(helpful.length ? "Not earlier" : "Tried without gain", variants.filter((one) => !helps(one))), texts("Not tried", notPlayed),
    faint(`Simulated ${draws} times each, with the queue as it was ${since(asOf)} ago. Nothing was changed.`)];
}

/* ---- the part ---- */

export class Help {
  constructor(signal) {
    Object.assign(this, { signal, known: "", job: null });
    this.commands = h("div", { class: "commands" });
    this.said = h("div", { role: "status" });
    this.button = h("button", { type: "button", onclick: () => this.ask() }, "Simulate what would start it earlier");
    this.element = h("div", { class: "help", "data-own": true }, this.commands, this.button, this.said);
  }

  // False: there is nothing that helps.
  show(job) {
    const all = commandsOf(job), known = JSON.stringify(all);
    this.job = job;
    this.button.hidden = job.status.state !== "Waiting" || job.status.reason === "OnHold";
    if (known !== this.known) {
      this.commands.replaceChildren(...all.map(([words, command]) => h("div", {}, faint(words), copyable(command))));
      this.said.replaceChildren();
    }
    this.known = known;
    return all.length > 0;
  }

  async ask() {
    const { namespace, name } = this.job.metadata;
    this.button.disabled = true;
    draw(this.said, faint("Simulating ..."));
    try {
      draw(this.said, answer(await startReview(namespace, name, this.signal)));
    } catch (error) {
      draw(this.said, warning(`${sentenceOf(error)}.`.replace(/\.+$/, ".")));
    } finally {
      this.button.disabled = false;
    }
  }
}
