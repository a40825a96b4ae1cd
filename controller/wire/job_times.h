/*
 * Times of a Job that only a zone can tell: "deadline: Mon 08:00 Europe/Berlin".
 *
 * decode_job() resolves them through its context. It also keeps them as they were written (struct
 * zoned_time), so that they can be resolved again: for another creation (what a CronJob makes), or
 * another zone database.
 */
#ifndef SLUICE_CONTROLLER_WIRE_JOB_TIMES_H
#define SLUICE_CONTROLLER_WIRE_JOB_TIMES_H

#include "queue/calendar/zone.h"
#include "sluice/job.h"

/* Finds a zone; NULL: there is no such zone. */
typedef const struct zone *(*zone_find)(const char *name, void *ctx);

/* Writes j->terms and, unless something else is wrong with the Job, j->invalid: NULL, or the
 * sentence about a zone that does not exist. Jobs without such times cost nothing. */
void job_times_resolve(struct job *j, zone_find find, void *ctx);

#endif
