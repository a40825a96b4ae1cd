/*
 * What all nodes with some labels have, of each resource: summed up in one walk over all nodes, and
 * kept until a node comes, goes or changes. Pods do not change it. So ten thousand explanations of
 * one flavor walk over the nodes once, and a resource that no node has walks over none.
 */
#include "queue/cluster/nodes_priv.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "sluice/quantity.h"

/* How many are kept; one more forgets all. They are as many as flavors have different labels. */
#define SUMS_MAX 1024

struct amount_sum {
	int64_t all, largest; /* of one node */
};

struct node_sum {
	char *labels; /* as bytes of key_labels() */
	size_t size;
	struct amount_sum of[]; /* by number of the resource */
};

static bool is_of_labels(const void *value, const void *key)
{
	const struct node_sum *s = value;
	const struct slice *labels = key;
	return s->size == labels->len && memcmp(s->labels, labels->ptr, labels->len) == 0;
}

static void node_sum_free(struct node_sum *s)
{
	free(s->labels);
	free(s);
}

void node_sums_init(struct nodes *n)
{
	map_init(&n->sums, is_of_labels);
}

void node_sums_forget(struct nodes *n)
{
	if (n->sums.count == 0)
		return;
	map_free(&n->sums, node_sum_free);
	node_sums_init(n);
}

static struct node_sum *node_sum_new(struct nodes *n, const struct label *labels, size_t nlabels)
{
	size_t resources = n->node_classes.nresources;
	struct node_sum *s = mem_alloc(sizeof(*s) + resources * sizeof(s->of[0]));
	n->sum_walks++;
	for (size_t i = 0; i < n->nslots; i++) {
		const struct node *node = n->slot[i];
		if (!node || !node->known ||
			!labels_have(node->labels, node->nlabels, labels, nlabels))
			continue;
		for (size_t r = 0; r < resources; r++) {
			int64_t amount = node->shape->amount[r];
			s->of[r].all = quantity_add(s->of[r].all, amount);
			s->of[r].largest = greater(s->of[r].largest, amount);
		}
	}
	return s;
}

static const struct node_sum *node_sum_of(
	struct nodes *n, const struct label *labels, size_t nlabels)
{
	struct buf b;
	buf_init(&b, SIZE_MAX / 2);
	key_labels(&b, labels, nlabels);
	struct slice key = buf_slice(&b);
	uint64_t hash = map_hash_bytes(key.ptr, key.len);
	struct node_sum *s = map_get(&n->sums, hash, &key);
	if (!s) {
		if (n->sums.count == SUMS_MAX)
			node_sums_forget(n);
		s = node_sum_new(n, labels, nlabels);
		s->size = b.len;
		s->labels = buf_take(&b);
		map_put(&n->sums, hash, s);
	}
	buf_done(&b);
	return s;
}

void nodes_sum(struct nodes *n, const struct label *labels, size_t nlabels, const char *resource,
	int64_t *ret_all, int64_t *ret_largest)
{
	int32_t number = node_classes_resource(&n->node_classes, resource);
	struct amount_sum sum = {0, 0};
	if (number >= 0)
		sum = node_sum_of(n, labels, nlabels)->of[number];
	*ret_all = sum.all;
	*ret_largest = sum.largest;
}
