#include "cli/simulate/node_specs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/job/resources.h"
#include "overcommit/standing.h"
#include "sluice/quantity.h"
#include "sluice/queue.h"

void node_specs_done(struct node_specs *f)
{
	for (size_t i = 0; i < f->nnodes; i++)
		free(f->node[i]);
	for (size_t i = 0; i < f->nflavors; i++)
		free(f->flavor[i]);
	free(f->node);
	free(f->flavor);
	*f = (struct node_specs){0};
}

void node_specs_see(struct node_specs *f, struct node_facts *node)
{
	size_t i = 0;
	while (i < f->nnodes && strcmp(f->node[i]->name, node->name) != 0)
		i++;
	if (i < f->nnodes) {
		free(f->node[i]);
	} else {
		f->node = mem_grow(f->node, f->nnodes + 1, sizeof(*f->node));
		f->nnodes++;
	}
	f->node[i] = node;
}

void node_specs_see_flavor(struct node_specs *f, struct flavor_spec *flavor)
{
	size_t i = 0;
	while (i < f->nflavors && strcmp(f->flavor[i]->name, flavor->name) != 0)
		i++;
	if (i < f->nflavors) {
		free(f->flavor[i]);
	} else {
		f->flavor = mem_grow(f->flavor, f->nflavors + 1, sizeof(*f->flavor));
		f->nflavors++;
	}
	f->flavor[i] = flavor;
}

/* More than any pod asks for, and few enough to be added up. */
#define PLENTY (INT64_C(1) << 56)

void node_specs_tell(struct queue *q, const struct node_spec *s)
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

static void pool_of(const struct node_specs *f, const struct flavor_spec *flavor, struct queue *q)
{
	struct load all = {0, 0}, most = {0, 0};
	for (size_t i = 0; i < f->nnodes; i++) {
		if (!node_stands_in(f->node[i], &flavor->nodes))
			continue;
		struct load lent = lent_by(f->node[i], flavor->lending);
		all = load_add(all, lent);
		most = load_max(most, lent);
	}
	queue_set_idle_pool(q, &(struct idle_pool){flavor->name, all.cpu_milli, all.memory_bytes,
				       most.cpu_milli, most.memory_bytes});
}

void node_specs_apply(const struct node_specs *f, struct queue *q)
{
	queue_know_cluster(q);
	queue_know_pods(q, true); /* only what was started here runs there */
	for (size_t i = 0; i < f->nflavors; i++)
		if (f->flavor[i]->lending != LENDING_NONE)
			pool_of(f, f->flavor[i], q);
}
