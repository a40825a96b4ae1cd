/*
 * What the next decision makes of AdvanceReservations: judges, books, opens, gives back and ends them.
 *
 * NotFree names the other AdvanceReservations that are in the way, and tells of runs their number
 * and last expected end. No Job is named: not every reader of AdvanceReservations may see it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "base/mem.h"
#include "base/order.h"
#include "queue/core/model/state.h"
#include "queue/core/model/reservation.h"
#include "queue/features/bookings/advance_plan.h"
#include "sluice/quantity.h"

/* ---- What is in its way ---- */

#define NAMES_MAX 3 /* of AdvanceReservations; the sentence says that there are others */

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
			add_name(ret, other->object.name);
		if (b->kind != BOOKING_RUN || is_own_run(q, a, b))
			continue;
		ret->runs++;
		if (b->until_ms > ret->runs_until_ms)
			ret->runs_until_ms = b->until_ms;
	}
	free(line);
}

/* From when on it could be kept for as long. INT64_MAX: not within a year. Where it is several
 * nodes each is asked by itself. */
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

static void say_not_free(
	struct queue *q, struct advance_reservation *a, const struct advance_window *w)
{
	struct text t = text_over(a->message, sizeof(a->message));
	struct in_the_way x;
	int64_t from_ms = w->from_ms > q->now_ms ? w->from_ms : q->now_ms;
	look_in_the_way(q, a, w, &x);
	a->reason = "NotFree";
	text_add(&t, "is not free from %s until %s", instant_seconds(w->from_ms).s,
		instant_seconds(w->until_ms).s);
	if (x.nnames > 0 || x.runs > 0)
		text_add(&t, "; in its way: ");
	if (x.nnames > 0)
		say_names(&t, &x);
	if (x.runs > 0)
		text_add(&t, "%s%zu %s expected to end by %s", x.nnames > 0 ? ", and " : "", x.runs,
			x.runs == 1 ? "run" : "runs, all", instant_seconds(x.runs_until_ms).s);
	if (a->calendar_ref)
		return;
	int64_t at_ms = earliest(q, a, w->until_ms - from_ms, from_ms);
	a->possible_from_ms = at_ms == INT64_MAX ? 0 : at_ms;
	if (a->possible_from_ms == 0) {
		text_add(&t, "; there is no such time within a year");
		return;
	}
	text_add(&t, "; it could be kept from %s on%s", instant_seconds(at_ms).s,
		x.runs > 1 && at_ms < x.runs_until_ms ? ", when enough of them have ended" : "");
}

/* ---- Judging ---- */

static bool refuse(struct advance_reservation *a, const char *reason)
{
	a->reason = reason;
	return false;
}

/* Maintenance without a ClusterQueue has rows of several. */
static void say_owner(struct text *t, const struct quota_node *node)
{
	bool cohort = strncmp(node->name, "cohort/", 7) == 0;
	const char *slash = strchr(node->name, '/');
	text_add(t, "%s %s", cohort ? "Cohort" : "ClusterQueue", slash ? slash + 1 : node->name);
}

static bool is_too_much(struct advance_reservation *a)
{
	for (size_t i = 0; i < a->nrows; i++) {
		const struct advance_row *x = &a->row[i];
		int64_t most = quota_potential(x->row);
		if (x->amount <= most)
			continue;
		struct text t = text_over(a->message, sizeof(a->message));
		text_add(&t, "asks for ");
		text_add_amount(&t, x->amount, x->row->resource);
		text_add(&t, " of flavor %s, but ", x->row->flavor);
		say_owner(&t, x->row->node);
		text_add(&t, " can have at most ");
		text_add_number(&t, most, x->row->resource);
		text_add(&t, "; reserve less, or raise its quota");
		return true;
	}
	return false;
}

static bool nobody_may_use(struct advance_reservation *a)
{
	if (a->spec.maintenance || a->spec.nnamespaces == 0)
		return false;
	list_each_entry(&a->cq->localqueues, const struct localqueue, lq, of_clusterqueue) {
		for (size_t i = 0; i < a->spec.nnamespaces; i++)
			if (strcmp(lq->ns->name, a->spec.namespaces[i]) == 0)
				return false;
	}
	struct text t = text_over(a->message, sizeof(a->message));
	text_add(&t,
		"none of spec.usableBy.namespaces has a LocalQueue of ClusterQueue %s; make one there, or correct spec.usableBy",
		a->cq->name);
	return true;
}

