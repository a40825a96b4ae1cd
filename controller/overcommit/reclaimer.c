#include "controller/overcommit/reclaimer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "controller/overcommit/evictor.h"
#include "controller/overcommit/lent_pod.h"

enum {
	SHRINKING_MS = 60000, /* the Job controller may have chosen another of its pods */
	WHY_MAX = EVICTION_WHY_MAX,
	TRIGGERS = RECLAIM_CPU + 1,
};

/* A look at a node in this round. */
struct look {
	struct inventory_node *node;
	struct inventory_pod **pod; /* in the order of reclaim */
	struct reclaim_pod *reclaim;
	size_t npods;
	struct reclaim_memory before;
	enum reclaim_trigger trigger;
	size_t *victim;
	size_t nvictims;
	bool took;
};

/* A victim of the first look, in the order of all. */
struct candidate {
	struct look *look;
	size_t pod;
};

/* A pod of a Job. look NULL: its node is not short. */
struct member {
	struct inventory_pod *pod;
	struct look *look;
	size_t index; /* in the look */
};

struct reclaimer {
	struct reclaimer_options o;
	struct evictor *evictor;
	uint64_t counts[TRIGGERS][RECLAIM_ACTIONS];
	int64_t now_ms;
	/* The round. */
	struct look *look;
	size_t nlooks, looks_room;
	struct inventory_pod **pod; /* pods of our Jobs, by their Job */
	size_t npods;
	struct member *member; /* of the Job at hand */
	size_t *going;	       /* indexes of members that are victims */
	size_t nmembers, members_room;
	bool told;
};

const char *reclaim_action_name(enum reclaim_action a)
{
	static const char *const names[] = {"stop", "shrink", "evict"};
	return a < RECLAIM_ACTIONS ? names[a] : "";
}

static evictor_answer_fn on_evicted;

struct reclaimer *reclaimer_new(const struct reclaimer_options *o)
{
	struct reclaimer *r = mem_alloc(sizeof(*r));
	r->o = *o;
	r->evictor = evictor_new(o->client, o->events, o->log, on_evicted, r);
	return r;
}

void reclaimer_free(struct reclaimer *r)
{
	if (!r)
		return;
	evictor_free(r->evictor);
	free(r->look);
	free(r->member);
	free(r->going);
	free(r);
}

uint64_t reclaimer_count(const struct reclaimer *r, enum reclaim_trigger t, enum reclaim_action a)
{
	return r->counts[t][a];
}

/* ---- a look at one node ---------------------------------------------------------------------- */

static void look_again(struct reclaimer *r, struct look *k)
{
	struct node_state *a = &k->node->node_state;
	struct reclaim_node n = {.capacity = k->node->facts->capacity,
		.used = k->node->used,
		.lent = a->lent,
		.pods = k->reclaim,
		.npods = k->npods,
		.by_agent = k->node->by_agent};
	a->reclaim = k->before;
	k->trigger =
		reclaim_look(&a->reclaim, &a->strategy, &n, r->now_ms, k->victim, &k->nvictims);
}

static void look_done(struct look *k)
{
	free(k->pod);
	free(k->reclaim);
	free(k->victim);
}

static void look_at(struct reclaimer *r, struct inventory_node *n, struct look *k)
{
	const struct node_state *a = &n->node_state;
	*k = (struct look){.node = n, .before = a->reclaim};
	k->pod = mem_array(n->npods + 1, sizeof(struct inventory_pod *));
	k->reclaim = mem_array(n->npods + 1, sizeof(*k->reclaim));
	k->victim = mem_array(n->npods + 1, sizeof(size_t));
	for (struct inventory_pod *p = n->pods; p; p = p->next) {
		if (p->tier[a->strategy.profile] != TIER_LOW)
			continue;
		k->pod[k->npods] = p;
		struct reclaim_pod *row = &k->reclaim[k->npods++];
		*row = lent_pod_row(r->o.queue, n, p, r->now_ms);
		if (p->lent && !lent_pod_is_ours(r->o.queue, p)) /* no quota bounds it */
			row->asked = node_state_granted(a, p->lent);
	}
	look_again(r, k);
}

