#include "controller/overcommit/inventory.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

#define POD_NAME_MAX 512

struct inventory {
	struct map nodes, pods; /* by name; pods that are not dangling */
	struct inventory_node **order;
	size_t norder, room;
	uint32_t node_list, pod_list, round;
	size_t bytes;
	void (*drop)(struct inventory_node *n, void *ctx);
	void *ctx;
	void (*lent)(struct inventory_node *n, void *ctx);
	void *lent_ctx;
};

static bool node_has_name(const void *value, const void *key)
{
	return strcmp(((const struct inventory_node *)value)->name, key) == 0;
}

static bool pod_has_name(const void *value, const void *key)
{
	return strcmp(((const struct inventory_pod *)value)->name, key) == 0;
}

struct inventory *inventory_new(void)
{
	struct inventory *v = mem_alloc(sizeof(*v));
	map_init(&v->nodes, node_has_name);
	map_init(&v->pods, pod_has_name);
	v->round = 1;
	return v;
}

void inventory_on_drop(
	struct inventory *v, void (*drop)(struct inventory_node *n, void *ctx), void *ctx)
{
	v->drop = drop;
	v->ctx = ctx;
}

void inventory_on_lent(
	struct inventory *v, void (*fn)(struct inventory_node *n, void *ctx), void *ctx)
{
	v->lent = fn;
	v->lent_ctx = ctx;
}

static void tell_lent(const struct inventory *v, struct inventory_node *n)
{
	if (v->lent && n->facts)
		v->lent(n, v->lent_ctx);
}

/* Makes the key of a pod; false: too long for any object there is. */
static bool pod_key(const char *ns, const char *name, char ret[POD_NAME_MAX])
{
	return snprintf(ret, POD_NAME_MAX, "%s/%s", ns, name) < POD_NAME_MAX;
}

/* ---- pods ------------------------------------------------------------------------------------ */

static void free_containers(struct inventory *v, struct inventory_lent *l)
{
	if (l->containers)
		v->bytes -= malloc_usable_size(l->containers);
	free(l->containers);
	l->containers = NULL;
	l->ncontainers = 0;
}

static void pod_free(struct inventory *v, struct inventory_pod *p)
{
	if (p->lent) {
		free_containers(v, p->lent);
		v->bytes -= malloc_usable_size(p->lent);
		free(p->lent);
	}
	v->bytes -= malloc_usable_size(p);
	free(p);
}

static void take_off(struct inventory_pod **list, const struct inventory_pod *p)
{
	while (*list != p)
		list = &(*list)->next;
	*list = p->next;
}

static void leave_node(struct inventory_pod *p)
{
	struct inventory_node *n = p->node;
	take_off(p->dangling ? &n->dangling : &n->pods, p);
	n->npods -= !p->dangling;
	n->dirty = true;
}

static void join_node(struct inventory_pod *p, struct inventory_node *n)
{
	p->node = n;
	p->next = n->pods;
	n->pods = p;
	n->npods++;
	n->dirty = true;
}

static void free_list(struct inventory *v, struct inventory_pod *p)
{
	for (struct inventory_pod *next; p; p = next) {
		next = p->next;
		pod_free(v, p);
	}
}

/* Makes a pod dangling: its use is still in the node's next sample. */
static void dangle(struct inventory_pod *p)
{
	struct inventory_node *n = p->node;
	leave_node(p);
	p->dangling = true;
	p->next = n->dangling;
	n->dangling = p;
}

static void drop_pod(struct inventory *v, const char *key)
{
	struct inventory_pod *p = inventory_find_pod(v, key);
	if (!p)
		return;
	struct inventory_node *lent_on = p->lent && !p->dangling ? p->node : NULL;
	/* A dangling pod can be found by its name, until another has that or a round is over. */
	if (p->used_ms != 0 && !p->dangling) {
		dangle(p);
	} else {
		map_take(&v->pods, map_hash_string(key), key);
		leave_node(p);
		pod_free(v, p);
	}
	if (lent_on)
		tell_lent(v, lent_on);
}

