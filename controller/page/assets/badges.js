// The state of a Job in a word or two that tell what to do about it: nothing, look, or mend. The word says what the
// colour says; the title has the name that scripts and `kubectl` know.

import { badge } from "./ui.js";

const IMAGE = ["Image pull", "bad"], CONTAINER = ["Container error", "bad"];

// Names of include/sluice/reasons.def and of controller/gate/trouble.c, and words of a summary's attention. What is
// not here is an ordinary wait.
const WORDS = new Map(Object.entries({
  Deactivated: ["Deactivated", "warn"], OnHold: ["On hold", "warn"], Misconfigured: ["Fix needed", "bad"], TooManyWaiting: ["Too many wait", "warn"],
  NoMatchingFlavor: ["No flavor", "warn"], Suspended: ["Queue stopped", "warn"], NoNodeSuits: ["No node", "warn"], NeverFits: ["No node", "warn"],
  ExceedsMaxQuota: ["Over quota", "warn"], DependencyNeverSatisfied: ["Dependency", "bad"], BudgetExhausted: ["No budget", "warn"],
  NamespaceQuotaExceeded: ["ResourceQuota", "warn"], LedgerDown: ["Postgres down", "warn"],
  PodsRefused: ["Pods refused", "bad"], Unschedulable: ["Unschedulable", "bad"], SchedulingGated: ["Gated", "warn"],
  InvalidImageName: ["Bad image", "bad"], ErrImageNeverPull: IMAGE, ErrImagePull: IMAGE, ImagePullBackOff: IMAGE, ImageInspectError: IMAGE,
  CreateContainerConfigError: ["Bad config", "bad"], CreateContainerError: CONTAINER, RunContainerError: CONTAINER, CrashLoopBackOff: ["Crash loop", "bad"],
  NotSeenByScheduler: ["Not scheduled", "warn"], ContainerCreating: ["Slow start", "warn"],
  DeadlineUnreachable: ["Too late", "bad"], StopOverdue: ["Stop overdue", "bad"], Churn: ["Churn", "warn"],
}));

const STATES = new Map(Object.entries({ Running: "run", Starting: "run", Stopping: "warn", Deleting: "warn", Ended: "wait", Gone: "wait" }));

// The badge of a reason, a trouble or a word of a summary's attention; a word that is not known stands as it is.
export function reasonBadge(reason) {
  const [word, kind] = WORDS.get(reason) || [reason, "warn"];
  return badge(word, kind, word === reason ? undefined : reason);
}

function needsLook({ trouble, reason, deadlineUnreachable }) {
  if (trouble) return trouble.reason;
  return WORDS.has(reason) ? reason : deadlineUnreachable ? "DeadlineUnreachable" : "";
}

const NEVER_STARTS = new Set(["Deactivated", "Misconfigured", "NoMatchingFlavor", "NoNodeSuits", "ExceedsMaxQuota", "DependencyNeverSatisfied"]);

// True where nothing good happens until somebody does something, as the attention of a summary counts it. What somebody
// decided and may undo (a hold, a stopped queue) is left out.
export function needsAttention({ trouble, reason, deadlineUnreachable }) {
  return Boolean(trouble || deadlineUnreachable) || neverStarts(reason);
}

// True: a Job that waits for this never starts as it is.
export function neverStarts(reason) {
  return NEVER_STARTS.has(reason);
}

// The badge of a QueuedJob: what keeps it from running where somebody should look, else its state. The first in line
// need not start first: where its queue is BestEffortFIFO, smaller Jobs may start before it.
export function stateBadge({ status }) {
  const { state, position, reason } = status, look = needsLook(status);
  if (look && state !== "Stopping" && state !== "Deleting") return reasonBadge(look);
  if (state !== "Waiting") return badge(state, STATES.get(state) || "wait");
  return position === 1 ? badge("First in line", "soon", reason) : badge("Waiting", "wait", reason);
}
