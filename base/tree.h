/*
 * An intrusive, balanced order-statistics tree: find the first, the next, the n-th, the rank, each
 * in O(log n), in whatever order `cmp` says.
 *
 * It is a treap. A node's weight comes from a serial number that the caller gives (an arrival
 * counter), never from an address, so the same calls build the same tree. Keys must not change
 * while a node is in: take it out, change it, put it back.
 *
 * A caller that needs more of a subtree than its count sets `update`. It is called with a node
 * whose children are right. It makes the node's own sum (a least value, say) right, and tells
 * whether that changed. So tree_seek() can pass over whole subtrees.
 */
#ifndef SLUICE_BASE_TREE_H
#define SLUICE_BASE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tree_node {
	struct tree_node *left, *right, *parent;
	uint32_t count;	 /* nodes in this subtree; 0: stands in no tree */
	uint32_t weight; /* not below those of the children */
};

struct tree {
	struct tree_node *root;
	int (*cmp)(const struct tree_node *a, const struct tree_node *b); /* a total order */
	bool (*update)(struct tree_node *n);				  /* may be NULL */
};

void tree_init(struct tree *t, int (*cmp)(const struct tree_node *, const struct tree_node *),
	bool (*update)(struct tree_node *));

void tree_insert(struct tree *t, struct tree_node *n, uint64_t serial);
void tree_remove(struct tree *t, struct tree_node *n);
/* Calls update() for every node, children first: for when what it sums has changed everywhere. */
void tree_refresh(struct tree *t);

struct tree_node *tree_first(const struct tree *t); /* NULL when empty */
/* Finds the node that is equal to `like`, which need not be in the tree; NULL when none is. */
struct tree_node *tree_find(const struct tree *t, const struct tree_node *like);
struct tree_node *tree_next(const struct tree_node *n);
struct tree_node *tree_at(const struct tree *t, size_t index); /* NULL past the last */
size_t tree_rank(const struct tree_node *n);		       /* how many stand before it */
/* Counts the nodes before the place of n, which need not be in the tree. */
size_t tree_before(const struct tree *t, const struct tree_node *n);

static inline size_t tree_count(const struct tree *t)
{
	return t->root ? t->root->count : 0;
}

static inline bool tree_in(const struct tree_node *n)
{
	return n->count > 0;
}

/* What a search looks for. may() is false for the root of a subtree in which nothing can be found;
 * is() is true for a node that is looked for. */
struct tree_search {
	bool (*may)(const struct tree_node *subtree, void *ctx);
	bool (*is)(const struct tree_node *n, void *ctx);
	void *ctx;
};

/* Finds the first node behind `after` that is looked for; NULL: the first of all. `after` need not
 * be in the tree. */
struct tree_node *tree_seek(
	const struct tree *t, const struct tree_node *after, const struct tree_search *s);

#endif
