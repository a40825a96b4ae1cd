#include "queue/core/model/share.h"

#include <math.h>

#include "queue/core/model/clusterqueue.h"
#include "queue/core/model/cohort.h"
#include "sluice/quantity.h"

static double weight_of(const struct quota_node *node)
{
	if (node->cohort)
		return node->cohort->weight;
	return node->owner ? node->owner->spec.weight : 1;
}

/* The row for the flavor and resource of `like`, in the node or its nearest ancestor that has one.
 * A node without the row sets no limit, so it may use as much as its parent. */
static const struct quota_row *row_above(
	const struct quota_node *node, const struct quota_row *like)
{
	for (; node; node = node->parent)
		for (size_t i = 0; i < node->nrows; i++)
			if (node->row[i]->flavor == like->flavor &&
				node->row[i]->resource == like->resource)
				return node->row[i];
	return NULL;
}

/* All that the node could ever have of a resource, in all flavors of its tree. */
static int64_t lendable(const struct quota_node *node, const char *resource)
{
	int64_t sum = 0;
	const struct quota_node *root = node;
	while (root->parent)
		root = root->parent;
	for (size_t i = 0; i < root->nrows; i++)
		if (root->row[i]->resource == resource)
			sum = quantity_add(sum, quota_potential(row_above(node, root->row[i])));
	return sum;
}

static int64_t borrowed_on(const struct quota_row *row)
{
	__int128 beyond = row->use[QUOTA_THEN] - row->subtree;
	return beyond > 0 ? quota_shown(beyond) : 0;
}

/* What is borrowed of the resource of row i, in all flavors. Row i is its first row. */
static int64_t borrowed_from(const struct quota_node *node, size_t i)
{
	int64_t sum = 0;
	for (size_t k = i; k < node->nrows; k++)
		if (node->row[k]->resource == node->row[i]->resource)
			sum = quantity_add(sum, borrowed_on(node->row[k]));
	return sum;
}

static bool is_first_of_resource(const struct quota_node *node, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (node->row[k]->resource == node->row[i]->resource)
			return false;
	return true;
}

struct share share_of(const struct quota_node *node)
{
	struct share s = {.weight = weight_of(node)};
	for (size_t i = 0; node->parent && i < node->nrows; i++) {
		if (!is_first_of_resource(node, i))
			continue;
		int64_t borrowed = borrowed_from(node, i);
		if (borrowed == 0)
			continue;
		s.borrows = true;
		int64_t all = lendable(node->parent, node->row[i]->resource);
		double ratio = all > 0 ? (double)borrowed * 1000.0 / (double)all : 0;
		s.ratio = ratio > s.ratio ? ratio : s.ratio;
	}
	return s;
}

/* Returns whether the node borrows with weight 0, by which nothing can be divided. */
static bool is_beyond_all(const struct share *s)
{
	return s->weight == 0 && s->ratio != 0;
}

static double weighted(const struct share *s)
{
	return s->ratio == 0 ? 0 : s->ratio / s->weight;
}

static int compare(double a, double b)
{
	return (a > b) - (a < b);
}

int share_cmp(const struct share *a, const struct share *b)
{
	if (is_beyond_all(a) && is_beyond_all(b))
		return compare(a->ratio, b->ratio);
	if (is_beyond_all(a) || is_beyond_all(b))
		return is_beyond_all(a) ? 1 : -1;
	return compare(weighted(a), weighted(b));
}

int64_t share_shown(const struct share *s)
{
	if (is_beyond_all(s))
		return INT64_MAX;
	double up = ceil(weighted(s));
	return up < 9.2e18 ? (int64_t)up : INT64_MAX;
}
