/*
 * The pods of nodes. A node_pod is one bound pod, known by its uid, or all pods of a run that are
 * expected on the node.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/cluster/nodes_priv.h"
#include "queue/cluster/pod.h"
#include "queue/job/specs.h"
#include "sluice/quantity.h"

/* ---- what they take of a node ---------------------------------------------------------------- */

static void use(const struct nodes *n, struct node *node, const struct node_pod *t)
{
	for (size_t i = 0; i < t->requests.count; i++) {
		int32_t r = node_classes_resource(&n->node_classes, t->requests.item[i].name);
		if (r >= 0)
			node->used[r] = quantity_add(
				node->used[r], quantity_times(t->requests.item[i].amount, t->pods));
	}
}

void node_pods_recount(struct nodes *n, struct node *node)
{
	free(node->used);
	node->used = mem_array(n->node_classes.nresources + 1, sizeof(*node->used));
	for (const struct node_pod *t = node->node_pods; t; t = t->next)
		use(n, node, t);
}

/* Subtracts where that is exact. A saturated sum is counted anew. */
static void unuse(struct nodes *n, struct node *node, const struct node_pod *t, int32_t pods)
{
	for (size_t i = 0; i < t->requests.count; i++) {
		int32_t r = node_classes_resource(&n->node_classes, t->requests.item[i].name);
		if (r < 0)
			continue;
		if (node->used[r] == INT64_MAX) {
			node_pods_recount(n, node);
			return;
		}
		node->used[r] -= quantity_times(t->requests.item[i].amount, pods);
	}
}

static void settle(struct nodes *n, struct node_pod *t, struct node *node)
{
	t->node = node;
	t->previous = NULL;
	t->next = node->node_pods;
	if (t->next)
		t->next->previous = t;
	node->node_pods = t;
	node->nnode_pods += t->pods;
	node->nexpected += t->expected;
	node->nports += t->nports;
	use(n, node, t);
}

static void leave(struct nodes *n, struct node_pod *t)
{
	struct node *node = t->node;
	if (t->previous)
		t->previous->next = t->next;
	else
		node->node_pods = t->next;
	if (t->next)
		t->next->previous = t->previous;
	node->nnode_pods -= t->pods;
	node->nexpected -= t->expected;
	node->nports -= t->nports;
	unuse(n, node, t, t->pods);
}

void node_pod_lift(struct nodes *n, struct node_pod *t)
{
	anti_affinities_lift(t);
	leave(n, t);
}

void node_pod_land(struct nodes *n, struct node_pod *t)
{
	settle(n, t, t->node);
	anti_affinities_land(t);
}

/* ---- how many have a label ------------------------------------------------------------------- */

struct label_counts_line {
	size_t node_pods;
	size_t value_at; /* in text */
	char text[];	 /* key and value, each with its terminating 0 */
};

static bool has_label(const void *value, const void *key)
{
	const struct label_counts_line *c = value;
	const struct label *l = key;
	return strcmp(c->text, l->key) == 0 && strcmp(c->text + c->value_at, l->value) == 0;
}

static uint64_t hash_of(const struct label *l)
{
	return map_hash_string(l->key) * 31 + map_hash_string(l->value);
}

void label_counts_init(struct nodes *n)
{
	map_init(&n->label_counts, has_label);
}

void label_counts_done(struct nodes *n)
{
	map_free(&n->label_counts, free);
}

static struct label_counts_line *line_new(struct nodes *n, const struct label *l)
{
	size_t key = strlen(l->key) + 1, value = strlen(l->value) + 1;
	struct label_counts_line *c = mem_alloc(sizeof(*c) + key + value);
	memcpy(c->text, l->key, key);
	memcpy(c->text + key, l->value, value);
	c->value_at = key;
	map_put(&n->label_counts, hash_of(l), c);
	return c;
}

static void label_counts_count(struct nodes *n, const struct label *labels, size_t nlabels)
{
	for (size_t i = 0; i < nlabels; i++) {
		struct label_counts_line *c =
			map_get(&n->label_counts, hash_of(&labels[i]), &labels[i]);
		if (!c)
			c = line_new(n, &labels[i]);
		c->node_pods++;
	}
}

static void label_counts_uncount(struct nodes *n, const struct label *labels, size_t nlabels)
{
	for (size_t i = 0; i < nlabels; i++) {
		struct label_counts_line *c =
			map_get(&n->label_counts, hash_of(&labels[i]), &labels[i]);
		must(c);
		if (--c->node_pods == 0)
			free(map_take(&n->label_counts, hash_of(&labels[i]), &labels[i]));
	}
}

static bool somebody_has(const struct nodes *n, const struct requirement *r)
{
	for (size_t i = 0; i < r->nvalues; i++) {
		struct label l = {r->key, r->values[i]};
		if (map_get(&n->label_counts, hash_of(&l), &l))
			return true;
	}
	return false;
}

