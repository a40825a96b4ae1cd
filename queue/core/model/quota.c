#include "queue/core/model/quota.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/must.h"
#include "queue/core/model/cohort_tree.h"
#include "base/symbol.h"
#include "sluice/quantity.h"
#include "sluice/spec.h"

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

static bool flavor_pool_is(const void *value, const void *key)
{
	const struct flavor_pool *flavor_pool = value;
	const struct row_key *k = key;
	return flavor_pool->flavor == k->flavor && flavor_pool->resource == k->resource;
}

void quota_init(struct quota *quota, struct map *symbols)
{
	map_init(&quota->nodes, node_is);
	map_init(&quota->rows, row_is);
	map_init(&quota->flavor_pools, flavor_pool_is);
	quota->symbols = symbols;
	list_init(&quota->changed);
	list_init(&quota->stale);
}

void quota_done(struct quota *quota)
{
	struct quota_node *node;
	map_free(&quota->rows, free);
	map_free(&quota->flavor_pools, free);
	map_each(&quota->nodes, i, node) {
		free(node->row);
		if (node->cohort_tree)
			displacements_done(&node->cohort_tree->displacements);
		free(node->cohort_tree);
		free(node);
	}
	map_done(&quota->nodes);
}

struct quota_node *quota_node_of(struct quota *quota, const char *name)
{
	uint64_t hash = map_hash_string(name);
	struct quota_node *node = map_get(&quota->nodes, hash, name);
	if (!node) {
		node = mem_alloc(sizeof(*node));
		node->name = symbol_of(quota->symbols, name);
		list_init(&node->children);
		map_put(&quota->nodes, hash, node);
	}
	return node;
}

struct quota_node *quota_node_under(struct quota *quota, const char *kind, const char *name)
{
	struct buf path;
	buf_init(&path, SIZE_MAX / 4);
	buf_printf(&path, "%s/%s", kind, name);
	struct quota_node *node = quota_node_of(quota, buf_text(&path));
	buf_done(&path);
	return node;
}

static uint64_t row_hash(const struct row_key *k)
{
	uint64_t hash = map_hash_string(k->node->name) * 31 + map_hash_string(k->flavor);
	return hash * 31 + map_hash_string(k->resource);
}

/* Does the ledger need to be told? Not of an untold row without quota. But it is told of a row that
 * Jobs still hold after its ClusterQueue is gone: an earlier leader may have told another quota. */
static bool row_is_news(const struct quota_row *row)
{
	if (!row->told)
		return row->in_spec || row->up || quota_ceiling(row) != 0 ||
		       row->use[QUOTA_NOW] > 0;
	return row->told_ceiling != quota_ceiling(row) || row->told_local != row->local ||
	       row->told_parent != row->node->parent;
}

static void row_changed(struct quota *quota, struct quota_row *row)
{
	if (!list_in(&row->changed) && row_is_news(row))
		list_add(&quota->changed, &row->changed);
}

struct quota_row *quota_take_changed(struct quota *quota)
{
	while (!list_empty(&quota->changed)) {
		struct quota_row *row =
			container_of(quota->changed.next, struct quota_row, changed);
		list_leave(&row->changed);
		if (!row_is_news(row))
			continue;
		row->told = true;
		row->told_ceiling = quota_ceiling(row);
		row->told_local = row->local;
		row->told_parent = row->node->parent;
		return row;
	}
	return NULL;
}

struct flavor_pool *flavor_pool_of(struct quota *quota, const char *flavor, const char *resource)
{
	struct row_key key = {
		NULL, symbol_of(quota->symbols, flavor), symbol_of(quota->symbols, resource)};
	uint64_t hash = map_hash_string(key.flavor) * 31 + map_hash_string(key.resource);
	struct flavor_pool *flavor_pool = map_get(&quota->flavor_pools, hash, &key);
	if (flavor_pool)
		return flavor_pool;
	flavor_pool = mem_alloc(sizeof(*flavor_pool));
	flavor_pool->flavor = key.flavor;
	flavor_pool->resource = key.resource;
	list_init(&flavor_pool->rows);
	map_put(&quota->flavor_pools, hash, flavor_pool);
	return flavor_pool;
}