/* What Jobs book does not count: else their owners could keep admins from reserving. */
static bool is_plan_full(const struct queue *q, struct advance_reservation *a)
{
	size_t windows = a->nwindows;
	const struct advance_reservation *other = advance_reservation_first(q);
	for (; other; other = advance_reservation_next(other))
		windows += other->booked ? other->nwindows : 0;
	if (windows <= QUOTA_PLAN_MAX)
		return false;
	struct text t = text_over(a->message, sizeof(a->message));
	text_add(&t,
		"all AdvanceReservations together have more than %d windows within a year; delete one, or take a Calendar that opens less often",
		QUOTA_PLAN_MAX);
	return true;
}

/* Runs are in the plan of each tree from now on, also if a ClusterQueue leaves it. */
static void begin_trees(struct queue *q, const struct advance_reservation *a)
{
	for (size_t i = 0; i < a->nrows; i++) {
		struct quota_node *node = a->row[i].row->node;
		struct cohort_tree *tree = quota_root(node)->cohort_tree;
		if (node->owner)
			booked_runs_begin(q, node->owner);
		else if (tree) /* it reserves of a Cohort */
			list_each_entry(&tree->members, struct clusterqueue, cq, of_cohort_tree)
				booked_runs_begin(q, cq);
	}
}

static void touch(struct queue *q, const struct advance_reservation *a)
{
	for (size_t i = 0; i < a->nrows; i++) {
		struct cohort_tree *tree = quota_root(a->row[i].row->node)->cohort_tree;
		bool again = i > 0 && a->row[i].row->node == a->row[i - 1].row->node;
		if (tree && !again)
			queue_touch_tree(q, tree);
	}
}

/* Lowers what is left of a row. True: it was more. */
static bool leave_only(struct advance_row *x, int64_t amount)
{
	bool less = amount < x->left;
	x->left = least(x->left, amount);
	x->offered = least(x->offered, x->left);
	return less;
}

static void leave_all(struct advance_row *x)
{
	x->left = x->offered = x->amount;
}

/* Of the status, or of rows as they were: what was given back stays so. True: it is less than it
 * was. */
static bool take_left(struct advance_reservation *a, const struct advance_amount *left, size_t n)
{
	bool less = false;
	for (size_t i = 0; i < a->nrows; i++) {
		struct advance_row *x = &a->row[i];
		for (size_t k = 0; k < n; k++)
			if (strcmp(left[k].flavor, x->row->flavor) == 0 &&
				strcmp(left[k].resource, x->row->resource) == 0)
				less |= leave_only(x, greater(left[k].amount, 0));
	}
	return less;
}

static void forget_plan(struct queue *q, struct advance_reservation *a)
{
	advance_leave(q, a);
	advance_windows_free(q, a);
	advance_rows_free(a);
	if (a->cq)
		clusterqueue_put(&q->clusterqueues, a->cq);
	a->cq = NULL;
}

/* Rows, windows, and what runs hold of it. False: reason and sentence in a; what there is of it can
 * be booked all the same. */
static bool prepare(struct queue *q, struct advance_reservation *a)
{
	bool understood = advance_rows_find(q, a);
	if (*a->spec.clusterqueue)
		a->cq = clusterqueue_keep(&q->clusterqueues, a->spec.clusterqueue);
	begin_trees(q, a);
	if (a->cq && !a->spec.maintenance)
		advance_users_anew(a->cq, a, q->now_ms);
	return advance_windows_find(q, a) && understood;
}

static void enter(struct queue *q, struct advance_reservation *a)
{
	q->advance_reservations->nbooked += !a->booked;
	a->booked = true;
	a->watched_from_ms = q->now_ms;
	a->open = false;
	advance_join(q, a);
	touch(q, a);
	q->counters.version++;
}

/* An earlier leader may have let others start on what it gave back, and its status not be heard of
 * yet: for a moment no run is stopped. */
static void settle(const struct queue *q, struct advance_reservation *a)
{
	bool gives_back = a->spec.release_after_ms > 0 && a->nwindows > 0 &&
			  q->advance_reservations->awaits &&
			  quantity_add(a->window[0].from_ms, a->spec.release_after_ms) <= q->now_ms;
	a->settled_ms = gives_back ? quantity_add(q->now_ms, ADVANCE_SETTLE_MS) : 0;
}

