#include "queue/features/windows/runpolicy.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/core/model/state.h"
#include "queue/core/model/feature.h"
#include "queue/job/placement.h"
#include "queue/job/specs.h"
#include "queue/core/model/tell.h"
#include "queue/features/windows/window_state.h"

static struct runpolicy *of_object(struct named_object *o)
{
	return o ? container_of(o, struct runpolicy, object) : NULL;
}

void runpolicies_init(struct runpolicies *all)
{
	named_objects_init(&all->all);
	all->exempting = 0;
}

struct runpolicy *runpolicy_first(const struct queue *q)
{
	return of_object(named_object_at(&q->runpolicies->all, 0));
}

struct runpolicy *runpolicy_next(const struct runpolicy *p)
{
	return of_object(named_object_next(&p->object));
}

struct runpolicy *runpolicy_find(const struct queue *q, const char *name)
{
	return of_object(named_object_find(&q->runpolicies->all, name));
}

/* ---- What it binds ---- */

/* Each time the rest does not match, the last star takes one character more. */
bool runpolicy_glob(const char *glob, const char *name)
{
	const char *star = NULL, *retry = NULL;
	while (*name) {
		if (*glob == '*') {
			star = ++glob;
			retry = name;
		} else if (*glob == '?' || *glob == *name) {
			glob++;
			name++;
		} else if (star) {
			glob = star;
			name = ++retry;
		} else {
			return false;
		}
	}
	while (*glob == '*')
		glob++;
	return *glob == '\0';
}

static bool binds(const struct runpolicy *p)
{
	return p->spec.name && !p->spec.deleting;
}

bool runpolicy_names_clusterqueue(const struct runpolicy *p, const char *name)
{
	for (size_t i = 0; binds(p) && i < p->spec.nqueues; i++)
		if (runpolicy_glob(p->spec.queues[i], name))
			return true;
	return false;
}

bool runpolicy_pair_glob(const char *glob, const char *ns, const char *name)
{
	char part[256];
	const char *slash = strchr(glob, '/');
	size_t n = slash ? (size_t)(slash - glob) : sizeof(part);
	if (n >= sizeof(part))
		return false;
	memcpy(part, glob, n);
	part[n] = '\0';
	return runpolicy_glob(part, ns) && runpolicy_glob(slash + 1, name);
}

bool runpolicy_names_localqueue(const struct runpolicy *p, const char *ns, const char *name)
{
	for (size_t i = 0; binds(p) && i < p->spec.nlocalqueues; i++)
		if (runpolicy_pair_glob(p->spec.localqueues[i], ns, name))
			return true;
	return false;
}

uint64_t runpolicies_exempt(const struct queue *q, const struct job *j)
{
	uint64_t exempt = 0;
	if (q->runpolicies->exempting == 0)
		return 0;
	for (const struct runpolicy *p = runpolicy_first(q); p; p = runpolicy_next(p))
		if (p->exempts >= 0 &&
			labels_match(j->labels, j->nlabels, &p->spec.exempt_selector))
			exempt |= UINT64_C(1) << p->exempts;
	return exempt;
}

static bool term_names(const struct selector_term *t, const char *key)
{
	for (size_t i = 0; i < t->nrequirements; i++)
		if (strcmp(t->requirements[i].key, key) == 0)
			return true;
	return false;
}

bool runpolicies_ask_for(const struct queue *q, const char *key)
{
	for (const struct runpolicy *p = runpolicy_first(q); p; p = runpolicy_next(p))
		if (p->exempts >= 0 && term_names(&p->spec.exempt_selector, key))
			return true;
	return false;
}

/* ---- What is wrong with a spec ---- */