static bool is_to_be_looked_at(const struct inventory_node *n)
{
	const struct node_state *a = &n->node_state;
	return n->facts && a->news && a->strategy.enable && a->freshness == FRESH;
}

/* Looks at all nodes, and keeps those with a victim. */
static void look_at_all(struct reclaimer *r)
{
	struct inventory_node *n;
	struct look k;
	r->nlooks = 0;
	for (size_t i = 0; (n = inventory_node_at(r->o.inventory, i)); i++) {
		bool looks = is_to_be_looked_at(n);
		n->node_state.news = false;
		if (!looks)
			continue;
		look_at(r, n, &k);
		if (k.nvictims == 0) {
			look_done(&k);
			continue;
		}
		r->look = mem_room(r->look, r->nlooks, &r->looks_room, 16, sizeof(*r->look));
		r->look[r->nlooks++] = k;
	}
}

/* ---- the order of all ------------------------------------------------------------------------ */

/* Ranks triggers: where memory is short the kernel kills, so those nodes come first. */
static int urgency(enum reclaim_trigger t)
{
	return t == RECLAIM_MEMORY ? 0 : (int)t;
}

static int in_order(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	int by_trigger = urgency(x->look->trigger) - urgency(y->look->trigger);
	if (by_trigger != 0)
		return by_trigger;
	return reclaim_compare(
		x->look->trigger, &x->look->reclaim[x->pod], &y->look->reclaim[y->pod]);
}

static struct candidate *order_all(const struct reclaimer *r, size_t *ret_n)
{
	size_t n = 0, at = 0;
	for (size_t i = 0; i < r->nlooks; i++)
		n += r->look[i].nvictims;
	struct candidate *all = mem_array(n + 1, sizeof(*all));
	for (size_t i = 0; i < r->nlooks; i++)
		for (size_t v = 0; v < r->look[i].nvictims; v++)
			all[at++] = (struct candidate){&r->look[i], r->look[i].victim[v]};
	qsort(all, n, sizeof(*all), in_order);
	*ret_n = n;
	return all;
}

static bool is_victim(const struct look *k, size_t pod)
{
	for (size_t v = 0; v < k->nvictims; v++)
		if (k->victim[v] == pod)
			return true;
	return false;
}

/* ---- a Job ----------------------------------------------------------------------------------- */

static void add_member(struct reclaimer *r, struct inventory_pod *p)
{
	size_t number = p->node->node_state.look;
	struct member m = {.pod = p, .look = number ? &r->look[number - 1] : NULL};
	if (r->nmembers == r->members_room) {
		r->members_room = r->members_room ? 2 * r->members_room : 64;
		r->member = mem_grow(r->member, r->members_room, sizeof(*r->member));
		r->going = mem_grow(r->going, r->members_room, sizeof(*r->going));
	}
	for (size_t i = 0; m.look && i < m.look->npods; i++)
		if (m.look->pod[i] == p)
			m.index = i;
	r->member[r->nmembers++] = m;
}

static int by_job(const void *a, const void *b)
{
	const struct inventory_pod *const *x = a, *const *y = b;
	return uid_cmp(&(*x)->lent->owner_job, &(*y)->lent->owner_job);
}

/* Lists all pods of our Jobs, so that those of one Job stand together. */
static void index_pods(struct reclaimer *r)
{
	struct inventory_node *n;
	size_t room = inventory_pods(r->o.inventory);
	r->pod = mem_array(room + 1, sizeof(struct inventory_pod *));
	r->npods = 0;
	for (size_t i = 0; (n = inventory_node_at(r->o.inventory, i)); i++)
		for (struct inventory_pod *p = n->pods; p; p = p->next)
			if (lent_pod_is_ours(r->o.queue, p))
				r->pod[r->npods++] = p;
	qsort(r->pod, r->npods, sizeof(struct inventory_pod *), by_job);
}

