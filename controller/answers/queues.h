/*
 * A QueueReport: ClusterQueues, LocalQueues and Cohorts as they are at the moment asOf. The reader
 * makes that of a namespace (reader.h): a tenant may have a thousand LocalQueues, which take 20 ms.
 * That of all is made at once: few may ask for it, and they act by what they see.
 *
 * Each has the metadata, spec and status of the object at the API server. The spec is cut to what a
 * reader of quotas needs. The status is rendered by the function that writes the object's own
 * (write/status.h), so the two cannot differ; its conditions have no times.
 *
 * Members beside the status: "exists" (false: only others name it), started and finished Jobs, how
 * many are being stopped, and "troubles" (how many Jobs have pods that are stuck, and why). A
 * Cohort has "flavors": what is held of its subtree, which is all that it and its members bring.
 *
 * No Job is named: the report is for all who may see queues.
 *
 * The report of one namespace is for its tenants. It has the LocalQueues of the namespace as above,
 * and the ClusterQueues that they lead to and that let the namespace in (namespaceSelector: a
 * LocalQueue may name any): their names, queueingStrategy and maxPriority, whether they start Jobs
 * (Active, without its message), and sums. It tells nothing of LocalQueues of other namespaces, nor
 * who shares quota: no Cohort, no fair share, no troubles, no counts of starts and stops.
 *
 * Both have "open" (whether windows let Jobs start now, and until when) and "classes", the priority
 * classes that Jobs may name.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_QUEUES_H
#define SLUICE_CONTROLLER_ANSWERS_QUEUES_H

#include "controller/answers/report.h"

/* Puts the members of the report. ns: the namespace; "": all of them. */
void queues_put(const struct report_sources *s, const char *ns, struct json_writer *w);

#endif
