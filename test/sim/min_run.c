#include "test/sim/min_run.h"

#include "base/order.h"

#include <string.h>

#include "test/sim/sim.h"

#define SALT 0x6d696e2072756e	/* "min run" */
#define CLOCKS_DIFFER_MS 120000 /* at most, and some more */
#define TOLD_MS 10		/* so long after the decision the ledger may be told of it */

void min_run_begin(struct sim *s)
{
	rng_seed(&s->people.own_rules, s->o.seed ^ SALT);
	s->people.has_own_rules = rng_odds(&s->people.own_rules, s->o.lending ? 5000 : 3000);
}

void min_run_draw(struct sim *s, struct config *c)
{
	struct rng *r = &s->people.own_rules;
	c->gaps_below = 0;
	c->preemption.min_run_ms = 0;
	if (!s->people.has_own_rules)
		return;
	if (rng_odds(r, 6000))
		c->preemption.min_run_ms = rng_between(r, 1, 90) * 1000;
	if (rng_odds(r, 3000))
		c->gaps_below =
			rng_odds(r, 5000) ? GAP_FILLERS_NONE : (int32_t)rng_between(r, -50, 50);
}

/* Of all ClusterQueues, as somebody knows them. */
static const struct config *clusterqueue_of(const struct config *of, const char *name)
{
	for (size_t i = 0; i < CLUSTERQUEUES; i++)
		if (strcmp(clusterqueue_names[i], name) == 0)
			return &of[i];
	return NULL;
}

static bool takes_back(const struct replica *r, const struct decision *d, int64_t now_ms)
{
	struct explanation x;
	if (!queue_explain(r->queue, &d->by, now_ms, &x))
		return false;
	const struct config *cq = clusterqueue_of(r->known[CONFIG_CLUSTERQUEUE], x.clusterqueue);
	return cq && cq->preemption.reclaim_within_cohort == PREEMPT_ANY &&
	       d->preemption != PREEMPTION_IN_CLUSTERQUEUE;
}

/* Of the run that it holds open: when the controller decided on it, or, of an earlier leader's, when the
 * ledger was told. (A number of an attempt that was used up is told, and another one then.) */
static int64_t decided_ms(
	const struct sim *s, const struct replica *r, const struct model_reservation *h)
{
	const struct model_job *j = model_api_by_uid(&s->api, &h->reservation.uid);
	bool own = j->decided[r->index].life == r->life && h->epoch == gate_epoch(r->gate);
	return own ? j->decided[r->index].start_ms : h->reservation.reserved_ms;
}

static int64_t really_ran_ms(const struct sim *s, const struct model_reservation *h)
{
	const struct model_run *run = model_api_by_uid(&s->api, &h->reservation.uid)->now->run;
	return run ? s->now_ms - run->landed_ms : 0;
}

void min_run_check(struct sim *s, const struct replica *r, const struct decision *d, int64_t now_ms)
{
	const struct model_reservation *h = model_ledger_open_reservation(s->ledger, &d->uid);
	if (d->kind != DECISION_STOP || d->reason != STOP_REASON_PREEMPTED || !h || h->estimated ||
		h->epoch > gate_epoch(r->gate)) /* a later leader's: it knows an earlier run */
		return;
	const struct config *cq =
		clusterqueue_of(r->known[CONFIG_CLUSTERQUEUE], h->reservation.clusterqueue);
	int64_t min_run_ms = cq ? cq->preemption.min_run_ms : 0;
	int64_t ran_ms = now_ms - decided_ms(s, r, h);
	bool set_back = ran_ms < 0;	   /* its clock was: it cannot tell */
	if (s->count[PATH_CLOCK_STEP] > 0) /* or it counts from then on */
		ran_ms = greater(ran_ms, really_ran_ms(s, h));
	if (min_run_ms == 0 || set_back || takes_back(r, d, now_ms))
		return;
	sim_reach(s, PATH_PREEMPTED_GROWN);
	if (ran_ms + TOLD_MS < min_run_ms)
		sim_break(s, "P12",
			"%s preempts %s after %.3f s: ClusterQueue %s gives its runs %.3f s",
			r->identity, h->reservation.name, (double)ran_ms / 1000.0,
			h->reservation.clusterqueue, (double)min_run_ms / 1000.0);
}

bool min_run_is_over(const struct sim *s, const struct model_reservation *h)
{
	const struct config *cq =
		clusterqueue_of(s->people.config[CONFIG_CLUSTERQUEUE], h->reservation.clusterqueue);
	int64_t min_run_ms = cq ? cq->preemption.min_run_ms : 0;
	return min_run_ms == 0 ||
	       s->now_ms - h->reservation.reserved_ms > min_run_ms + CLOCKS_DIFFER_MS;
}
