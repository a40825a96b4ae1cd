#include "queue/preempt/victim_index.h"

#include "queue/preempt/preemption.h"
#include "sluice/quantity.h"

static struct reservation_line *line_of(const struct tree_node *n)
{
	return container_of((struct tree_node *)(uintptr_t)n, struct reservation_line, in_index);
}

struct reservation *victim_index_reservation(const struct tree_node *n)
{
	return line_of(n)->reservation;
}

/* A room that the ledger remembered may have two lines of one row. */
static int index_order(const struct tree_node *a, const struct tree_node *b)
{
	int order = reservation_cmp(victim_index_reservation(a), victim_index_reservation(b));
	return order ? order : (line_of(a) > line_of(b)) - (line_of(a) < line_of(b));
}

static void add_subtree(struct reservation_line *l, const struct tree_node *n)
{
	if (!n)
		return;
	const struct reservation_line *of = line_of(n);
	l->sum = quantity_add(l->sum, of->sum);
	l->largest = of->largest > l->largest ? of->largest : l->largest;
	l->newest_ms = of->newest_ms > l->newest_ms ? of->newest_ms : l->newest_ms;
}

static bool index_update(struct tree_node *n)
{
	struct reservation_line *l = line_of(n);
	int64_t sum = l->sum, largest = l->largest, newest_ms = l->newest_ms;
	l->sum = l->largest = l->amount;
	l->newest_ms = l->reservation->w->key.queued_ms;
	add_subtree(l, n->left);
	add_subtree(l, n->right);
	return l->sum != sum || l->largest != largest || l->newest_ms != newest_ms;
}

static void line_join(struct reservation_line *l)
{
	if (l->row->ranked && l->amount > 0 && !l->reservation->lingers && !tree_in(&l->in_index))
		tree_insert(&l->row->victim_index, &l->in_index, l->reservation->serial);
}

void victim_index_join(struct reservation *r)
{
	for (size_t i = 0; r->state == RESERVATION_HELD && i < r->nlines; i++)
		line_join(&r->line[i]);
}

void victim_index_leave(struct reservation *r)
{
	for (size_t i = 0; i < r->nlines; i++)
		if (tree_in(&r->line[i].in_index))
			tree_remove(&r->line[i].row->victim_index, &r->line[i].in_index);
}

static void rank(struct clusterqueue *cq, struct quota_row *row)
{
	row->ranked = true;
	tree_init(&row->victim_index, index_order, index_update);
	list_each(&cq->reservations, l)
		victim_index_join(container_of(l, struct reservation, of_clusterqueue));
}

static struct tree *victim_index_of(struct clusterqueue *cq, struct quota_row *row)
{
	if (!row->ranked)
		rank(cq, row);
	return &row->victim_index;
}

struct tree_node *victim_index_first(struct clusterqueue *cq, struct quota_row *row)
{
	return tree_first(victim_index_of(cq, row));
}

/* ---- Those who are newer ---- */

static bool newer_may(const struct tree_node *n, void *ctx)
{
	return line_of(n)->newest_ms > *(const int64_t *)ctx;
}

static bool newer_is(const struct tree_node *n, void *ctx)
{
	return victim_index_reservation(n)->w->key.queued_ms > *(const int64_t *)ctx;
}

struct tree_node *victim_index_newer(
	const struct quota_row *row, const struct tree_node *n, int64_t queued_ms)
{
	struct tree_search s = {newer_may, newer_is, &queued_ms};
	return tree_seek(&row->victim_index, n, &s);
}

/* ---- Sums ---- */

int64_t victim_index_sum(struct clusterqueue *cq, struct quota_row *row, int32_t priority)
{
	int64_t sum = 0;
	for (const struct tree_node *n = victim_index_of(cq, row)->root; n;) {
		const struct reservation *r = victim_index_reservation(n);
		if (!room_is_free(r) && r->w->key.priority > priority) {
			n = n->left;
			continue;
		}
		sum = quantity_add(sum, line_of(n)->amount);
		if (n->left)
			sum = quantity_add(sum, line_of(n->left)->sum);
		n = n->right;
	}
	return sum;
}

int64_t victim_index_largest(struct clusterqueue *cq, struct quota_row *row)
{
	const struct tree_node *root = victim_index_of(cq, row)->root;
	return root ? line_of(root)->largest : 0;
}
