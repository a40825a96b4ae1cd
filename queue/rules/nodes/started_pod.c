#include "queue/rules/nodes/started_pod.h"

#include "queue/rules/lending.h"

enum lending started_pod_lending(const struct flavor *const *flavors, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (flavors[i]->lending != LENDING_NONE)
			return flavors[i]->lending;
	return LENDING_NONE;
}

struct pod started_pod_of(struct arena *a, const struct pod *p, const struct flavor *const *flavors,
	size_t n, enum lending l)
{
	struct pod out = *p;
	struct placement joined, own = {.node_selector = p->node_selector,
					 .nnode_selector = p->nnode_selector,
					 .tolerations = p->tolerations,
					 .ntolerations = p->ntolerations};
	directives_join(a, &own, flavors, n, &joined);
	out.node_selector = joined.node_selector;
	out.nnode_selector = joined.nnode_selector;
	out.tolerations = joined.tolerations;
	out.ntolerations = joined.ntolerations;
	lending_rename(a, l, &out.resources);
	return out;
}
