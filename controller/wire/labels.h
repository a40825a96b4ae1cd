/* The labels and annotations that people write on Jobs. What Sluice itself writes is in patch.h and
 * story.h. */
#ifndef SLUICE_CONTROLLER_WIRE_LABELS_H
#define SLUICE_CONTROLLER_WIRE_LABELS_H

#define QUEUE_LABEL "sluice.dev/queue-name"
#define PRIORITY_LABEL "sluice.dev/priority-class"

/* On the pods of a Job, by the API server: whose they are. */
#define CONTROLLER_UID_LABEL "batch.kubernetes.io/controller-uid"

#define MAX_RUN_ANNOTATION "sluice.dev/max-run-seconds"
#define EXPECTED_ANNOTATION "sluice.dev/expected-duration"
#define MIN_PARALLELISM_ANNOTATION "sluice.dev/min-parallelism"
#define GROW_ANNOTATION "sluice.dev/grow"
#define NICE_ANNOTATION "sluice.dev/nice"
#define COMPLETIONS_ANNOTATION "sluice.dev/completions-equal-parallelism"

/* Label or annotation; the label wins. */
#define PREEMPTIBLE_KEY "sluice.dev/preemptible"

/* Koordinator's, on pods: what may be lent from under them, and which go first (overcommit/). */
#define TIER_LABEL "koordinator.sh/priority-class"
#define EVICTION_PRIORITY_ANNOTATION "koordinator.sh/eviction-priority"

#define START_AFTER_ANNOTATION "sluice.dev/start-after"
#define DEADLINE_ANNOTATION "sluice.dev/deadline"
#define MISSED_ANNOTATION "sluice.dev/on-missed-deadline"
#define START_ANNOTATION "sluice.dev/start"
#define MAX_PRICE_ANNOTATION "sluice.dev/max-price"

/* Who submitted it: the name that the API server knew, written by deploy/policies/mutating. */
#define SUBMITTED_ANNOTATION "sluice.dev/submitted-by"

/* When it got its queue label, if that was after its creation; by the same policies. */
#define QUEUED_ANNOTATION "sluice.dev/queued-at"

#define AFTER_ANNOTATION "sluice.dev/after"
#define DEPENDENCY_FAILURE_ANNOTATION "sluice.dev/on-dependency-failure"

/* On Nodes, by us: when the sample behind what they publish was taken, in RFC 3339. */
#define SAMPLE_ANNOTATION "sluice.dev/overcommit-sample"

#endif