static int check_lists(const struct runpolicy_spec *s, struct err *e)
{
	if (s->nqueues == 0 && s->nlocalqueues == 0)
		return err_set(e, ERR_INVALID,
			"spec.queues and spec.localQueues are empty, so it binds no queue; name a ClusterQueue or a LocalQueue (\"*\" takes all)");
	if (s->nqueues > POLICY_LIST_MAX || s->nlocalqueues > POLICY_LIST_MAX)
		return err_set(e, ERR_INVALID,
			"spec.queues or spec.localQueues has more than %d entries; use \"*\" or another RunPolicy",
			POLICY_LIST_MAX);
	for (size_t i = 0; i < s->nqueues; i++)
		if (!*s->queues[i])
			return err_set(e, ERR_INVALID,
				"spec.queues[%zu] is empty; write the name of a ClusterQueue", i);
	for (size_t i = 0; i < s->nlocalqueues; i++) {
		const char *slash = strchr(s->localqueues[i], '/');
		if (!slash || slash == s->localqueues[i] || !slash[1])
			return err_set(e, ERR_INVALID,
				"spec.localQueues[%zu] is \"%.60s\"; write namespace/name, e.g. team-a/main or team-a/*",
				i, s->localqueues[i]);
	}
	return 0;
}

static int check_bounds(const struct runpolicy_spec *s, struct err *e)
{
	if (s->margin_permille < 0 || s->margin_permille > 10000)
		return err_set(e, ERR_INVALID, "spec.start.safetyMargin must be 0%% to 1000%%");
	return runpolicy_spec_bounds(s, "spec.", e);
}

static int check_quota(const struct window_quota_spec *x, size_t i, struct err *e)
{
	const char *missing = !*x->window     ? "window"
			      : !*x->flavor   ? "flavor"
			      : !*x->resource ? "resource"
					      : NULL;
	if (missing)
		return err_set(
			e, ERR_INVALID, "spec.quota[%zu].%s is missing; name it", i, missing);
	if (x->nominal < 0 || (x->has_borrowing && x->borrowing_limit < 0) ||
		(x->has_lending && x->lending_limit < 0))
		return err_set(e, ERR_INVALID,
			"spec.quota[%zu]: amounts must be 0 or more; one is negative", i);
	if (x->has_lending && x->lending_limit != QUOTA_UNLIMITED && x->lending_limit > x->nominal)
		return err_set(e, ERR_INVALID,
			"spec.quota[%zu].lendingLimit is more than nominal; lower it", i);
	return 0;
}

static bool same_row(const struct window_quota_spec *a, const struct window_quota_spec *b)
{
	return strcmp(a->window, b->window) == 0 && strcmp(a->flavor, b->flavor) == 0 &&
	       strcmp(a->resource, b->resource) == 0;
}

static int check_quotas(const struct runpolicy_spec *s, struct err *e)
{
	if (s->nquotas > POLICY_LIST_MAX)
		return err_set(e, ERR_INVALID, "spec.quota has more than %d entries; remove some",
			POLICY_LIST_MAX);
	if (s->nquotas > 0 && s->nqueues == 0)
		return err_set(e, ERR_INVALID,
			"spec.quota is of ClusterQueues, but spec.queues is empty; name them or remove spec.quota");
	for (size_t i = 0; i < s->nquotas; i++) {
		int code = check_quota(&s->quota[i], i, e);
		if (code)
			return code;
		for (size_t k = 0; k < i; k++)
			if (same_row(&s->quota[k], &s->quota[i]))
				return err_set(e, ERR_INVALID,
					"spec.quota[%zu] is for the same window, flavor and resource as spec.quota[%zu]; remove one",
					i, k);
	}
	return 0;
}

static int check_spec(const struct runpolicy_spec *s, struct err *e)
{
	int code = check_lists(s, e);
	if (code == 0 && !*s->calendar)
		code = err_set(e, ERR_INVALID, "spec.calendar is missing; name a Calendar");
	if (code == 0)
		code = check_bounds(s, e);
	return code ? code : check_quotas(s, e);
}

/* ---- Facts ---- */

static void spec_take(struct runpolicy *p, const struct runpolicy_spec *s)
{
	arena_done(&p->memory);
	p->spec = runpolicy_spec_copy(&p->memory, s);
	p->spec.name = p->object.name;
}

