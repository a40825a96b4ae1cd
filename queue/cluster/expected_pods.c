/*
 * Owners: Jobs with bound or expected pods.
 *
 * Expected pods are put on nodes when a question is asked, not when they are told. So all facts
 * told before count, in whatever order they came. Pods of the run that was admitted first are put
 * first. When a node changes, the expected pods on it are taken off, and put again at the next
 * question. Pods that found no room are tried again when something has changed. An owner with
 * expected pods that are not put anywhere is restless; only those are looked at.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/cluster/fit_cache.h"
#include "queue/cluster/pod.h"

static bool has_uid(const void *value, const void *key)
{
	return uid_cmp(&((const struct owner *)value)->uid, key) == 0;
}

void owners_init(struct nodes *n)
{
	map_init(&n->owners, has_uid);
}

void owners_done(struct nodes *n)
{
	struct owner *o;
	map_each(&n->owners, i, o)
		o->wanted = 0;
}

static void owner_free(struct owner *o)
{
	arena_done(&o->arena);
	free(o);
}

void owners_free(struct nodes *n)
{
	map_free(&n->owners, owner_free);
}

struct owner *owner_find(const struct nodes *n, const struct uid *uid)
{
	return map_get(&n->owners, uid_hash(uid), uid);
}

static struct owner *owner_of(struct nodes *n, const struct uid *uid)
{
	struct owner *o = owner_find(n, uid);
	if (o)
		return o;
	o = mem_alloc(sizeof(*o));
	o->uid = *uid;
	map_put(&n->owners, uid_hash(uid), o);
	return o;
}

/* ---- Restless owners ------------------------------------------------------------------------- */

/* Expected, and not bound yet. */
static int32_t to_come(const struct owner *o)
{
	return o->wanted > o->nbound ? o->wanted - o->nbound : 0;
}

static void join_restless(struct nodes *n, struct owner *o)
{
	struct owner *before = n->last_restless;
	while (before && before->turn > o->turn)
		before = before->previous;
	o->previous = before;
	o->next = before ? before->next : n->first_restless;
	*(o->next ? &o->next->previous : &n->last_restless) = o;
	*(before ? &before->next : &n->first_restless) = o;
	o->restless = true;
}

static void leave_restless(struct nodes *n, struct owner *o)
{
	*(o->previous ? &o->previous->next : &n->first_restless) = o->next;
	*(o->next ? &o->next->previous : &n->last_restless) = o->previous;
	o->next = o->previous = NULL;
	o->restless = false;
}

/* After its counts have changed. */
static void owner_look(struct nodes *n, struct owner *o)
{
	bool restless = to_come(o) > o->nput;
	if (restless && !o->restless)
		join_restless(n, o);
	else if (!restless && o->restless)
		leave_restless(n, o);
}

static void bury(struct nodes *n, struct owner *o)
{
	if (o->wanted > 0 || o->nbound > 0 || o->nput > 0)
		return;
	map_take(&n->owners, uid_hash(&o->uid), &o->uid);
	owner_free(o);
}

/* ---- Bound pods ------------------------------------------------------------------------------ */

static struct node_pod *put_on(const struct owner *o, const struct node *node)
{
	for (struct node_pod *t = node->node_pods; t; t = t->next)
		if (t->expected && t->owner == o)
			return t;
	return NULL;
}

/* An expected pod was bound: one less is expected on this node, or else on another one. */
static void one_came(struct nodes *n, struct owner *o, const struct node *node)
{
	struct node_pod *here = o->nput > 0 && node->nexpected > 0 ? put_on(o, node) : NULL;
	if (here)
		node_pod_take_off(n, here);
	while (o->nput > to_come(o)) {
		node_pod_take_off(n, o->put);
		n->vacated++;
	}
}

void owner_has(struct nodes *n, struct node_pod *t, const struct uid *uid)
{
	static const struct uid nobody;
	if (uid_cmp(uid, &nobody) == 0)
		return;
	struct owner *o = t->owner = owner_of(n, uid);
	t->next_owned = o->bound;
	if (t->next_owned)
		t->next_owned->previous_owned = t;
	o->bound = t;
	o->nbound++;
	one_came(n, o, t->node);
	owner_look(n, o);
}

void owner_loses(struct nodes *n, struct node_pod *t)
{
	struct owner *o = t->owner;
	if (!o)
		return;
	if (t->next_owned)
		t->next_owned->previous_owned = t->previous_owned;
	if (t->previous_owned)
		t->previous_owned->next_owned = t->next_owned;
	else
		*(t->expected ? &o->put : &o->bound) = t->next_owned;
	*(t->expected ? &o->nput : &o->nbound) -= t->pods;
	owner_look(n, o);
	if (!t->expected)
		bury(n, o);
}

void owners_move_off(struct nodes *n, struct node *node)
{
	struct node_pod *t = node->node_pods, *next;
	for (; t && node->nexpected > 0; t = next) {
		next = t->next;
		if (t->expected)
			node_pod_free(n, t);
	}
}

/* ---- Expected pods --------------------------------------------------------------------------- */

static void take_all_off(struct nodes *n, struct owner *o)
{
	for (struct node_pod *t = o->put, *next; t; t = next) {
		next = t->next_owned;
		node_pod_free(n, t);
	}
}

void owners_dress_anew(struct nodes *n, const char *runtime_class)
{
	struct owner *o;
	map_each(&n->owners, i, o) {
		if (o->wanted == 0 || strcmp(o->pod->resources.runtime_class, runtime_class) != 0)
			continue;
		take_all_off(n, o);
		o->requests = NULL;
	}
}

