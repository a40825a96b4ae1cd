#include "queue/core/model/quota_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "base/order.h"
#include "queue/core/model/profile.h"

/* The planned use of one row. It is there while there is any. */
struct row_plan {
	struct quota_row *row;
	struct profile use[PLAN_LAYERS]; /* PLAN_FIRM: made when something is firm */
	struct link of_plan;
	/* Of the row, when it was made: what is passed up follows from these. */
	int64_t local;
	const struct quota_row *up;
};

/* ---- Profiles ---- */

static struct row_plan *row_plan_of(struct quota_plan *p, struct quota_row *row)
{
	if (row->planned)
		return row->planned;
	struct row_plan *x = mem_alloc(sizeof(*x));
	x->row = row;
	x->local = row->local;
	x->up = row->up;
	profile_init(&x->use[PLAN_ALL]);
	list_add(&p->rows, &x->of_plan);
	row->planned = x;
	return x;
}

static void row_plan_free(struct row_plan *x)
{
	x->row->planned = NULL;
	list_leave(&x->of_plan);
	for (size_t i = 0; i < PLAN_LAYERS; i++)
		profile_done(&x->use[i]);
	free(x);
}

static bool has_profile(const struct row_plan *x, enum plan_layer layer)
{
	return x->use[layer].nheads > 0;
}

static bool is_unused(const struct row_plan *x)
{
	for (size_t i = 0; i < PLAN_LAYERS; i++)
		if (has_profile(x, i) && !profile_is_empty(&x->use[i]))
			return false;
	return true;
}

/* The planned use of a row in a layer; NULL: none. */
static const struct profile *use_of(const struct quota_row *row, enum plan_layer layer)
{
	const struct row_plan *x = row->planned;
	return x && has_profile(x, layer) ? &x->use[layer] : NULL;
}

/* What of a row's use counts in its parent. */
static __int128 beyond(const struct quota_row *row, __int128 use)
{
	return use > row->local ? use - row->local : 0;
}

static void row_add(struct quota_plan *p, enum plan_layer layer, struct quota_row *row,
	int64_t from_ms, int64_t until_ms, __int128 amount);

/* The row has a local part, so what is passed up is another amount at each step. Neighbours that pass
 * up the same are added as one. */
static void pass_up_by_step(struct quota_plan *p, enum plan_layer layer, const struct row_plan *x,
	int64_t from_ms, int64_t until_ms, __int128 amount)
{
	const struct profile *own = &x->use[layer];
	struct profile_place place = {0, 0};
	int64_t since_ms = from_ms, end_ms;
	__int128 more = 0;
	for (int64_t at_ms = from_ms; at_ms < until_ms; at_ms = end_ms) {
		__int128 use = profile_at(own, &place, at_ms, &end_ms);
		__int128 now = beyond(x->row, use + amount) - beyond(x->row, use);
		if (now == more)
			continue;
		row_add(p, layer, x->row->up, since_ms, at_ms, more);
		since_ms = at_ms;
		more = now;
	}
	row_add(p, layer, x->row->up, since_ms, until_ms, more);
}

/* The recursion is as deep as the tree of Cohorts. */
static void row_add(struct quota_plan *p, enum plan_layer layer, struct quota_row *row,
	int64_t from_ms, int64_t until_ms, __int128 amount)
{
	if (from_ms >= until_ms || amount == 0)
		return;
	struct row_plan *x = row_plan_of(p, row);
	if (!has_profile(x, layer))
		profile_init(&x->use[layer]);
	if (row->up && row->local == 0)
		row_add(p, layer, row->up, from_ms, until_ms, amount);
	else if (row->up)
		pass_up_by_step(p, layer, x, from_ms, until_ms, amount);
	profile_add(&x->use[layer], from_ms, until_ms, amount);
	if (profile_is_empty(&x->use[layer]) && is_unused(x))
		row_plan_free(x);
}

static bool is_firm(enum booking_kind kind)
{
	return kind == BOOKING_RUN || kind == BOOKING_ADVANCE;
}

