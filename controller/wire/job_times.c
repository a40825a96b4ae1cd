#include "controller/wire/job_times.h"

#include "queue/calendar/civil.h"

/* The first of that time of the day after after_s. Local time never runs back, but a date may be
 * skipped whole: so from the day before on, until one is later. */
static int64_t next_daily_s(const struct zone *z, int64_t clock_s, int64_t after_s)
{
	int64_t at_s, day = civil_floor(zone_local_s(z, after_s), DAY_S) - 1;
	while ((at_s = zone_instant_s(z, day * DAY_S + clock_s)) <= after_s)
		day++;
	return at_s;
}

/* False: there is no such zone. */
static bool resolve(
	const struct job *j, const struct zoned_time *t, zone_find find, void *ctx, int64_t *ret_ms)
{
	if (!t->zone)
		return true;
	const struct zone *z = find(t->zone, ctx);
	if (!z)
		return false;
	int64_t at_s = t->daily ? next_daily_s(z, t->local_s, civil_floor(j->created_ms, 1000))
				: zone_instant_s(z, t->local_s);
	*ret_ms = at_s > 0 ? at_s * 1000 : 1; /* 0 would be none */
	return true;
}

void job_times_resolve(struct job *j, zone_find find, void *ctx)
{
	const char *unknown = NULL;
	bool ours = j->invalid == NULL || j->invalid == j->start_after.unknown ||
		    j->invalid == j->deadline.unknown;
	if (!resolve(j, &j->deadline, find, ctx, &j->terms.deadline_ms))
		unknown = j->deadline.unknown;
	if (!resolve(j, &j->start_after, find, ctx, &j->terms.start_after_ms))
		unknown = j->start_after.unknown;
	if (ours)
		j->invalid = unknown;
}
