#include "base/tree.h"

#include "base/must.h"

void tree_init(struct tree *t, int (*cmp)(const struct tree_node *, const struct tree_node *),
	bool (*update)(struct tree_node *))
{
	*t = (struct tree){.cmp = cmp, .update = update};
}

/* Makes a weight of a serial by splitmix64's finisher: neighbours in arrival become strangers. */
static uint32_t weight_of(uint64_t serial)
{
	uint64_t z = (serial + 1) * 0x9E3779B97F4A7C15u;
	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return (uint32_t)(z >> 32);
}

static uint32_t count_of(const struct tree_node *n)
{
	return n ? n->count : 0;
}

/* Puts `child` (may be NULL) where `old` hangs under `parent` (NULL: the root). */
static void replace(
	struct tree *t, struct tree_node *parent, struct tree_node *old, struct tree_node *child)
{
	if (!parent)
		t->root = child;
	else if (parent->left == old)
		parent->left = child;
	else
		parent->right = child;
	if (child)
		child->parent = parent;
}

/* Lifts n above its parent. Counts stay right; sums are right for the parent, not yet for n. */
static void rotate_up(struct tree *t, struct tree_node *n)
{
	struct tree_node *p = n->parent;
	struct tree_node *between = p->left == n ? n->right : n->left;
	uint32_t all = p->count;

	replace(t, p->parent, p, n);
	if (p->left == n) {
		p->left = between;
		n->right = p;
	} else {
		p->right = between;
		n->left = p;
	}
	if (between)
		between->parent = p;
	p->parent = n;
	p->count = all - n->count + count_of(between);
	n->count = all;
	if (t->update)
		t->update(p);
}

/* Makes the sums from n upwards right: the first `stale` nodes always, as their sums are of other
 * places, and then until one stays as it was. That is soon, as a rule. */
static void update_up(const struct tree *t, struct tree_node *n, size_t stale)
{
	for (bool go_on = t->update != NULL; n && go_on; n = n->parent) {
		go_on = t->update(n) || stale > 0;
		stale -= stale > 0;
	}
}

void tree_insert(struct tree *t, struct tree_node *n, uint64_t serial)
{
	must(!tree_in(n));
	*n = (struct tree_node){.count = 1, .weight = weight_of(serial)};

	struct tree_node *parent = NULL, **place = &t->root;
	while (*place) {
		parent = *place;
		parent->count++;
		int order = t->cmp(n, parent);
		must(order != 0);
		place = order < 0 ? &parent->left : &parent->right;
	}
	*place = n;
	n->parent = parent;
	while (n->parent && n->parent->weight < n->weight)
		rotate_up(t, n);
	update_up(t, n, 1);
}

void tree_remove(struct tree *t, struct tree_node *n)
{
	must(tree_in(n));
	size_t lifted = 0;
	for (; n->left && n->right; lifted++)
		rotate_up(t, n->left->weight > n->right->weight ? n->left : n->right);

	struct tree_node *parent = n->parent;
	replace(t, parent, n, n->left ? n->left : n->right);
	for (struct tree_node *up = parent; up; up = up->parent)
		up->count--;
	*n = (struct tree_node){0};
	update_up(t, parent, lifted);
}

static struct tree_node *leftmost(struct tree_node *n)
{
	while (n && n->left)
		n = n->left;
	return n;
}

static struct tree_node *deepest_first(struct tree_node *n)
{
	while (n && (n->left || n->right))
		n = n->left ? n->left : n->right;
	return n;
}

void tree_refresh(struct tree *t)
{
	must(t->update);
	for (struct tree_node *n = deepest_first(t->root); n;) {
		t->update(n);
		struct tree_node *p = n->parent;
		bool other = p && p->left == n && p->right;
		n = other ? deepest_first(p->right) : p;
	}
}

struct tree_node *tree_first(const struct tree *t)
{
	return leftmost(t->root);
}

struct tree_node *tree_find(const struct tree *t, const struct tree_node *like)
{
	struct tree_node *n = t->root;
	for (int order; n && (order = t->cmp(like, n)) != 0;)
		n = order < 0 ? n->left : n->right;
	return n;
}

struct tree_node *tree_next(const struct tree_node *n)
{
	if (n->right)
		return leftmost(n->right);
	while (n->parent && n->parent->right == n)
		n = n->parent;
	return n->parent;
}

struct tree_node *tree_at(const struct tree *t, size_t index)
{
	struct tree_node *n = t->root;
	while (n) {
		size_t before = count_of(n->left);
		if (index == before)
			return n;
		if (index > before) {
			index -= before + 1;
			n = n->right;
		} else {
			n = n->left;
		}
	}
	return NULL;
}

size_t tree_rank(const struct tree_node *n)
{
	size_t rank = count_of(n->left);
	for (; n->parent; n = n->parent)
		if (n->parent->right == n)
			rank += count_of(n->parent->left) + 1u;
	return rank;
}

size_t tree_before(const struct tree *t, const struct tree_node *n)
{
	size_t before = 0;
	for (const struct tree_node *at = t->root; at;) {
		bool right = t->cmp(at, n) < 0;
		before += right ? count_of(at->left) + 1u : 0;
		at = right ? at->right : at->left;
	}
	return before;
}

/* Searches a whole subtree. The recursions go as deep as the tree: about 50 for a million nodes. */
static struct tree_node *seek_all(struct tree_node *n, const struct tree_search *s)
{
	for (; n && s->may(n, s->ctx); n = n->right) {
		struct tree_node *found = seek_all(n->left, s);
		if (found)
			return found;
		if (s->is(n, s->ctx))
			return n;
	}
	return NULL;
}

static struct tree_node *seek_behind(const struct tree *t, struct tree_node *n,
	const struct tree_node *after, const struct tree_search *s)
{
	while (n && t->cmp(after, n) >= 0)
		n = n->right;
	if (!n || !s->may(n, s->ctx))
		return NULL;
	struct tree_node *found = seek_behind(t, n->left, after, s);
	if (!found && s->is(n, s->ctx))
		found = n;
	return found ? found : seek_all(n->right, s);
}

struct tree_node *tree_seek(
	const struct tree *t, const struct tree_node *after, const struct tree_search *s)
{
	return after ? seek_behind(t, t->root, after, s) : seek_all(t->root, s);
}
