#include "queue/features/bookings/advance_users.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "queue/core/model/clusterqueue.h"
#include "queue/core/model/localqueue.h"
#include "queue/core/model/reservation.h"
#include "queue/core/model/user.h"
#include "queue/core/plan/profile.h"
#include "queue/core/plan/quota_plan.h"

struct users_row {
	const struct quota_row *row; /* maybe gone, if nothing of it is held: not looked into */
	struct profile held;
};

/* A set of runs. */
struct advance_users {
	const struct advance_reservation **may; /* use them; in the order of creation */
	size_t nmay;
	struct users_row *row;
	size_t nrows;
	__int128 rest; /* of the row and moment in question; it counts for none yet */
};

/* ---- Who may use it ---- */

static bool is_among(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return n == 0;
}

bool advance_usable_by(
	const struct advance_reservation *a, const struct localqueue *lq, const struct user *user)
{
	return !a->spec.maintenance &&
	       is_among(a->spec.namespaces, a->spec.nnamespaces, lq->ns->name) &&
	       is_among(a->spec.users, a->spec.nusers, user->name);
}

/* Writes those that a run may use, the judged one last; returns how many. */
static size_t all_it_may(const struct reservation *r, const struct advance_reservation *judged,
	const struct advance_reservation **ret)
{
	size_t n = 0;
	list_each_entry(&r->cq->reserved, const struct advance_reservation, a, of_clusterqueue)
		if (advance_usable_by(a, r->lq, r->user))
			ret[n++] = a;
	if (judged && !list_in(&judged->of_clusterqueue) &&
		advance_usable_by(judged, r->lq, r->user))
		ret[n++] = judged;
	return n;
}

static struct advance_users *users_find(
	const struct clusterqueue *cq, const struct advance_reservation **may, size_t n)
{
	for (size_t i = 0; i < cq->nadvance_users; i++) {
		struct advance_users *u = cq->advance_users[i];
		if (u->nmay == n && memcmp(u->may, may, n * sizeof(*may)) == 0)
			return u;
	}
	return NULL;
}

/* NULL: it may use none. */
static struct advance_users *users_of(
	const struct reservation *r, const struct advance_reservation *judged)
{
	struct clusterqueue *cq = r->cq;
	size_t room = list_count(&cq->reserved) + 1;
	const struct advance_reservation **may = mem_array(room, sizeof(*may));
	size_t n = all_it_may(r, judged, may);
	struct advance_users *u = users_find(cq, may, n);
	if (u || n == 0) {
		free(may);
		return u;
	}
	u = mem_alloc(sizeof(*u));
	*u = (struct advance_users){.may = may, .nmay = n};
	cq->advance_users =
		mem_grow(cq->advance_users, cq->nadvance_users + 1, sizeof(struct advance_users *));
	return cq->advance_users[cq->nadvance_users++] = u;
}

/* ---- Counting ---- */

static struct profile *held_of(struct advance_users *u, const struct quota_row *row)
{
	for (size_t i = 0; i < u->nrows; i++)
		if (u->row[i].row == row)
			return &u->row[i].held;
	u->row = mem_grow(u->row, u->nrows + 1, sizeof(*u->row));
	u->row[u->nrows].row = row;
	profile_init(&u->row[u->nrows].held);
	return &u->row[u->nrows++].held;
}

static void count(const struct reservation *r, const struct advance_reservation *judged, int times)
{
	struct advance_users *u = r->booking ? users_of(r, judged) : NULL;
	for (size_t i = 0; u && i < r->booking->nlines; i++)
		profile_add(held_of(u, r->booking->line[i].row), r->booking->from_ms,
			r->booking->until_ms, (__int128)times * r->booking->line[i].amount);
}

static void most_note(struct advance_reservation *a, int64_t now_ms)
{
	for (size_t i = 0; i < a->nrows; i++) {
		struct advance_row *x = &a->row[i];
		__int128 now = advance_users_hold(a, x->row, now_ms);
		x->most = now > x->most ? now : x->most;
	}
}

static void forget(struct clusterqueue *cq)
{
	for (size_t i = 0; i < cq->nadvance_users; i++) {
		struct advance_users *u = cq->advance_users[i];
		for (size_t k = 0; k < u->nrows; k++)
			profile_done(&u->row[k].held);
		free(u->row);
		free(u->may);
		free(u);
	}
	free(cq->advance_users);
	cq->advance_users = NULL;
	cq->nadvance_users = 0;
}

void advance_users_anew(struct clusterqueue *cq, struct advance_reservation *judged, int64_t now_ms)
{
	forget(cq);
	if (list_empty(&cq->reserved) && !judged)
		return;
	list_each_entry(&cq->reservations, const struct reservation, r, of_clusterqueue)
		count(r, judged, 1);
	list_each_entry(&cq->promised, const struct reservation, r, of_clusterqueue)
		count(r, judged, 1);
	if (judged)
		most_note(judged, now_ms);
}

