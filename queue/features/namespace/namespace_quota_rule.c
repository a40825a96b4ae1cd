/* The rule of ResourceQuotas: the API server would refuse pods beyond them. */
#include <string.h>

#include "base/mem.h"
#include "queue/core/admit/nominee.h"
#include "queue/core/model/state.h"
#include "queue/core/model/reservation.h"
#include "queue/requests/lending.h"
#include "queue/core/model/feature.h"
#include "queue/cluster/quota_flight.h"
#include "queue/features/namespace/namespace_quota.h"

#define WAYS 3 /* enum lending */

/* The answers for a template: as things are, valid at namespace_quota.moved; and if nothing were
 * used, valid at .limits. */
struct refusal {
	struct kept_answer {
		uint64_t asked;
		struct pod_count places;
	} way[WAYS], whole[WAYS];
};

/* ---- What is asked ---- */

/* All quotas of the namespace, each with what is reserved now. */
static struct quota_state *states_of(
	const struct queue *q, struct arena *a, const struct namespace_quota *n)
{
	struct quota_state *all = arena_take(a, n->n, sizeof(*all));
	for (size_t i = 0; i < n->n; i++) {
		const struct resource_quota *quota = &n->held[i]->quota;
		int64_t *reserved = arena_take(a, quota->hard.count, sizeof(*reserved));
		quota_flight_reserved(q->namespace_quotas->flight, quota, reserved);
		all[i] = (struct quota_state){quota, reserved};
	}
	return all;
}

/* As if nothing were used. */
static struct quota_state *empty_states(struct arena *a, const struct namespace_quota *n)
{
	struct quota_state *all = arena_take(a, n->n, sizeof(*all));
	for (size_t i = 0; i < n->n; i++) {
		struct resource_quota *q = arena_take(a, 1, sizeof(*q));
		struct resource *used = arena_take(a, n->held[i]->quota.hard.count, sizeof(*used));
		*q = n->held[i]->quota;
		for (size_t k = 0; k < q->hard.count; k++)
			used[k].name = q->hard.item[k].name;
		q->used = (struct resource_list){used, q->hard.count};
		all[i] = (struct quota_state){q, NULL};
	}
	return all;
}

/* Of what is left now, or of the whole limits. */
static struct pod_count ask(const struct queue *q, const struct namespace_quota *n,
	const struct pod_template *t, enum lending lending, bool of_all)
{
	struct arena scratch = {0};
	struct pod p = namespace_quota_pod(q, &scratch, t, lending);
	const struct quota_state *states =
		of_all ? empty_states(&scratch, n) : states_of(q, &scratch, n);
	struct pod_count places = resource_quota_room(states, n->n, &p);
	arena_done(&scratch);
	return places;
}

static struct refusal *refusal_of(struct pod_template *t)
{
	if (!t->refusal)
		t->refusal = mem_alloc(sizeof(*t->refusal));
	return t->refusal;
}

static struct pod_count room_for(const struct queue *q, const struct namespace_quota *n,
	struct pod_template *t, enum lending lending)
{
	struct kept_answer *a = &refusal_of(t)->way[lending];
	if (a->asked != n->moved)
		*a = (struct kept_answer){n->moved, ask(q, n, t, lending, false)};
	return a->places;
}

static struct pod_count whole_for(const struct queue *q, const struct namespace_quota *n,
	struct pod_template *t, enum lending lending)
{
	struct kept_answer *a = &refusal_of(t)->whole[lending];
	if (a->asked != n->limits)
		*a = (struct kept_answer){n->limits, ask(q, n, t, lending, true)};
	return a->places;
}

/* The quotas to ask for such pods; NULL: none. */
static struct namespace_quota *asks(const struct queue *q, const struct workload *w)
{
	return q->namespace_quotas->known && w->shape->template && w->shape->pods > 0
		       ? w->lq->ns->quota
		       : NULL;
}

static int32_t least(int32_t a, int32_t b)
{
	return a < b ? a : b;
}

/* How many of `pods` would be admitted. */
static int32_t admitted(struct pod_count places, const struct workload *w, int32_t pods)
{
	int32_t in_all = namespace_quota_in_all(w);
	if (in_all > places.in_all)
		return 0;
	return least(pods, in_all > 0 ? places.at_once : least(places.at_once, places.in_all));
}

