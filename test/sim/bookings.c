#include "test/sim/bookings.h"

#include "queue/core/model/quota_plan.h"
#include "test/sim/sim.h"
#include "test/unit/core/inside.h"

#define SALT 0x626f6f6b696e6773 /* "bookings" */

void bookings_begin(struct sim *s)
{
	rng_seed(&s->bookings.rng, s->o.seed ^ SALT);
	s->bookings.on = s->o.bookings && !s->o.lending;
}

void bookings_draw(struct sim *s, struct snap *n)
{
	struct rng *r = &s->bookings.rng;
	struct job_terms *t = &n->job.terms;
	if (!s->bookings.on || !rng_odds(r, 5000))
		return;
	t->cheapest = true;
	t->hold_when_missed = rng_odds(r, 1000);
	if (t->deadline_ms == 0 && !rng_odds(r, 2000))
		t->deadline_ms = s->now_ms + rng_between(r, 30, 600) * 1000;
	if (n->job.durations.expected_ms == 0 && !rng_odds(r, 1000))
		n->job.durations.expected_ms = rng_skewed(r, 1, 240) * 1000;
}

void bookings_calm(struct sim *s)
{
	for (struct model_job *j = s->api.first; j; j = j->next) {
		if (j->now->gone || !j->now->job.terms.cheapest)
			continue;
		struct snap *n = model_api_edit(&s->api, j);
		n->job.terms.cheapest = n->job.terms.hold_when_missed = false;
		model_api_write(&s->api, n, false);
	}
}

void bookings_count(struct sim *s, const struct replica *r, const struct decision *d, size_t n)
{
	if (!s->bookings.on)
		return;
	if (inside_kept_starts(r->queue) > 0)
		sim_reach(s, PATH_KEPT_START);
	for (size_t i = 0; i < n; i++) {
		const struct model_job *j = model_api_by_uid(&s->api, &d[i].uid);
		if (j && d[i].kind == DECISION_START && j->now->job.terms.cheapest)
			sim_reach(s, PATH_CHEAPEST_START);
	}
	list_each_entry(&inside_plan(r->queue)->booked, const struct booking, b, of_plan)
		if (b->kind == BOOKING_CHEAPEST)
			sim_reach(s, PATH_BOOKED);
}