bool advance_users_count(const struct reservation *r, int times, int64_t now_ms)
{
	bool keeps = false;
	count(r, NULL, times);
	list_each_entry(&r->cq->reserved, struct advance_reservation, a, of_clusterqueue) {
		if (!advance_usable_by(a, r->lq, r->user))
			continue;
		most_note(a, now_ms);
		keeps = keeps || (a->open && times < 0);
	}
	return keeps;
}

/* ---- Questions ---- */

/* The place behind it; 0: they may not use it. */
static size_t behind(const struct advance_users *u, const struct advance_reservation *a)
{
	for (size_t i = 0; i < u->nmay; i++)
		if (u->may[i] == a)
			return i + 1;
	return 0;
}

__int128 advance_users_hold(
	const struct advance_reservation *a, const struct quota_row *row, int64_t at_ms)
{
	__int128 held = 0;
	for (size_t i = 0; i < a->cq->nadvance_users; i++) {
		struct advance_users *u = a->cq->advance_users[i];
		struct profile_place place = {0, 0};
		int64_t end_ms;
		if (behind(u, a) > 0)
			held += profile_at(held_of(u, row), &place, at_ms, &end_ms);
	}
	return held;
}

/* A promise holds nothing yet; a run that is ending still does. */
static void rest_is_held(struct clusterqueue *cq, const struct quota_row *row)
{
	for (size_t i = 0; i < cq->nadvance_users; i++)
		cq->advance_users[i]->rest = 0;
	list_each_entry(&cq->reservations, const struct reservation, r, of_clusterqueue) {
		struct advance_users *u = users_of(r, NULL);
		for (size_t i = 0; u && i < r->nlines; i++)
			if (r->line[i].row == row)
				u->rest += r->line[i].amount;
	}
}

static void rest_is_planned(
	struct clusterqueue *cq, const struct quota_row *row, int64_t at_ms, int64_t *until_ms)
{
	for (size_t i = 0; i < cq->nadvance_users; i++) {
		struct advance_users *u = cq->advance_users[i];
		struct profile_place place = {0, 0};
		int64_t end_ms;
		u->rest = profile_at(held_of(u, row), &place, at_ms, &end_ms);
		*until_ms = least(*until_ms, end_ms);
	}
}

static struct advance_row *row_of(const struct advance_reservation *a, const struct quota_row *row)
{
	for (size_t i = 0; i < a->nrows; i++)
		if (a->row[i].row == row)
			return &a->row[i];
	return NULL;
}

/* What is left of a row of it at that moment, used or not. *until_ms: lowered to when that changes. */
static int64_t left_at(const struct advance_reservation *a, const struct advance_row *x,
	int64_t at_ms, int64_t *until_ms)
{
	if (at_ms == ADVANCE_PRESENT)
		return a->open ? x->left : 0;
	for (size_t i = 0; i < a->nwindows; i++) {
		const struct advance_window *w = &a->window[i];
		if (w->until_ms <= at_ms)
			continue;
		bool begun = w->from_ms <= at_ms;
		*until_ms = least(*until_ms, begun ? w->until_ms : w->from_ms);
		return !begun ? 0 : w->from_ms == a->left_from_ms ? x->left : x->amount;
	}
	return 0;
}

static bool younger_one_wants_them(
	const struct advance_users *u, size_t behind, const struct quota_row *row)
{
	for (size_t i = behind; i < u->nmay; i++) {
		const struct advance_row *x = row_of(u->may[i], row);
		if (x && x->wants > 0)
			return true;
	}
	return false;
}

/* Counts runs for it as far as it wants them; returns what they hold. */
static int64_t take(const struct advance_reservation *a, struct advance_row *x)
{
	int64_t before = x->wants;
	for (int others = 0; others < 2; others++)
		for (size_t i = 0; i < a->cq->nadvance_users && x->wants > 0; i++) {
			struct advance_users *u = a->cq->advance_users[i];
			size_t at = behind(u, a);
			if (at == 0 || (!others && younger_one_wants_them(u, at, x->row)))
				continue;
			int64_t part = u->rest < x->wants ? (int64_t)u->rest : x->wants;
			u->rest -= part;
			x->wants -= part;
		}
	return before - x->wants;
}

int64_t advance_used(const struct advance_reservation *a, const struct quota_row *row, int64_t left,
	int64_t at_ms, int64_t *until_ms)
{
	if (at_ms == ADVANCE_PRESENT)
		rest_is_held(a->cq, row);
	else
		rest_is_planned(a->cq, row, at_ms, until_ms);
	list_each_entry(&a->cq->reserved, const struct advance_reservation, o, of_clusterqueue) {
		struct advance_row *x = row_of(o, row);
		if (x)
			x->wants = left_at(o, x, at_ms, until_ms);
	}
	struct advance_row *own = row_of(a, row);
	own->wants = left;
	list_each_entry(&a->cq->reserved, const struct advance_reservation, o, of_clusterqueue) {
		struct advance_row *x = row_of(o, row);
		if (o == a)
			break;
		if (x)
			take(o, x);
	}
	return take(a, own);
}
