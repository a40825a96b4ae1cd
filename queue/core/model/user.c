#include "queue/core/model/user.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/core/model/state.h"

static int user_order(const struct tree_node *a, const struct tree_node *b)
{
	return strcmp(container_of_const(a, struct user, by_name)->name,
		container_of_const(b, struct user, by_name)->name);
}

void users_init(struct tree *users)
{
	tree_init(users, user_order, NULL);
}

struct user *user_find(const struct localqueue *lq, const char *name)
{
	struct user like = {.name = name};
	struct tree_node *n = tree_find(&lq->users, &like.by_name);
	return n ? container_of(n, struct user, by_name) : NULL;
}

static size_t user_size(const struct user *u)
{
	return sizeof(*u) + strlen(u->name) + 1 + u->nheld * sizeof(*u->held);
}

static struct user *user_new(struct queue *q, struct localqueue *lq, const char *name)
{
	size_t n = strlen(name) + 1;
	struct user *u = mem_alloc(sizeof(*u) + n);
	u->name = memcpy(u + 1, name, n);
	u->lq = lq;
	list_init(&u->members);
	list_init(&u->displaced);
	tree_insert(&lq->users, &u->by_name, ++q->counters.users);
	q->workload_bytes += user_size(u);
	return u;
}

struct user *user_keep(struct queue *q, struct localqueue *lq, const char *name)
{
	struct user *u = user_find(lq, name ? name : "");
	if (!u)
		u = user_new(q, lq, name ? name : "");
	u->refs++;
	return u;
}

void user_put(struct queue *q, struct user *u)
{
	must(u->refs > 0);
	if (--u->refs > 0)
		return;
	must(list_empty(&u->members) && u->nwaiting == 0 && u->nreserving == 0 && !u->line);
	must(list_empty(&u->displaced) && u->nnice == 0);
	list_leave(&u->nice_dirty);
	for (size_t i = 0; i < u->nheld; i++)
		must(u->held[i].amount == 0);
	tree_remove(&u->lq->users, &u->by_name);
	q->workload_bytes -= user_size(u);
	free(u->held);
	free(u);
}

static struct user_held *held_of(struct queue *q, struct user *u, const char *resource)
{
	for (size_t i = 0; i < u->nheld; i++)
		if (u->held[i].resource == resource)
			return &u->held[i];
	u->held = mem_grow(u->held, u->nheld + 1, sizeof(*u->held));
	q->workload_bytes += sizeof(*u->held);
	u->held[u->nheld] = (struct user_held){resource, 0};
	return &u->held[u->nheld++];
}

void user_hold(struct queue *q, struct user *u, const char *resource, int64_t more)
{
	if (more == 0)
		return;
	struct user_held *h = held_of(q, u, resource);
	h->amount += more;
	must(h->amount >= 0);
}

__int128 user_holds(const struct user *u, const char *resource)
{
	for (size_t i = 0; i < u->nheld; i++)
		if (strcmp(u->held[i].resource, resource) == 0)
			return u->held[i].amount;
	return 0;
}

/* ---- The line ---- */

struct line_place {
	struct tree_node node; /* in line->standing or line->beyond */
	struct workload *w;
	bool stands;
};

struct user_line {
	struct tree standing, beyond; /* line_place.node, by time of queueing */
	struct link unsettled;	      /* in queue.unsettled_lines */
	struct user *user;
};

static struct line_place *place_of(const struct tree_node *n)
{
	return container_of((struct tree_node *)(uintptr_t)n, struct line_place, node);
}

static int line_order(const struct tree_node *a, const struct tree_node *b)
{
	const struct order_key *x = &place_of(a)->w->key, *y = &place_of(b)->w->key;
	if (x->queued_ms != y->queued_ms)
		return x->queued_ms < y->queued_ms ? -1 : 1;
	if (x->arrival != y->arrival)
		return x->arrival < y->arrival ? -1 : 1;
	return uid_cmp(&x->uid, &y->uid);
}

static struct line_place *first_beyond(const struct user_line *l)
{
	struct tree_node *n = tree_first(&l->beyond);
	return n ? place_of(n) : NULL;
}

static struct line_place *last_standing(const struct user_line *l)
{
	size_t n = tree_count(&l->standing);
	return n > 0 ? place_of(tree_at(&l->standing, n - 1)) : NULL;
}

static size_t limit_of(const struct user *u)
{
	return (size_t)u->lq->limits.per_user.waiting;
}