/* Books a reservation that was accepted before: nothing is asked. */
static void book_as_told(struct queue *q, struct advance_reservation *a)
{
	size_t window;
	forget_plan(q, a);
	prepare(q, a);
	/* Of a window that is to come, since the clock was set back, nothing is given back yet. */
	a->left_from_ms = a->spec.left_from_ms <= q->now_ms ? a->spec.left_from_ms : 0;
	if (a->left_from_ms != 0)
		take_left(a, a->spec.left, a->spec.nleft);
	advance_book(q, a, false, &window);
	a->reason = "Accepted";
	enter(q, a);
	settle(q, a);
}

static bool judge(struct queue *q, struct advance_reservation *a)
{
	size_t window;
	a->possible_from_ms = 0;
	forget_plan(q, a);
	advance_refresh(q); /* runs may have gone from others, which keep what these used */
	if (!prepare(q, a))
		return false;
	if (a->nrows == 0)
		return refuse(a, "FlavorNotFound");
	if (is_too_much(a))
		return refuse(a, "TooMuch");
	if (nobody_may_use(a))
		return refuse(a, "NobodyMayUseIt");
	if (is_plan_full(q, a))
		return refuse(a, "PlanFull");
	a->left_from_ms = 0;
	if (advance_book(q, a, true, &window))
		return true;
	say_not_free(q, a, &a->window[window]);
	return false;
}

static void judge_anew(struct queue *q, struct advance_reservation *a)
{
	if (judge(q, a)) {
		a->spec.accepted = true;
		a->reason = "Accepted";
		a->message[0] = '\0';
		enter(q, a);
		return;
	}
	forget_plan(q, a);
	q->counters.version++;
	bool is_past = !*a->spec.calendar && a->spec.until_ms <= q->now_ms;
	alarm_set(&q->alarms, &a->alarm,
		is_past ? INT64_MAX : quantity_add(q->now_ms, ADVANCE_RETRY_MS));
}

/* ---- After edits ---- */

static bool rows_are_same(struct queue *q, const struct advance_reservation *a)
{
	struct advance_reservation now = {.spec = a->spec};
	advance_rows_find(q, &now);
	bool same = now.nrows == a->nrows;
	for (size_t i = 0; same && i < a->nrows; i++)
		same = now.row[i].row == a->row[i].row && now.row[i].amount == a->row[i].amount;
	advance_rows_free(&now);
	return same;
}

/* The period in which now is, of those that are counted from the beginning of the window. */
static int64_t period_of(
	const struct queue *q, const struct advance_reservation *a, int64_t from_ms)
{
	return from_ms +
	       (q->now_ms - from_ms) / a->spec.release_after_ms * a->spec.release_after_ms;
}

/* The window that is open has another beginning now: it goes on, and what was given back stays so.
 * After a step back of the clock it may be to come. Then all of it is kept. */
static void go_on(struct queue *q, struct advance_reservation *a)
{
	const struct advance_window *w = a->nwindows > 0 ? &a->window[0] : NULL;
	if (a->left_from_ms > q->now_ms) {
		a->left_from_ms = 0;
		for (size_t i = 0; i < a->nrows; i++)
			leave_all(&a->row[i]);
	}
	if (!a->open || !w || w->from_ms > q->now_ms || w->from_ms == a->open_from_ms)
		return;
	if (a->left_from_ms == a->open_from_ms)
		a->left_from_ms = w->from_ms;
	a->open_from_ms = w->from_ms;
	a->watched_from_ms = q->now_ms;
	if (a->spec.release_after_ms > 0)
		a->period_from_ms = period_of(q, a, w->from_ms);
}

/* Books a reservation anew that reserves another amount now. It stays accepted. What was used most
 * in this period is not known any more, so that the period gives nothing back. */
static void book_anew(struct queue *q, struct advance_reservation *a)
{
	size_t window, n = a->nrows;
	struct advance_amount *left = mem_array(n, sizeof(*left));
	bool open = a->open;
	for (size_t i = 0; i < n; i++)
		left[i] = (struct advance_amount){
			a->row[i].row->flavor, a->row[i].row->resource, a->row[i].left};
	forget_plan(q, a);
	prepare(q, a);
	go_on(q, a);
	if (a->left_from_ms != 0)
		take_left(a, left, n);
	free(left);
	advance_book(q, a, false, &window);
	enter(q, a);
	a->open = open;
	q->advance_reservations->clears |= open;
}

