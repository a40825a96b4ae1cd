#include "queue/features/bookings/advance_obstacles.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/core/core.h"
#include "queue/core/model/reservation.h"
#include "queue/features/bookings/advance_plan.h"
#include "sluice/quantity.h"

#define NAMES_MAX 3

struct in_the_way {
	const char *name[NAMES_MAX]; /* of AdvanceReservations */
	size_t nnames, more;
	size_t runs;
	int64_t runs_until_ms; /* their last expected end */
};

static void add_name(struct in_the_way *x, const char *name)
{
	for (size_t i = 0; i < x->nnames; i++)
		if (strcmp(x->name[i], name) == 0)
			return;
	if (x->nnames < NAMES_MAX)
		x->name[x->nnames++] = name;
	else
		x->more++;
}

static bool is_own_run(
	const struct queue *q, const struct advance_reservation *a, const struct booking *b)
{
	const struct workload *w = queue_find_workload(q, &b->who);
	const struct reservation *r = w && w->reservation ? w->reservation : w ? w->promise : NULL;
	return r && r->cq == a->cq && a->cq && advance_usable_by(a, r->lq, r->user);
}

static struct booking_lines all_lines(
	const struct advance_reservation *a, struct booking_line *line)
{
	for (size_t i = 0; i < a->nrows; i++)
		line[i] = (struct booking_line){a->row[i].row, a->row[i].amount};
	return (struct booking_lines){line, a->nrows};
}

static void look_in_the_way(const struct queue *q, const struct advance_reservation *a,
	const struct advance_window *w, struct in_the_way *ret)
{
	struct booking_line *line = mem_array(a->nrows, sizeof(*line));
	struct booking_lines lines = all_lines(a, line);
	*ret = (struct in_the_way){.runs = 0};
	list_each_entry(&q->quota_plan.booked, const struct booking, b, of_plan) {
		if (b->from_ms >= w->until_ms || b->until_ms <= w->from_ms ||
			!booking_meets(b, lines))
			continue;
		const struct advance_reservation *other =
			b->kind == BOOKING_ADVANCE ? advance_reservation_of(q, b) : NULL;
		if (other)
			add_name(ret, other->name);
		if (b->kind != BOOKING_RUN || is_own_run(q, a, b))
			continue;
		ret->runs++;
		if (b->until_ms > ret->runs_until_ms)
			ret->runs_until_ms = b->until_ms;
	}
	free(line);
}

/* From when on it could be kept for as long. INT64_MAX: not within a year. Where it is several nodes each is
 * asked by itself. */
static int64_t earliest(
	struct queue *q, const struct advance_reservation *a, int64_t length_ms, int64_t from_ms)
{
	struct booking_line *line = mem_array(a->nrows, sizeof(*line));
	int64_t last_ms = quantity_add(q->now_ms, ADVANCE_AHEAD_MAX_MS) - length_ms;
	struct booking_lines lines = all_lines(a, line);
	int64_t at_ms = quota_plan_earliest_in(
		&q->quota_plan, PLAN_FIRM, lines, length_ms, from_ms, last_ms);
	free(line);
	return at_ms;
}

static void say_names(struct text *t, const struct in_the_way *x)
{
	text_add(t, "AdvanceReservation%s ", x->nnames > 1 ? "s" : "");
	for (size_t i = 0; i < x->nnames; i++)
		text_add(t, "%s%s", i > 0 ? ", " : "", x->name[i]);
	if (x->more > 0)
		text_add(t, " and others");
}

void advance_say_not_free(
	struct queue *q, struct advance_reservation *a, const struct advance_window *w)
{
	struct text t = text_over(a->message, sizeof(a->message));
	struct in_the_way x;
	int64_t from_ms = w->from_ms > q->now_ms ? w->from_ms : q->now_ms;
	look_in_the_way(q, a, w, &x);
	a->reason = "NotFree";
	text_add(&t, "is not free from ");
	text_add_time(&t, w->from_ms);
	text_add(&t, " until ");
	text_add_time(&t, w->until_ms);
	if (x.nnames > 0 || x.runs > 0)
		text_add(&t, "; in its way: ");
	if (x.nnames > 0)
		say_names(&t, &x);
	if (x.runs > 0) {
		text_add(&t, "%s%zu %s until ", x.nnames > 0 ? ", and " : "", x.runs,
			x.runs == 1 ? "run" : "runs");
		text_add_time(&t, x.runs_until_ms);
	}
	if (a->calendar_ref)
		return;
	int64_t at_ms = earliest(q, a, w->until_ms - from_ms, from_ms);
	a->possible_from_ms = at_ms == INT64_MAX ? 0 : at_ms;
	if (a->possible_from_ms == 0) {
		text_add(&t, "; there is no such time within a year");
		return;
	}
	text_add(&t, "; it could be kept from ");
	text_add_time(&t, at_ms);
	text_add(&t, " on");
}
