#include "queue/cluster/likeness.h"

#include <string.h>

#include "queue/cluster/nodes_priv.h"

static bool has_labels(const struct node *node, const struct node_group *g)
{
	for (size_t i = 0; i < g->nlabels; i++) {
		const char *value = node_label(node, g->labels[i].key);
		if (!value || strcmp(value, g->labels[i].value) != 0)
			return false;
	}
	return true;
}

static bool has_taint(const struct site *s, const struct taint *wanted)
{
	for (size_t i = 0; i < s->ntaints; i++)
		if (s->taints[i].effect == wanted->effect &&
			strcmp(s->taints[i].key, wanted->key) == 0 &&
			strcmp(s->taints[i].value, wanted->value) == 0)
			return true;
	return false;
}

int node_likeness(const struct nodes *n, const char *name, const struct node_group *g)
{
	const struct node *node = map_get(&n->by_name, map_hash_string(name), name);
	if (!node || !node->known || !has_labels(node, g))
		return -1;
	int like = (int)g->nlabels;
	for (size_t i = 0; i < g->ntaints; i++) {
		if (g->taints[i].effect == TAINT_PREFER_NO_SCHEDULE)
			continue;
		if (!has_taint(&node->shape->site, &g->taints[i]))
			return -1;
		like++;
	}
	return like;
}
