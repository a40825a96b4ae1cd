#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "cluster/world.h"

struct census_line {
	size_t tenants;
	size_t value_at; /* in text */
	char text[];	 /* key and value, each with its end */
};

static bool has_label(const void *value, const void *key)
{
	const struct census_line *c = value;
	const struct label *l = key;
	return strcmp(c->text, l->key) == 0 && strcmp(c->text + c->value_at, l->value) == 0;
}

static uint64_t hash_of(const struct label *l)
{
	return map_hash_string(l->key) * 31 + map_hash_string(l->value);
}

void census_init(struct nodes *n)
{
	map_init(&n->census, has_label);
}

void census_done(struct nodes *n)
{
	struct census_line *c;
	map_each(&n->census, i, c)
		free(c);
	map_done(&n->census);
}

static struct census_line *line_new(struct nodes *n, const struct label *l)
{
	size_t key = strlen(l->key) + 1, value = strlen(l->value) + 1;
	struct census_line *c = mem_alloc(sizeof(*c) + key + value);
	memcpy(c->text, l->key, key);
	memcpy(c->text + key, l->value, value);
	c->value_at = key;
	map_put(&n->census, hash_of(l), c);
	return c;
}

void census_count(struct nodes *n, const struct label *labels, size_t nlabels)
{
	for (size_t i = 0; i < nlabels; i++) {
		struct census_line *c = map_get(&n->census, hash_of(&labels[i]), &labels[i]);
		if (!c)
			c = line_new(n, &labels[i]);
		c->tenants++;
	}
}

void census_uncount(struct nodes *n, const struct label *labels, size_t nlabels)
{
	for (size_t i = 0; i < nlabels; i++) {
		struct census_line *c = map_get(&n->census, hash_of(&labels[i]), &labels[i]);
		must(c);
		if (--c->tenants == 0)
			free(map_take(&n->census, hash_of(&labels[i]), &labels[i]));
	}
}

static bool somebody_has(const struct nodes *n, const struct requirement *r)
{
	for (size_t i = 0; i < r->nvalues; i++) {
		struct label l = {r->key, r->values[i]};
		if (map_get(&n->census, hash_of(&l), &l))
			return true;
	}
	return false;
}

bool census_may_meet(const struct nodes *n, const struct selector_term *t)
{
	for (size_t i = 0; i < t->nrequirements; i++)
		if (t->requirements[i].op == SELECTOR_IN && !somebody_has(n, &t->requirements[i]))
			return false;
	return true;
}