static bool is_settled(const struct user_line *l)
{
	size_t standing = tree_count(&l->standing), limit = limit_of(l->user);
	const struct line_place *next = first_beyond(l), *last = last_standing(l);
	if (standing > limit || (next && standing < limit))
		return false;
	return !next || !last || line_order(&last->node, &next->node) < 0;
}

static void unsettle(struct queue *q, struct user_line *l)
{
	if (!list_in(&l->unsettled) && !is_settled(l))
		list_add(&q->unsettled_lines, &l->unsettled);
}

static struct user_line *line_of(struct queue *q, struct user *u)
{
	if (u->line)
		return u->line;
	u->line = mem_alloc(sizeof(*u->line));
	u->line->user = u;
	tree_init(&u->line->standing, line_order, NULL);
	tree_init(&u->line->beyond, line_order, NULL);
	q->workload_bytes += sizeof(*u->line);
	return u->line;
}

static void line_tidy(struct queue *q, struct user_line *l)
{
	if (tree_count(&l->standing) + tree_count(&l->beyond) > 0)
		return;
	list_leave(&l->unsettled);
	l->user->line = NULL;
	q->workload_bytes -= sizeof(*l);
	free(l);
}

static void stand(struct user_line *l, struct line_place *p, bool stands)
{
	p->stands = stands;
	tree_insert(stands ? &l->standing : &l->beyond, &p->node, p->w->key.arrival);
}

static void unstand(struct user_line *l, struct line_place *p)
{
	tree_remove(p->stands ? &l->standing : &l->beyond, &p->node);
}

/* Returns whether the Job belongs in line, as far as those tell that stand there now. For a pass it
 * matters at once: a Job whose promise is taken back has its turn before those that were queued
 * after it. So there may be one too many in line until user_lines_settle(). */
static bool belongs(const struct user_line *l, const struct line_place *p)
{
	const struct line_place *last = last_standing(l), *next = first_beyond(l);
	bool before_last = last && line_order(&p->node, &last->node) < 0;
	bool is_next = !next || line_order(&p->node, &next->node) < 0;
	return is_next && (before_last || tree_count(&l->standing) < limit_of(l->user));
}

bool user_line_enter(struct queue *q, struct workload *w)
{
	if (w->in_line)
		return w->in_line->stands;
	if (limit_of(w->user) == 0)
		return true;
	struct user_line *l = line_of(q, w->user);
	w->in_line = mem_alloc(sizeof(*w->in_line));
	w->in_line->w = w;
	q->workload_bytes += sizeof(*w->in_line);
	bool stands = belongs(l, w->in_line);
	stand(l, w->in_line, stands);
	unsettle(q, l);
	return stands;
}

void user_line_leave(struct queue *q, struct workload *w)
{
	if (!w->in_line)
		return;
	struct user_line *l = w->user->line;
	unstand(l, w->in_line);
	q->workload_bytes -= sizeof(*w->in_line);
	free(w->in_line);
	w->in_line = NULL;
	unsettle(q, l);
	line_tidy(q, l);
}

bool user_line_waits(const struct workload *w)
{
	return w->in_line && !w->in_line->stands;
}

/* One step; the line may be gone after it. */
static void settle_one(struct queue *q, struct user_line *l)
{
	bool full = tree_count(&l->standing) >= limit_of(l->user);
	list_leave(&l->unsettled);
	if (is_settled(l))
		return;
	list_add(&q->unsettled_lines, &l->unsettled);
	struct line_place *p = full ? last_standing(l) : first_beyond(l);
	must(p); /* else it were settled */
	/* The Job may leave the line by this: its terms may have another answer by now. */
	unstand(l, p);
	stand(l, p, !p->stands);
	workload_stand_anew(q, p->w);
}

bool user_lines_settle(struct queue *q)
{
	bool moved = !list_empty(&q->unsettled_lines);
	while (!list_empty(&q->unsettled_lines))
		settle_one(q, container_of(q->unsettled_lines.next, struct user_line, unsettled));
	return moved;
}

void user_lines_limited(struct queue *q, struct localqueue *lq)
{
	for (struct tree_node *n = tree_first(&lq->users); n; n = tree_next(n)) {
		struct user *u = container_of(n, struct user, by_name);
		if (u->line)
			unsettle(q, u->line);
	}
}

size_t user_line_length(const struct user *u)
{
	return u->line ? tree_count(&u->line->standing) : 0;
}