bool label_counts_may_meet(const struct nodes *n, const struct selector_term *t)
{
	for (size_t i = 0; i < t->nrequirements; i++)
		if (t->requirements[i].op == SELECTOR_IN && !somebody_has(n, &t->requirements[i]))
			return false;
	return true;
}

/* ---- one of them ----------------------------------------------------------------------------- */

static struct node_pod *node_pod_new(const struct bound_pod *b, uint64_t fingerprint)
{
	struct node_pod *t = mem_alloc(sizeof(*t));
	const struct pod *p = b->pod;
	t->uid = b->uid;
	t->pods = 1;
	t->fingerprint = fingerprint;
	t->deleting = b->deleting;
	t->ns = arena_string(&t->arena, p->ns);
	t->labels = label_copies(&t->arena, p->labels, p->nlabels);
	t->nlabels = p->nlabels;
	t->ports = copy_host_ports(&t->arena, p->host_ports, p->nhost_ports);
	t->nports = p->nhost_ports;
	t->requests = copy_requests(&t->arena, &p->resources);
	return t;
}

static void move_in(struct nodes *n, struct node_pod *t, struct node *node, const struct pod *p)
{
	settle(n, t, node);
	anti_affinities_of(n, t, p);
	label_counts_count(n, t->labels, t->nlabels);
}

void node_pod_free(struct nodes *n, struct node_pod *t)
{
	struct node *node = t->node;
	if (!t->expected)
		map_take(&n->node_pods, uid_hash(&t->uid), &t->uid);
	anti_affinities_leave(n, t);
	label_counts_uncount(n, t->labels, t->nlabels);
	leave(n, t);
	owner_loses(n, t);
	arena_done(&t->arena);
	free(t);
	nodes_changed(n, node);
	nodes_bury(n, node);
}

/* ---- expected -------------------------------------------------------------------------------- */

void node_pod_expect(struct nodes *n, struct owner *o, struct node *node, int32_t pods)
{
	struct node_pod *t = mem_alloc(sizeof(*t));
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
	nodes_changed(n, node);
}

void node_pod_take_off(struct nodes *n, struct node_pod *t)
{
	must(t->expected);
	if (t->pods == 1) {
		node_pod_free(n, t);
		return;
	}
	unuse(n, t->node, t, 1);
	t->pods--;
	t->node->nnode_pods--;
	t->owner->nput--;
	nodes_changed(n, t->node);
}

/* ---- bound ----------------------------------------------------------------------------------- */

static uint64_t fingerprint_of(const struct bound_pod *b)
{
	struct buf fingerprint;
	buf_init(&fingerprint, SIZE_MAX / 2);
	fingerprint_bound(&fingerprint, b->pod);
	buf_putc(&fingerprint, b->deleting ? '1' : '0');
	buf_add(&fingerprint, &b->owner, sizeof(b->owner));
	uint64_t hash = map_hash_bytes(fingerprint.ptr, fingerprint.len);
	buf_done(&fingerprint);
	return hash;
}

/* Do its pods exceed its allocatable? Devices are not in that. */
static bool is_over_full(const struct nodes *n, const struct node *node)
{
	if (!node->known)
		return false;
	for (size_t r = 0; r < n->node_classes.nresources; r++)
		if (node->used[r] > node->shape->amount[r] &&
			strcmp(n->node_classes.resource[r], "pods") != 0 &&
			(node->shape->amount[r] > 0 ||
				!nodes_devices_may_have(n, n->node_classes.resource[r])))
			return true;
	int32_t pods = node_classes_resource(&n->node_classes, "pods");
	return pods < 0 || node->nnode_pods > node->shape->amount[pods];
}

/* A bound pod may be in the way of expected ones. Checked roughly, on its node: those are taken
 * off, and may be put there again. */
static void make_way(struct nodes *n, const struct node_pod *t)
{
	struct node *node = t->node;
	if (node->nexpected > 0 && (t->nrepels > 0 || t->nports > 0 || is_over_full(n, node)))
		owners_move_off(n, node);
}

void nodes_bind(struct nodes *n, const struct bound_pod *p)
{
	uint64_t fingerprint = fingerprint_of(p);
	struct node_pod *old = map_get(&n->node_pods, uid_hash(&p->uid), &p->uid);
	if (old && old->fingerprint == fingerprint && strcmp(old->node->name, p->node) == 0)
		return;
	n->vacated += old || n->wants_pod_affinity;
	if (old)
		node_pod_free(n, old);
	struct node *node = nodes_node(n, p->node);
	struct node_pod *t = node_pod_new(p, fingerprint);
	move_in(n, t, node, p->pod);
	map_put(&n->node_pods, uid_hash(&t->uid), t);
	owner_has(n, t, &p->owner);
	make_way(n, t);
	nodes_changed(n, node);
}

void nodes_unbind(struct nodes *n, const struct uid *uid)
{
	struct node_pod *t = map_get(&n->node_pods, uid_hash(uid), uid);
	if (!t)
		return;
	n->vacated++;
	node_pod_free(n, t);
}