/* Looks up the windows anew; the amounts are the same. Windows as before keep their bookings. */
static void roll(struct queue *q, struct advance_reservation *a)
{
	size_t window;
	advance_windows_renew(q, a);
	go_on(q, a);
	if (a->cq) /* what others keep, too: runs that may use several count for the first */
		advance_stale(q, a->cq, INT64_MIN, INT64_MAX);
	advance_book(q, a, false, &window);
	touch(q, a);
	q->counters.version++;
}

/* ---- Time ---- */

static void drop_first_window(struct queue *q, struct advance_reservation *a)
{
	struct advance_window *w = &a->window[0];
	advance_window_unbook(q, w);
	memmove(w, w + 1, --a->nwindows * sizeof(*w));
	a->left_from_ms = 0;
	a->open = false;
	touch(q, a);
	q->counters.version++;
}

/* What was used most in a period begins with what is used now. */
static void period_begin(struct queue *q, struct advance_reservation *a, int64_t at_ms)
{
	a->period_from_ms = at_ms;
	for (size_t i = 0; i < a->nrows; i++)
		a->row[i].most = a->cq ? advance_users_hold(a, a->row[i].row, q->now_ms) : 0;
}

static void open_first(struct queue *q, struct advance_reservation *a)
{
	const struct advance_window *w = &a->window[0];
	bool given_back = a->left_from_ms == w->from_ms;
	a->open_from_ms = w->from_ms;
	a->open = true;
	for (size_t i = 0; !given_back && i < a->nrows; i++)
		leave_all(&a->row[i]);
	if (!given_back)
		a->left_from_ms = 0;
	if (a->spec.release_after_ms > 0)
		period_begin(q, a, period_of(q, a, w->from_ms));
	touch(q, a);
	q->counters.version++;
}

/* Others may have it from now on. */
static void less_is_left(struct queue *q, struct advance_reservation *a)
{
	a->left_from_ms = a->window[0].from_ms;
	if (a->cq)
		advance_stale(q, a->cq, a->window[0].from_ms, a->window[0].until_ms);
	touch(q, a);
	q->counters.version++;
}

/* What its users did not use is to be given back: the status says so first, where that is awaited.
 * While it does not, the next period offers what it finds itself. */
static void offer(struct queue *q, struct advance_reservation *a)
{
	for (size_t i = 0; i < a->nrows; i++) {
		struct advance_row *x = &a->row[i];
		int64_t stays = x->most < x->left ? (int64_t)x->most : x->left;
		if (stays == x->offered)
			continue;
		x->offered = stays;
		a->left_from_ms = a->window[0].from_ms;
		q->counters.version++;
	}
}

/* Takes over what the status says of the window that is open, whichever leader wrote it; and what
 * is offered, where no status is awaited. */
static void give_back(struct queue *q, struct advance_reservation *a)
{
	bool less = false;
	if (!a->open)
		return;
	if (a->spec.left_from_ms == a->open_from_ms)
		less = take_left(a, a->spec.left, a->spec.nleft);
	for (size_t i = 0; !q->advance_reservations->awaits && i < a->nrows; i++)
		less |= leave_only(&a->row[i], a->row[i].offered);
	if (less)
		less_is_left(q, a);
}

/* A period that was not watched whole, because the queue was made in it, gives nothing back. */
static void release(struct queue *q, struct advance_reservation *a)
{
	if (!a->open || a->spec.release_after_ms == 0)
		return;
	int64_t period_ms = period_of(q, a, a->open_from_ms);
	if (period_ms <= a->period_from_ms)
		return;
	if (a->watched_from_ms <= a->period_from_ms)
		offer(q, a);
	period_begin(q, a, period_ms);
}

static int64_t next_ms(const struct queue *q, const struct advance_reservation *a)
{
	int64_t at_ms = a->calendar_ref ? quantity_add(a->rolled_ms, ADVANCE_ROLL_MS) : INT64_MAX;
	if (a->nwindows == 0)
		return at_ms;
	const struct advance_window *w = &a->window[0];
	at_ms = least(at_ms, w->from_ms > q->now_ms ? w->from_ms : w->until_ms);
	if (a->open && a->spec.release_after_ms > 0)
		at_ms = least(at_ms, quantity_add(a->period_from_ms, a->spec.release_after_ms));
	if (a->open)
		at_ms = least(at_ms, quantity_add(q->now_ms, ADVANCE_RETRY_MS));
	return a->settled_ms > q->now_ms ? least(at_ms, a->settled_ms) : at_ms;
}

