#include "test/sim/failover.h"

#include <string.h>

#include "test/sim/sim.h"

static void put_in_place(struct sim *s, struct model_ledger *next)
{
	struct failover *f = &s->failover;
	must(f->ngone < LEDGERS_MAX);
	int64_t lost = model_ledger_batches(s->ledger) - model_ledger_batches(next);
	sim_log(s, "---- the ledger fails over: %lld batches are lost", (long long)lost);
	f->gone[f->ngone++] = s->ledger;
	s->ledger = next;
	f->server++;
	s->stops =
		NULL; /* what their leader knew of them is lost, though its epoch may come again */
	if (lost > 0) {
		sim_reach(s, PATH_BATCHES_FORGOTTEN);
		f->before = f->before ? f->before : f->gone[f->ngone - 1];
		f->lost_ms = s->now_ms;
		f->lost_by = f->server;
	}
	for (size_t i = 0; i < s->nreplicas; i++)
		if (s->replica[i].up)
			replica_break_ledger(s, &s->replica[i]);
}

static void fail_over(struct sim *s)
{
	struct failover *f = &s->failover;
	sim_reach(s, PATH_LEDGER_MOVED);
	if (f->backup && !rng_odds(&f->rng, 2500)) {
		put_in_place(s, f->backup);
		f->backup = NULL;
	} else {
		put_in_place(s, model_ledger_copy(s->ledger));
	}
}

static void fails_over_once(struct sim *s, void *arg)
{
	(void)arg;
	if (!s->calm && s->failover.ngone < LEDGERS_MAX)
		fail_over(s);
}

void failover_soon(struct sim *s)
{
	if (s->failover.every_ms > 0)
		sim_after(s, rng_between(&s->failover.rng, 1, 300), fails_over_once, NULL);
}

static void fails_over(struct sim *s, void *arg)
{
	(void)arg;
	struct failover *f = &s->failover;
	if (s->calm || f->ngone == LEDGERS_MAX)
		return;
	fail_over(s);
	sim_after(s, rng_between(&f->rng, 1, 2 * f->every_ms), fails_over, NULL);
}

static void backs_up(struct sim *s, void *arg)
{
	(void)arg;
	struct failover *f = &s->failover;
	struct ledger_lease lease;
	if (s->calm)
		return;
	model_ledger_lease(s->ledger, "", -1, 0, 0, false, 0, &lease);
	model_ledger_free(f->backup);
	/* Before the first lease there is no key of the stories: that ledger is another one. */
	f->backup = lease.epoch > 0 ? model_ledger_copy(s->ledger) : NULL;
	sim_after(s, rng_between(&f->rng, 1, 2 * f->backup_every_ms), backs_up, NULL);
}

void failover_begin(struct sim *s)
{
	struct failover *f = &s->failover;
	rng_seed(&f->rng, s->o.seed ^ 0x9E3779B97F4A7C15u);
	if (!rng_odds(&f->rng, 2500) && !s->o.failovers)
		return;
	f->every_ms = rng_between(&f->rng, 10000, 120000);
	f->backup_every_ms = rng_odds(&f->rng, 7000) ? rng_between(&f->rng, 200, 10000)
						     : rng_between(&f->rng, 10000, 100000);
	sim_after(s, rng_between(&f->rng, 1, 2 * f->every_ms), fails_over, NULL);
	sim_after(s, rng_between(&f->rng, 1, 2 * f->backup_every_ms), backs_up, NULL);
}

void failover_done(struct sim *s)
{
	model_ledger_free(s->failover.backup);
	for (size_t i = 0; i < s->failover.ngone; i++)
		model_ledger_free(s->failover.gone[i]);
}

/* A leader has come since, and has done what it does about the loss. Its epoch does not tell: the
 * same may be given out again where the lease was lost, too. */
static bool made_good(const struct sim *s)
{
	for (size_t i = 0; i < s->nreplicas; i++) {
		const struct replica *r = &s->replica[i];
		struct gate_counts c;
		int64_t left_ms;
		if (!r->up || !gate_leading(r->gate) || r->led_on < s->failover.lost_by ||
			gate_settling(r->gate, &left_ms))
			continue;
		gate_count(r->gate, &c);
		if (c.queued_operations == 0)
			return true;
	}
	return false;
}

static bool is_reserved(const struct sim *s, const struct model_job *j, const struct model_run *run)
{
	const struct model_reservation *h =
		model_ledger_reservation(s->ledger, &j->now->job.uid, run->attempt);
	return h && h->open &&
	       !model_jobs_are_beyond(j, (int64_t)model_jobs_pods(&s->jobs, j), &h->reservation);
}

/* Jobs that are over, and those whose queue label was taken off while they ran, no leader sees: what
 * is left of their pods ends, and is counted by none until then, or by what the ledger still has: an
 * earlier attempt, or what it held before it grew. */
static void disown_the_dead(struct sim *s)
{
	for (struct model_pod *p = s->jobs.first; p; p = p->next) {
		const struct snap *n = p->of->now;
		bool over = n->gone || n->job.status.complete || n->job.status.failed ||
			    !n->job.queue[0];
		if (over && p->run && !is_reserved(s, p->of, p->run))
			((struct model_run *)p->run)->outside = true;
	}
}

const struct model_ledger *failover_gap(struct sim *s)
{
	struct failover *f = &s->failover;
	if (f->before && made_good(s)) {
		f->before = NULL;
		disown_the_dead(s);
	}
	return f->before;
}

bool failover_too_late(const struct sim *s)
{
	return s->failover.lost_ms > 0 && s->now_ms - s->failover.lost_ms > SETTLE_MS;
}

bool failover_attaches(const struct sim *s, const struct replica *r, int64_t epoch)
{
	struct ledger_lease lease;
	model_ledger_lease(s->ledger, "", -1, 0, 0, false, 0, &lease);
	if (s->failover.server == 0 || lease.epoch != epoch)
		return true; /* the fence says what is to be said */
	/* A ledger that went back may have given the same epoch to another. */
	return strcmp(lease.holder, r->identity) == 0 &&
	       (s->o.bug == BUG_LOSS_UNSEEN || r->acked_epoch != epoch ||
		       model_ledger_batches(s->ledger) >= r->acked_batch);
}