static bool selector_same(const struct runpolicy_spec *a, const struct runpolicy_spec *b)
{
	return a->has_exempt_selector == b->has_exempt_selector &&
	       (!a->has_exempt_selector ||
		       selector_term_same(&a->exempt_selector, &b->exempt_selector));
}

static struct runpolicy *object_of(struct queue *q, const char *name)
{
	struct runpolicy *p = runpolicy_find(q, name);
	if (p)
		return p;
	p = mem_alloc(sizeof(*p));
	p->exempts = -1;
	named_object_enter(&q->runpolicies->all, &p->object, name);
	feature_wakes(q, &window_feature);
	return p;
}

static void calendar_take(struct queue *q, struct runpolicy *p, const char *calendar)
{
	struct calendar_ref *t = calendar ? calendar_ref_keep(q, calendar) : NULL;
	list_leave(&p->of_calendar_ref);
	if (p->calendar_ref)
		calendar_ref_put(q, p->calendar_ref);
	p->calendar_ref = t;
	if (t)
		list_add(&t->policies, &p->of_calendar_ref);
}

/* Gives the policy a bit of workload.exempt, or takes it away. */
static void exempts_take(struct runpolicies *all, struct runpolicy *p, bool selects)
{
	if (p->exempts >= 0 && !selects) {
		all->exempting &= ~(UINT64_C(1) << p->exempts);
		p->exempts = -1;
	} else if (p->exempts < 0 && selects) {
		p->exempts = __builtin_ctzll(~all->exempting);
		all->exempting |= UINT64_C(1) << p->exempts;
	}
}

static int refuse(
	struct queue *q, const struct runpolicy_spec *s, int code, struct err *own, struct err *e)
{
	err_wrap(own, "RunPolicy %s", s->name);
	named_object_refuse(q, &object_of(q, s->name)->object, own->text);
	return err_set(e, code, "%s", own->text);
}

int queue_set_runpolicy(
	struct queue *q, const struct runpolicy_spec *s, bool *ret_again, struct err *e)
{
	queue_tell(q, SET_RUNPOLICY, .runpolicy = s);
	struct err own;
	int code = check_spec(s, &own);
	*ret_again = false;
	struct runpolicy *p = code ? NULL : object_of(q, s->name);
	if (p && p->exempts < 0 && s->has_exempt_selector &&
		q->runpolicies->exempting == UINT64_MAX)
		code = err_set(&own, ERR_LIMIT,
			"spec.atClose.exempt.selector: %d RunPolicies have one already, and that is all there can be; use exempt.priorityAtLeast",
			RUNPOLICY_EXEMPTING_MAX);
	if (code)
		return refuse(q, s, code, &own, e);
	*ret_again = !selector_same(s, &p->spec);
	exempts_take(q->runpolicies, p, s->has_exempt_selector);
	spec_take(p, s);
	calendar_take(q, p, s->calendar);
	named_object_set_invalid(&p->object, NULL);
	window_states_form(q);
	q->counters.version++;
	return 0;
}

void queue_reject_runpolicy(struct queue *q, const char *name, const char *sentence)
{
	queue_tell(q, REJECT_RUNPOLICY, .name = name, .sentence = sentence);
	named_object_refuse(q, &object_of(q, name)->object, sentence);
}

static void runpolicy_free(struct queue *q, struct runpolicy *p)
{
	calendar_take(q, p, NULL);
	arena_done(&p->memory);
	named_object_leave(&q->runpolicies->all, &p->object);
	free(p);
}

/* The window states forget it before it is freed. */
void queue_drop_runpolicy(struct queue *q, const char *name)
{
	queue_tell(q, DROP_RUNPOLICY, .name = name);
	struct runpolicy *p = runpolicy_find(q, name);
	if (!p)
		return;
	exempts_take(q->runpolicies, p, false);
	p->spec.name = NULL;
	window_states_form(q);
	runpolicy_free(q, p);
	q->counters.version++;
}

void runpolicies_done(struct queue *q)
{
	for (struct runpolicy *p; (p = runpolicy_first(q));)
		runpolicy_free(q, p);
}
