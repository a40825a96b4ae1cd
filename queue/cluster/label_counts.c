#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/cluster/nodes_priv.h"

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

void label_counts_count(struct nodes *n, const struct label *labels, size_t nlabels)
{
	for (size_t i = 0; i < nlabels; i++) {
		struct label_counts_line *c =
			map_get(&n->label_counts, hash_of(&labels[i]), &labels[i]);
		if (!c)
			c = line_new(n, &labels[i]);
		c->node_pods++;
	}
}

void label_counts_uncount(struct nodes *n, const struct label *labels, size_t nlabels)
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
