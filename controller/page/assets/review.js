// What would help a Job: first what cures it, then what would start it earlier, then commands to copy, which run with the
// reader's own rights. What would start it earlier makes the server play the queue, so it is asked for by a button.

import { startReview } from "./api.js";
import { draw, faint, folded, h, warning } from "./dom.js";
import { pause, sentenceOf } from "./live.js";
import { shortly } from "./start.js";
import { copyable } from "./ui.js";
import { since, span } from "./words.js";

/* ---- cures and commands ---- */

// What include/sluice/reasons.def says is to be done about a wait.
const CURES = new Map(Object.entries({
  Deactivated: "Change what the message names, and release it: sluice release job/NAME.",
  Misconfigured: "Correct what the message names.",
  TooManyWaiting: "None: it is looked at when fewer wait. An admin may raise spec.maxWaiting.",
  NoMatchingFlavor: "Tolerate the taint or change the selector that the message names.",
  Suspended: "For an admin: set spec.stopPolicy to None, or mend what the condition Active of the queue says.",
  NoNodeSuits: "Ask for less in a pod, or add such a node.",
  ExceedsMaxQuota: "Ask for less, allow fewer pods (sluice.dev/min-parallelism), or raise quota.",
  DependencyNeverSatisfied: "Run that Job again under its name, or change sluice.dev/after.",
  WindowTooShort: "State a shorter sluice.dev/expected-duration if that is true, or make it shorter.",
  WaitingForPrice: "Raise sluice.dev/max-price, or take off sluice.dev/start.",
  BudgetExhausted: "Wait for the next period, or raise spec.amount of the Budget.",
  NamespaceQuotaExceeded: "Raise the ResourceQuota, or free what uses it.",
  BackOff: "See what stopped it: sluice history job/NAME.",
  ReservedForOthers: "State a shorter sluice.dev/expected-duration if that is true.",
  LedgerDown: "For an operator: see to Postgres.",
}));

const RELEASED = new Set(["OnHold", "Deactivated"]);

// Waits that are of the queue, so that another one may be better.
const OF_THE_QUEUE = new Set(["TooManyWaiting", "NoMatchingFlavor", "Suspended", "ExceedsMaxQuota", "OutsideWindow", "WindowTooShort", "WaitingForPrice",
  "BudgetExhausted", "UserLimit", "TooManyRunning", "WaitingForQuota", "WaitingForJobAhead", "ReservedForOthers"]);

const CAN_BE_HELD = new Set(["Waiting", "Starting", "Running"]);

// { cure: a sentence; first, last, others: [what it does, command] before and behind what is simulated, and folded }
function helpFor({ metadata: { namespace, name }, status }) {
  const { trouble, reason = "", state } = status, command = (verb, more = "") => `sluice ${verb} job/${name}${more} -n ${namespace}`, isReleased = RELEASED.has(reason);
  const hold = [state === "Waiting" ? "Put it on hold" : "Stop it and put it on hold", `${command("hold")} --because 'REASON'`];
  return { cure: trouble?.cure || (CURES.get(reason) || "").replace("job/NAME", `job/${name} -n ${namespace}`), first: isReleased ? [["Let it go on", command("release")]] : [],
    last: OF_THE_QUEUE.has(reason) ? [["Another LocalQueue", command("move", " --queue QUEUE")]] : [],
    others: [...(canBeSimulated(status) ? [["What would start it earlier, in a terminal", `${command("when")} --why-not-earlier`]] : []), ...(isReleased || !CAN_BE_HELD.has(state) ? [] : [hold])] };
}

function canBeSimulated({ state, reason }) {
  return state === "Waiting" && !RELEASED.has(reason);
}

function commandList(list) {
  return list.map(([words, command]) => h("div", {}, faint(words), copyable(command)));
}

/* ---- what would start it earlier ---- */

const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, PLAIN = /^[\w.\-/ ]+$/, NUMBER = /^\d{1,9}$/;

// The command for a change, as `sluice when --why-not-earlier` prints it; "" for none.
const CHANGES = {
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
  const command = CHANGES[one.change]?.(namespace, name, one.to || "");
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

const WAIT_MAX_SECONDS = 60, WAITS_MAX = 5;

// Asks; where the server wants a pause first, waits for as long as it says.
async function reviewAfterPauses(namespace, name, signal, say) {
  for (let left = WAITS_MAX; ; left--) {
    try {
      return await startReview(namespace, name, signal);
    } catch (error) {
      const seconds = error.againSeconds || 0;
      if (error.status !== 429 || !left || seconds < 1 || seconds > WAIT_MAX_SECONDS) throw error;
      for (let n = seconds; n > 0 && !signal.aborted; n--) {
        say(`Simulating in ${n}s: the server rests between simulations ...`);
        await pause(1000, signal);
      }
      say("Simulating ...");
    }
  }
}

// Says of a Job what would help it; element: to be shown.
export class Help {
  constructor(signal) {
    Object.assign(this, { signal, known: "", job: null });
    this.first = h("div", { class: "commands" });
    this.last = h("div", { class: "commands" });
    this.said = h("div", { role: "status" });
    this.button = h("button", { type: "button", onclick: () => this.ask() }, "Simulate what would start it earlier");
    this.element = h("div", { class: "help", "data-own": true }, this.first, this.button, this.said, this.last);
  }

  // What it is called: of a Job that runs well there is nothing to help. "": it is empty.
  show(job) {
    const help = helpFor(job), { cure, first, last, others } = help, known = JSON.stringify(help), canHelp = Boolean(cure || first.length || last.length || canBeSimulated(job.status));
    this.job = job;
    this.button.hidden = !canBeSimulated(job.status);
    if (known !== this.known) {
      this.first.replaceChildren(...(cure ? [h("p", { class: "cure" }, cure)] : []), ...commandList(first));
      this.last.replaceChildren(...commandList(last), ...(!others.length ? [] : canHelp ? [folded("Other commands", commandList(others))] : commandList(others)));
      this.said.replaceChildren();
    }
    this.known = known;
    return canHelp ? "What would help" : others.length ? "Commands" : "";
  }

  async ask() {
    const { namespace, name } = this.job.metadata;
    this.button.disabled = true;
    const say = (sentence) => draw(this.said, faint(sentence));
    say("Simulating ...");
    try {
      draw(this.said, answer(await reviewAfterPauses(namespace, name, this.signal, say)));
    } catch (error) {
      draw(this.said, warning(`${sentenceOf(error)}.`.replace(/\.+$/, ".")));
    } finally {
      this.button.disabled = false;
    }
  }
}
