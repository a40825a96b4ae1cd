/* The label by which a Job names its LocalQueue, and the one for its priority class. */
#ifndef SLUICE_WIRE_LABELS_H
#define SLUICE_WIRE_LABELS_H

#define QUEUE_LABEL "sluice.dev/queue-name"
#define PRIORITY_LABEL "sluice.dev/priority-class"

#define MAX_RUN_ANNOTATION "sluice.dev/max-run-seconds"
#define EXPECTED_ANNOTATION "sluice.dev/expected-duration"

#endif