/* The kinds of lending of the flavors of cq that suit, a bit each. */
static unsigned ways_of(
	const struct clusterqueue *cq, const struct claim *claim, const struct workload *w)
{
	unsigned ways = 0;
	if (lending_set(w->shape->directives->lending) == 1u << LENDING_NONE || !cq)
		return 1u << LENDING_NONE;
	for (size_t g = 0; g < cq->spec.ngroups; g++)
		for (size_t f = 0;
			claim_minds_lending(cq, claim, g) && f < cq->spec.groups[g].nflavors; f++)
			if (claim_suits(claim, g, f))
				ways |= 1u << cq->spec.groups[g].flavors[f]->lending;
	return ways ? ways : 1u << LENDING_NONE;
}

int32_t namespace_quota_pods(const struct queue *q, const struct clusterqueue *cq,
	const struct claim *claim, const struct workload *w)
{
	const struct namespace_quota *n = asks(q, w);
	int32_t most = 0;
	if (!n)
		return w->shape->pods;
	unsigned ways = ways_of(cq, claim, w);
	for (unsigned l = 0; l < WAYS; l++) {
		if (!(ways >> l & 1))
			continue;
		struct pod_count places = room_for(q, n, w->shape->template, (enum lending)l);
		int32_t pods = admitted(places, w, w->shape->pods);
		most = pods > most ? pods : most;
	}
	return most;
}

bool namespace_quota_never_lets(const struct queue *q, const struct clusterqueue *cq,
	const struct claim *claim, const struct workload *w)
{
	const struct namespace_quota *n = asks(q, w);
	int32_t pods = w->shape->min_pods;
	if (!n)
		return false;
	unsigned ways = ways_of(cq, claim, w);
	for (unsigned l = 0; l < WAYS; l++) {
		if (!(ways >> l & 1))
			continue;
		struct pod_count whole = whole_for(q, n, w->shape->template, (enum lending)l);
		if (admitted(whole, w, pods) >= pods)
			return false;
	}
	return true;
}

static enum lending lending_of(const struct nominee *e)
{
	const struct claim *claim = &e->group->claim;
	for (size_t g = 0; g < e->cq->spec.ngroups; g++) {
		const struct flavor *f = e->cq->spec.groups[g].flavors[e->choice.flavor[g]];
		if (f->lending != LENDING_NONE && claim_minds_lending(e->cq, claim, g))
			return f->lending;
	}
	return LENDING_NONE;
}

/* May the promise still start? Asked as if it were not in flight yet. */
static bool namespace_quota_keeps(struct queue *q, struct reservation *r)
{
	const struct namespace_quota *n = asks(q, r->w);
	if (!n)
		return true;
	quota_flight_drop(q->namespace_quotas->flight, &r->w->key.uid);
	struct pod_count places = ask(q, n, r->shape->template, reservation_lending(q, r), false);
	namespace_quota_run(q, r);
	return admitted(places, r->w, r->pods) >= r->pods;
}

/* With how many of `more` pods more may the run grow? Its own pods are in flight, with all that it
 * makes in the end. */
static int32_t namespace_quota_growth(struct queue *q, const struct reservation *r, int32_t more)
{
	const struct namespace_quota *n = asks(q, r->w);
	if (!n || !r->shape->template)
		return more;
	struct pod_count places = ask(q, n, r->shape->template, reservation_lending(q, r), false);
	bool makes_more = r->w->progress.left < 0;
	int32_t room = makes_more ? least(places.at_once, places.in_all) : places.at_once;
	return least(more, room > 0 ? room : 0);
}

/* ---- In words ---- */

/* True: it would be let in without its pod-level resources, which say nothing (pod.h). */
static bool put_refusal(const struct quota_state *all, size_t n, const struct pod *p,
	const struct workload *w, char *ret, size_t size)
{
	int32_t in_all = namespace_quota_in_all(w), pods = w->shape->min_pods;
	struct pod_count asked = {pods, in_all > 0 ? in_all : pods};
	resource_quota_admits(all, n, p, asked, ret, size);
	struct pod without = *p;
	without.resources.has_pod_level = false;
	without.resources.pod_level.count = 0;
	char ignored[1];
	return pod_level_is_nothing(p) &&
	       resource_quota_admits(all, n, &without, asked, ignored, sizeof(ignored));
}

