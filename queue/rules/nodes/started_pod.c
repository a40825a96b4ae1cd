#include "queue/rules/nodes/started_pod.h"

#include <string.h>

#include "queue/cluster/pod.h"
#include "queue/rules/lending.h"

enum lending started_pod_lending(const struct flavor *const *flavors, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (flavors[i]->lending != LENDING_NONE)
			return flavors[i]->lending;
	return LENDING_NONE;
}

static bool pod_has_label(const struct pod *p, const char *key)
{
	for (size_t i = 0; i < p->nlabels; i++)
		if (strcmp(p->labels[i].key, key) == 0)
			return true;
	return false;
}

/* Behind its owner's. */
static void add_labels(struct arena *a, const struct pod_metadata *adds, struct pod *p)
{
	size_t n = p->nlabels;
	struct label *all = arena_take(a, n + adds->nlabels, sizeof(*all));
	for (size_t i = 0; i < n; i++)
		all[i] = p->labels[i];
	for (size_t i = 0; i < adds->nlabels; i++)
		if (!pod_has_label(p, adds->labels[i].key))
			all[n++] = adds->labels[i];
	p->labels = all;
	p->nlabels = n;
}

/* Flavors whose node affinity cannot be joined make no pod, so no node may take it: required node
 * affinity without terms matches none. */
static void join_placement(
	struct arena *a, const struct flavor *const *flavors, size_t n, struct pod *p)
{
	struct placement joined, own = {.node_selector = p->node_selector,
					 .nnode_selector = p->nnode_selector,
					 .tolerations = p->tolerations,
					 .ntolerations = p->ntolerations,
					 .terms = p->terms,
					 .nterms = p->nterms};
	bool whole = directives_join(a, &own, flavors, n, &joined, NULL) == NODE_AFFINITY_JOINED;
	p->node_selector = joined.node_selector;
	p->nnode_selector = joined.nnode_selector;
	p->tolerations = joined.tolerations;
	p->ntolerations = joined.ntolerations;
	p->terms = joined.terms;
	p->nterms = whole ? joined.nterms : 0;
	p->has_terms = p->has_terms || !whole || joined.nterms > 0;
}

struct pod started_pod_of(struct arena *a, const struct pod *p, const struct flavor *const *flavors,
	size_t n, const struct clusterqueue *cq, const struct localqueue *lq)
{
	struct pod out = *p;
	struct pod_metadata adds;
	join_placement(a, flavors, n, &out);
	if (pod_is_sociable(p)) {
		directives_metadata(a, flavors, n, cq, lq, &adds);
		if (adds.nlabels > 0)
			add_labels(a, &adds, &out);
	}
	lending_rename(a, started_pod_lending(flavors, n), &out.resources);
	return out;
}
