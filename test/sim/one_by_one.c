#include "test/sim/one_by_one.h"

#include <stdio.h>

#include "base/order.h"
#include "test/sim/promises_priv.h"
#include "test/sim/sim.h"

#define SALT 0x6f6e65206279 /* "one by" */
#define JOBS 20		    /* as users draw them */
#define ROUNDS 4
#define STEP 250 /* milli-CPU; sizes are multiples of it */

enum kind { MODEST, GREEDY, LATE, SMALL };
static const enum kind of_round[] = {MODEST, GREEDY, LATE, SMALL, SMALL};

/* ---- Anew -------------------------------------------------------------------------------------- */

static void put_right(struct sim *s, struct config *c)
{
	c->exists = true;
	c->stop = STOP_NONE;
	if (c->kind == CONFIG_CLASS)
		c->value = (int32_t)c->index * 10;
	people_changed(s, c);
}

static void begin_anew(struct sim *s)
{
	static const enum config_kind kinds[] = {
		CONFIG_FLAVOR, CONFIG_CLASS, CONFIG_CLUSTERQUEUE, CONFIG_LOCALQUEUE};
	sim_log(s, "---- all Jobs are deleted, and admins put things right");
	for (struct model_job *j = s->api.first; j; j = j->next)
		if (!j->now->gone)
			model_api_remove(&s->api, j);
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		for (size_t i = 0; i < config_count(kinds[k]); i++)
			put_right(s, &s->people.config[kinds[k]][i]);
}

/* ---- A Job of a kind --------------------------------------------------------------------------- */

static int64_t own_left(const struct sim *s, const struct config *cq)
{
	struct quota_row_of row = {cq, flavor_names[cq->flavor[0]], "cpu"};
	return quota_nominal(&row) - promises_use(s, &row);
}

static int64_t free_for(const struct sim *s, const struct config *cq)
{
	return promises_free(s, &(struct quota_row_of){cq, flavor_names[cq->flavor[0]], "cpu"});
}

static int64_t size_of(struct sim *s, enum kind kind, const struct config *cq)
{
	struct rng *r = &s->one_by_one.rng;
	int64_t left = own_left(s, cq), free = free_for(s, cq);
	switch (kind) {
	case MODEST:
		return least(left, free) - rng_between(r, 0, 2) * STEP;
	case GREEDY:
		return free - rng_between(r, 0, 4) * STEP;
	case LATE:
		return left - rng_between(r, 0, 4) * STEP;
	case SMALL:
		break;
	}
	return rng_between(r, 1, 3) * STEP;
}

static const char *class_of(struct sim *s, enum kind kind)
{
	size_t rank = kind == MODEST   ? 0
		      : kind == GREEDY ? CLASSES - 1
		      : kind == LATE   ? 1
				       : (size_t)rng_between(&s->one_by_one.rng, 0, CLASSES - 1);
	return class_names[rank];
}

/* Each of the first three has one of its own. A small one comes to that of the modest one, mostly. */
static const struct config *queue_of(struct sim *s, enum kind kind)
{
	struct rng *r = &s->one_by_one.rng;
	size_t role = kind;
	if (kind == SMALL)
		role = rng_odds(r, 5000) ? MODEST : (size_t)rng_between(r, 0, CLUSTERQUEUES - 1);
	return &s->people.config[CONFIG_CLUSTERQUEUE][s->one_by_one.clusterqueue[role]];
}

static size_t line_of(const struct sim *s, const struct config *cq)
{
	size_t i = 0;
	while (s->people.config[CONFIG_LOCALQUEUE][i].clusterqueue != cq->index)
		i++;
	return i;
}

/* What it has of its own making would end it, or keep it waiting. */
static void twist(struct sim *s, struct snap *n)
{
	enum kind kind = of_round[s->one_by_one.next];
	const struct config *cq = queue_of(s, kind);
	size_t lq = line_of(s, cq);
	char *name = sim_alloc(s, 16);
	snprintf(name, 16, "late-%zu", s->people.submitted);
	n->job.name = name;
	n->job.queue = localqueue_names[lq];
	n->job.ns = namespace_names[localqueue_namespace(lq)];
	n->job.priority_class = class_of(s, kind);
	n->job.hold = NULL;
	n->job.suspend = true;
	n->run = NULL;
	n->job.durations.max_run_ms = 0;
	n->job.parallelism = 1;
	n->job.min_parallelism = 0;
	n->job.completions = n->job.has_completions ? 1 : 0;
	n->job.completions_follow = n->job.indexed;
	n->request[0].amount = greater(size_of(s, kind, cq), STEP);
	n->container.requests.count = 1;
	lent_edit(s, n);
}

static void shuffle(struct one_by_one *o)
{
	for (size_t i = 0; i < CLUSTERQUEUES; i++)
		o->clusterqueue[i] = i;
	for (size_t i = CLUSTERQUEUES; i-- > 1;) {
		size_t at = (size_t)rng_between(&o->rng, 0, (int64_t)i);
		size_t last = o->clusterqueue[i];
		o->clusterqueue[i] = o->clusterqueue[at];
		o->clusterqueue[at] = last;
	}
}

static void come_in_rounds(struct sim *s, void (*rest)(struct sim *s))
{
	size_t *next = &s->one_by_one.next;
	for (int round = 0; round < ROUNDS && !s->broken[0]; round++) {
		begin_anew(s);
		rest(s);
		shuffle(&s->one_by_one);
		for (*next = 0; *next < sizeof(of_round) / sizeof(of_round[0]) && !s->broken[0];
			++*next) {
			people_submit(s, twist)->sickly = false;
			rest(s);
		}
	}
}

void one_by_one(struct sim *s, void (*rest)(struct sim *s))
{
	rng_seed(&s->one_by_one.rng, s->o.seed ^ SALT);
	if (rng_odds(&s->one_by_one.rng, 5000)) {
		come_in_rounds(s, rest);
		return;
	}
	for (int i = 0; i < JOBS && !s->broken[0]; i++) {
		people_submit(s, NULL);
		rest(s);
	}
}
