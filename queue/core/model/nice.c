#include "queue/core/model/nice.h"

#include <stdlib.h>

#include "base/mem.h"
#include "queue/core/model/state.h"
#include "queue/core/model/plain_fit.h"
#include "queue/core/model/user.h"

enum { VALUES = 2 * NICE_MAX + 1 };

void nices_init(struct nices *all)
{
	list_init(&all->dirty);
	list_init(&all->users);
}

/* ---- The record ---- */

static struct place place_of(const struct order_key *k)
{
	return (struct place){k->queued_ms, k->arrival};
}

static bool place_same(struct place a, struct place b)
{
	return a.queued_ms == b.queued_ms && a.arrival == b.arrival;
}

static struct order_key key_at(const struct workload *w, struct place p)
{
	struct order_key key = w->key;
	key.queued_ms = p.queued_ms;
	key.arrival = p.arrival;
	return key;
}

static bool has_exchanged(const struct workload *w)
{
	const struct nice *n = w->nice;
	return n && n->exchanged && n->instead_of_ms == w->key.queued_ms;
}

static struct place own_place(const struct workload *w)
{
	return has_exchanged(w) ? w->nice->own : place_of(&w->key);
}

struct order_key nice_own_key(const struct workload *w)
{
	return key_at(w, own_place(w));
}

void nice_join_user(struct queue *q, struct workload *w)
{
	if (w->user->nnice++ > 0)
		return;
	list_add(&q->nices.users, &w->user->niced);
	w->user->beyond = w->user->counted = false; /* not known since nothing was dealt */
}

void nice_leave_user(struct workload *w)
{
	list_leave(&w->nice->of_user);
	if (--w->user->nnice == 0)
		list_leave(&w->user->niced);
}

static struct nice *record_of(struct queue *q, struct workload *w)
{
	if (w->nice)
		return w->nice;
	w->nice = mem_alloc(sizeof(*w->nice));
	w->nice->w = w;
	w->nice->stands = w->key;
	q->workload_bytes += sizeof(*w->nice);
	nice_join_user(q, w);
	return w->nice;
}

/* Frees the record of a workload that has left its user. */
static void record_free(struct queue *q, struct workload *w)
{
	q->workload_bytes -= sizeof(*w->nice);
	free(w->nice);
	w->nice = NULL;
}

static bool says_nothing(const struct nice *n)
{
	return n->value == 0 && !n->exchanged && !list_in(&n->of_user);
}

/* The record of one that is like all others goes. */
static void record_tidy(struct queue *q, struct workload *w)
{
	if (!w->nice || !says_nothing(w->nice))
		return;
	nice_leave_user(w);
	record_free(q, w);
}

/* ---- Jobs that leave, and come back ---------------------------------------------------------- */

static bool is_later(struct place a, struct place b)
{
	return a.queued_ms != b.queued_ms ? a.queued_ms > b.queued_ms : a.arrival > b.arrival;
}

static void remember(struct nices *all, const struct workload *w)
{
	if (has_exchanged(w) && is_later(w->nice->own, place_of(&w->key)))
		all->given[all->ngiven++ % NICE_GIVEN_MAX] =
			(struct nice_given){w->key.uid, w->nice->own, w->nice->instead_of_ms};
}

/* The last time that it left counts. */
static const struct nice_given *given_of(const struct nices *all, const struct uid *uid)
{
	size_t n = all->ngiven < NICE_GIVEN_MAX ? all->ngiven : NICE_GIVEN_MAX;
	for (size_t i = 1; i <= n; i++) {
		const struct nice_given *g = &all->given[(all->ngiven - i) % NICE_GIVEN_MAX];
		if (uid_cmp(&g->uid, uid) == 0)
			return g;
	}
	return NULL;
}

void nice_recall(struct queue *q, struct workload *w)
{
	const struct nice_given *g = given_of(&q->nices, &w->key.uid);
	if (!g || g->instead_of_ms != w->key.queued_ms)
		return;
	struct nice *n = record_of(q, w);
	n->own = g->own;
	n->instead_of_ms = g->instead_of_ms;
	n->exchanged = true;
	n->stands = nice_own_key(w);
}

void nice_forget(struct queue *q, struct workload *w)
{
	remember(&q->nices, w);
	record_free(q, w);
}

bool nice_is_beyond(const struct workload *w)
{
	if (!w->user->beyond)
		return false;
	struct order_key own = nice_own_key(w);
	return order_cmp(&own, &w->user->last_dealt) > 0;
}

