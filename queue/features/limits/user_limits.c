/*
 * The rule of spec.limits.perUser of a LocalQueue: what one person's Jobs may hold there at once.
 *
 *   running   so many Jobs
 *   quota     so much of a resource, over all flavors
 *
 * A Job counts from when it gets its quota until that is given back, and so does a promise of quota.
 * A Job beyond a limit is passed over: it blocks nothing and preempts nothing, not even Jobs of the
 * same user. Within the limit of quota a Job may start with fewer pods, where it can do with them, and
 * a run grows. When a limit is lowered, runs go on, and the youngest promises are taken back.
 *
 * How many Jobs of a user wait is no rule: user.h. Its sentence is here, beside the others.
 */
#include <string.h>

#include "queue/core/model/state.h"
#include "queue/job/resources.h"
#include "queue/core/model/reservation.h"
#include "queue/core/model/feature.h"
#include "sluice/quantity.h"

extern const struct feature user_limits_feature;

static const struct user_limits *limits_of(const struct user *u)
{
	return &u->lq->limits.per_user;
}

static bool user_limits_concerns(struct queue *q, struct clusterqueue *cq)
{
	(void)q;
	list_each_entry(&cq->localqueues, const struct localqueue, lq, of_clusterqueue)
		if (user_limits_runs(&lq->limits.per_user))
			return true;
	return false;
}

static void user_limits_parts(const struct workload *w, struct parting *p)
{
	if (user_limits_runs(limits_of(w->user)))
		parting_add(p, w->user, w->user->name);
}

/* ---- What the user holds --------------------------------------------------------------------- */

static size_t running(const struct user *u)
{
	return u->nreserving + u->npromised;
}

static bool runs_all(const struct user *u)
{
	int32_t most = limits_of(u)->running;
	return most > 0 && running(u) >= (size_t)most;
}

static __int128 left_of(const struct user *u, const struct resource *limit)
{
	return limit->amount - user_holds(u, limit->name);
}

/* NULL: it has none. */
static const struct resource *limit_of(const struct user *u, const char *resource)
{
	return resources_find(&limits_of(u)->quota, resource);
}

static const struct resource *limit_of_need(
	const struct user *u, const struct clusterqueue *cq, const struct need *n)
{
	return n->each > 0 ? limit_of(u, cq->spec.groups[n->group].resources[n->resource]) : NULL;
}

/* For so many pods of such a Job there is quota left. */
static int32_t pods_left(
	const struct user *u, const struct clusterqueue *cq, const struct claim *claim)
{
	__int128 pods = INT32_MAX;
	for (size_t i = 0; i < claim->nneeds; i++) {
		const struct resource *limit = limit_of_need(u, cq, &claim->need[i]);
		if (!limit)
			continue;
		__int128 left = left_of(u, limit), here = left > 0 ? left / claim->need[i].each : 0;
		pods = here < pods ? here : pods;
	}
	return (int32_t)pods;
}

/* ---- Starts ---------------------------------------------------------------------------------- */

static struct ruling user_limits_group_may(const struct queue *q, const struct group *g)
{
	const struct user *u = g->head->user;
	struct ruling ruling = RULING_YES;
	(void)q;
	if (!user_limits_runs(limits_of(u)))
		return RULING_YES;
	if (runs_all(u))
		return RULING_NO;
	ruling.pods = pods_left(u, g->cq, &g->claim);
	return ruling;
}

/* ---- Promises -------------------------------------------------------------------------------- */

static __int128 amount_of(const struct reservation *r, const char *resource)
{
	__int128 sum = 0;
	for (size_t i = 0; i < r->nlines; i++)
		if (strcmp(r->line[i].row->resource, resource) == 0)
			sum += r->line[i].amount;
	return sum;
}

/* How many promises of its user are younger than r, and of the resource (NULL: none is asked for) how
 * much these are of. */
static size_t younger(const struct reservation *r, const char *resource, __int128 *ret_amount)
{
	size_t n = 0;
	*ret_amount = 0;
	for (const struct reservation *p = reservation_younger_promise(r); p;
		p = reservation_younger_promise(p)) {
		if (p->user != r->user)
			continue;
		n++;
		*ret_amount += resource ? amount_of(p, resource) : 0;
	}
	return n;
}

