/*
 * Tenants: the pods that are on a node: those that are bound, known by their uid, and those of a
 * run that are expected there, which are one tenant for each run and node.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "cluster/copy.h"
#include "cluster/print.h"
#include "cluster/world.h"
#include "job/copies.h"
#include "sluice/quantity.h"

/* ---- what they take of a node ---------------------------------------------------------------- */

static void use(const struct nodes *n, struct node *node, const struct tenant *t)
{
	for (size_t i = 0; i < t->requests.count; i++) {
		int32_t r = node_shapes_resource(&n->shapes, t->requests.item[i].name);
		if (r >= 0)
			node->used[r] = quantity_add(
				node->used[r], quantity_times(t->requests.item[i].amount, t->pods));
	}
}

void tenants_recount(struct nodes *n, struct node *node)
{
	free(node->used);
	node->used = mem_array(n->shapes.nresources + 1, sizeof(*node->used));
	for (const struct tenant *t = node->tenants; t; t = t->next)
		use(n, node, t);
}

/* Taken away where that is exact; a sum that stopped at the largest number cannot go back. */
static void unuse(struct nodes *n, struct node *node, const struct tenant *t, int32_t pods)
{
	for (size_t i = 0; i < t->requests.count; i++) {
		int32_t r = node_shapes_resource(&n->shapes, t->requests.item[i].name);
		if (r < 0)
			continue;
		if (node->used[r] == INT64_MAX) {
			tenants_recount(n, node);
			return;
		}
		node->used[r] -= quantity_times(t->requests.item[i].amount, pods);
	}
}

static void settle(struct nodes *n, struct tenant *t, struct node *node)
{
	t->node = node;
	t->previous = NULL;
	t->next = node->tenants;
	if (t->next)
		t->next->previous = t;
	node->tenants = t;
	node->ntenants += t->pods;
	node->nexpected += t->expected;
	node->nports += t->nports;
	use(n, node, t);
}

static void leave(struct nodes *n, struct tenant *t)
{
	struct node *node = t->node;
	if (t->previous)
		t->previous->next = t->next;
	else
		node->tenants = t->next;
	if (t->next)
		t->next->previous = t->previous;
	node->ntenants -= t->pods;
	node->nexpected -= t->expected;
	node->nports -= t->nports;
	unuse(n, node, t, t->pods);
}

void tenant_lift(struct nodes *n, struct tenant *t)
{
	repellents_lift(t);
	leave(n, t);
}

void tenant_land(struct nodes *n, struct tenant *t)
{
	settle(n, t, t->node);
	repellents_land(t);
}

/* ---- one of them ----------------------------------------------------------------------------- */

static struct tenant *tenant_new(const struct bound_pod *b, uint64_t print)
{
	struct tenant *t = mem_alloc(sizeof(*t));
	const struct pod *p = b->pod;
	t->uid = b->uid;
	t->pods = 1;
	t->print = print;
	t->deleting = b->deleting;
	t->ns = arena_string(&t->arena, p->ns);
	t->labels = labels_copy(&t->arena, p->labels, p->nlabels);
	t->nlabels = p->nlabels;
	t->ports = copy_host_ports(&t->arena, p->host_ports, p->nhost_ports);
	t->nports = p->nhost_ports;
	t->requests = copy_requests(&t->arena, &p->resources);
	return t;
}

static void move_in(struct nodes *n, struct tenant *t, struct node *node, const struct pod *p)
{
	settle(n, t, node);
	repellents_of(n, t, p);
	census_count(n, t->labels, t->nlabels);
}

void tenant_free(struct nodes *n, struct tenant *t)
{
	struct node *node = t->node;
	if (!t->expected)
		map_take(&n->tenants, uid_hash(&t->uid), &t->uid);
	repellents_leave(n, t);
	census_uncount(n, t->labels, t->nlabels);
	leave(n, t);
	owner_loses(n, t);
	arena_done(&t->arena);
	free(t);
	world_changed(n, node);
	world_bury(n, node);
}

/* ---- expected -------------------------------------------------------------------------------- */

void tenant_expect(struct nodes *n, struct owner *o, struct node *node, int32_t pods)
{
	struct tenant *t = mem_alloc(sizeof(*t));
	const struct pod *p = o->pod;
	must(node->known && o->requests && pods > 0);
	t->pods = pods;
	t->expected = true;
	t->owner = o;
	t->ns = p->ns;
	t->labels = p->labels;
	t->nlabels = p->nlabels;
	t->ports = p->host_ports;
	t->nports = p->nhost_ports;
	t->requests = *o->requests;
	move_in(n, t, node, p);
	t->next_owned = o->put;
	if (t->next_owned)
		t->next_owned->previous_owned = t;
	o->put = t;
	o->nput += pods;
	world_changed(n, node);
}

void tenant_take_off(struct nodes *n, struct tenant *t)
{
	must(t->expected);
	if (t->pods == 1) {
		tenant_free(n, t);
		return;
	}
	unuse(n, t->node, t, 1);
	t->pods--;
	t->node->ntenants--;
	t->owner->nput--;
	world_changed(n, t->node);
}

/* ---- bound ----------------------------------------------------------------------------------- */

static uint64_t print_of(const struct bound_pod *b)
{
	struct buf print;
	buf_init(&print, SIZE_MAX / 2);
	print_bound(&print, b->pod);
	buf_putc(&print, b->deleting ? '1' : '0');
	buf_add(&print, &b->owner, sizeof(b->owner));
	uint64_t hash = map_hash_bytes(print.ptr, print.len);
	buf_done(&print);
	return hash;
}

/* More on it than it takes. */
static bool is_over_full(const struct nodes *n, const struct node *node)
{
	if (!node->known)
		return false;
	for (size_t r = 0; r < n->shapes.nresources; r++)
		if (node->used[r] > node->shape->amount[r] &&
			strcmp(n->shapes.resource[r], "pods") != 0)
			return true;
	int32_t pods = node_shapes_resource(&n->shapes, "pods");
	return pods < 0 || node->ntenants > node->shape->amount[pods];
}

/* Who is there keeps those off that were to come: looked at on its node, and by what both are,
 * roughly: they may well be put there again. */
static void make_way(struct nodes *n, const struct tenant *t)
{
	struct node *node = t->node;
	if (node->nexpected > 0 && (t->nrepels > 0 || t->nports > 0 || is_over_full(n, node)))
		owners_move_off(n, node);
}

void nodes_bind(struct nodes *n, const struct bound_pod *p)
{
	uint64_t print = print_of(p);
	struct tenant *old = map_get(&n->tenants, uid_hash(&p->uid), &p->uid);
	if (old && old->print == print && strcmp(old->node->name, p->node) == 0)
		return;
	n->vacated += old || n->wants_company;
	if (old)
		tenant_free(n, old);
	struct node *node = world_node(n, p->node);
	struct tenant *t = tenant_new(p, print);
	move_in(n, t, node, p->pod);
	map_put(&n->tenants, uid_hash(&t->uid), t);
	owner_has(n, t, &p->owner);
	make_way(n, t);
	world_changed(n, node);
}

void nodes_unbind(struct nodes *n, const struct uid *uid)
{
	struct tenant *t = map_get(&n->tenants, uid_hash(uid), uid);
	if (!t)
		return;
	n->vacated++;
	tenant_free(n, t);
}
