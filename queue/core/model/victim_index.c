#include "queue/core/model/victim_index.h"

#include <stdlib.h>

#include "base/mem.h"
#include "sluice/quantity.h"

/* ---- The order in which they go ---- */

static int cost_of(const struct reservation *r)
{
	return r->state == RESERVATION_PROMISED ? 0 : r->stop_given ? 1 : 2;
}

bool costs_nothing(const struct reservation *r)
{
	return cost_of(r) < 2;
}

int reservation_cmp(const struct reservation *a, const struct reservation *b)
{
	if (cost_of(a) != cost_of(b))
		return cost_of(a) < cost_of(b) ? -1 : 1;
	if (a->w->key.priority != b->w->key.priority)
		return a->w->key.priority < b->w->key.priority ? -1 : 1;
	if (a->reserved_ms != b->reserved_ms)
		return a->reserved_ms > b->reserved_ms ? -1 : 1;
	return uid_cmp(&a->w->key.uid, &b->w->key.uid);
}

/* ---- The index ---- */

/* A line in the index of its row. */
struct victim_entry {
	struct tree_node in_index;
	struct reservation *reservation;
	struct reservation_line *line;
	/* of its subtree */
	int64_t sum, largest;	   /* amounts */
	int64_t newest_ms;	   /* the latest key.queued_ms */
	int64_t first_ms, last_ms; /* starts */
};

static struct victim_entry *entry_of(const struct tree_node *n)
{
	return container_of((struct tree_node *)(uintptr_t)n, struct victim_entry, in_index);
}

struct reservation *victim_index_reservation(const struct tree_node *n)
{
	return entry_of(n)->reservation;
}

/* An adopted reservation may have two lines of one row. */
static int index_order(const struct tree_node *a, const struct tree_node *b)
{
	int order = reservation_cmp(victim_index_reservation(a), victim_index_reservation(b));
	const struct reservation_line *x = entry_of(a)->line, *y = entry_of(b)->line;
	return order ? order : (x > y) - (x < y);
}

static void add_subtree(struct victim_entry *e, const struct tree_node *n)
{
	if (!n)
		return;
	const struct victim_entry *of = entry_of(n);
	e->sum = quantity_add(e->sum, of->sum);
	e->largest = of->largest > e->largest ? of->largest : e->largest;
	e->newest_ms = of->newest_ms > e->newest_ms ? of->newest_ms : e->newest_ms;
	e->first_ms = of->first_ms < e->first_ms ? of->first_ms : e->first_ms;
	e->last_ms = of->last_ms > e->last_ms ? of->last_ms : e->last_ms;
}

static int64_t start_of(const struct reservation *r)
{
	return costs_nothing(r) ? INT64_MIN : r->reserved_ms;
}

static bool index_update(struct tree_node *n)
{
	struct victim_entry *e = entry_of(n), old = *e;
	e->sum = e->largest = reservation_line_then(e->reservation, e->line);
	e->newest_ms = e->reservation->w->key.queued_ms;
	e->first_ms = e->last_ms = start_of(e->reservation);
	add_subtree(e, n->left);
	add_subtree(e, n->right);
	return e->sum != old.sum || e->largest != old.largest || e->newest_ms != old.newest_ms ||
	       e->first_ms != old.first_ms || e->last_ms != old.last_ms;
}

static void line_join(struct reservation *r, struct reservation_line *l)
{
	if (!l->row->ranked || reservation_line_then(r, l) <= 0 || r->lingers || l->victim)
		return;
	struct victim_entry *e = mem_alloc(sizeof(*e));
	e->reservation = r;
	e->line = l;
	l->victim = e;
	tree_insert(&l->row->victim_index, &e->in_index, r->serial);
}

void victim_index_join(struct reservation *r)
{
	for (size_t i = 0; r->state == RESERVATION_HELD && i < r->nlines; i++)
		line_join(r, &r->line[i]);
}

void victim_index_leave(struct reservation *r)
{
	for (size_t i = 0; i < r->nlines; i++) {
		struct reservation_line *l = &r->line[i];
		if (!l->victim)
			continue;
		tree_remove(&l->row->victim_index, &l->victim->in_index);
		free(l->victim);
		l->victim = NULL;
	}
}

static void rank(struct clusterqueue *cq, struct quota_row *row)
{
	row->ranked = true;
	tree_init(&row->victim_index, index_order, index_update);
	list_each_entry(&cq->reservations, struct reservation, r, of_clusterqueue)
		victim_index_join(r);
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

/* ---- Newer runs ---- */

static bool newer_may(const struct tree_node *n, void *ctx)
{
	return entry_of(n)->newest_ms > *(const int64_t *)ctx;
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

/* ---- When they started ---- */

static bool started_may(const struct tree_node *n, void *ctx)
{
	return entry_of(n)->first_ms <= *(const int64_t *)ctx;
}

static bool started_is(const struct tree_node *n, void *ctx)
{
	return start_of(victim_index_reservation(n)) <= *(const int64_t *)ctx;
}

struct tree_node *victim_index_started(
	const struct quota_row *row, const struct tree_node *n, int64_t by_ms)
{
	struct tree_search s = {started_may, started_is, &by_ms};
	return tree_seek(&row->victim_index, n, &s);
}

static int64_t next_start(const struct tree_node *n, int64_t after_ms)
{
	if (!n || entry_of(n)->last_ms <= after_ms)
		return INT64_MAX;
	if (entry_of(n)->first_ms > after_ms)
		return entry_of(n)->first_ms;
	int64_t start = start_of(victim_index_reservation(n));
	int64_t least = start > after_ms ? start : INT64_MAX;
	int64_t left = next_start(n->left, after_ms), right = next_start(n->right, after_ms);
	least = left < least ? left : least;
	return right < least ? right : least;
}

/* Of each priority the later starts come first. So this goes to few more than twice as many nodes
 * as there are priorities, times the depth of the tree. */
int64_t victim_index_next_start(const struct quota_row *row, int64_t after_ms)
{
	return row->ranked ? next_start(row->victim_index.root, after_ms) : INT64_MAX;
}

/* ---- Sums ---- */

static int64_t amount_by(const struct victim_entry *e, int64_t by_ms)
{
	return start_of(e->reservation) <= by_ms ? reservation_line_then(e->reservation, e->line)
						 : 0;
}

/* As many steps as next_start(). */
static int64_t sum_by(const struct tree_node *n, int64_t by_ms)
{
	if (!n || entry_of(n)->first_ms > by_ms)
		return 0;
	if (entry_of(n)->last_ms <= by_ms)
		return entry_of(n)->sum;
	return quantity_add(amount_by(entry_of(n), by_ms),
		quantity_add(sum_by(n->left, by_ms), sum_by(n->right, by_ms)));
}

int64_t victim_index_sum(
	struct clusterqueue *cq, struct quota_row *row, int32_t priority, int64_t by_ms)
{
	int64_t sum = 0;
	for (const struct tree_node *n = victim_index_of(cq, row)->root; n;) {
		const struct reservation *r = victim_index_reservation(n);
		if (!costs_nothing(r) && r->w->key.priority > priority) {
			n = n->left;
			continue;
		}
		sum = quantity_add(sum, amount_by(entry_of(n), by_ms));
		sum = quantity_add(sum, sum_by(n->left, by_ms));
		n = n->right;
	}
	return sum;
}

int64_t victim_index_largest(struct clusterqueue *cq, struct quota_row *row)
{
	const struct tree_node *root = victim_index_of(cq, row)->root;
	return root ? entry_of(root)->largest : 0;
}