static void mark(struct queue *q, struct user *u)
{
	if (u->nnice > 0 && user_is_known(u) && !list_in(&u->nice_dirty))
		list_add(&q->nices.dirty, &u->nice_dirty);
}

void nice_take(struct queue *q, struct workload *w, int32_t value)
{
	record_of(q, w)->value = value;
	record_tidy(q, w);
}

/* ---- Into the line, and out ---- */

static void stand_at(struct workload *w, struct place p)
{
	w->nice->stands = key_at(w, p);
	list_leave(&w->nice->of_user);
}

void nice_enter(struct queue *q, struct workload *w)
{
	if (w->nice)
		stand_at(w, own_place(w));
	w->user->counted = false;
	if (!nice_is_beyond(w))
		mark(q, w->user);
}

static void exchange(struct workload *w, struct place own)
{
	struct nice *n = w->nice;
	n->own = own;
	n->instead_of_ms = w->key.queued_ms;
	n->exchanged = !place_same(own, place_of(&w->key));
}

/* Uses up the place from which w starts, which another Job of its user gave up: that Job has w's
 * own place from now on. If it has left the line meanwhile, there is none to give the place to. */
static void use_up(struct workload *w)
{
	struct place place = place_of(&w->nice->stands), own = own_place(w);
	list_each_entry(&w->user->displaced, const struct nice, n, of_user) {
		struct workload *giver = n->w;
		if (giver == w || !place_same(own_place(giver), place))
			continue;
		exchange(giver, own);
		exchange(w, place);
		if (place_same(own, place_of(&giver->nice->stands)))
			list_leave(&giver->nice->of_user);
		return;
	}
}

void nice_leave(struct queue *q, struct workload *w, bool starts)
{
	struct nice *n = w->nice;
	if (n && starts && list_in(&n->of_user))
		use_up(w);
	if (n)
		stand_at(w, own_place(w));
	w->user->counted = false;
	if ((!starts || w->user->beyond) && !nice_is_beyond(w))
		mark(q, w->user);
	record_tidy(q, w);
}

/* ---- The deal ---- */

static int by_own_place(const void *a, const void *b)
{
	struct order_key x = nice_own_key(*(struct workload *const *)a);
	struct order_key y = nice_own_key(*(struct workload *const *)b);
	return order_cmp(&x, &y);
}

/* Compares workloads of one priority by nice, then by their queueing. */
static int by_nice(const void *a, const void *b)
{
	const struct workload *x = *(struct workload *const *)a;
	const struct workload *y = *(struct workload *const *)b;
	if (nice_of(x) != nice_of(y))
		return nice_of(x) < nice_of(y) ? -1 : 1;
	return order_cmp(&x->key, &y->key);
}

static int by_queueing(const void *a, const void *b)
{
	return order_cmp(
		&(*(struct workload *const *)a)->key, &(*(struct workload *const *)b)->key);
}

static void sort(struct workload **w, size_t n, int (*cmp)(const void *, const void *))
{
	if (n > 1)
		qsort(w, n, sizeof(*w), cmp);
}

/* Moves the workload to a place in line, if it stands at another one. */
static void move_to(struct queue *q, struct workload *w, struct place p)
{
	if (!place_same(p, place_of(workload_standing(w)))) {
		workload_leave_line(q, w);
		record_of(q, w);
		stand_at(w, p);
		workload_join_line(q, w);
		if (!place_same(p, own_place(w)))
			list_add(&w->user->displaced, &w->nice->of_user);
		q->counters.version++;
	}
	record_tidy(q, w);
}

static bool takes_part(const struct workload *w)
{
	const struct group *g = w->group;
	return w->key.due_ms == 0 && !g->claim.nowhere && plain_fit_possible(g->cq, &g->claim);
}

struct hand {
	struct workload **w; /* those that take part, in the order of their own places */
	size_t n;
	bool beyond; /* there are more behind these */
};

/* A heap: the last in line of the first n is on top, but for the one at `at`, which sinks. */
static void sink(struct workload **w, size_t n, size_t at)
{
	for (size_t child; (child = 2 * at + 1) < n; at = child) {
		child += child + 1 < n && by_own_place(&w[child], &w[child + 1]) < 0;
		if (by_own_place(&w[at], &w[child]) >= 0)
			return;
		struct workload *last = w[child];
		w[child] = w[at];
		w[at] = last;
	}
}

