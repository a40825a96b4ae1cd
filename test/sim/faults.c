#include "test/sim/faults.h"

#include <stddef.h>

const char *path_text(enum path p)
{
	static const char *const text[] = {
#define X(name, t) t,
		PATHS(X)
#undef X
	};
	return text[p];
}

/* 0 for a class that is off in this world, else something between low and high, mostly low. */
static int64_t class_of(struct rng *r, int64_t on, int64_t low, int64_t high)
{
	int64_t strength = rng_skewed(r, low, high);
	return rng_odds(r, on) ? strength : 0;
}

/* The same for a mean time between two: strong means short. */
static int64_t interval_of(struct rng *r, int64_t on, int64_t low, int64_t high)
{
	int64_t strength = high - rng_skewed(r, 0, high - low);
	return rng_odds(r, on) ? strength : 0;
}

void faults_draw(struct faults *f, struct rng *r)
{
	static const int64_t moods[] = {1500, 5000, 5000, 9000};
	int64_t on = moods[rng_between(r, 0, 3)];
	*f = (struct faults){
		.lost = class_of(r, on, 50, 3000),
		.unanswered = class_of(r, on, 50, 3000),
		.late = class_of(r, on, 50, 3000),
		.busy = class_of(r, on, 50, 3000),
		.denied = class_of(r, on / 2, 20, 500),
		.api_latency_ms = rng_skewed(r, 3, 2000),
		.ledger_lost = class_of(r, on, 50, 2500),
		.ledger_unanswered = class_of(r, on, 50, 2500),
		.ledger_partial = class_of(r, on, 50, 2500),
		.ledger_latency_ms = rng_skewed(r, 2, 1500),
		.ledger_outage_every_ms = interval_of(r, on / 2, 20000, 200000),
		.ledger_squeeze_every_ms = interval_of(r, on / 2, 5000, 100000),
		.watch_lag_ms = rng_skewed(r, 2, 5000),
		.watch_cut_every_ms = interval_of(r, on, 5000, 100000),
		.watch_repeat = class_of(r, on, 1000, 8000),
		.watch_relist = class_of(r, on, 500, 8000),
		.crash_every_ms = interval_of(r, on, 5000, 100000),
		.crash_in_step = class_of(r, on / 2, 20, 600),
		.pause_every_ms = interval_of(r, on / 2, 15000, 120000),
		.clock_step_every_ms = interval_of(r, on / 2, 10000, 100000),
		.jobs_lag_ms = rng_skewed(r, 5, 6000),
		.jobs_write_lost = class_of(r, on / 2, 50, 2000),
		.pod_stuck = class_of(r, on / 3, 50, 1000),
		.people_every_ms = rng_skewed(r, 500, 12000),
		.admins_every_ms = interval_of(r, on, 4000, 60000),
		.bypass = class_of(r, on / 3, 20, 300),
		.vandal = class_of(r, on / 3, 20, 300),
	};
}

void faults_calm(struct faults *f)
{
	*f = (struct faults){
		.api_latency_ms = 5, .ledger_latency_ms = 3, .watch_lag_ms = 5, .jobs_lag_ms = 50};
}