static void gather(struct reclaimer *r, const struct uid *job)
{
	size_t least = 0, most = r->npods;
	while (least < most) {
		size_t middle = least + (most - least) / 2;
		if (uid_cmp(&r->pod[middle]->lent->owner_job, job) < 0)
			least = middle + 1;
		else
			most = middle;
	}
	r->nmembers = 0;
	for (; least < r->npods && uid_cmp(&r->pod[least]->lent->owner_job, job) == 0; least++)
		add_member(r, r->pod[least]);
}

static bool is_member_victim(const struct member *m)
{
	return m->look && is_victim(m->look, m->index);
}

/* Says with how many pods the Job may go on: fewer only where any of its pods helps by going. */
static int32_t may_keep(const struct reclaimer *r)
{
	int32_t left = 0;
	for (size_t i = 0; i < r->nmembers; i++) {
		if (lent_pod_is_leaving(r->member[i].pod, r->now_ms))
			continue;
		if (!r->member[i].look)
			return 0;
		left += !is_member_victim(&r->member[i]);
	}
	return left;
}

static void mark_leaving(struct reclaimer *r, const struct member *m, int64_t for_ms)
{
	m->pod->lent->told_ms = r->now_ms - (LENT_POD_LEAVING_MS - for_ms);
	if (!m->look)
		return;
	m->look->reclaim[m->index].leaving = true;
	m->look->took = true;
}

/* Makes a pod no victim in this round: nothing can be had of its Job now. */
static void mark_fixed(const struct member *m)
{
	if (m->look)
		m->look->reclaim[m->index].movable = false;
}

static void look_again_at_members(struct reclaimer *r)
{
	for (size_t i = 0; i < r->nmembers; i++)
		if (r->member[i].look)
			look_again(r, r->member[i].look);
}

static void reason(const struct look *k, char ret[WHY_MAX])
{
	static const char *const words[] = {
		[RECLAIM_NONE] = "",
		[RECLAIM_ALLOCATABLE] = "it lends less now than pods on them ask for",
		[RECLAIM_MEMORY] = "its memory runs short",
		[RECLAIM_CPU] = "the cpu that it lends is too little for the pods that run on it",
	};
	snprintf(ret, WHY_MAX, "idle resources of node %.120s are wanted back: %s", k->node->name,
		words[k->trigger]);
}

static void tell_log(struct reclaimer *r, const struct candidate *c, enum reclaim_action a,
	enum reclaim_trigger t, size_t pods)
{
	const struct inventory_pod *p = c->look->pod[c->pod];
	char job[UID_TEXT_SIZE];
	uid_format(&p->lent->owner_job, job);
	r->counts[t][a]++;
	log_event(r->o.log, LEVEL_INFO, "reclaimed", "node", c->look->node->name, "trigger",
		reclaim_trigger_name(t), "action", reclaim_action_name(a), "pod", p->name, "job",
		job, "#pods", LOG_NUMBER((int64_t)pods), NULL);
}

static void take_job(struct reclaimer *r, const struct candidate *c)
{
	const struct uid *job = &c->look->pod[c->pod]->lent->owner_job;
	enum reclaim_trigger trigger = c->look->trigger;
	char why[WHY_MAX];
	size_t going = 0;
	reason(c->look, why);
	int32_t keep = may_keep(r);
	bool taken = queue_reclaim_job(r->o.queue, job, keep, why);
	if (queue_job_keeps(r->o.queue, job) == 0)
		keep = 0; /* fewer than the Job may go on with: it stops */
	for (size_t i = 0; i < r->nmembers; i++) {
		struct member *m = &r->member[i];
		if (!taken)
			mark_fixed(m);
		else if (keep == 0 || is_member_victim(m))
			r->going[going++] = i;
	}
	for (size_t i = 0; i < going; i++)
		mark_leaving(
			r, &r->member[r->going[i]], keep > 0 ? SHRINKING_MS : LENT_POD_LEAVING_MS);
	if (taken) {
		r->told = true;
		tell_log(r, c, keep > 0 ? RECLAIM_SHRINK : RECLAIM_STOP, trigger, going);
	}
	look_again_at_members(r);
}

