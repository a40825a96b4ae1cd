#include "test/sim/growing.h"

#include <string.h>

#include "test/sim/promises_priv.h"
#include "test/sim/sim.h"

#define SALT 0x67726f77696e67 /* "growing" */
#define TIDE 6		      /* so many times as much quota, for a while */

/* Another ledger may be in place by then, which has no such row, or is not squeezed. */
static void other_cell_leaves(struct sim *s, void *arg)
{
	const struct model_row *rows;
	const size_t *row = arg;
	if (*row < model_ledger_rows(s->ledger, &rows))
		model_ledger_squeeze(s->ledger, *row, false);
	sim_touch(s);
}

/* Another cell that shares a row has taken what the queue takes for free. */
static void other_cell_takes(struct sim *s, const struct config *c)
{
	const struct model_row *rows;
	size_t n = model_ledger_rows(s->ledger, &rows);
	char node[40];
	config_node(c, node);
	for (size_t i = 0; i < n; i++) {
		if (strcmp(rows[i].node, node) != 0 || strcmp(rows[i].resource, "cpu") != 0)
			continue;
		size_t *row = sim_alloc(s, sizeof(*row));
		*row = i;
		model_ledger_squeeze(s->ledger, i, true);
		sim_after(s, rng_between(&s->growing.rng, 500, 5000), other_cell_leaves, row);
	}
}

/* Where Jobs wait at all times nothing grows: so quota comes, for whoever waits and then for runs, and
 * goes. */
static void tide_turns(struct sim *s, void *arg)
{
	struct growing *w = &s->growing;
	(void)arg;
	if (s->calm)
		return;
	size_t k = (size_t)rng_between(&w->rng, 0, CLUSTERQUEUES - 1);
	struct config *c = &s->people.config[CONFIG_CLUSTERQUEUE][k];
	w->high[k] = !w->high[k];
	for (size_t i = 0; i < 2; i++) {
		c->cpu[i] = w->high[k] ? c->cpu[i] * TIDE : c->cpu[i] / TIDE;
		c->memory[i] = w->high[k] ? c->memory[i] * TIDE : c->memory[i] / TIDE;
		c->pods[i] = w->high[k] ? c->pods[i] * TIDE : c->pods[i] / TIDE;
	}
	sim_log(s, "admin  clusterqueue %s has %s quota", clusterqueue_names[k],
		w->high[k] ? "more" : "less");
	people_changed(s, c);
	if (w->high[k] && rng_odds(&w->rng, 1500))
		other_cell_takes(s, c);
	sim_after(s, rng_between(&w->rng, 1, 2 * w->tide_every_ms), tide_turns, NULL);
}

void growing_begin(struct sim *s)
{
	struct growing *w = &s->growing;
	rng_seed(&w->rng, s->o.seed ^ SALT);
	w->tardy = rng_odds(&w->rng, 4000);
	w->tide_every_ms = rng_between(&w->rng, 300, 3000);
	w->on = (rng_odds(&w->rng, 3000) && !s->o.lending) || s->o.growth;
	if (w->on)
		sim_after(s, 1, tide_turns, NULL);
}

void growing_draw_queue(struct sim *s, struct config *c)
{
	struct rng *r = &s->growing.rng;
	c->grow_by_default = s->growing.on && rng_odds(r, 5000);
	c->grow_interval_ms = s->growing.on ? rng_skewed(r, GROW_INTERVAL_MIN_MS, 8000) : 0;
}

void growing_describe(const struct config *c, struct clusterqueue_spec *ret)
{
	ret->grow_by_default = c->grow_by_default;
	ret->grow_interval_ms = c->grow_interval_ms;
}

/* A sweep: more tasks than pods, or as many. */
void growing_draw(struct sim *s, struct snap *n)
{
	struct rng *r = &s->growing.rng;
	struct job *j = &n->job;
	if (!s->growing.on || !rng_odds(r, 8500))
		return;
	j->parallelism = (int32_t)rng_between(r, 2, 8);
	j->min_parallelism = (int32_t)rng_between(r, 1, j->parallelism - 1);
	if (j->has_completions)
		j->completions =
			j->parallelism + (rng_odds(r, 3000) ? 0 : (int32_t)rng_between(r, 0, 4));
	j->completions_follow = j->indexed && j->completions == j->parallelism;
	j->grow = rng_odds(r, 6000) ? GROW_YES : rng_odds(r, 7000) ? GROW_AS_QUEUE : GROW_NO;
}

/* ---- At rest ------------------------------------------------------------------------------------
 */

/* While a pod that it gave is not gone it does not grow. */
static bool runs_plainly(const struct model_reservation *h, const struct model_job *j)
{
	const struct snap *n = j->now;
	if (n->job.status.terminating > 0)
		return false;
	return h->reservation.state == LEDGER_POSTED && !n->gone && !n->job.deleting &&
	       !n->job.suspend && !n->job.status.ending && !n->job.hold && !n->job.invalid &&
	       !j->vandalized && !j->moved && n->run && !n->run->outside &&
	       n->run->attempt == h->reservation.attempt &&
	       n->job.admission.attempt == h->reservation.attempt;
}

static bool may_grow(const struct job *j, const struct config *cq)
{
	return j->grow == GROW_YES || (j->grow == GROW_AS_QUEUE && cq->grow_by_default);
}

static const struct config *root_of(const struct sim *s, const struct config *c)
{
	for (const struct config *up; (up = config_parent(&s->people, c));)
		c = up;
	return c;
}