static bool is_in(const struct quota_plan *p, const struct booking *b, enum plan_layer layer)
{
	return layer == PLAN_ALL || (p->layered && is_firm(b->kind));
}

/* Adds its lines to each layer that it is in, or takes them off. */
static void add_times(struct quota_plan *p, const struct booking *b, int times)
{
	for (size_t layer = 0; layer < PLAN_LAYERS; layer++)
		for (size_t i = 0; is_in(p, b, layer) && i < b->nlines; i++)
			row_add(p, layer, b->line[i].row, b->from_ms, b->until_ms,
				(__int128)times * b->line[i].amount);
}

static void add_lines(struct quota_plan *p, const struct booking *b)
{
	if (!b->aside)
		add_times(p, b, 1);
}

static void take_lines_off(struct quota_plan *p, const struct booking *b)
{
	if (!b->aside)
		add_times(p, b, -1);
}

/* ---- After edits of quotas ---- */

struct quota_node *booking_root(const struct booking *b)
{
	return b->nlines > 0 ? quota_root(b->line[0].row->node) : NULL;
}

static bool counts(const struct booking *b)
{
	return b->kind != BOOKING_RUN && b->root;
}

/* Counts a booking at its root, which it remembers: later that may be no root any more. */
static void enter_root(struct booking *b)
{
	b->root = booking_root(b);
	if (counts(b))
		b->root->bookings++;
}

static void leave_root(struct booking *b)
{
	if (counts(b))
		b->root->bookings--;
	b->root = NULL;
}

static bool profiles_are_right(const struct quota_plan *p)
{
	list_each_entry(&p->rows, const struct row_plan, x, of_plan)
		if (x->local != x->row->local || x->up != x->row->up)
			return false;
	return true;
}

static void derive_anew(struct quota_plan *p)
{
	while (!list_empty(&p->rows))
		row_plan_free(container_of(p->rows.next, struct row_plan, of_plan));
	list_each_entry(&p->booked, struct booking, b, of_plan)
		leave_root(b);
	list_each_entry(&p->booked, struct booking, b, of_plan) {
		enter_root(b);
		add_lines(p, b);
	}
}

/* From the first question or booking of the firm layer on it is kept. */
static void begin_layers(struct quota_plan *p)
{
	if (p->layered)
		return;
	p->layered = true;
	derive_anew(p);
}

/* A row that is not planned passes nothing up and has no say. */
static void follow_edits(struct quota_plan *p)
{
	if (p->as_of == p->quota->edits)
		return;
	if (!profiles_are_right(p))
		derive_anew(p);
	p->as_of = p->quota->edits;
}

/* ---- Bookings ---- */

