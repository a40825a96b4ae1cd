#include "controller/wire/job_times.h"

#include "queue/calendar/civil.h"
#include "queue/calendar/wall_time.h"

/* Resolves a time with its zone; false: there is no such zone. */
static bool resolve(
	const struct job *j, const struct zoned_time *t, zone_find find, void *ctx, int64_t *ret_ms)
{
	if (!t->zone)
		return true;
	const struct zone *z = find(t->zone, ctx);
	if (!z)
		return false;
	int64_t created_s = civil_floor(j->created_ms, 1000);
	int64_t at_s = zone_instant_s(z, wall_time_local_s(&t->when, z, created_s, false));
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