static struct quota_row *row_make(struct quota *quota, const struct row_key *key, uint64_t hash)
{
	struct quota_node *node = quota_node_of(quota, key->node->name);
	struct quota_row *row = mem_alloc(sizeof(*row));
	row->node = node;
	row->flavor = key->flavor;
	row->resource = key->resource;
	row->borrowing_limit = row->lending_limit = QUOTA_UNLIMITED;
	row->said = row->due = (struct quota_limits){0, QUOTA_UNLIMITED, QUOTA_UNLIMITED};
	row->flavor_pool = flavor_pool_of(quota, row->flavor, row->resource);
	list_add(&row->flavor_pool->rows, &row->of_flavor_pool);
	map_put(&quota->rows, hash, row);
	node->row =
		mem_room(node->row, node->nrows, &node->capacity, 8, sizeof(struct quota_row *));
	node->row[node->nrows++] = row;
	if (node->parent) {
		row->up = quota_row_of(quota, node->parent, row->flavor, row->resource);
		row_changed(quota, row);
	}
	return row;
}

struct quota_row *quota_row_of(
	struct quota *quota, struct quota_node *node, const char *flavor, const char *resource)
{
	struct row_key key = {
		node, symbol_of(quota->symbols, flavor), symbol_of(quota->symbols, resource)};
	uint64_t hash = row_hash(&key);
	struct quota_row *row = map_get(&quota->rows, hash, &key);
	return row ? row : row_make(quota, &key, hash);
}

struct quota_row *quota_row_like(
	const struct quota *quota, const struct quota_node *node, const struct quota_row *like)
{
	struct row_key key = {node, like->flavor, like->resource};
	return map_get(&quota->rows, row_hash(&key), &key);
}

/* ---- The tree ---- */

void quota_set_limits(struct quota_row *row, const struct quota_limits *limits)
{
	row->nominal = limits->nominal;
	row->borrowing_limit = limits->borrowing;
	row->lending_limit = limits->lending;
}

void quota_move(struct quota *quota, struct quota_node *node, struct quota_node *parent)
{
	if (node->parent == parent)
		return;
	list_leave(&node->of_parent);
	node->parent = parent;
	if (parent)
		list_add(&parent->children, &node->of_parent);
	for (size_t i = 0; i < node->nrows; i++) {
		struct quota_row *row = node->row[i];
		row->up = parent ? quota_row_of(quota, parent, row->flavor, row->resource) : NULL;
		row_changed(quota, row);
	}
}

struct quota_node *quota_root(struct quota_node *node)
{
	while (node->parent)
		node = node->parent;
	return node;
}

static __int128 beyond(const struct quota_row *row, __int128 use)
{
	return use > row->local ? use - row->local : 0;
}

static int64_t local_of(const struct quota_row *row)
{
	if (row->lending_limit == QUOTA_UNLIMITED || row->subtree <= row->lending_limit)
		return 0;
	return row->subtree - row->lending_limit;
}

__int128 quota_over(const struct quota_row *row, enum quota_when when)
{
	int64_t most = quota_ceiling(row);
	return most != QUOTA_UNLIMITED && row->use[when] > most ? row->use[when] - most : 0;
}

/* An inner node starts from 0 use, a leaf keeps what it holds. What has come free since is owed no
 * more, whatever the new limits say. */
static void node_clear(struct quota_node *node)
{
	for (size_t i = 0; i < node->nrows; i++) {
		struct quota_row *row = node->row[i];
		__int128 over = row->owed > 0 ? quota_over(row, QUOTA_THEN) : 0;
		if (over < row->owed)
			row->owed = over;
		row->subtree = row->nominal;
		if (node->cohort)
			row->use[QUOTA_NOW] = row->use[QUOTA_THEN] = 0;
	}
	node->height = 0;
}

/* Adds the node's quota and its use beyond local to the parent. */
static void node_pass_up(struct quota_node *node)
{
	struct quota_node *parent = node->parent;
	if (parent && parent->height <= node->height)
		parent->height = node->height + 1;
	for (size_t i = 0; i < node->nrows; i++) {
		struct quota_row *row = node->row[i];
		row->local = local_of(row);
		if (!row->up)
			continue;
		row->up->subtree = quantity_add(row->up->subtree, row->subtree - row->local);
		for (int when = 0; when < QUOTA_WHENS; when++)
			row->up->use[when] += beyond(row, row->use[when]);
	}
}