struct refusal_kind {
	bool never;	     /* namespace_quota_never_lets() */
	bool by_empty_field; /* without its pod-level resources, which say nothing, it would be let in */
};

/* Why w is refused, in the API server's words. False: it is not. */
static bool namespace_quota_refuses(const struct queue *q, const struct clusterqueue *cq,
	const struct claim *claim, const struct workload *w, char *ret_sentence, size_t size,
	struct refusal_kind *ret_kind)
{
	const struct namespace_quota *n = asks(q, w);
	if (!n || namespace_quota_pods(q, cq, claim, w) >= w->shape->min_pods)
		return false;
	unsigned ways = ways_of(cq, claim, w);
	*ret_kind = (struct refusal_kind){.never = namespace_quota_never_lets(q, cq, claim, w)};
	*ret_sentence = '\0';
	for (unsigned l = WAYS; l-- > 0;) {
		struct arena scratch = {0};
		struct pod p =
			namespace_quota_pod(q, &scratch, w->shape->template, (enum lending)l);
		if (ways >> l & 1)
			ret_kind->by_empty_field = put_refusal(
				states_of(q, &scratch, n), n->n, &p, w, ret_sentence, size);
		arena_done(&scratch);
	}
	return true;
}

/* ---- The rule ---- */

static bool namespace_quota_concerns(struct queue *q, struct clusterqueue *cq)
{
	if (!q->namespace_quotas->known)
		return false;
	list_each_entry(&cq->localqueues, const struct localqueue, lq, of_clusterqueue)
		if (lq->ns->quota)
			return true;
	return false;
}

static struct ruling namespace_quota_group_may(const struct queue *q, const struct group *g)
{
	struct ruling ruling = RULING_YES;
	ruling.pods = namespace_quota_pods(q, g->cq, &g->claim, group_head(g));
	return ruling;
}

static bool namespace_quota_choice_may(struct queue *q, const struct proposal *a)
{
	const struct nominee *e = a->nominee;
	const struct namespace_quota *n = asks(q, e->w);
	if (!n)
		return true;
	struct pod_count places = room_for(q, n, e->w->shape->template, lending_of(e));
	return admitted(places, e->w, e->choice.pods) >= e->choice.pods;
}

static void namespace_quota_parts(const struct workload *w, struct parting *p)
{
	int32_t in_all = namespace_quota_in_all(w);
	if (in_all > 0)
		parting_add_number(p, in_all);
}

/* The API server's words about its pods, and the cure where waiting does not help. */
static enum wait_reason namespace_quota_explain(struct question *a)
{
	char words[sizeof(((struct explanation *)0)->sentence)];
	struct refusal_kind kind;
	if (!namespace_quota_refuses(a->q, a->cq, a->claim, a->w, words, sizeof(words), &kind))
		return WAIT_NOT;
	text_add(a->text, "the API server would refuse its pods: %s", words);
	if (kind.by_empty_field)
		text_add(a->text,
			"; that quota may count it for its empty spec.template.spec.resources alone (API servers before 1.37 take such pods for BestEffort): take the field out of the Job");
	else if (!kind.never)
		return WAIT_NAMESPACE_QUOTA;
	else if (strncmp(words, "exceeded quota", 14) == 0)
		text_add(a->text,
			"; that is more than the whole quota: ask for less, or ask an admin to raise it");
	else
		text_add(
			a->text, "; waiting does not help: correct the pod template, or the quota");
	return WAIT_NAMESPACE_QUOTA;
}

const struct feature namespace_quota_feature = {
	.sleeps = true,
	.concerns = namespace_quota_concerns,
	.group_may = namespace_quota_group_may,
	.choice_may = namespace_quota_choice_may,
	.parts = namespace_quota_parts,
	.promise_may = namespace_quota_keeps,
	.growth_pods = namespace_quota_growth,
	.growth_refused = "the ResourceQuotas of its namespace allow no more pods",
	.explain = namespace_quota_explain,
	.before = {[RUN_UNPROMISED] = namespace_quota_run_over},
	.after = {[RUN_PROMISED] = namespace_quota_run,
		[RUN_RESERVED] = namespace_quota_run,
		[RUN_RESHAPED] = namespace_quota_run,
		[RUN_RESIZED] = namespace_quota_run,
		[RUN_ENDED] = namespace_quota_run_over},
	.job_seen = namespace_quota_see,
	.priorities_changed = namespace_quotas_heed_default,
};