static bool user_limits_promise_may(struct queue *q, struct reservation *r)
{
	const struct user_limits *limits = limits_of(r->user);
	__int128 amount;
	(void)q;
	if (limits->running > 0 &&
		running(r->user) - younger(r, NULL, &amount) > (size_t)limits->running)
		return false;
	for (size_t i = 0; i < limits->quota.count; i++) {
		const struct resource *limit = &limits->quota.item[i];
		if (amount_of(r, limit->name) == 0)
			continue;
		younger(r, limit->name, &amount);
		if (left_of(r->user, limit) + amount < 0)
			return false;
	}
	return true;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* With how many of `more` pods more does the line hold no more than is left? */
static int32_t more_pods(const struct reservation *r, size_t line, int32_t more, __int128 left)
{
	int32_t least = 0;
	while (least < more) {
		int32_t pods = more - (more - least) / 2;
		if (reservation_more(r, line, pods) <= left)
			least = pods;
		else
			more = pods - 1;
	}
	return least;
}

static int32_t user_limits_growth_pods(struct queue *q, const struct reservation *r, int32_t more)
{
	(void)q;
	for (size_t i = 0; i < r->nlines; i++) {
		const struct resource *limit = limit_of(r->user, r->line[i].row->resource);
		if (limit)
			more = more_pods(r, i, more, left_of(r->user, limit));
	}
	return more;
}

/* The waiting Job may need other quota than came free, or none. */
static void user_limits_ended(struct queue *q, struct reservation *r)
{
	if (user_limits_runs(limits_of(r->user)) && r->lq->cq)
		queue_touch_queue(q, r->lq->cq);
}

/* ---- Explained ------------------------------------------------------------------------------- */

static void add_user(struct text *t, const struct user *u)
{
	if (user_is_known(u))
		text_add(t, "user ");
	text_add_cut(t, user_is_known(u) ? u->name : "an unknown submitter", SUBMITTER_MAX_BYTES);
}

/* How a person comes by a limit of their own. */
static void add_cure(struct text *t, const struct user *u)
{
	if (!user_is_known(u))
		text_add(t,
			"; this Job does not say who submitted it, and counts with all such Jobs: with the policies of deploy/policies the API server writes it into the annotation sluice.dev/submitted-by of new Jobs");
}

static void explain_line(const struct user *u, struct text *t)
{
	size_t n = user_line_length(u);
	add_user(t, u);
	text_add(t,
		" has %s in line in LocalQueue %s/%s, and its spec.limits.perUser.waiting is %d: this Job joins the queue when one of them starts",
		count_words(n, "Job").s, u->lq->ns->name, u->lq->name, limits_of(u)->waiting);
}

static void explain_running(const struct user *u, struct text *t)
{
	size_t n = running(u), most = (size_t)limits_of(u)->running;
	add_user(t, u);
	text_add(t,
		" already has %s running%s in LocalQueue %s/%s, and its spec.limits.perUser.running is %zu: ",
		count_words(n, "Job").s, u->npromised > 0 ? " or about to start" : "",
		u->lq->ns->name, u->lq->name, most);
	if (n == most)
		text_add(t, "this Job starts when %s ends", n == 1 ? "it" : "one of them");
	else
		text_add(t, "this Job starts when %zu of them have ended", n - most + 1);
}

static void explain_too_large(
	const struct user *u, const struct resource *limit, int64_t asks, struct text *t)
{
	text_add(t,
		"asks for %s, and spec.limits.perUser.quota of LocalQueue %s/%s lets a user hold %s: ask for less, or ask an admin to raise it",
		amount_words(asks, limit->name).s, u->lq->ns->name, u->lq->name,
		number_words(limit->amount, limit->name).s);
}

static void explain_held(
	const struct user *u, const struct resource *limit, int64_t asks, struct text *t)
{
	add_user(t, u);
	text_add(t,
		" holds %s of %s in LocalQueue %s/%s (spec.limits.perUser.quota), and this Job asks for %s: it starts when enough is released",
		number_words(quota_shown(user_holds(u, limit->name)), limit->name).s,
		amount_words(limit->amount, limit->name).s, u->lq->ns->name, u->lq->name,
		number_words(asks, limit->name).s);
}

/* Of the fewest pods with which it would start. A limit that it can never meet comes first. */
static bool explain_quota(const struct question *a)
{
	const struct user *u = a->w->user;
	const struct need *beyond = NULL;
	const struct resource *its_limit = NULL;
	for (size_t i = 0; a->cq && i < a->claim->nneeds; i++) {
		const struct need *n = &a->claim->need[i];
		const struct resource *limit = limit_of_need(u, a->cq, n);
		if (limit && n->least > limit->amount) {
			explain_too_large(u, limit, n->least, a->text);
			return true;
		}
		if (limit && n->least > left_of(u, limit)) {
			beyond = n;
			its_limit = limit;
		}
	}
	if (!beyond)
		return false;
	explain_held(u, its_limit, beyond->least, a->text);
	return true;
}

static enum wait_reason user_limits_explain(struct question *a)
{
	const struct user *u = a->w->user;
	if (user_line_waits(a->w))
		explain_line(u, a->text);
	else if (runs_all(u))
		explain_running(u, a->text);
	else if (!explain_quota(a))
		return WAIT_NOT;
	add_cure(a->text, u);
	return WAIT_USER_LIMIT;
}

static bool user_limits_part_otherwise(const struct localqueue *lq,
	const struct localqueue_limits *limits, const struct pod_metadata *metadata)
{
	(void)metadata;
	return user_limits_runs(&lq->limits.per_user) != user_limits_runs(&limits->per_user);
}

static void user_limits_localqueue_edited(struct queue *q, const struct localqueue *lq)
{
	const struct user_limits *limits = &lq->limits.per_user;
	if (user_limits_runs(limits) || limits->waiting > 0)
		feature_wakes(q, &user_limits_feature);
}

const struct feature user_limits_feature = {
	.sleeps = true,
	.concerns = user_limits_concerns,
	.group_may = user_limits_group_may,
	.parts = user_limits_parts,
	.promise_may = user_limits_promise_may,
	.growth_pods = user_limits_growth_pods,
	.growth_refused = "spec.limits.perUser.quota of its LocalQueue allows no more pods",
	.after = {[RUN_ENDED] = user_limits_ended},
	.explain = user_limits_explain,
	.parts_otherwise = user_limits_part_otherwise,
	.localqueue_edited = user_limits_localqueue_edited,
};
