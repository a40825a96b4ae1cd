/* The order-statistics tree against a sorted array, under seeded random operations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/list.h"
#include "base/tree.h"

#define ITEMS 300

struct item {
	struct tree_node node;
	int key, value, least; /* least value in the subtree */
};

static struct item *item_of(struct tree_node *n)
{
	return container_of(n, struct item, node);
}

static const struct item *item_of_const(const struct tree_node *n)
{
	return container_of_const(n, struct item, node);
}

static int by_key(const struct tree_node *a, const struct tree_node *b)
{
	int x = item_of_const(a)->key, y = item_of_const(b)->key;
	return x < y ? -1 : x > y;
}

static void lower(struct item *i, const struct tree_node *child)
{
	if (child && item_of_const(child)->least < i->least)
		i->least = item_of_const(child)->least;
}

static bool update(struct tree_node *n)
{
	struct item *i = item_of(n);
	int before = i->least;
	i->least = i->value;
	lower(i, n->left);
	lower(i, n->right);
	return i->least != before;
}

static uint64_t draw(uint64_t *state)
{
	uint64_t z = (*state += 0x9E3779B97F4A7C15u);
	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return z ^ z >> 31;
}

static bool may_be_small(const struct tree_node *n, void *ctx)
{
	return item_of_const(n)->least <= *(int *)ctx;
}

static bool is_small(const struct tree_node *n, void *ctx)
{
	return item_of_const(n)->value <= *(int *)ctx;
}

/* Counts, parents, heap order and sums of a subtree. */
static uint32_t check_node(const struct tree_node *n)
{
	if (!n)
		return 0;
	const struct tree_node *child[] = {n->left, n->right};
	int least = item_of_const(n)->value;
	for (size_t i = 0; i < 2; i++) {
		if (!child[i])
			continue;
		assert_ptr_equal(child[i]->parent, n);
		assert_true(child[i]->weight <= n->weight);
		if (item_of_const(child[i])->least < least)
			least = item_of_const(child[i])->least;
	}
	assert_int_equal(item_of_const(n)->least, least);
	uint32_t count = 1 + check_node(n->left) + check_node(n->right);
	assert_int_equal(n->count, count);
	return count;
}

static void check_order(const struct tree *t, struct item *all, const bool *in)
{
	struct tree_node *n = tree_first(t);
	size_t rank = 0;
	for (int i = 0; i < ITEMS; i++) {
		if (!in[i])
			continue;
		assert_ptr_equal(n, &all[i].node);
		assert_int_equal(tree_rank(n), rank);
		assert_ptr_equal(tree_at(t, rank), n);
		n = tree_next(n);
		rank++;
	}
	assert_null(n);
	assert_null(tree_at(t, rank));
	assert_int_equal(tree_count(t), rank);
}

static void check_seek(const struct tree *t, struct item *all, const bool *in, int after, int limit)
{
	struct tree_search s = {may_be_small, is_small, &limit};
	struct item probe = {.key = after};
	int i = after + 1;
	while (i < ITEMS && !(in[i] && all[i].value <= limit))
		i++;
	assert_ptr_equal(
		tree_seek(t, after >= 0 ? &probe.node : NULL, &s), i < ITEMS ? &all[i].node : NULL);
}

static void agrees_with_a_sorted_array(void **state)
{
	(void)state;
	static struct item all[ITEMS];
	static bool in[ITEMS];
	uint64_t random = 7, serial = 0;
	struct tree t;
	tree_init(&t, by_key, update);
	for (int i = 0; i < ITEMS; i++)
		all[i].key = i;
	for (int step = 0; step < 20000; step++) {
		int i = (int)(draw(&random) % ITEMS);
		if (in[i]) {
			tree_remove(&t, &all[i].node);
			assert_false(tree_in(&all[i].node));
		} else {
			all[i].value = (int)(draw(&random) % 1000);
			tree_insert(&t, &all[i].node, ++serial);
		}
		in[i] = !in[i];
		check_seek(&t, all, in, (int)(draw(&random) % (ITEMS + 1)) - 1,
			(int)(draw(&random) % 300));
		if (step % 50 == 0) {
			check_node(t.root);
			check_order(&t, all, in);
		}
	}
}

static void refresh_sums_anew(void **state)
{
	(void)state;
	struct item all[40] = {{.key = 0}};
	struct tree t;
	tree_init(&t, by_key, update);
	for (int i = 0; i < 40; i++) {
		all[i].key = i;
		all[i].value = 100;
		tree_insert(&t, &all[i].node, (uint64_t)i);
	}
	for (int i = 0; i < 40; i++)
		all[i].value = 1000 - i;
	tree_refresh(&t);
	check_node(t.root);
	assert_int_equal(item_of(t.root)->least, 961);
}

static unsigned depth(const struct tree_node *n)
{
	if (!n)
		return 0;
	unsigned l = depth(n->left), r = depth(n->right);
	return 1 + (l > r ? l : r);
}

/* Keys in ascending order, as of arrivals, are the worst case of a plain tree. */
static void sorted_arrivals_stay_shallow(void **state)
{
	(void)state;
	enum { N = 100000 };
	struct item *all = mem_array(N, sizeof(*all));
	struct tree t;
	tree_init(&t, by_key, NULL);
	for (int i = 0; i < N; i++) {
		all[i].key = i;
		tree_insert(&t, &all[i].node, (uint64_t)i);
	}
	assert_in_range(depth(t.root), 17, 60);
	free(all);
}

static void empty_tree(void **state)
{
	(void)state;
	int limit = 5;
	struct tree_search s = {may_be_small, is_small, &limit};
	struct tree t;
	tree_init(&t, by_key, update);
	assert_null(tree_first(&t));
	assert_null(tree_at(&t, 0));
	assert_null(tree_seek(&t, NULL, &s));
	assert_int_equal(tree_count(&t), 0);
	tree_refresh(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_a_sorted_array),
		cmocka_unit_test(refresh_sums_anew),
		cmocka_unit_test(sorted_arrivals_stay_shallow),
		cmocka_unit_test(empty_tree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
