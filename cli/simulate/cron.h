/*
 * When a CronJob fires: the five fields of crontab(5), as Kubernetes reads them.
 *
 * A schedule is matched against the local time of its zone, minute by minute, so a minute that the
 * clocks skip does not fire, and one that they repeat fires twice. Zones come from the system's
 * database.
 */
#ifndef SLUICE_SIMULATE_CRON_H
#define SLUICE_SIMULATE_CRON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct cron {
	uint64_t minute, hour, day, month, weekday; /* a bit for each that matches */
	bool any_day, any_weekday;		    /* '*': only the other one counts */
	char zone[64];				    /* "" is UTC */
};

/* zone: IANA name, or "" for UTC. The sentence names neither object nor field. */
int cron_parse(const char *schedule, const char *zone, struct cron *ret, struct err *e);

/* The first time after after_ms, at most last_ms; INT64_MAX when there is none. */
int64_t cron_next_ms(const struct cron *c, int64_t after_ms, int64_t last_ms);

#endif
