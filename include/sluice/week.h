/*
 * The week of a ClusterQueue: when its windows are open, what its prices do, and how its quota changes.
 *
 * A week is what the specs in force say of a stretch of time, past or to come: RunPolicies that
 * bind the ClusterQueue, the PricePlan that holds for it, and its nominal quotas as the windows of
 * these RunPolicies make them. Nothing of it depends on what runs or waits. What a flavor of idle
 * resources will have to give is left out, because nobody knows it before. RunPolicies that name
 * only LocalQueues are not the ClusterQueue's.
 *
 * What a spec says is a list of steps: a value, and from when on it counts. Each list follows at
 * most WEEK_LOOKS_MAX changes of Calendars, and all lists of an answer together WEEK_ALL_LOOKS_MAX:
 * a Calendar that opens every other minute would make millions of steps. A list that was cut says
 * until when it is right.
 */
#ifndef SLUICE_WEEK_H
#define SLUICE_WEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct queue;

#define WEEK_LOOKS_MAX 2000 /* so that there are at most 1,000 openings */
#define WEEK_ALL_LOOKS_MAX 8000

struct week_step {
	int64_t from_ms; /* until the next step's */
	int64_t value;
	const char *label; /* NULL where there is none */
};

/* Steps in order of time, the first of which begins with the week. No two in a row are the same. */
struct week_steps {
	const struct week_step *step;
	size_t n;
	int64_t until_ms; /* right until here: the week's end, or less where the list was cut */
};

struct week_window {
	const char *policy, *calendar;
	const char *zone;	/* NULL: the Calendar is unknown, and nothing starts */
	struct week_steps open; /* 1: open, 0: closed */
};

struct week_quota {
	const char *flavor, *resource;
	struct week_steps nominal; /* in the units of usage_view */
};

struct queue_week {
	int64_t from_ms, until_ms;
	const struct week_window *window; /* a RunPolicy each, by name */
	size_t nwindows;
	const char *plan, *currency; /* NULL: no PricePlan holds for it */
	/* The plan's factors, in millionths. The label is the window of the rate that holds; the
	 * Calendar, where the rate names no window; "series"; or "base". */
	struct week_steps factor;
	const struct week_quota *quota; /* in the order of the spec */
	size_t nquotas;
	struct arena memory;
};

/* Views the stretch from from_ms until until_ms, which is later. False: there is no such
 * ClusterQueue. Else the caller calls queue_week_done(). Names live until the next fact is told. */
bool queue_view_week(const struct queue *q, const char *clusterqueue, int64_t from_ms,
	int64_t until_ms, struct queue_week *ret);
void queue_week_done(struct queue_week *w);

#endif
