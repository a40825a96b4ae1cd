/*
 * Quota by window: in worlds with windows in which runs grow, RunPolicies say another quota of cpu in
 * a window of their Calendar (spec.quota), a smaller one or a larger one. Most such Calendars are open
 * outside of it, too. So quota becomes smaller as time goes by, and runs give pods for that.
 *
 * P14 a run gives pods for a window's quota only where a RunPolicy has one, by what its controller has
 *     been told; no run is stopped for it; and at rest none is still to give pods
 *
 * How many pods which run gives is asked by test/unit/queue/sizes_test.c.
 *
 * It draws from a generator of its own: other worlds stay what they were.
 */
#ifndef SLUICE_TEST_SIM_WINDOW_QUOTA_H
#define SLUICE_TEST_SIM_WINDOW_QUOTA_H

#include <stddef.h>

#include "sluice/policy.h"
#include "test/sim/people.h"
#include "test/sim/rng.h"

struct decision;
struct intent;
struct replica;
struct sim;
struct story;

#define WINDOW_NAME "w" /* of each Calendar */

struct window_quota {
	struct rng rng;
	bool any; /* some RunPolicy has or had a quota */
};

void window_quota_begin(struct sim *s);
/* What an admin says of it in a Calendar, and in a RunPolicy. */
void window_quota_draw_calendar(struct sim *s, struct config *calendar);
void window_quota_draw(struct sim *s, struct config *runpolicy);
/* The entries for spec.quota. ret has space for one of each flavor. */
size_t window_quota_describe(const struct config *runpolicy, struct window_quota_spec *ret);

/* Does some policy of the cluster refuse this PATCH, that tells a run to give pods for it? */
bool window_quota_denies(const struct sim *s, const struct intent *i);

void window_quota_check(struct sim *s, const struct replica *r, const struct decision *d);
/* A stop landed. */
void window_quota_check_stop(struct sim *s, const struct story *story, const char *job);
/* At rest. */
void window_quota_check_quiet(struct sim *s, const struct replica *leader);

#endif
