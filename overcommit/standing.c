#include "overcommit/standing.h"

#include <string.h>

static bool has_label(const struct node_facts *n, const struct label *want)
{
	for (size_t i = 0; i < n->nlabels; i++)
		if (strcmp(n->labels[i].key, want->key) == 0)
			return strcmp(n->labels[i].value, want->value) == 0;
	return false;
}

static bool same_taint(const struct taint *a, const struct taint *b)
{
	return a->effect == b->effect && strcmp(a->key, b->key) == 0 &&
	       strcmp(a->value, b->value) == 0;
}

/* Tells whether a flavor tolerates a taint, or names it: then its Jobs are matched against it. */
static bool takes_taint(const struct node_group *g, const struct taint *t)
{
	if (t->effect == TAINT_PREFER_NO_SCHEDULE)
		return true;
	for (size_t i = 0; i < g->ntolerations; i++)
		if (toleration_covers(&g->tolerations[i], t))
			return true;
	for (size_t i = 0; i < g->ntaints; i++)
		if (same_taint(&g->taints[i], t))
			return true;
	return false;
}

bool node_stands_in(const struct node_facts *n, const struct node_group *flavor)
{
	if (!n->ready || n->unschedulable || n->deleting)
		return false;
	for (size_t i = 0; i < flavor->nlabels; i++)
		if (!has_label(n, &flavor->labels[i]))
			return false;
	for (size_t i = 0; i < n->ntaints; i++)
		if (!takes_taint(flavor, &n->taints[i]))
			return false;
	return true;
}
