/*
 * The keys of labels and annotations: those that people write, and those that Sluice writes.
 */
#ifndef SLUICE_KEYS_H
#define SLUICE_KEYS_H

/* ---- On Jobs, by their owners ---- */

#define QUEUE_LABEL "sluice.dev/queue-name"
#define PRIORITY_LABEL "sluice.dev/priority-class"
#define PREEMPTIBLE_KEY "sluice.dev/preemptible" /* label or annotation; the label wins */

#define HOLD_ANNOTATION "sluice.dev/hold"
#define NICE_ANNOTATION "sluice.dev/nice"
#define MAX_RUN_ANNOTATION "sluice.dev/max-run-seconds"
#define EXPECTED_ANNOTATION "sluice.dev/expected-duration"
#define MIN_PARALLELISM_ANNOTATION "sluice.dev/min-parallelism"
#define GROW_ANNOTATION "sluice.dev/grow"
#define COMPLETIONS_ANNOTATION "sluice.dev/completions-equal-parallelism"

#define START_AFTER_ANNOTATION "sluice.dev/start-after"
#define DEADLINE_ANNOTATION "sluice.dev/deadline"
#define MISSED_ANNOTATION "sluice.dev/on-missed-deadline"
#define START_ANNOTATION "sluice.dev/start"
#define MAX_PRICE_ANNOTATION "sluice.dev/max-price"

#define AFTER_ANNOTATION "sluice.dev/after"
#define DEPENDENCY_FAILURE_ANNOTATION "sluice.dev/on-dependency-failure"

/* ---- On Jobs, by the policies of deploy/policies/mutating ---- */

#define SUBMITTED_ANNOTATION                                                                       \
	"sluice.dev/submitted-by" /* by whom: the name that the API server knew */
#define QUEUED_ANNOTATION                                                                          \
	"sluice.dev/queued-at" /* when it got its queue label, if after its creation */

/* ---- On Jobs and their pods, by Sluice ---- */

#define STORY_ANNOTATION "sluice.dev/admission"
#define WAITING_ANNOTATION "sluice.dev/waiting"
#define OUTCOMES_ANNOTATION "sluice.dev/after-outcomes"
#define STOPPING_ANNOTATION "sluice.dev/stopping-at"
#define BOOKED_START_ANNOTATION "sluice.dev/booked-start"
#define DIRECTIVES_ANNOTATION "sluice.dev/original-directives"
#define CLUSTERQUEUE_LABEL "sluice.dev/cluster-queue-name" /* on the pods */

/* ---- On other objects ---- */

/* On a Namespace, by an admin, UTC and whole seconds (2026-11-25T10:00:00Z; the policy matches that form
 * alone): Jobs that began by then may be adopted. */
#define ADOPT_ANNOTATION "sluice.dev/adopt-begun-by"

/* On ClusterQueues and ResourceFlavors, by Sluice: keeps what is in use when it is deleted. */
#define FINALIZER "sluice.dev/resource-in-use"

/* On ProvisioningRequests and their PodTemplates, by Sluice. */
#define PROVISION_JOB_LABEL "sluice.dev/provisions-job-uid"
#define PROVISION_KEY_ANNOTATION "sluice.dev/asks-for"

/* On Nodes, by Sluice: when the sample behind what they publish was taken, in RFC 3339. */
#define SAMPLE_ANNOTATION "sluice.dev/overcommit-sample"

/* ---- Of others ---- */

/* On the pods of a Job, by the API server: whose they are. */
#define CONTROLLER_UID_LABEL "batch.kubernetes.io/controller-uid"

/* Koordinator's, on pods: what may be lent from under them, and which go first (overcommit/). */
#define TIER_LABEL "koordinator.sh/priority-class"
#define EVICTION_PRIORITY_ANNOTATION "koordinator.sh/eviction-priority"

#endif
