#include "queue/features/bookings/advance_users.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "queue/core/model/clusterqueue.h"
#include "queue/core/model/localqueue.h"
#include "queue/core/model/reservation.h"
#include "queue/core/model/user.h"
#include "queue/core/model/profile.h"
#include "queue/core/model/quota_plan.h"

struct users_row {
	const struct quota_row *row;
	struct profile held;
};

/* A set of runs. */
struct advance_users {
	struct advance_reservation **may; /* use them; in the order of creation */
	size_t nmay;
	int64_t *given; /* what of it counts for each of these, in the question that is asked */
	__int128 rest;	/* ... and for none yet */
	struct users_row *row;
	size_t nrows;
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

/* ---- Sets ---- */

/* Writes those that a run may use, the judged one last; returns how many. */
static size_t all_it_may(const struct reservation *r, struct advance_reservation *judged,
	struct advance_reservation **ret)
{
	size_t n = 0;
	list_each_entry(&r->cq->reserved, struct advance_reservation, a, of_clusterqueue)
		if (advance_usable_by(a, r->lq, r->user))
			ret[n++] = a;
	if (judged && !list_in(&judged->of_clusterqueue) &&
		advance_usable_by(judged, r->lq, r->user))
		ret[n++] = judged;
	return n;
}

static struct advance_users *set_find(
	const struct clusterqueue *cq, struct advance_reservation *const *may, size_t n)
{
	for (size_t i = 0; i < cq->nadvance_users; i++) {
		struct advance_users *u = cq->advance_users[i];
		if (u->nmay == n && memcmp(u->may, may, n * sizeof(*may)) == 0)
			return u;
	}
	return NULL;
}

/* Gives those that share runs, or share them with a third one, the same number. */
static void form_groups(struct clusterqueue *cq)
{
	bool again = true;
	for (size_t i = 0; i < cq->nadvance_users; i++)
		for (size_t k = 0; k < cq->advance_users[i]->nmay; k++)
			cq->advance_users[i]->may[k]->users_group = i + 1;
	while (again) {
		again = false;
		for (size_t i = 0; i < cq->nadvance_users; i++) {
			const struct advance_users *u = cq->advance_users[i];
			for (size_t k = 1; k < u->nmay; k++) {
				size_t *first = &u->may[0]->users_group;
				size_t *other = &u->may[k]->users_group;
				again = again || *first != *other;
				*first = *other = *first < *other ? *first : *other;
			}
		}
	}
}

/* Takes `may`. */
static struct advance_users *set_make(
	struct clusterqueue *cq, struct advance_reservation **may, size_t n)
{
	struct advance_users *u = mem_alloc(sizeof(*u));
	*u = (struct advance_users){
		.may = may, .nmay = n, .given = mem_array(n, sizeof(*u->given))};
	cq->advance_users =
		mem_grow(cq->advance_users, cq->nadvance_users + 1, sizeof(struct advance_users *));
	cq->advance_users[cq->nadvance_users++] = u;
	form_groups(cq);
	return u;
}

/* NULL: it may use none. */
static struct advance_users *set_of(struct reservation *r, struct advance_reservation *judged)
{
	if (r->advance_users)
		return r->advance_users;
	size_t room = list_count(&r->cq->reserved) + 1;
	struct advance_reservation **may = mem_array(room, sizeof(*may));
	size_t n = all_it_may(r, judged, may);
	struct advance_users *u = n > 0 ? set_find(r->cq, may, n) : NULL;
	if (u || n == 0)
		free(may);
	else
		u = set_make(r->cq, may, n);
	return r->advance_users = u;
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

static void count(struct reservation *r, struct advance_reservation *judged, int times)
{
	struct advance_users *u = r->booking ? set_of(r, judged) : NULL;
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
	list_each_entry(&cq->reservations, struct reservation, r, of_clusterqueue)
		r->advance_users = NULL;
	list_each_entry(&cq->promised, struct reservation, r, of_clusterqueue)
		r->advance_users = NULL;
	list_each_entry(&cq->reserved, struct advance_reservation, a, of_clusterqueue)
		a->users_group = 0;
	for (size_t i = 0; i < cq->nadvance_users; i++) {
		struct advance_users *u = cq->advance_users[i];
		for (size_t k = 0; k < u->nrows; k++)
			profile_done(&u->row[k].held);
		free(u->row);
		free(u->given);
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
	list_each_entry(&cq->reservations, struct reservation, r, of_clusterqueue)
		count(r, judged, 1);
	list_each_entry(&cq->promised, struct reservation, r, of_clusterqueue)
		count(r, judged, 1);
	if (judged)
		most_note(judged, now_ms);
}

void advance_users_count(struct reservation *r, int times, int64_t now_ms)
{
	count(r, NULL, times);
	for (size_t i = 0; r->advance_users && i < r->advance_users->nmay; i++)
		most_note(r->advance_users->may[i], now_ms);
}

/* Returns whether u is among the sets on which depends what a has. */
static bool matters(const struct advance_users *u, const struct advance_reservation *a)
{
	return u->may[0]->users_group == a->users_group;
}

bool advance_users_concern(const struct reservation *r, const struct advance_reservation *a)
{
	return r->advance_users && matters(r->advance_users, a);
}

/* ---- Questions ---- */

static bool may_use(const struct advance_users *u, const struct advance_reservation *a)
{
	for (size_t i = 0; i < u->nmay; i++)
		if (u->may[i] == a)
			return true;
	return false;
}

__int128 advance_users_hold(
	const struct advance_reservation *a, const struct quota_row *row, int64_t at_ms)
{
	__int128 held = 0;
	for (size_t i = 0; i < a->cq->nadvance_users; i++) {
		struct advance_users *u = a->cq->advance_users[i];
		struct profile_place place = {0, 0};
		int64_t end_ms;
		if (may_use(u, a))
			held += profile_at(held_of(u, row), &place, at_ms, &end_ms);
	}
	return held;
}

/* Forgets what was shared out in an earlier question. */
static void ask_anew(struct clusterqueue *cq)
{
	for (size_t i = 0; i < cq->nadvance_users; i++) {
		struct advance_users *u = cq->advance_users[i];
		u->rest = 0;
		memset(u->given, 0, u->nmay * sizeof(*u->given));
	}
}

/* A promise holds nothing yet; a run that is ending still does. */
static void rest_is_held(struct clusterqueue *cq, const struct quota_row *row)
{
	list_each_entry(&cq->reservations, struct reservation, r, of_clusterqueue) {
		struct advance_users *u = set_of(r, NULL);
		for (size_t i = 0; u && i < r->nlines; i++)
			if (r->line[i].row == row)
				u->rest += r->line[i].amount;
	}
}

static void rest_is_planned(const struct advance_reservation *a, const struct quota_row *row,
	int64_t at_ms, int64_t *until_ms)
{
	for (size_t i = 0; i < a->cq->nadvance_users; i++) {
		struct advance_users *u = a->cq->advance_users[i];
		struct profile_place place = {0, 0};
		int64_t end_ms;
		if (!matters(u, a))
			continue;
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
		return begun ? advance_row_left(a, w, x) : 0;
	}
	return 0;
}

static int64_t find_more(
	const struct advance_reservation *a, struct advance_row *x, int64_t wanted);

/* Takes of the set what counts for others that find as much elsewhere, and counts it for number k. */
static int64_t find_given(
	struct advance_users *u, size_t k, const struct quota_row *row, int64_t wanted)
{
	int64_t found = 0;
	for (size_t i = 0; i < u->nmay && found < wanted; i++) {
		struct advance_row *x = row_of(u->may[i], row);
		if (!x || x->asked || u->given[i] == 0)
			continue;
		int64_t part = find_more(u->may[i], x, least(u->given[i], wanted - found));
		u->given[i] -= part;
		u->given[k] += part;
		found += part;
	}
	return found;
}

/* Counts up to `wanted` more for its row x: what counts for none yet, then what another one can
 * have elsewhere. Each is asked once. Returns how much. */
static int64_t find_more(const struct advance_reservation *a, struct advance_row *x, int64_t wanted)
{
	int64_t found = 0;
	x->asked = true;
	for (size_t i = 0; i < a->cq->nadvance_users && found < wanted; i++) {
		struct advance_users *u = a->cq->advance_users[i];
		for (size_t k = 0; k < u->nmay; k++) {
			if (u->may[k] != a)
				continue;
			int64_t part = u->rest < wanted - found ? (int64_t)u->rest : wanted - found;
			u->rest -= part;
			u->given[k] += part;
			found += part;
			found += find_given(u, k, x->row, wanted - found);
		}
	}
	return found;
}

/* Each may be asked once more. */
static void ask_again(const struct advance_reservation *a, struct advance_row *x)
{
	list_each_entry(&a->cq->reserved, const struct advance_reservation, o, of_clusterqueue) {
		struct advance_row *other = row_of(o, x->row);
		if (other)
			other->asked = false;
	}
	x->asked = false;
}

/* Counts up to `left` for its row x, as much as the older ones in its group leave when they have as
 * much as they can. */
static int64_t share_out(const struct advance_reservation *a, struct advance_row *x, int64_t left)
{
	int64_t has = 0, more = 1;
	while (more > 0 && has < left) {
		ask_again(a, x);
		more = find_more(a, x, left - has);
		has += more;
	}
	return has;
}

int64_t advance_used(const struct advance_reservation *a, struct advance_row *x, int64_t left,
	int64_t at_ms, int64_t *until_ms)
{
	ask_anew(a->cq);
	if (at_ms == ADVANCE_PRESENT)
		rest_is_held(a->cq, x->row);
	else
		rest_is_planned(a, x->row, at_ms, until_ms);
	list_each_entry(&a->cq->reserved, const struct advance_reservation, o, of_clusterqueue) {
		if (o == a)
			break;
		struct advance_row *other = row_of(o, x->row);
		if (other && o->users_group == a->users_group)
			share_out(o, other, left_at(o, other, at_ms, until_ms));
	}
	return share_out(a, x, left);
}
