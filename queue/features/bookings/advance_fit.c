#include "queue/features/bookings/advance_fit.h"

#include <stdlib.h>

#include "base/mem.h"
#include "queue/core/core.h"
#include "queue/features/bookings/advance_plan.h"

/* ---- Alone -------------------------------------------------------------------------------------
 */

/* What reservations of a moment take of each row, as quota_take() would add it up. */
struct taken {
	const struct quota_row *row;
	__int128 use;
};

struct taken_all {
	struct taken *of;
	size_t n, room;
	const struct advance_reservation *whose[2]; /* the first two that take something */
};

static struct taken *taken_of(struct taken_all *t, const struct quota_row *row)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->of[i].row == row)
			return &t->of[i];
	t->of = mem_room(t->of, t->n, &t->room, 16, sizeof(*t->of));
	t->of[t->n] = (struct taken){row, 0};
	return &t->of[t->n++];
}

static __int128 beyond(const struct quota_row *row, __int128 use)
{
	return use > row->local ? use - row->local : 0;
}

static void take(struct taken_all *t, const struct quota_row *row, __int128 amount)
{
	for (; row && amount > 0; row = row->up) {
		struct taken *x = taken_of(t, row);
		__int128 before = beyond(row, x->use);
		x->use += amount;
		amount = beyond(row, x->use) - before;
	}
}

/* As quota_free() has it. */
static __int128 free_beside(struct taken_all *t, const struct quota_row *row)
{
	__int128 use = taken_of(t, row)->use;
	if (!row->up)
		return row->subtree - use;
	__int128 above = free_beside(t, row->up);
	if (row->borrowing_limit != QUOTA_UNLIMITED) {
		__int128 most = (__int128)row->subtree - row->local - beyond(row, use) +
				row->borrowing_limit;
		above = above < most ? above : most;
	}
	return (use < row->local ? row->local - use : 0) + above;
}

static const struct quota_row *top_of(const struct quota_row *row)
{
	while (row->up)
		row = row->up;
	return row;
}

/* Its rows in the tree of that one are taken, if one of its windows is at that moment. */
static void take_reserved(struct taken_all *t, const struct advance_reservation *a, int64_t at_ms,
	const struct quota_row *like)
{
	for (size_t w = 0; w < a->nwindows && a->window[w].from_ms <= at_ms; w++)
		for (size_t i = 0; at_ms < a->window[w].until_ms && i < a->nrows; i++) {
			const struct advance_row *x = &a->row[i];
			if (top_of(x->row) != top_of(like))
				continue;
			take(t, x->row,
				a->window[w].from_ms == a->left_from_ms ? x->left : x->amount);
			if (!t->whose[0])
				t->whose[0] = a;
			else if (t->whose[0] != a)
				t->whose[1] = a;
		}
}

static __int128 sum_of(const struct taken_all *t)
{
	__int128 sum = 0; /* of leaves: what no other row passed up */
	for (size_t i = 0; i < t->n; i++) {
		sum += t->of[i].use;
		for (size_t k = 0; k < t->n; k++)
			if (t->of[k].row->up == t->of[i].row)
				sum -= beyond(t->of[k].row, t->of[k].use);
	}
	return sum;
}

static bool fits_at(const struct queue *q, const struct quota_row *row, int64_t at_ms,
	struct advance_misfit *ret)
{
	struct taken_all t = {.n = 0};
	const struct advance_reservation *o = advance_reservation_first(q);
	for (; o; o = advance_reservation_next(o))
		if (o->booked)
			take_reserved(&t, o, at_ms, row);
	__int128 left = free_beside(&t, row), sum = sum_of(&t);
	free(t.of);
	if (left >= 0)
		return true;
	*ret = (struct advance_misfit){row, sum, sum + left, t.whose[1] != NULL};
	return false;
}

static bool row_fits(const struct queue *q, const struct advance_reservation *a,
	const struct quota_row *row, struct advance_misfit *ret)
{
	const struct advance_window *own = &a->window[0];
	int64_t from_ms = own->from_ms > q->now_ms ? own->from_ms : q->now_ms;
	if (!fits_at(q, row, from_ms, ret))
		return false;
	const struct advance_reservation *o = advance_reservation_first(q);
	for (; o; o = advance_reservation_next(o))
		for (size_t w = 0; o != a && w < o->nwindows; w++) {
			int64_t at_ms = o->window[w].from_ms;
			if (at_ms >= own->until_ms)
				break;
			if (at_ms > from_ms && !fits_at(q, row, at_ms, ret))
				return false;
		}
	return true;
}

bool advance_fits_alone(
	const struct queue *q, const struct advance_reservation *a, struct advance_misfit *ret)
{
	for (size_t i = 0; a->nwindows > 0 && i < a->nrows; i++)
		if (!row_fits(q, a, a->row[i].row, ret))
			return false;
	return true;
}

/* ---- Now ---------------------------------------------------------------------------------------
 */

/* Each row is taken when it was found, so that the next one does not count on it. */
bool advance_has_quota(const struct advance_reservation *a)
{
	size_t n = 0;
	int64_t until_ms;
	if (!a->open || a->nwindows == 0)
		return true;
	int64_t *kept = mem_array(a->nrows, sizeof(*kept));
	advance_kept(a, &a->window[0], ADVANCE_PRESENT, kept, &until_ms);
	for (; n < a->nrows && quota_has(a->row[n].row, QUOTA_NOW, kept[n]); n++)
		quota_take(a->row[n].row, QUOTA_NOW, kept[n]);
	for (size_t i = 0; i < n; i++)
		quota_give(a->row[i].row, QUOTA_NOW, kept[i]);
	free(kept);
	return n == a->nrows;
}