static void turn(struct queue *q, struct advance_reservation *a)
{
	while (a->nwindows > 0 && a->window[0].until_ms <= q->now_ms)
		drop_first_window(q, a);
	if (a->nwindows == 0 || a->window[0].from_ms > q->now_ms)
		a->open = false; /* its Calendar was edited, or the clock set back */
	else if (!a->open || a->open_from_ms != a->window[0].from_ms)
		open_first(q, a);
	release(q, a);
	give_back(q, a);
	q->advance_reservations->clears |= a->open; /* runs may have been adopted meanwhile */
	alarm_set(&q->alarms, &a->alarm, next_ms(q, a));
}

/* ---- Each decision ---- */

static bool is_in_force(const struct advance_reservation *a)
{
	return a->spec.name && !a->spec.deleting;
}

/* Puts those that were accepted first, then in the order of creation. */
static int judging_order(const void *x, const void *y)
{
	const struct advance_reservation *a = *(struct advance_reservation *const *)x;
	const struct advance_reservation *b = *(struct advance_reservation *const *)y;
	if (a->spec.accepted != b->spec.accepted)
		return a->spec.accepted ? -1 : 1;
	return advance_reservation_cmp(a, b);
}

static struct advance_reservation **in_order(const struct queue *q, size_t *ret_n)
{
	size_t n = 0, all = tree_count(&q->advance_reservations->all.by_name);
	struct advance_reservation **x = mem_array(all, sizeof(struct advance_reservation *));
	struct advance_reservation *a = advance_reservation_first(q);
	for (; a; a = advance_reservation_next(a))
		if (is_in_force(a))
			x[n++] = a;
	if (n > 1)
		qsort(x, n, sizeof(struct advance_reservation *), judging_order);
	*ret_n = n;
	return x;
}

/* While starts are paused, runs may be there that nobody has told of yet, so nothing is accepted. */
static void decide_one(struct queue *q, struct advance_reservation *a, bool quotas, bool calendars)
{
	bool rolls = a->calendar_ref &&
		     (calendars || quantity_add(a->rolled_ms, ADVANCE_ROLL_MS) <= q->now_ms);
	bool judges_later = false;
	if (a->booked && quotas && !rows_are_same(q, a))
		book_anew(q, a);
	else if (a->booked && (rolls || a->anew))
		roll(q, a);
	else if (!a->booked && a->spec.accepted)
		book_as_told(q, a);
	else if (!a->booked && q->paused)
		judges_later = true;
	else if (!a->booked)
		judge_anew(q, a);
	a->due = judges_later;
	q->advance_reservations->due = q->advance_reservations->due || judges_later;
	a->anew = false;
	if (a->booked)
		turn(q, a);
}

void advance_reservations_decide(struct queue *q)
{
	struct advance_reservations *all = q->advance_reservations;
	bool quotas = all->quotas_as_of != q->quota.edits;
	bool calendars = all->calendars_as_of != q->counters.terms_edits;
	size_t n;
	if (!tree_first(&all->all.by_name) || (!all->due && !quotas && !calendars))
		return;
	all->due = false;
	struct advance_reservation **x = in_order(q, &n);
	for (size_t i = 0; i < n; i++)
		if (x[i]->due || quotas || calendars)
			decide_one(q, x[i], quotas, calendars);
	free(x);
	all->quotas_as_of = q->quota.edits;
	all->calendars_as_of = q->counters.terms_edits;
}

void advance_reservation_due(struct queue *q, struct advance_reservation *a)
{
	a->due = q->advance_reservations->due = true;
}

void advance_reservation_ring(struct queue *q, struct advance_reservation *a)
{
	advance_reservation_due(q, a);
}

void advance_reservations_set_back(struct queue *q)
{
	struct advance_reservation *a = advance_reservation_first(q);
	for (; a; a = advance_reservation_next(a)) {
		a->anew = a->booked;
		a->settled_ms = 0;
		advance_reservation_due(q, a);
	}
}

void advance_reservation_end(struct queue *q, struct advance_reservation *a)
{
	if (a->booked)
		touch(q, a);
	forget_plan(q, a);
	q->advance_reservations->nbooked -= a->booked;
	a->booked = false;
	a->left_from_ms = 0;
	a->open = false;
	a->reason = "NotJudgedYet";
	alarm_clear(&q->alarms, &a->alarm);
}
