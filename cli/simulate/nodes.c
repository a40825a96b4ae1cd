#include "cli/simulate/nodes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "job/resources.h"
#include "overcommit/standing.h"
#include "sluice/quantity.h"
#include "sluice/queue.h"

void nodes_done(struct nodes *n)
{
	for (size_t i = 0; i < n->nnodes; i++)
		free(n->node[i]);
	for (size_t i = 0; i < n->nflavors; i++)
		free(n->flavor[i]);
	free(n->node);
	free(n->flavor);
	*n = (struct nodes){0};
}

void nodes_see(struct nodes *n, struct node_facts *node)
{
	size_t i = 0;
	while (i < n->nnodes && strcmp(n->node[i]->name, node->name) != 0)
		i++;
	if (i < n->nnodes) {
		free(n->node[i]);
	} else {
		n->node = mem_grow(n->node, n->nnodes + 1, sizeof(*n->node));
		n->nnodes++;
	}
	n->node[i] = node;
}

void nodes_see_flavor(struct nodes *n, struct flavor_spec *flavor)
{
	size_t i = 0;
	while (i < n->nflavors && strcmp(n->flavor[i]->name, flavor->name) != 0)
		i++;
	if (i < n->nflavors) {
		free(n->flavor[i]);
	} else {
		n->flavor = mem_grow(n->flavor, n->nflavors + 1, sizeof(*n->flavor));
		n->nflavors++;
	}
	n->flavor[i] = flavor;
}

/* More than any pod asks for, and few enough to be added up. */
#define PLENTY (INT64_C(1) << 56)

void nodes_tell(struct queue *q, const struct node_spec *s)
{
	static const char *const common[] = {"cpu", "memory", "ephemeral-storage", "pods"};
	struct node_spec told = *s;
	struct resource *all = mem_array(s->allocatable.count + 4, sizeof(*all));
	size_t n = 0;
	for (; n < s->allocatable.count; n++)
		all[n] = s->allocatable.item[n];
	for (size_t i = 0; i < 4; i++)
		if (!resources_find(&s->allocatable, common[i]))
			all[n++] = (struct resource){common[i], PLENTY};
	told.allocatable = (struct resource_list){all, n};
	queue_set_node(q, &told);
	free(all);
}

static int64_t at_least_0(int64_t figure)
{
	return figure > 0 ? figure : 0;
}

static struct load lent_by(const struct node_facts *node, enum lending l)
{
	const struct figures *f = &node->allocatable_lent;
	if (l == LENDING_GOCRAN)
		return (struct load){quantity_times(at_least_0(f->gocran_cpu), 1000),
			at_least_0(f->gocran_memory)};
	return (struct load){at_least_0(f->batch_cpu), at_least_0(f->batch_memory)};
}

static void pool_of(const struct nodes *n, const struct flavor_spec *flavor, struct queue *q)
{
	struct load all = {0, 0}, most = {0, 0};
	for (size_t i = 0; i < n->nnodes; i++) {
		if (!node_stands_in(n->node[i], &flavor->nodes))
			continue;
		struct load lent = lent_by(n->node[i], flavor->lending);
		all = load_add(all, lent);
		most = load_max(most, lent);
	}
	queue_set_idle_pool(q, &(struct idle_pool){flavor->name, all.cpu_milli, all.memory_bytes,
				       most.cpu_milli, most.memory_bytes});
}

void nodes_apply(const struct nodes *n, struct queue *q)
{
	queue_know_cluster(q);
	queue_know_pods(q, true); /* what runs there is what was started here */
	for (size_t i = 0; i < n->nflavors; i++)
		if (n->flavor[i]->lending != LENDING_NONE)
			pool_of(n, n->flavor[i], q);
}