static int end_order(const struct tree_node *a, const struct tree_node *b)
{
	const struct booking *x = container_of_const(a, struct booking, by_end);
	const struct booking *y = container_of_const(b, struct booking, by_end);
	if (x->until_ms != y->until_ms)
		return x->until_ms < y->until_ms ? -1 : 1;
	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

static void stand(struct quota_plan *p, struct booking *b)
{
	if (b->kind == BOOKING_RUN)
		tree_insert(&p->run_ends, &b->by_end, b->serial);
	add_lines(p, b);
}

static void unstand(struct quota_plan *p, struct booking *b)
{
	if (b->kind == BOOKING_RUN)
		tree_remove(&p->run_ends, &b->by_end);
	take_lines_off(p, b);
}

struct booking *quota_plan_first_end(const struct quota_plan *p)
{
	struct tree_node *n = tree_first(&p->run_ends);
	return n ? container_of(n, struct booking, by_end) : NULL;
}

void quota_plan_init(struct quota_plan *p, const struct quota *quota)
{
	*p = (struct quota_plan){.quota = quota};
	list_init(&p->rows);
	list_init(&p->booked);
	tree_init(&p->run_ends, end_order, NULL);
}

static void booking_free(struct booking *b)
{
	list_leave(&b->of_plan);
	free(b);
}

void quota_plan_done(struct quota_plan *p)
{
	while (!list_empty(&p->rows))
		row_plan_free(container_of(p->rows.next, struct row_plan, of_plan));
	while (!list_empty(&p->booked))
		booking_free(container_of(p->booked.next, struct booking, of_plan));
}

static size_t bookings_of_tree(const struct quota_node *node)
{
	while (node->parent)
		node = node->parent;
	return node->bookings;
}

bool quota_plan_has_bookings(struct quota_plan *p, const struct quota_node *node)
{
	follow_edits(p);
	return bookings_of_tree(node) > 0;
}

bool quota_plan_full(const struct quota_node *node)
{
	return bookings_of_tree(node) >= QUOTA_PLAN_MAX;
}

static bool is_full(const struct booking *b)
{
	return !is_firm(b->kind) && b->nlines > 0 && quota_plan_full(b->line[0].row->node);
}

struct booking *quota_plan_book(struct quota_plan *p, enum booking_kind kind, const struct uid *who,
	struct booking_lines lines, int64_t from_ms, int64_t until_ms)
{
	must(from_ms < until_ms);
	follow_edits(p);
	if (kind == BOOKING_ADVANCE)
		begin_layers(p);
	struct booking *b = mem_alloc(sizeof(*b) + lines.n * sizeof(b->line[0]));
	b->kind = kind;
	b->who = *who;
	b->from_ms = from_ms;
	b->until_ms = until_ms;
	for (size_t i = 0; i < lines.n; i++)
		if (lines.line[i].amount > 0)
			b->line[b->nlines++] = lines.line[i];
	if (is_full(b)) {
		free(b);
		return NULL;
	}
	b->serial = ++p->made;
	list_add(&p->booked, &b->of_plan);
	enter_root(b);
	stand(p, b);
	return b;
}

void quota_plan_unbook(struct quota_plan *p, struct booking *b)
{
	if (!b)
		return;
	follow_edits(p);
	unstand(p, b);
	leave_root(b);
	booking_free(b);
}

void quota_plan_move(struct quota_plan *p, struct booking *b, int64_t from_ms, int64_t until_ms)
{
	must(from_ms < until_ms);
	follow_edits(p);
	unstand(p, b);
	b->aside = false;
	b->from_ms = from_ms;
	b->until_ms = until_ms;
	stand(p, b);
}

/* ---- Questions ---- */

/* A row of a line or above it, as a question that goes forward in time has it before it. */
struct look_row {
	const struct quota_row *row;
	const struct profile *use; /* NULL: none is planned */
	struct profile_place place;
	/* The last answer. It is the same until until_ms, if the same rest is asked for. */
	bool fits;
	__int128 rest;
	int64_t until_ms;
	/* With more use than this it fits at no moment, even if all local parts below were free. It is
	 * found in one go where there is none of that for long enough: from, until. */
	bool has_bound;
	__int128 bound;
	int64_t window_ms, window_ends_ms;
	struct profile_place window_place;
};

struct look {
	struct booking_lines lines;
	struct look_row *row; /* of each line its row and all above */
	size_t nrows;
};

/* The most that may be used of the row, so that the rest fits beside it, here or further up. Below
 * 0: it never fits. False: any use will do, because it borrows as much as it likes. The use of a local
 * part is not passed up: the row borrows no less when less of that is used. */
static bool limit_of(const struct quota_row *row, __int128 rest, __int128 *ret)
{
	*ret = (__int128)row->subtree - rest;
	if (!row->up)
		return true;
	if (row->borrowing_limit == QUOTA_UNLIMITED)
		return false;
	*ret += row->borrowing_limit;
	if (*ret < row->local)
		*ret = -1;
	return true;
}

/* The rows of a line; returns the place behind the last. */
static struct look_row *line_init(
	struct look_row *x, const struct booking_line *line, enum plan_layer layer)
{
	__int128 rest = line->amount;
	for (const struct quota_row *row = line->row; row; row = row->up, x++) {
		*x = (struct look_row){.row = row,
			.use = use_of(row, layer),
			.until_ms = INT64_MIN,
			.window_ms = INT64_MAX};
		if (row->up)
			rest -= row->local;
		x->has_bound = line->amount > 0 && limit_of(row, rest, &x->bound);
	}
	return x;
}

static void look_init(
	struct look *l, struct quota_plan *p, enum plan_layer layer, struct booking_lines lines)
{
	size_t n = 0;
	follow_edits(p);
	if (layer == PLAN_FIRM)
		begin_layers(p);
	for (size_t i = 0; i < lines.n; i++)
		for (const struct quota_row *row = lines.line[i].row; row; row = row->up)
			n++;
	*l = (struct look){lines, mem_array(n, sizeof(*l->row)), n};
	struct look_row *x = l->row;
	for (size_t i = 0; i < lines.n; i++)
		x = line_init(x, &lines.line[i], layer);
}

static void look_done(struct look *l)
{
	free(l->row);
}

/* Does the rest fit into the row, and until when is the answer the same? */
static void ask_row(struct look_row *x, int64_t at_ms, __int128 rest)
{
	__int128 limit;
	if (at_ms < x->until_ms && x->rest == rest)
		return;
	x->rest = rest;
	x->fits = true;
	x->until_ms = INT64_MAX;
	if (!limit_of(x->row, rest, &limit))
		return;
	x->fits = limit >= 0;
	if (!x->use || !x->fits)
		return;
	int64_t end_ms;
	x->fits = profile_at(x->use, &x->place, at_ms, &end_ms) <= limit;
	x->until_ms = profile_first(x->use, &x->place, at_ms, limit, x->fits);
}

/* What is free of the local part, and until when. */
static __int128 local_free(struct look_row *x, int64_t at_ms, int64_t *ret_until_ms)
{
	*ret_until_ms = INT64_MAX;
	if (x->row->local == 0)
		return 0;
	struct profile_place place = x->place;
	__int128 use = x->use ? profile_at(x->use, &place, at_ms, ret_until_ms) : 0;
	return use < x->row->local ? x->row->local - use : 0;
}

/* Does the line fit, and until when is the answer the same at least? *x: its first row; moved behind
 * its last. */
static bool ask_line(struct look_row **x, int64_t at_ms, int64_t amount, int64_t *ret_until_ms)
{
	bool fits = amount != INT64_MAX;
	__int128 rest = amount;
	int64_t until_ms = INT64_MAX, same_ms = INT64_MAX;
	for (bool last = false; !last; (*x)++) {
		int64_t end_ms;
		last = !(*x)->row->up;
		if (!fits || amount == 0)
			continue;
		if (!last) {
			rest -= local_free(*x, at_ms, &end_ms);
			same_ms = least(same_ms, end_ms);
		}
		ask_row(*x, at_ms, rest);
		fits = (*x)->fits;
		until_ms = fits ? least(until_ms, (*x)->until_ms) : (*x)->until_ms;
	}
	*ret_until_ms = least(until_ms, same_ms);
	return fits;
}

static bool ask(struct look *l, int64_t at_ms, int64_t *ret_until_ms)
{
	struct look_row *x = l->row;
	int64_t until_ms = INT64_MAX, end_ms;
	for (size_t i = 0; i < l->lines.n; i++) {
		if (!ask_line(&x, at_ms, l->lines.line[i].amount, &end_ms)) {
			*ret_until_ms = end_ms;
			return false;
		}
		until_ms = least(until_ms, end_ms);
	}
	*ret_until_ms = until_ms;
	return true;
}

/* The first moment in [at_ms, limit_ms) at which it fits, or does not; INT64_MAX: none. */
static int64_t first(struct look *l, int64_t at_ms, bool fits, int64_t limit_ms)
{
	int64_t end_ms;
	while (at_ms < limit_ms) {
		if (ask(l, at_ms, &end_ms) == fits)
			return at_ms;
		at_ms = end_ms;
	}
	return INT64_MAX;
}

static int64_t after(int64_t at_ms, int64_t length_ms)
{
	int64_t sum;
	return __builtin_add_overflow(at_ms, length_ms, &sum) ? INT64_MAX : sum;
}

int64_t quota_plan_room_until(struct quota_plan *p, struct booking_lines lines, int64_t from_ms)
{
	struct look l;
	look_init(&l, p, PLAN_ALL, lines);
	int64_t until_ms = first(&l, from_ms, false, INT64_MAX);
	look_done(&l);
	return until_ms;
}

bool quota_plan_has_room_in(struct quota_plan *p, enum plan_layer layer, struct booking_lines lines,
	int64_t from_ms, int64_t until_ms)
{
	struct look l;
	look_init(&l, p, layer, lines);
	bool has = first(&l, from_ms, false, until_ms) == INT64_MAX;
	look_done(&l);
	return has;
}

bool quota_plan_has_room(
	struct quota_plan *p, struct booking_lines lines, int64_t from_ms, int64_t until_ms)
{
	return quota_plan_has_room_in(p, PLAN_ALL, lines, from_ms, until_ms);
}

/* The first moment from at_ms on from which the row does not rule out a start. */
static int64_t row_allows(struct look_row *x, int64_t at_ms, int64_t length_ms, int64_t latest_ms)
{
	if (!x->has_bound || (!x->use && x->bound >= 0))
		return at_ms;
	if (x->bound < 0)
		return INT64_MAX;
	if (at_ms < x->window_ms || after(at_ms, length_ms) > x->window_ends_ms)
		x->window_ms = profile_window(x->use, &x->window_place, at_ms, latest_ms, length_ms,
			x->bound, &x->window_ends_ms);
	return x->window_ms > at_ms ? x->window_ms : at_ms;
}

/* The first moment from at_ms on from which no row does; INT64_MAX: none up to latest_ms. Each row
 * goes forward over its steps by itself, so that a comb of short gaps costs a walk along it. */
static int64_t rows_allow(struct look *l, int64_t at_ms, int64_t length_ms, int64_t latest_ms)
{
	size_t agree = 0;
	for (size_t i = 0; agree < l->nrows && at_ms <= latest_ms; i = (i + 1) % l->nrows) {
		int64_t from_ms = row_allows(&l->row[i], at_ms, length_ms, latest_ms);
		agree = from_ms == at_ms ? agree + 1 : 1;
		at_ms = from_ms;
	}
	return at_ms <= latest_ms ? at_ms : INT64_MAX;
}

/* The earliest start in [at_ms, latest_ms]; INT64_MAX: none. *ret_known_ms: until then it is known to
 * fit. */
static int64_t earliest(
	struct look *l, int64_t length_ms, int64_t at_ms, int64_t latest_ms, int64_t *ret_known_ms)
{
	int64_t limit_ms = after(latest_ms, 1);
	for (;;) {
		at_ms = rows_allow(l, at_ms, length_ms, latest_ms);
		if (at_ms != INT64_MAX)
			at_ms = first(l, at_ms, true, limit_ms);
		if (at_ms == INT64_MAX)
			return INT64_MAX;
		*ret_known_ms = after(at_ms, length_ms);
		int64_t ends_ms = first(l, at_ms, false, *ret_known_ms);
		if (ends_ms == INT64_MAX)
			return at_ms;
		at_ms = ends_ms;
	}
}

int64_t quota_plan_earliest_in(struct quota_plan *p, enum plan_layer layer,
	struct booking_lines lines, int64_t length_ms, int64_t from_ms, int64_t latest_ms)
{
	struct look l;
	int64_t known_ms;
	look_init(&l, p, layer, lines);
	int64_t at_ms = earliest(&l, length_ms, from_ms, latest_ms, &known_ms);
	look_done(&l);
	return at_ms;
}

int64_t quota_plan_earliest(struct quota_plan *p, struct booking_lines lines, int64_t length_ms,
	int64_t from_ms, int64_t latest_ms)
{
	return quota_plan_earliest_in(p, PLAN_ALL, lines, length_ms, from_ms, latest_ms);
}

bool quota_plan_next_starts(struct quota_plan *p, struct booking_lines lines, int64_t length_ms,
	int64_t latest_ms, int64_t *from_ms, int64_t *ret_to_ms)
{
	struct look l;
	int64_t known_ms;
	look_init(&l, p, PLAN_ALL, lines);
	int64_t at_ms = earliest(&l, length_ms, *from_ms, latest_ms, &known_ms);
	if (at_ms != INT64_MAX) {
		int64_t ends_ms = first(&l, known_ms, false, after(latest_ms, length_ms));
		*from_ms = at_ms;
		*ret_to_ms = ends_ms == INT64_MAX ? latest_ms : ends_ms - length_ms;
	}
	look_done(&l);
	return at_ms != INT64_MAX;
}

void quota_plan_set_aside(struct quota_plan *p, struct booking *b)
{
	follow_edits(p);
	if (!b)
		return;
	take_lines_off(p, b);
	b->aside = true;
}

void quota_plan_put_back(struct quota_plan *p, struct booking *b)
{
	if (!b || !b->aside)
		return;
	follow_edits(p);
	b->aside = false;
	add_lines(p, b);
}

bool quota_plan_stands(struct quota_plan *p, struct booking *b)
{
	quota_plan_set_aside(p, b);
	bool stands = quota_plan_has_room(
		p, (struct booking_lines){b->line, b->nlines}, b->from_ms, b->until_ms);
	quota_plan_put_back(p, b);
	return stands;
}

/* Is a the row b, or above it? */
static bool is_above(const struct quota_row *a, const struct quota_row *b)
{
	while (b && b != a)
		b = b->up;
	return b != NULL;
}

bool booking_is(
	const struct booking *b, struct booking_lines lines, int64_t from_ms, int64_t until_ms)
{
	bool same = b->from_ms == from_ms && b->until_ms == until_ms && b->nlines == lines.n;
	for (size_t i = 0; same && i < lines.n; i++)
		same = b->line[i].row == lines.line[i].row &&
		       b->line[i].amount == lines.line[i].amount;
	return same;
}

bool booking_meets(const struct booking *b, struct booking_lines lines)
{
	for (size_t i = 0; i < b->nlines; i++)
		for (size_t k = 0; k < lines.n; k++) {
			const struct quota_row *row = lines.line[k].row;
			while (row->up)
				row = row->up;
			if (lines.line[k].amount > 0 && is_above(row, b->line[i].row))
				return true;
		}
	return false;
}

static const struct booking *first_in_the_way(struct quota_plan *p, bool firm,
	struct booking_lines lines, int64_t from_ms, int64_t until_ms)
{
	const struct booking *found = NULL;
	list_each_entry(&p->booked, const struct booking, b, of_plan) {
		bool overlaps = b->from_ms < until_ms && b->until_ms > from_ms;
		if (b->kind != BOOKING_RUN && !b->aside && is_firm(b->kind) == firm && overlaps &&
			(!found || b->from_ms < found->from_ms) && booking_meets(b, lines))
			found = b;
	}
	return found;
}

const struct booking *quota_plan_in_the_way(
	struct quota_plan *p, struct booking_lines lines, int64_t from_ms, int64_t until_ms)
{
	return first_in_the_way(p, false, lines, from_ms, until_ms);
}

const struct booking *quota_plan_reserved_in_the_way(
	struct quota_plan *p, struct booking_lines lines, int64_t from_ms, int64_t until_ms)
{
	return first_in_the_way(p, true, lines, from_ms, until_ms);
}

__int128 quota_plan_use_in(
	struct quota_plan *p, enum plan_layer layer, const struct quota_row *row, int64_t at_ms)
{
	struct profile_place place = {0, 0};
	int64_t end_ms;
	follow_edits(p);
	if (layer == PLAN_FIRM)
		begin_layers(p);
	const struct profile *use = use_of(row, layer);
	return use ? profile_at(use, &place, at_ms, &end_ms) : 0;
}

__int128 quota_plan_use(struct quota_plan *p, const struct quota_row *row, int64_t at_ms)
{
	return quota_plan_use_in(p, PLAN_ALL, row, at_ms);
}
