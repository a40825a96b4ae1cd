/*
 * Times of a Job that only a zone can tell: "deadline: 08:00 Europe/Berlin".
 *
 * Decoding has no zones. So decode_job() leaves such a time as it was written (struct zoned_time)
 * and the Job invalid; whoever has zones calls this on every Job it decodes, before anybody else
 * sees it. It may be called again: when the creation is another one (what a CronJob makes), or the
 * zone database.
 */
#ifndef SLUICE_CONTROLLER_WIRE_JOB_TIMES_H
#define SLUICE_CONTROLLER_WIRE_JOB_TIMES_H

#include "queue/calendar/zone.h"
#include "sluice/job.h"

/* NULL: there is no such zone. */
typedef const struct zone *(*zone_find)(const char *name, void *ctx);

/* Writes j->terms and, unless something else is wrong with the Job, j->invalid: NULL, or the
 * sentence about a zone that there is not. Jobs without such times cost nothing. */
void job_times_resolve(struct job *j, zone_find find, void *ctx);

#endif
