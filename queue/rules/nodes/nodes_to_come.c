#include "queue/rules/nodes/nodes_to_come.h"

#include <string.h>

#include "queue/requests/directives.h"

void nodes_to_come_judge(struct nodes *n, struct flavor *f)
{
	bool at_zero = f->exists && f->nodes.nlabels > 0 &&
		       !nodes_have(n, f->nodes.labels, f->nodes.nlabels);
	f->pool_moved = at_zero != f->at_zero;
	f->at_zero = at_zero;
}

void nodes_to_come_judge_all(struct nodes *n, const struct map *flavors)
{
	struct flavor *f;
	map_each(flavors, i, f)
		nodes_to_come_judge(n, f);
}

bool nodes_to_come_of(const struct flavor *f)
{
	if (f->lending != LENDING_NONE)
		return false;
	switch (f->pool) {
	case NODE_POOL_UNSAID:
		return f->at_zero || f->maker || f->provisioning.class_name;
	case NODE_POOL_FIXED:
		return false;
	case NODE_POOL_AUTOSCALED:
		return true;
	}
	return false;
}

/* No node has two values of one label. */
static bool labels_contradict(const struct node_group *a, const struct node_group *b)
{
	for (size_t i = 0; i < a->nlabels; i++)
		for (size_t k = 0; k < b->nlabels; k++)
			if (strcmp(a->labels[i].key, b->labels[k].key) == 0 &&
				strcmp(a->labels[i].value, b->labels[k].value) != 0)
				return true;
	return false;
}

static bool go_together(
	const struct pod_template *template, const struct flavor *const *flavors, size_t n)
{
	const struct pod *p = template->pod;
	struct arena scratch = {0};
	struct placement joined, own = {.node_selector = p->node_selector,
					 .nnode_selector = p->nnode_selector,
					 .terms = p->terms,
					 .nterms = p->nterms};
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (labels_contradict(&flavors[i]->nodes, &flavors[k]->nodes))
				return false;
	bool whole =
		directives_join(&scratch, &own, flavors, n, &joined, NULL) == NODE_AFFINITY_JOINED;
	arena_done(&scratch);
	return whole;
}

bool nodes_to_come_for(
	const struct pod_template *template, const struct flavor *const *flavors, size_t n)
{
	bool any = false;
	for (size_t i = 0; i < n; i++)
		any = any || nodes_to_come_of(flavors[i]);
	return any && !*template->pod->node_name && go_together(template, flavors, n);
}