static uint64_t fingerprint_of(const struct pod *p)
{
	struct buf b;
	buf_init(&b, SIZE_MAX / 2);
	fingerprint_bound(&b, p);
	fingerprint_wanted(&b, p);
	key_string(&b, p->scheduler);
	if (p->resources.runtime_class)
		buf_add(&b, p->resources.runtime_class, strlen(p->resources.runtime_class));
	uint64_t fingerprint = map_hash_bytes(b.ptr, b.len);
	buf_done(&b);
	return fingerprint;
}

static void expect_such(struct nodes *n, struct owner *o, const struct pod *p)
{
	uint64_t fingerprint = fingerprint_of(p);
	if (o->pod && o->fingerprint == fingerprint)
		return;
	take_all_off(n, o);
	arena_done(&o->arena);
	struct pod *copy = arena_take(&o->arena, 1, sizeof(*copy));
	copy_pod(&o->arena, p, copy);
	o->pod = copy;
	o->fingerprint = fingerprint;
	o->requests = NULL;
	n->vacated += !n->quiet;
	nodes_told(n);
}

static struct owner *expect(
	struct nodes *n, const struct uid *uid, const struct pod *p, int32_t pods)
{
	struct owner *o = owner_of(n, uid);
	if (o->wanted == 0)
		o->turn = ++n->turns;
	int32_t before = o->wanted;
	o->wanted = pods;
	expect_such(n, o, p);
	while (o->nput > to_come(o))
		node_pod_take_off(n, o->put);
	owner_look(n, o);
	n->vacated += !n->quiet && pods < before;
	if (pods != before)
		nodes_told(n);
	return o;
}

static void expect_no_more(struct nodes *n, struct owner *o)
{
	o->wanted = 0;
	take_all_off(n, o);
	arena_done(&o->arena);
	o->pod = NULL;
	o->requests = NULL;
	owner_look(n, o);
	bury(n, o);
}

void nodes_expect(struct nodes *n, const struct uid *owner, const struct pod *p, int32_t pods)
{
	if (pods > 0) {
		expect(n, owner, p, pods);
		return;
	}
	struct owner *o = owner_find(n, owner);
	if (!o || o->wanted == 0)
		return;
	expect_no_more(n, o);
	n->vacated++;
	nodes_told(n);
}

/* ---- Putting them on nodes ------------------------------------------------------------------- */

static void keep_requests(struct owner *o, const struct pod *dressed)
{
	struct resource_list *requests = arena_take(&o->arena, 1, sizeof(*requests));
	*requests = copy_requests(&o->arena, &dressed->resources);
	o->requests = requests;
}

static void put_where_fits(struct nodes *n, struct owner *o, const struct pod *p)
{
	size_t nrepels, count;
	struct fit_cache *s = fit_cache_of(n, p);
	if (s->tally.fitting == 0)
		return;
	struct anti_affinity **repels = anti_affinities_against(n, p, &nrepels);
	struct spot *all = fit_cache_place(s, n, repels, nrepels, to_come(o) - o->nput, &count);
	if (!o->requests)
		keep_requests(o, p);
	for (size_t i = 0; i < count; i++)
		if (all[i].placed > 0)
			node_pod_expect(n, o, all[i].node, all[i].placed);
	free(all);
	free(repels);
}

static void put(struct nodes *n, struct owner *o)
{
	struct arena arena = {0};
	struct pod dressed;
	const struct pod *p = runtimes_dress(n, o->pod, &arena, &dressed);
	if (nodes_knows_scheduler(p))
		put_where_fits(n, o, p);
	arena_done(&arena);
	owner_look(n, o);
}

/* Kinds of pods that did not all fit in this turn: the next owner of the kind is not asked. */
#define FAILED_MAX 64

struct failed {
	uint64_t fingerprint[FAILED_MAX];
	size_t n;
};

static bool has_failed(const struct failed *f, uint64_t fingerprint)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->fingerprint[i] == fingerprint)
			return true;
	return false;
}

void owners_settle(struct nodes *n)
{
	struct failed failed = {.n = 0};
	if (n->settled == n->facts)
		return;
	n->settled = n->facts;
	n->quiet = true;
	for (struct owner *o = n->first_restless, *next; o; o = next) {
		next = o->next;
		uint64_t fingerprint = o->fingerprint;
		if (has_failed(&failed, fingerprint))
			continue;
		put(n, o);
		if (o->restless && failed.n < FAILED_MAX)
			failed.fingerprint[failed.n++] = fingerprint;
	}
	n->quiet = false;
}

/* ---- for a question -------------------------------------------------------------------------- */

void owner_each_node_pod(struct nodes *n, const struct owner *o,
	void (*act)(struct nodes *n, struct node_pod *t, void *ctx), void *ctx)
{
	for (struct node_pod *t = o->bound; t; t = t->next_owned)
		act(n, t, ctx);
	for (struct node_pod *t = o->put; t; t = t->next_owned)
		act(n, t, ctx);
}

/* The uid of no Job. */
static const struct uid pretended = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};

void owners_pretend(struct nodes *n, const struct pod *p, int32_t pods)
{
	n->quiet = true;
	if (pods > 0)
		put(n, expect(n, &pretended, p, pods));
	n->quiet = false;
}

void owners_pretend_no_more(struct nodes *n)
{
	struct owner *o = owner_find(n, &pretended);
	n->quiet = true;
	if (o)
		expect_no_more(n, o);
	n->quiet = false;
}
