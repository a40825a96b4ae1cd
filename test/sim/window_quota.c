#include "test/sim/window_quota.h"

#include <string.h>

#include "test/sim/sim.h"

#define SALT 0x77696e646f7773 /* "windows" */

/* ---- A planted fault: the queue does not hear that a run keeps its pods (the linker puts this between
 * gate and queue) --------------------------------------------------------------------------------
 */

static const struct sim *world; /* the one that runs: a gate knows none */

void __real_queue_keep_pods(struct queue *q, const struct uid *uid);
void __wrap_queue_keep_pods(struct queue *q, const struct uid *uid);
void __wrap_queue_keep_pods(struct queue *q, const struct uid *uid)
{
	if (world->o.bug != BUG_KEPT_PODS_UNHEARD)
		__real_queue_keep_pods(q, uid);
}

/* ---- What admins say ----------------------------------------------------------------------------
 */

void window_quota_begin(struct sim *s)
{
	world = s;
	rng_seed(&s->window_quota.rng, s->o.seed ^ SALT);
}

/* Most turn every minute, and are open all the time. Else worlds are over before one turns, and nothing
 * starts but in the one window, with its quota. */
void window_quota_draw_calendar(struct sim *s, struct config *c)
{
	struct rng *r = &s->window_quota.rng;
	c->offset_s = s->growing.on ? (int)rng_between(r, 0, 119) : 0;
	c->never_closes = s->growing.on && rng_odds(r, 8000);
	if (!c->never_closes)
		return;
	c->broken = c->by_days = false;
	c->period = 2;
	c->length = 1;
}

void window_quota_draw(struct sim *s, struct config *c)
{
	struct rng *r = &s->window_quota.rng;
	c->window_cpu = s->growing.on && rng_odds(r, 8500) ? rng_between(r, 0, 12) * 500 : -1;
	c->window_borrow = rng_odds(r, 3000) ? rng_between(r, 0, 8) * 500 : -1;
	s->window_quota.any |= c->window_cpu >= 0;
	if (c->window_cpu >= 0 && rng_odds(r, 6000))
		c->queues = (1 << CLUSTERQUEUES) - 1;
}

size_t window_quota_describe(const struct config *c, struct window_quota_spec *ret)
{
	size_t n = 0;
	for (size_t k = 0; c->window_cpu >= 0 && c->queues != 0 && k < FLAVORS; k++)
		ret[n++] = (struct window_quota_spec){.window = WINDOW_NAME,
			.flavor = flavor_names[k],
			.resource = "cpu",
			.nominal = c->window_cpu,
			.has_borrowing = c->window_borrow >= 0,
			.borrowing_limit = c->window_borrow};
	return n;
}

bool window_quota_denies(const struct sim *s, const struct intent *i)
{
	return s->growing.on && !s->calm && i->kind == INTENT_SHRINK && i->uid.byte[0] % 3 == 0 &&
	       !strcmp(i->story.reason, stop_reason_name(STOP_REASON_WINDOW_QUOTA));
}

/* ---- What must hold ----------------------------------------------------------------------------
 */

void window_quota_check(struct sim *s, const struct replica *r, const struct decision *d)
{
	if (d->reason != STOP_REASON_WINDOW_QUOTA ||
		(d->kind != DECISION_SHRINK && d->kind != DECISION_STOP))
		return;
	if (d->kind == DECISION_STOP)
		sim_break(s, "P14", "%s stops a run for a smaller quota", r->identity);
	if (!s->window_quota.any) /* one that was edited since may have asked */
		sim_break(s, "P14", "%s asks for pods, and no RunPolicy had a quota", r->identity);
	sim_reach(s, PATH_GIVES_TO_WINDOW);
}

void window_quota_check_stop(struct sim *s, const struct story *story, const char *job)
{
	if (story->reason && !strcmp(story->reason, stop_reason_name(STOP_REASON_WINDOW_QUOTA)))
		sim_break(s, "P14", "%s was stopped for a smaller quota", job);
}

static bool some_terminate(const struct sim *s, const struct model_job *j)
{
	for (const struct model_pod *p = s->jobs.first; p; p = p->next)
		if (p->of == j && p->state != POD_GONE &&
			(p->gone_ms > 0 || p->state == POD_TERMINATING))
			return true;
	return false;
}

/* One that it gave may take for ever to go. One whose label was taken off since, or whose manifest was applied
 * again, is as its owner wrote it. And a work queue keeps its pods if one succeeded before the Job controller
 * saw that there are to be fewer. */
static bool may_keep(const struct sim *s, const struct model_job *j)
{
	const struct job *now = &j->now->job;
	return some_terminate(s, j) || !now->queue[0] || now->admission.reapplied ||
	       (!now->has_completions && now->status.succeeded > 0);
}

void window_quota_check_quiet(struct sim *s, const struct replica *leader)
{
	const struct model_reservation *const *all;
	for (size_t i = model_ledger_reservations(s->ledger, &all); i-- > 0;) {
		const struct model_job *j = model_api_by_uid(&s->api, &all[i]->reservation.uid);
		struct explanation x = {0};
		if (!all[i]->open || all[i]->reservation.state != LEDGER_POSTED || !j ||
			j->now->gone || j->now->job.deleting || j->now->job.suspend ||
			may_keep(s, j))
			continue;
		if (gate_explain(leader->gate, j->now->job.ns, j->now->job.name,
			    s->now_ms + leader->skew_ms, &x) &&
			strstr(x.sentence, " pods: "))
			sim_break(s, "P14", "at rest %s is still to give pods: %s says '%s'",
				j->now->job.name, leader->identity, x.sentence);
	}
}