/* Somebody else wants room there, or will: who may have what is not judged then. */
static bool others_wait(const struct sim *s, const struct config *cq)
{
	for (const struct model_job *o = s->api.first; o; o = o->next) {
		const struct snap *n = o->now;
		const struct config *its = promises_config(s, o);
		if (!n->gone && n->job.suspend && !n->job.hold && !n->job.invalid &&
			!n->job.deleting && its && root_of(s, its) == root_of(s, cq))
			return true;
	}
	return false;
}

static bool is_judged(const struct sim *s)
{
	return s->growing.on && !s->cluster.on && !s->people.time && !s->lent.on;
}

/* One pod more, of the flavors that it has. */
static bool has_room(const struct sim *s, const struct model_reservation *h,
	const struct model_job *j, const struct config *cq)
{
	for (size_t i = 0; i < h->reservation.nlines; i++) {
		const struct quota_line *l = &h->reservation.lines[i];
		struct quota_row_of row = {cq, l->flavor, l->resource};
		if (snap_asks(j->now, l->resource) > promises_free(s, &row))
			return false;
	}
	return h->reservation.nlines > 0;
}

static int64_t pods_held(const struct model_reservation *h, const struct model_job *j)
{
	for (size_t i = 0; i < h->reservation.nlines; i++)
		if (!strcmp(h->reservation.lines[i].resource, "cpu"))
			return h->reservation.lines[i].amount / snap_asks(j->now, "cpu");
	return 0;
}

static void miss(struct sim *s, const struct replica *leader, const struct model_job *j,
	int64_t held, int64_t wants)
{
	const struct job *n = &j->now->job;
	struct explanation x = {.sentence = "it does not know it"};
	gate_explain(leader->gate, n->ns, n->name, s->now_ms + leader->skew_ms, &x);
	sim_break(s, "P7",
		"%s/%s runs with %lld pods and wants %lld, and there is room for one more: %s says "
		"'%s'",
		n->ns, n->name, (long long)held, (long long)wants, leader->identity, x.sentence);
}

bool growing_check(struct sim *s, const struct replica *leader, bool pauses_over)
{
	const struct model_reservation *const *all;
	bool left_out = false;
	if (!is_judged(s))
		return false;
	for (size_t i = model_ledger_reservations(s->ledger, &all); i-- > 0;) {
		const struct model_job *j = model_api_by_uid(&s->api, &all[i]->reservation.uid);
		const struct config *cq = all[i]->open ? promises_config(s, j) : NULL;
		if (!cq || !runs_plainly(all[i], j) || !may_grow(&j->now->job, cq) ||
			strcmp(all[i]->reservation.clusterqueue, clusterqueue_names[cq->index]))
			continue;
		int64_t held = pods_held(all[i], j), wants = job_pods_wanted(&j->now->job);
		if (wants > 0 && held >= wants)
			sim_reach(s, PATH_GROWN_AT_REST);
		if (held == 0 || held >= wants || others_wait(s, cq) || !has_room(s, all[i], j, cq))
			continue;
		left_out = true;
		if (pauses_over)
			miss(s, leader, j, held, wants);
	}
	return left_out;
}

/* ---- A late one ---------------------------------------------------------------------------------
 */

static bool is_tardy(const struct sim *s, const struct intent *i)
{
	return s->growing.on && s->growing.tardy && !s->calm && i->kind == INTENT_GROW;
}

int64_t growing_late_ms(struct sim *s, const struct intent *i)
{
	struct rng *r = &s->growing.rng;
	if (!is_tardy(s, i) || !rng_odds(r, 7000))
		return 0;
	return rng_odds(r, 3000) ? rng_between(r, 200, 20000) : rng_between(r, 40000, 120000);
}

bool growing_kills(struct sim *s, const struct intent *i)
{
	return is_tardy(s, i) && rng_odds(&s->growing.rng, 2500);
}

void growing_landed(struct sim *s, struct model_job *j)
{
	const struct model_run *run = j->now->run;
	const struct model_reservation *h =
		run ? model_ledger_reservation(s->ledger, &j->now->job.uid, run->attempt) : NULL;
	if (!s->calm && s->failover.every_ms > 0 && rng_odds(&s->growing.rng, 3000))
		failover_soon(s); /* so that the ledger may lack the GROW */
	bool lacks = !h || !h->open || pods_held(h, j) < job_pods(&j->now->job);
	if (!run || !lacks || !failover_too_late(s))
		return;
	((struct model_run *)run)->outside = ((struct model_run *)run)->raised = true;
}

/* ---- Planted faults -----------------------------------------------------------------------------
 */

void growing_plant_in_op(const struct sim *s, struct ledger_op *op)
{
	bool sizes = ledger_changes_size(op->kind);
	if (s->o.bug == BUG_GROW_ASSUMED && op->kind == LEDGER_GROW && !op->adopts)
		op->kind = LEDGER_COMMIT; /* which it has: nothing is done, and so it is told */
	if (s->o.bug == BUG_SIZES_UNNUMBERED && sizes)
		op->seq = op->nlines > 0 ? 1 + (int32_t)(op->lines[0].amount / 250) : 1;
}

void growing_plant_in_result(
	const struct sim *s, const struct ledger_op *op, struct ledger_result *r)
{
	if (s->o.bug == BUG_GROW_REFUSAL_UNHEARD && op->kind == LEDGER_GROW &&
		r->verdict == LEDGER_REFUSED)
		r->verdict = LEDGER_APPLIED;
}

void growing_plant_in_story(const struct sim *s, const struct snap *before, struct snap *now)
{
	if (s->o.bug == BUG_RETELL_UNDONE)
		now->job.admission.story = before->job.admission.story;
}