/* The recursion is as deep as the tree, which has no cycles. */
static void node_settle(struct quota *quota, struct quota_node *node)
{
	node_clear(node);
	list_each_entry(&node->children, struct quota_node, child, of_parent)
		node_settle(quota, child);
	list_each_entry(&node->children, struct quota_node, child, of_parent)
		node_pass_up(child);
	for (size_t i = 0; i < node->nrows; i++) {
		node->row[i]->local = local_of(node->row[i]);
		row_changed(quota, node->row[i]);
	}
}

void quota_settle(struct quota *quota, struct quota_node *root)
{
	must(!root->parent);
	quota->edits++;
	node_settle(quota, root);
}

int64_t quota_ceiling(const struct quota_row *row)
{
	if (!row->up)
		return row->subtree;
	return row->borrowing_limit == QUOTA_UNLIMITED
		       ? QUOTA_UNLIMITED
		       : quantity_add(row->subtree, row->borrowing_limit);
}

int quota_row_cmp(const struct quota_row *a, const struct quota_row *b)
{
	int order = strcmp(a->node->name, b->node->name);
	if (order == 0)
		order = strcmp(a->flavor, b->flavor);
	return order ? order : strcmp(a->resource, b->resource);
}

static int row_order(const void *a, const void *b)
{
	return quota_row_cmp(*(struct quota_row *const *)a, *(struct quota_row *const *)b);
}

void quota_retake(struct quota *quota)
{
	size_t n = 0;
	struct quota_row *row, **all = mem_array(quota->rows.count, sizeof(struct quota_row *));
	map_each(&quota->rows, i, row)
		all[n++] = row;
	if (n > 1)
		qsort(all, n, sizeof(struct quota_row *), row_order);
	for (size_t i = 0; i < n; i++) {
		list_leave(&all[i]->changed);
		all[i]->told = false;
		list_add(&quota->changed, &all[i]->changed);
	}
	free(all);
}

/* ---- Use ---- */

void quota_take(struct quota_row *leaf, enum quota_when when, int64_t amount)
{
	__int128 more = amount;
	for (struct quota_row *row = leaf; row && more > 0; row = row->up) {
		__int128 before = beyond(row, row->use[when]);
		row->use[when] += more;
		more = beyond(row, row->use[when]) - before;
	}
}

void quota_give(struct quota_row *leaf, enum quota_when when, int64_t amount)
{
	__int128 less = amount;
	for (struct quota_row *row = leaf; row && less > 0; row = row->up) {
		__int128 before = beyond(row, row->use[when]);
		row->use[when] -= less;
		must(row->use[when] >= 0);
		less = before - beyond(row, row->use[when]);
	}
}

__int128 quota_local_free(const struct quota_row *row, enum quota_when when)
{
	__int128 left = row->local - row->use[when];
	return left > 0 ? left : 0;
}

__int128 quota_free(const struct quota_row *row, enum quota_when when)
{
	if (!row->up)
		return row->subtree - row->use[when];
	__int128 above = quota_free(row->up, when);
	if (row->borrowing_limit != QUOTA_UNLIMITED) {
		__int128 lent = (__int128)row->subtree - row->local;
		__int128 most = lent - beyond(row, row->use[when]) + row->borrowing_limit;
		above = above < most ? above : most;
	}
	return quota_local_free(row, when) + above;
}

int64_t quota_available(const struct quota_row *row)
{
	__int128 free = quota_free(row, QUOTA_THEN);
	return free > 0 ? quota_shown(free) : 0;
}

int64_t quota_potential(const struct quota_row *row)
{
	if (!row->up)
		return row->subtree;
	int64_t most = quantity_add(row->local, quota_potential(row->up));
	int64_t limit = quota_ceiling(row);
	return most < limit ? most : limit;
}

bool quota_borrows_with(const struct quota_row *row, enum quota_when when, __int128 amount)
{
	return row->use[when] + amount > row->subtree;
}

uint32_t quota_borrow_level(
	const struct quota_row *leaf, enum quota_when when, int64_t amount, bool *ret_inside)
{
	__int128 rest = amount;
	const struct quota_row *row = leaf;
	for (; row->up && quota_borrows_with(row, when, rest); row = row->up)
		rest -= quota_local_free(row, when);
	bool fits = row == leaf || !quota_borrows_with(row, when, rest);
	*ret_inside = fits && row->up != NULL;
	return row->node->height;
}

int64_t quota_shown(__int128 sum)
{
	return sum > INT64_MAX ? INT64_MAX : (int64_t)sum;
}
