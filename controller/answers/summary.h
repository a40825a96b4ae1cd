/*
 * A SummaryReport: the Jobs of a namespace, or of all, summed up for people who look at many.
 *
 *   [namespaces/NS/]summaries[?by=queue|user|sweep|namespace]
 *
 * How many run and wait, when the next of them starts, why the others wait and until when, which
 * need attention (attention.h), and the same figures for each group. Groups are the Jobs of a
 * ClusterQueue, of a user, of a sweep (a CronJob or a generateName; else the Job alone), or of a
 * namespace.
 *
 * What is always true:
 *   - a Job counts as the list of QueuedJobs of that moment tells it: its state, its reason, its
 *     start. So sums and lists agree;
 *   - a Job counts once: it runs (Starting, Running or Stopping: it holds quota), or it waits. One
 *     that is being deleted or has ended holds nothing, and does not count;
 *   - a summary of one namespace names nothing of others. It counts their Jobs in the ClusterQueues
 *     that its LocalQueues lead to and that let it in, and how many of these are before its first;
 *   - it is at most some 300 KB, however many Jobs there are.
 *
 * The reader's child makes it (reader.h): each Job is explained once, some 10 us a Job.
 *
 * A new figure: a field of struct sums or struct group, and a row of the view.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_SUMMARY_H
#define SLUICE_CONTROLLER_ANSWERS_SUMMARY_H

#include "controller/answers/queued_jobs.h"
#include "controller/common/view.h"

enum { SUMMARY_GROUPS_MAX = 1000 };

/* Takes the parameter by (NULL: by queue) into q, which has the namespace of the path. ERR_INVALID: a
 * sentence that names it and what would be right. */
int summary_take(struct job_query *q, const char *by, struct err *e);

/* Appends the SummaryReport. */
void summary_put(struct queued_jobs *all, const struct job_query *q, struct buf *out);

extern const struct view summary_view;

#endif
