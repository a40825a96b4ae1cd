/* Tenants: the pods that are bound, known by their uid, each on one node. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cluster/copy.h"
#include "cluster/print.h"
#include "cluster/world.h"
#include "sluice/quantity.h"

/* ---- what they take of a node ---------------------------------------------------------------- */

static void use(const struct nodes *n, struct node *node, const struct tenant *t)
{
	for (size_t i = 0; i < t->requests.count; i++) {
		int32_t r = node_shapes_resource(&n->shapes, t->requests.item[i].name);
		if (r >= 0)
			node->used[r] = quantity_add(node->used[r], t->requests.item[i].amount);
	}
}

/* Summed anew rather than taken away: a sum that stopped at the largest number could not go back.
 */
void tenants_recount(struct nodes *n, struct node *node)
{
	free(node->used);
	node->used = mem_array(n->shapes.nresources + 1, sizeof(*node->used));
	for (const struct tenant *t = node->tenants; t; t = t->next)
		use(n, node, t);
}

static void settle(struct nodes *n, struct tenant *t, struct node *node)
{
	t->node = node;
	t->next = node->tenants;
	if (t->next)
		t->next->previous = t;
	node->tenants = t;
	node->ntenants++;
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
	node->ntenants--;
	node->nports -= t->nports;
	tenants_recount(n, node);
}

/* ---- one of them ----------------------------------------------------------------------------- */

static void copy_requests(struct tenant *t, const struct pod_resources *of)
{
	size_t n = pod_requests(of, NULL, 0);
	struct resource *all = mem_array(n + 1, sizeof(*all));
	struct resource *item = arena_take(&t->arena, n, sizeof(*item));
	pod_requests(of, all, n);
	for (size_t i = 0; i < n; i++)
		item[i] = (struct resource){arena_string(&t->arena, all[i].name), all[i].amount};
	t->requests = (struct resource_list){item, n};
	free(all);
}

static struct tenant *tenant_new(
	struct nodes *n, const struct bound_pod *b, struct node *node, uint64_t print)
{
	struct tenant *t = mem_alloc(sizeof(*t));
	const struct pod *p = b->pod;
	t->uid = b->uid;
	t->print = print;
	t->deleting = b->deleting;
	t->ns = arena_string(&t->arena, p->ns);
	t->labels = arena_labels(&t->arena, p->labels, p->nlabels);
	t->nlabels = p->nlabels;
	t->ports = copy_host_ports(&t->arena, p->host_ports, p->nhost_ports);
	t->nports = p->nhost_ports;
	copy_requests(t, &p->resources);
	settle(n, t, node);
	repellents_of(n, t, p);
	census_count(n, t->labels, t->nlabels);
	map_put(&n->tenants, uid_hash(&t->uid), t);
	return t;
}

void tenant_free(struct nodes *n, struct tenant *t)
{
	struct node *node = t->node;
	map_take(&n->tenants, uid_hash(&t->uid), &t->uid);
	repellents_leave(n, t);
	census_uncount(n, t->labels, t->nlabels);
	leave(n, t);
	arena_done(&t->arena);
	free(t);
	world_changed(n, node);
	world_bury(n, node);
}

static uint64_t print_of(const struct bound_pod *b)
{
	struct buf print;
	buf_init(&print, SIZE_MAX / 2);
	print_bound(&print, b->pod);
	buf_putc(&print, b->deleting ? '1' : '0');
	uint64_t hash = map_hash_bytes(print.ptr, print.len);
	buf_done(&print);
	return hash;
}

void nodes_bind(struct nodes *n, const struct bound_pod *p)
{
	uint64_t print = print_of(p);
	struct tenant *old = map_get(&n->tenants, uid_hash(&p->uid), &p->uid);
	if (old && old->print == print && strcmp(old->node->name, p->node) == 0)
		return;
	if (old)
		tenant_free(n, old);
	struct node *node = world_node(n, p->node);
	tenant_new(n, p, node, print);
	world_changed(n, node);
}

void nodes_unbind(struct nodes *n, const struct uid *uid)
{
	struct tenant *t = map_get(&n->tenants, uid_hash(uid), uid);
	if (t)
		tenant_free(n, t);
}
