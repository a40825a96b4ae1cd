#include "test/sim/users.h"

#include <string.h>

#include "queue/core/model/reservation.h"
#include "test/sim/sim.h"
#include "test/unit/core/inside.h"

#define SALT 0x7573657273 /* "users" */

void users_begin(struct sim *s)
{
	struct rng *r = &s->users.rng;
	rng_seed(r, s->o.seed ^ SALT);
	for (size_t i = 0; s->o.users && i < LOCALQUEUES; i++) {
		struct user_limits *l = &s->users.limits[i];
		if (rng_odds(r, 6000))
			l->running = (int32_t)rng_between(r, 1, 4);
		if (rng_odds(r, 6000))
			l->waiting = (int32_t)rng_between(r, 1, 6);
		s->users.cpu[i] = (struct resource){"cpu", rng_between(r, 1, 16) * 1000};
		if (rng_odds(r, 5000) && !s->growing.on) /* what runs may grow by is plain there */
			l->quota = (struct resource_list){&s->users.cpu[i], 1};
	}
}

void users_draw(struct sim *s, struct snap *n)
{
	static const char *const names[] = {"alice", "bob", "system:serviceaccount:a:b", NULL};
	if (s->o.users)
		n->job.submitted_by = names[rng_between(&s->users.rng, 0, 3)];
}

static const struct user_limits *limits_of(const struct sim *s, const char *ns, const char *name)
{
	for (size_t i = 0; i < LOCALQUEUES; i++)
		if (strcmp(localqueue_names[i], name) == 0 &&
			strcmp(namespace_names[localqueue_namespace(i)], ns) == 0)
			return &s->users.limits[i];
	return NULL;
}

/* ---- At each start --------------------------------------------------------------------------- */

struct holds {
	int32_t running;
	int64_t cpu;
};

static void add_lines(struct holds *h, const struct reservation *r)
{
	h->running++;
	for (size_t i = 0; i < r->nlines; i++)
		if (strcmp(r->line[i].row->resource, "cpu") == 0)
			h->cpu += r->line[i].amount;
}

/* What is held and promised, of the reservations themselves and not of what user.h counts. */
static struct holds holds_of(const struct user *u)
{
	struct holds h = {0};
	list_each_entry(&u->lq->reservations, const struct reservation, r, of_localqueue)
		if (r->user == u)
			add_lines(&h, r);
	for (struct link *l = u->lq->cq ? u->lq->cq->promised.next : NULL;
		l && l != &u->lq->cq->promised; l = l->next) {
		const struct reservation *r = container_of(l, struct reservation, of_clusterqueue);
		if (r->user == u)
			add_lines(&h, r);
	}
	return h;
}

static bool asks_for_cpu(const struct reservation *r)
{
	struct holds h = {0};
	add_lines(&h, r);
	return h.cpu > 0;
}

void users_check(struct sim *s, const struct replica *r, const struct decision *d)
{
	const struct workload *w = inside_workload(r->queue, &d->uid);
	if (!s->o.users || !w || !w->reservation ||
		(d->kind != DECISION_START && d->kind != DECISION_GROW))
		return;
	const struct user *u = w->reservation->user;
	const struct user_limits *l = limits_of(s, u->lq->ns->name, u->lq->name);
	struct holds h = holds_of(u);
	if (l && d->kind == DECISION_START && l->running > 0 && h.running > l->running)
		sim_break(s, "P16", "%s starts %s: '%s' runs %d Jobs of LocalQueue %s/%s, of %d",
			r->identity, w->name, u->name, h.running, u->lq->ns->name, u->lq->name,
			l->running);
	if (l && l->quota.count > 0 && h.cpu > l->quota.item[0].amount &&
		asks_for_cpu(w->reservation))
		sim_break(s, "P16",
			"%s lets %s: '%s' holds %lldm cpu of LocalQueue %s/%s, of %lldm",
			r->identity, w->name, u->name, (long long)h.cpu, u->lq->ns->name,
			u->lq->name, (long long)l->quota.item[0].amount);
}

/* ---- At rest --------------------------------------------------------------------------------- */

/* Names are those of users_draw(). */
static bool same_user(const struct model_job *a, const struct model_job *b)
{
	return a->now->job.submitted_by == b->now->job.submitted_by &&
	       strcmp(a->now->job.ns, b->now->job.ns) == 0;
}

/* Of the whole user, whatever the LocalQueue in the namespace: a run remembers where it began. */
static struct holds open_of(const struct sim *s, const struct model_job *j)
{
	const struct model_reservation *const *all;
	size_t n = model_ledger_reservations(s->ledger, &all);
	struct holds h = {0};
	for (size_t i = 0; i < n; i++) {
		const struct ledger_reservation *r = &all[i]->reservation;
		if (!all[i]->open || !same_user(j, model_api_by_uid(&s->api, &r->uid)))
			continue;
		h.running++;
		for (size_t k = 0; k < r->nlines; k++)
			if (strcmp(r->lines[k].resource, "cpu") == 0)
				h.cpu += r->lines[k].amount;
	}
	return h;
}

static int32_t waiting_of(const struct sim *s, const struct model_job *j)
{
	int32_t n = 0;
	for (const struct model_job *o = s->api.first; o; o = o->next)
		n += o->now->job.suspend && !job_finished(&o->now->job) && same_user(j, o);
	return n;
}

bool users_may_wait(const struct sim *s, const struct model_job *j)
{
	const struct user_limits *l = limits_of(s, j->now->job.ns, j->now->job.queue);
	if (!s->o.users || !l)
		return false;
	struct holds h = open_of(s, j);
	return (l->running > 0 && h.running >= l->running) ||
	       (l->waiting > 0 && waiting_of(s, j) > l->waiting) || l->quota.count > 0;
}