static void hand_add(struct hand *h, struct workload *w)
{
	if (h->n == NICE_DEALT_MAX) {
		h->beyond = true;
		if (by_own_place(&w, &h->w[0]) > 0 || !takes_part(w))
			return;
		h->w[0] = w;
		sink(h->w, h->n, 0);
	} else if (takes_part(w)) {
		h->w[h->n++] = w;
		for (size_t i = h->n / 2; h->n == NICE_DEALT_MAX && i-- > 0;)
			sink(h->w, h->n, i);
	}
}

static struct hand hand_take(const struct user *u)
{
	size_t most = u->nwaiting < NICE_DEALT_MAX ? u->nwaiting : NICE_DEALT_MAX;
	struct hand h = {.w = mem_array(most, sizeof(struct workload *))};
	list_each_entry(&u->members, struct workload, w, of_user)
		if (w->place == PLACE_READY)
			hand_add(&h, w);
	sort(h.w, h.n, by_own_place);
	return h;
}

/* The next ones of one priority, from *at on; 0: there are none left. */
static size_t hand_next(const struct hand *h, size_t *at, struct workload ***ret)
{
	size_t from = *at;
	*ret = h->w + from;
	while (*at < h->n && h->w[*at]->key.priority == h->w[from]->key.priority)
		++*at;
	return *at - from;
}

/* Deals the places of these Jobs of one priority by nice. w is in the order of their own places. */
static void deal_to(struct queue *q, struct workload **w, size_t n)
{
	struct place *place = mem_array(n, sizeof(*place));
	for (size_t i = 0; i < n; i++)
		place[i] = own_place(w[i]);
	sort(w, n, by_nice);
	for (size_t i = 0; i < n; i++)
		move_to(q, w[i], place[i]);
	free(place);
}

/* Puts Jobs that do not take part any more back at their own places. */
static void take_back(struct queue *q, struct user *u)
{
	for (struct link *l = u->displaced.next, *next; l != &u->displaced; l = next) {
		struct workload *w = container_of(l, struct nice, of_user)->w;
		next = l->next;
		if (nice_is_beyond(w) || !takes_part(w))
			move_to(q, w, own_place(w));
	}
}

static void deal(struct queue *q, struct user *u)
{
	struct hand h = hand_take(u);
	struct workload **w;
	u->beyond = h.beyond;
	if (h.beyond)
		u->last_dealt = nice_own_key(h.w[h.n - 1]);
	take_back(q, u);
	for (size_t at = 0, n; (n = hand_next(&h, &at, &w)) > 0;)
		deal_to(q, w, n);
	free(h.w);
}

void nices_deal(struct queue *q)
{
	/* Another question which Jobs are possible? */
	uint64_t edits = q->quota.edits + q->groups.edits;
	if (edits != q->nices.edits)
		list_each_entry(&q->nices.users, struct user, u, niced)
			mark(q, u);
	q->nices.edits = edits;
	while (!list_empty(&q->nices.dirty)) {
		struct user *u = container_of(q->nices.dirty.next, struct user, nice_dirty);
		list_leave(&u->nice_dirty);
		u->counted = false;
		deal(q, u);
	}
}

/* ---- Counted, for explanations --------------------------------------------------------------- */

/* Counts who passed whom among Jobs of one priority. Only those with a record are told. */
static void count_passed(struct workload **w, size_t n)
{
	uint32_t earlier[VALUES] = {0}, later[VALUES] = {0};
	sort(w, n, by_queueing);
	for (size_t i = 0; i < n; i++) {
		int at = nice_of(w[i]) + NICE_MAX;
		for (int v = at + 1; w[i]->nice && v < VALUES; v++)
			w[i]->nice->before += earlier[v];
		earlier[at]++;
	}
	for (size_t i = n; i-- > 0;) {
		int at = nice_of(w[i]) + NICE_MAX;
		for (int v = 0; w[i]->nice && v < at; v++)
			w[i]->nice->behind += later[v];
		later[at]++;
	}
}

void nices_count(struct user *u)
{
	if (u->counted)
		return;
	u->counted = true;
	list_each_entry(&u->members, struct workload, w, of_user)
		if (w->nice)
			w->nice->before = w->nice->behind = 0;
	struct hand h = hand_take(u);
	struct workload **w;
	for (size_t at = 0, n; (n = hand_next(&h, &at, &w)) > 0;)
		count_passed(w, n);
	free(h.w);
}
