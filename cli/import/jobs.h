/*
 * Jobs and CronJobs: their spec stays as it is. Keys of Kueue become ours, on the Job, in the
 * jobTemplate of a CronJob and in the template of the pods.
 *
 * A manifest is printed whole. An object of the cluster (it has a uid) is not made anew:
 * - A Job that waits, and a CronJob, get a kubectl command. It adds our labels and annotations in
 *   place, and takes off the name of Kueue's queue, which `kubectl apply` of a manifest would leave
 *   on. It fails if the Job has changed meanwhile. Kueue's other keys stay: they say nothing to
 *   Sluice, nor to Kueue without a queue.
 * - A Job that runs is refused, for a change of its queue under way would stop it.
 * - A Job that has ended needs nothing.
 */
#ifndef SLUICE_CLI_IMPORT_JOBS_H
#define SLUICE_CLI_IMPORT_JOBS_H

#include "cli/import/fields.h"

/* Imports a Job or a CronJob of batch/v1: fills in w->item. */
void import_job(struct walk *w, const cJSON *in, bool is_cronjob);

#endif