/* ---- evictions ------------------------------------------------------------------------------- */

static void on_evicted(const char *pod, enum reclaim_trigger t, bool gone, void *ctx)
{
	struct reclaimer *r = ctx;
	struct inventory_pod *p = inventory_find_pod(r->o.inventory, pod);
	r->counts[t][RECLAIM_EVICT] += gone;
	if (gone || !p || !p->lent)
		return;
	/* The next victim's turn, from the same samples. */
	p->lent->told_ms = 0;
	p->lent->spared_ms = r->now_ms;
	p->node->node_state.reclaim = p->node->node_state.reclaim_before;
	p->node->node_state.news = true;
}

/* Evicts a victim. Without a free place it is a victim again at the next sample. */
static void evict(struct reclaimer *r, const struct candidate *c)
{
	struct look *k = c->look;
	struct inventory_pod *p = k->pod[c->pod];
	struct member m = {.pod = p, .look = k, .index = c->pod};
	char uid[UID_TEXT_SIZE], why[WHY_MAX];
	reason(k, why);
	if (!evictor_send(r->evictor, p->name, &p->uid, k->trigger, why, r->now_ms)) {
		mark_fixed(&m);
		look_again(r, k);
		return;
	}
	uid_format(&p->lent->owner_job, uid);
	log_event(r->o.log, LEVEL_INFO, "reclaimed", "node", k->node->name, "trigger",
		reclaim_trigger_name(k->trigger), "action", "evict", "pod", p->name, "job", uid,
		NULL);
	k->node->node_state.reclaim_before = k->before;
	mark_leaving(r, &m, LENT_POD_LEAVING_MS);
	look_again(r, k);
}

/* ---- the round ------------------------------------------------------------------------------- */

static void take(struct reclaimer *r, const struct candidate *c)
{
	const struct uid *job = &c->look->pod[c->pod]->lent->owner_job;
	if (c->look->reclaim[c->pod].leaving || !is_victim(c->look, c->pod))
		return;
	if (r->o.gate && gate_job_ignores_disruption(r->o.gate, job)) {
		evict(r, c);
		return;
	}
	gather(r, job);
	take_job(r, c);
}

/* Ends a look. What the last look at the node found is of no use: with all told victims gone there
 * was nothing more to find. If none could be told, the next sample counts as this one did. */
static void close_look(struct reclaimer *r, struct look *k)
{
	struct node_state *a = &k->node->node_state;
	a->reclaim = k->before;
	a->look = 0;
	if (k->took)
		a->reclaim = (struct reclaim_memory){.last_ms = r->now_ms};
	look_done(k);
}

/* Takes each victim: it is told, or cannot be moved. Either way it is none the next time. */
static bool take_all(struct reclaimer *r)
{
	size_t n;
	struct candidate *all = order_all(r, &n);
	for (size_t i = 0; i < n; i++)
		take(r, &all[i]);
	free(all);
	return n > 0;
}

bool reclaimer_tick(struct reclaimer *r, int64_t now_ms)
{
	r->now_ms = now_ms;
	r->told = false;
	look_at_all(r);
	if (r->nlooks == 0)
		return false;
	for (size_t i = 0; i < r->nlooks; i++)
		r->look[i].node->node_state.look = i + 1;
	index_pods(r);
	while (take_all(r))
		;
	for (size_t i = 0; i < r->nlooks; i++)
		close_look(r, &r->look[i]);
	free(r->pod);
	r->pod = NULL;
	return r->told;
}