void inventory_drop_pod(struct inventory *v, const char *ns, const char *name)
{
	char key[POD_NAME_MAX];
	const struct inventory_pod *p = pod_key(ns, name, key) ? inventory_find_pod(v, key) : NULL;
	if (p && !p->dangling)
		drop_pod(v, key);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

struct inventory_node *inventory_find(const struct inventory *v, const char *name)
{
	return map_get(&v->nodes, map_hash_string(name), name);
}

static struct inventory_node *want_node(struct inventory *v, const char *name)
{
	struct inventory_node *n = inventory_find(v, name);
	if (n)
		return n;
	n = mem_alloc(sizeof(*n) + strlen(name) + 1);
	memcpy(n->name, name, strlen(name) + 1);
	node_state_init(&n->node_state);
	map_put(&v->nodes, map_hash_string(name), n);
	v->order = mem_room(v->order, v->norder, &v->room, 64, sizeof(struct inventory_node *));
	v->order[v->norder++] = n;
	v->bytes += malloc_usable_size(n);
	return n;
}

static void free_facts(struct inventory *v, struct inventory_node *n)
{
	if (n->facts)
		v->bytes -= malloc_usable_size(n->facts);
	free(n->facts);
	n->facts = NULL;
}

static void free_agent(struct inventory *v, struct inventory_node *n)
{
	if (n->agent)
		v->bytes -= malloc_usable_size(n->agent);
	free(n->agent);
	n->agent = NULL;
	n->by_agent = false;
}

static void node_free(struct inventory *v, struct inventory_node *n)
{
	free_facts(v, n);
	free_agent(v, n);
	free_list(v, n->dangling);
	free_list(v, n->pods);
	node_state_done(&n->node_state);
	v->bytes -= malloc_usable_size(n);
	free(n);
}

/* Takes a dangling pod off the list that *at is in. */
static void free_dangling(struct inventory *v, struct inventory_pod **at)
{
	struct inventory_pod *p = *at;
	*at = p->next;
	p->node->dirty = true;
	if (map_get(&v->pods, map_hash_string(p->name), p->name) == p)
		map_take(&v->pods, map_hash_string(p->name), p->name);
	pod_free(v, p);
}

static void forget_dangling(struct inventory *v, struct inventory_node *n, bool all)
{
	for (struct inventory_pod **at = &n->dangling, *p; (p = *at);)
		if (!all && p->sampled == v->round)
			at = &p->next;
		else
			free_dangling(v, at);
}

static void remove_node(struct inventory *v, size_t index)
{
	struct inventory_node *n = v->order[index];
	forget_dangling(v, n, true);
	memmove(&v->order[index], &v->order[index + 1],
		(v->norder - index - 1) * sizeof(struct inventory_node *));
	v->norder--;
	map_take(&v->nodes, map_hash_string(n->name), n->name);
	node_free(v, n);
}

static size_t index_of(const struct inventory *v, const struct inventory_node *n)
{
	size_t i = 0;
	while (v->order[i] != n)
		i++;
	return i;
}

/* Forgets what was known of a node, which stays while pods name it. */
static void lose_node(struct inventory *v, struct inventory_node *n)
{
	if (n->facts && v->drop)
		v->drop(n, v->ctx);
	free_facts(v, n);
	free_agent(v, n);
	forget_dangling(v, n, true);
	node_state_done(&n->node_state);
	node_state_init(&n->node_state);
	n->used_ms = 0;
	n->sampled = false;
	if (!n->pods)
		remove_node(v, index_of(v, n));
}

void inventory_see_node(struct inventory *v, struct node_facts *f)
{
	struct inventory_node *n = inventory_find(v, f->name);
	if (n && n->facts && uid_cmp(&n->facts->uid, &f->uid) != 0)
		lose_node(v, n); /* another machine of that name */
	n = want_node(v, f->name);
	free_facts(v, n);
	n->facts = f;
	v->bytes += malloc_usable_size(f);
	n->seen = v->node_list;
	n->dirty = true;
	n->node_state.version = 0; /* labels choose the strategy */
}

void inventory_drop_node(struct inventory *v, const char *name)
{
	struct inventory_node *n = inventory_find(v, name);
	if (n)
		lose_node(v, n);
}

/* ---- pods as they are seen ------------------------------------------------------------------- */

static bool asks(const struct load *l)
{
	return l->cpu_milli > 0 || l->memory_bytes > 0;
}

static bool same_load(struct load a, struct load b)
{
	return a.cpu_milli == b.cpu_milli && a.memory_bytes == b.memory_bytes;
}

static bool same_containers(const struct inventory_lent *l, const struct pod_facts *f)
{
	for (size_t i = 0; i < l->ncontainers && i < f->ncontainers; i++)
		if (!same_load(l->containers[i].asked, f->containers[i].asked) ||
			strcmp(l->containers[i].id, f->containers[i].id) != 0)
			return false;
	return l->ncontainers == f->ncontainers;
}

static void set_containers(struct inventory *v, struct inventory_lent *l, const struct pod_facts *f)
{
	free_containers(v, l);
	if (f->ncontainers == 0)
		return;
	l->containers = mem_array(f->ncontainers, sizeof(*l->containers));
	memcpy(l->containers, f->containers, f->ncontainers * sizeof(*l->containers));
	l->ncontainers = f->ncontainers;
	v->bytes += malloc_usable_size(l->containers);
}

/* Whether the agent of the node has to know of what f says: the order in which pods give way may
 * hang on it. */
static bool differs(const struct inventory_pod *p, const struct pod_facts *f)
{
	const struct inventory_lent *l = p->lent;
	return !l || !same_load(l->batch, f->batch_asked) ||
	       !same_load(l->gocran, f->gocran_asked) || l->queued != f->queued ||
	       l->has_owner_job != f->has_owner_job ||
	       l->eviction_priority != f->eviction_priority || l->started_ms != f->started_ms ||
	       p->deleting != f->deleting || !same_containers(l, f);
}

/* Takes what f says of lent resources; true: something new. */
static bool set_lent(struct inventory *v, struct inventory_pod *p, const struct pod_facts *f)
{
	if (!asks(&f->batch_asked) && !asks(&f->gocran_asked))
		return false;
	bool news = differs(p, f);
	if (!p->lent) {
		p->lent = mem_alloc(sizeof(*p->lent));
		p->lent->quota_milli = -1;
		v->bytes += malloc_usable_size(p->lent);
	}
	p->lent->batch = f->batch_asked;
	p->lent->gocran = f->gocran_asked;
	p->lent->owner_job = f->owner_job;
	p->lent->has_owner_job = f->has_owner_job;
	p->lent->queued = f->queued;
	p->lent->eviction_priority = f->eviction_priority;
	p->lent->started_ms = f->started_ms;
	p->lent->looked_at = f->looked_at;
	if (!same_containers(p->lent, f))
		set_containers(v, p->lent, f);
	return news;
}

static struct inventory_pod *new_pod(struct inventory *v, const char *key, struct inventory_node *n)
{
	struct inventory_pod *p = mem_alloc(sizeof(*p) + strlen(key) + 1);
	memcpy(p->name, key, strlen(key) + 1);
	v->bytes += malloc_usable_size(p);
	map_put(&v->pods, map_hash_string(key), p);
	join_node(p, n);
	return p;
}

/* Finds the pod of that name as it was, or NULL; another object that had the name is put aside. */
static struct inventory_pod *same_pod(
	struct inventory *v, const char *key, const struct pod_facts *f)
{
	struct inventory_pod *p = inventory_find_pod(v, key);
	if (!p)
		return NULL;
	if (!p->dangling && uid_cmp(&p->uid, &f->uid) == 0 && strcmp(p->node->name, f->node) == 0)
		return p;
	if (!p->dangling)
		drop_pod(v, key);
	map_take(&v->pods, map_hash_string(key), key); /* dangling, if it still exists */
	return NULL;
}

void inventory_see_pod(struct inventory *v, const struct pod_facts *f)
{
	char key[POD_NAME_MAX];
	if (!pod_key(f->ns, f->name, key))
		return;
	if (f->phase == POD_OVER || !f->node[0]) {
		inventory_drop_pod(v, f->ns, f->name);
		return;
	}
	struct inventory_pod *p = same_pod(v, key, f);
	if (!p)
		p = new_pod(v, key, want_node(v, f->node));
	p->uid = f->uid;
	p->request = f->request;
	p->priority = f->tier.has_priority ? f->tier.priority : 0;
	p->tier[PROFILE_ACK] = (uint8_t)tier_of(PROFILE_ACK, &f->tier);
	p->tier[PROFILE_KOORDINATOR] = (uint8_t)tier_of(PROFILE_KOORDINATOR, &f->tier);
	p->seen = v->pod_list;
	p->node->dirty = true;
	bool news = set_lent(v, p, f);
	p->deleting = f->deleting;
	if (news)
		tell_lent(v, p->node);
}

/* ---- lists ----------------------------------------------------------------------------------- */

void inventory_begin_nodes(struct inventory *v)
{
	v->node_list++;
}

void inventory_end_nodes(struct inventory *v)
{
	for (size_t i = v->norder; i-- > 0;) {
		struct inventory_node *n = v->order[i];
		if (n->facts && n->seen != v->node_list)
			lose_node(v, n);
	}
}

void inventory_begin_pods(struct inventory *v)
{
	v->pod_list++;
}

void inventory_end_pods(struct inventory *v)
{
	for (size_t i = v->norder; i-- > 0;) {
		struct inventory_node *n = v->order[i];
		for (struct inventory_pod *p = n->pods, *next; p; p = next) {
			next = p->next;
			if (p->seen != v->pod_list)
				drop_pod(v, p->name);
		}
		if (!n->pods && !n->facts)
			remove_node(v, i);
	}
}

void inventory_clear(struct inventory *v)
{
	for (size_t i = 0; i < v->norder; i++) {
		if (v->order[i]->facts && v->drop)
			v->drop(v->order[i], v->ctx);
		node_free(v, v->order[i]);
	}
	v->norder = 0;
	map_done(&v->nodes);
	map_done(&v->pods);
	map_init(&v->nodes, node_has_name);
	map_init(&v->pods, pod_has_name);
}

void inventory_free(struct inventory *v)
{
	if (!v)
		return;
	v->drop = v->lent = NULL;
	inventory_clear(v);
	map_done(&v->nodes);
	map_done(&v->pods);
	free(v->order);
	free(v);
}

/* ---- samples --------------------------------------------------------------------------------- */

bool inventory_sample_node(struct inventory *v, const struct usage_facts *u)
{
	struct inventory_node *n = inventory_find(v, u->name);
	if (!n || !n->facts || u->at_ms <= n->used_ms)
		return false;
	n->used = u->used;
	n->used_ms = u->at_ms;
	n->by_agent = false;
	n->sampled = n->dirty = true;
	return true;
}

struct inventory_pod *inventory_find_pod(const struct inventory *v, const char *key)
{
	return map_get(&v->pods, map_hash_string(key), key);
}

bool inventory_sample_pod(struct inventory *v, const struct usage_facts *u)
{
	char key[POD_NAME_MAX];
	struct inventory_pod *p = pod_key(u->ns, u->name, key) ? inventory_find_pod(v, key) : NULL;
	if (!p)
		return false;
	p->sampled = v->round;
	if (u->at_ms <= p->used_ms)
		return false;
	p->used = u->used;
	p->used_ms = u->at_ms;
	return true;
}

/* ---- samples of agents ----------------------------------------------------------------------- */

enum {
	LATE_MS = 5000,	     /* how late a sample may be before its agent is silent */
	CALM_MS = 30000,     /* the longest time between samples of a calm node */
	MENTIONED_MS = 90000 /* all lent pods are named each minute */
};

bool inventory_has_agent(const struct inventory_node *n, int64_t now_ms)
{
	const struct inventory_agent *a = n->agent;
	if (!a || a->at_ms > now_ms)
		return a && a->at_ms - now_ms < LATE_MS; /* it came since the tick began */
	int64_t apart_ms = a->before_ms ? a->at_ms - a->before_ms : 0;
	return now_ms - a->at_ms < LATE_MS + (apart_ms < CALM_MS ? apart_ms : CALM_MS);
}

static const struct sampled_pod *find_sampled(const struct sample *s, const struct uid *uid)
{
	for (size_t i = 0; i < s->npods; i++)
		if (uid_cmp(&s->pods[i].uid, uid) == 0)
			return &s->pods[i];
	return NULL;
}

/* Gives a lent pod what the agent says of it. Where it says nothing, the pod uses what it used. */
static void take_pod(struct inventory_pod *p, const struct sample *s, int64_t at_ms, bool counts)
{
	const struct sampled_pod *now = find_sampled(s, &p->uid);
	struct inventory_lent *l = p->lent;
	if (now) {
		l->agent_ms = at_ms;
		l->quota_milli = now->quota_milli;
		l->over = now->over;
	}
	if (!counts || l->agent_ms == 0 || l->agent_ms > at_ms ||
		at_ms - l->agent_ms >= MENTIONED_MS)
		return;
	if (now)
		p->used = now->used;
	p->used_ms = at_ms;
}

/* Forgets dangling pods whose last moment was before the one that this sample is of. */
static void take_dangling(struct inventory *v, struct inventory_node *n, const struct sample *s,
	int64_t before_ms, int64_t at_ms)
{
	for (struct inventory_pod **at = &n->dangling, *p; (p = *at);) {
		if (p->lent && find_sampled(s, &p->uid))
			take_pod(p, s, at_ms, true);
		if (p->used_ms < before_ms)
			free_dangling(v, at);
		else
			at = &p->next;
	}
}

struct inventory_agent *inventory_want_agent(struct inventory *v, struct inventory_node *n)
{
	if (n->agent)
		return n->agent;
	n->agent = mem_alloc(sizeof(*n->agent));
	v->bytes += malloc_usable_size(n->agent);
	return n->agent;
}

void inventory_take_agent(struct inventory *v, struct inventory_node *n, const struct sample *s,
	int64_t at_ms, bool counts)
{
	struct inventory_agent *a = inventory_want_agent(v, n);
	if (window_of_the_future(n->used_ms, at_ms))
		n->used_ms = a->at_ms = 0; /* the clock was set back */
	counts &= s->has_used && at_ms > n->used_ms;
	for (struct inventory_pod *p = n->pods; p; p = p->next)
		if (p->lent)
			take_pod(p, s, at_ms, counts);
	if (!counts)
		return;
	a->before_ms = a->at_ms;
	a->at_ms = at_ms;
	a->pods_used = s->pods_used;
	take_dangling(v, n, s, a->before_ms, at_ms);
	n->used = s->used;
	n->used_ms = at_ms;
	n->by_agent = n->sampled = n->dirty = true;
}

void inventory_end_round(struct inventory *v)
{
	for (size_t i = 0; i < v->norder; i++)
		if (v->order[i]->dangling)
			forget_dangling(v, v->order[i], false);
	v->round++;
}

/* ---- what there is --------------------------------------------------------------------------- */

size_t inventory_nodes(const struct inventory *v)
{
	return v->norder;
}

struct inventory_node *inventory_node_at(const struct inventory *v, size_t index)
{
	return index < v->norder ? v->order[index] : NULL;
}

size_t inventory_pods(const struct inventory *v)
{
	return v->pods.count;
}

static size_t slots(const struct map *m)
{
	return m->slot ? (m->mask + 1) * sizeof(struct map_slot) : 0;
}

size_t inventory_bytes(const struct inventory *v)
{
	return v->bytes + slots(&v->nodes) + slots(&v->pods) +
	       v->room * sizeof(struct inventory_node *);
}
