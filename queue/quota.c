#include "queue/quota.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/symbol.h"

struct row_key {
	const struct quota_node *node;
	const char *flavor, *resource;
};

static bool node_is(const void *value, const void *key)
{
	return strcmp(((const struct quota_node *)value)->name, key) == 0;
}

static bool row_is(const void *value, const void *key)
{
	const struct quota_row *row = value;
	const struct row_key *k = key;
	return row->node == k->node && row->flavor == k->flavor && row->resource == k->resource;
}

void quota_init(struct quota *quota, struct map *symbols)
{
	map_init(&quota->nodes, node_is);
	map_init(&quota->rows, row_is);
	quota->symbols = symbols;
	list_init(&quota->changed);
}

void quota_done(struct quota *quota)
{
	struct quota_row *row;
	struct quota_node *node;
	map_each (&quota->rows, i, row)
		free(row);
	map_each (&quota->nodes, i, node) {
		free(node->row);
		free(node);
	}
	map_done(&quota->rows);
	map_done(&quota->nodes);
}

struct quota_node *quota_node_of(struct quota *quota, const char *name)
{
	uint64_t hash = map_hash_string(name);
	struct quota_node *node = map_get(&quota->nodes, hash, name);
	if (!node) {
		node = mem_alloc(sizeof(*node));
		node->name = symbol_of(quota->symbols, name);
		map_put(&quota->nodes, hash, node);
	}
	return node;
}

struct quota_row *quota_row_of(
	struct quota *quota, struct quota_node *node, const char *flavor, const char *resource)
{
	struct row_key key = {
		node, symbol_of(quota->symbols, flavor), symbol_of(quota->symbols, resource)};
	uint64_t hash = map_hash_string(node->name) * 31 + map_hash_string(flavor);
	hash = hash * 31 + map_hash_string(resource);
	struct quota_row *row = map_get(&quota->rows, hash, &key);
	if (row)
		return row;

	row = mem_alloc(sizeof(*row));
	row->node = node;
	row->flavor = key.flavor;
	row->resource = key.resource;
	map_put(&quota->rows, hash, row);
	if (node->nrows == node->room) {
		node->room = node->room ? node->room * 2 : 8;
		node->row = mem_grow(node->row, node->room, sizeof(struct quota_row *));
	}
	node->row[node->nrows++] = row;
	return row;
}

void quota_set_nominal(struct quota *quota, struct quota_row *row, bool in_spec, int64_t nominal)
{
	if (row->in_spec == in_spec && row->nominal == nominal)
		return;
	row->in_spec = in_spec;
	row->nominal = nominal;
	if (!list_in(&row->changed))
		list_add(&quota->changed, &row->changed);
}

static int row_order(const void *a, const void *b)
{
	const struct quota_row *x = *(struct quota_row *const *)a;
	const struct quota_row *y = *(struct quota_row *const *)b;
	int order = strcmp(x->node->name, y->node->name);
	if (order == 0)
		order = strcmp(x->flavor, y->flavor);
	return order ? order : strcmp(x->resource, y->resource);
}

void quota_retake(struct quota *quota)
{
	size_t n = 0;
	struct quota_row *row, **all = mem_array(quota->rows.count, sizeof(struct quota_row *));
	map_each (&quota->rows, i, row)
		all[n++] = row;
	if (n > 1)
		qsort(all, n, sizeof(struct quota_row *), row_order);
	for (size_t i = 0; i < n; i++) {
		list_leave(&all[i]->changed);
		list_add(&quota->changed, &all[i]->changed);
	}
	free(all);
}

int64_t quota_available(const struct quota_row *row)
{
	__int128 left = (__int128)row->nominal - row->reserved;
	return left > 0 ? (int64_t)left : 0;
}

int64_t quota_shown(__int128 sum)
{
	return sum > INT64_MAX ? INT64_MAX : (int64_t)sum;
}
