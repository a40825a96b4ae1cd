/*
 * A QueueReport: ClusterQueues, LocalQueues and Cohorts as they are at this moment.
 *
 * Each has the metadata, spec and status of the object at the API server, of which the spec is cut to what a
 * reader of quotas needs. The status is rendered by the function that writes the object's own (write/status.h),
 * so the two cannot differ; it has no times of its conditions. Beside it stands what no status has:
 * "exists" (false: only named by others), started and finished Jobs, how many are being stopped, "troubles" (how
 * many Jobs have pods that are stuck, and why), and of a Cohort its "flavors": what is held of its subtree, which
 * is what it and all below it bring.
 *
 * No Job is named: the report is for all who may see queues.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_QUEUES_H
#define SLUICE_CONTROLLER_ANSWERS_QUEUES_H

#include "controller/answers/report.h"

/* Puts the members. */
void queues_put(const struct report_sources *s, struct json_writer *w);

#endif
