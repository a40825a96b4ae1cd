#include "controller/ledger/batch_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"

#define NO_RESERVATION UINT32_MAX

void batch_plan_free(struct batch_plan *b)
{
	if (!b)
		return;
	arena_done(&b->arena);
	map_done(&b->by_name);
	free(b->rows);
	free(b);
}

/* ---- Balance rows -----------------------------------------------------------------------------
 */

static int row_cmp(const struct batch_plan_row *x, const struct batch_plan_row *y)
{
	int c = strcmp(x->node, y->node);
	if (!c)
		c = strcmp(x->flavor, y->flavor);
	return c ? c : strcmp(x->resource, y->resource);
}

static bool row_has_name(const void *value, const void *key)
{
	return !row_cmp(value, key);
}

uint64_t batch_plan_row_hash(const struct quota_line *l)
{
	return map_hash_string(l->node) * 31 + map_hash_string(l->flavor) * 17 +
	       map_hash_string(l->resource);
}

uint64_t batch_plan_attempt_hash(const struct uid *uid, int32_t attempt)
{
	return uid_hash(uid) + (uint64_t)attempt * 0x9e3779b97f4a7c15u;
}

const struct batch_plan_row *batch_plan_row(
	const struct batch_plan *b, const struct quota_line *name)
{
	struct batch_plan_row key = {
		.node = name->node, .flavor = name->flavor, .resource = name->resource};
	return map_get(&b->by_name, batch_plan_row_hash(name), &key);
}

static uint32_t batch_plan_add_row(struct batch_plan *b, const struct quota_line *name)
{
	const struct batch_plan_row *known = batch_plan_row(b, name);
	if (known)
		return known->at;
	struct batch_plan_row *r = arena_take(&b->arena, 1, sizeof(*r));
	*r = (struct batch_plan_row){.node = name->node,
		.flavor = name->flavor,
		.resource = name->resource,
		.at = (uint32_t)b->nrows,
		.was.parent = "",
		.now.parent = "",
		.up = BATCH_PLAN_NO_ROW};
	map_put(&b->by_name, batch_plan_row_hash(name), r);
	b->rows = mem_room(b->rows, b->nrows, &b->rows_room, 64, sizeof(*b->rows));
	b->rows[b->nrows++] = r;
	return r->at;
}

static uint32_t batch_plan_add_parent(
	struct batch_plan *b, const struct batch_plan_row *r, const char *parent)
{
	uint32_t row =
		batch_plan_add_row(b, &(struct quota_line){parent, r->flavor, r->resource, 0});
	b->rows[row]->made = true;
	return row;
}

static int64_t sum_capped(int64_t x, int64_t y)
{
	int64_t sum;
	return __builtin_add_overflow(x, y, &sum) ? INT64_MAX : sum;
}

int64_t balance_use(const struct balance *b)
{
	int64_t held = sum_capped(sum_capped(b->part[LEDGER_PENDING], b->part[LEDGER_POSTED]),
		b->part[LEDGER_RELEASING]);
	return sum_capped(held, b->members);
}

/* Returns what a row with this use passes up. */
static int64_t over(const struct batch_plan_row *r, int64_t use)
{
	return use > r->now.guaranteed ? use - r->now.guaranteed : 0;
}

/* ---- What must be read ------------------------------------------------------------------------
 */

/* Takes the lines of an operation, merged by name, without those of 0 (but for a ceiling). There
 * are QUEUE_LINES_MAX at most. */
static void batch_plan_take_lines(struct batch_plan *b, size_t i)
{
	const struct ledger_op *op = &b->ops[i];
	must(op->kind != LEDGER_CEILING || (op->nlines == 1 && op->guaranteed >= 0));
	if (!ledger_reserves(op->kind) && op->kind != LEDGER_CEILING &&
		!ledger_changes_size(op->kind))
		return;
	struct batch_plan_line *lines = arena_take(&b->arena, op->nlines, sizeof(*lines));
	size_t n = 0;
	for (size_t k = 0; k < op->nlines; k++) {
		must(op->lines[k].amount >= 0);
		if (!op->lines[k].amount && op->kind != LEDGER_CEILING)
			continue;
		uint32_t row = batch_plan_add_row(b, &op->lines[k]);
		size_t at = 0;
		while (at < n && lines[at].row != row)
			at++;
		if (at == n)
			lines[n++] = (struct batch_plan_line){row, 0};
		lines[at].amount = sum_capped(lines[at].amount, op->lines[k].amount);
	}
	b->lines_of[i] = lines;
	b->nlines_of[i] = n;
	if (op->kind == LEDGER_CEILING && op->parent && op->parent[0])
		batch_plan_add_parent(b, b->rows[lines->row], op->parent);
}

static bool reservation_has_key(const void *value, const void *key)
{
	const struct batch_plan_reservation *h = value, *k = key;
	return h->attempt == k->attempt && !uid_cmp(&h->uid, &k->uid);
}

static void batch_plan_take_reservation(struct batch_plan *b, struct map *by_key, size_t i)
{
	const struct ledger_op *op = &b->ops[i];
	b->reservation_of[i] = NO_RESERVATION;
	if (op->kind == LEDGER_CEILING)
		return;
	must(op->attempt >= 1);
	struct batch_plan_reservation key = {.uid = op->uid, .attempt = op->attempt};
	uint64_t hash = batch_plan_attempt_hash(&op->uid, op->attempt);
	struct batch_plan_reservation *h = map_get(by_key, hash, &key);
	if (!h) {
		h = &b->reservations[b->nreservations++];
		*h = key;
		map_put(by_key, hash, h);
	}
	h->reserving |= ledger_reserves(op->kind);
	b->reservation_of[i] = (uint32_t)(h - b->reservations);
}

struct batch_plan *batch_plan_new(const struct ledger_op *ops, size_t nops)
{
	struct batch_plan *b = mem_alloc(sizeof(*b));
	b->ops = ops;
	b->nops = nops;
	map_init(&b->by_name, row_has_name);
	b->known = arena_take(&b->arena, nops, sizeof(*b->known));
	b->resizes = arena_take(&b->arena, nops, sizeof(*b->resizes));
	b->reservation_of = arena_take(&b->arena, nops, sizeof(*b->reservation_of));
	b->lines_of = arena_take(&b->arena, nops, sizeof(*b->lines_of));
	b->nlines_of = arena_take(&b->arena, nops, sizeof(*b->nlines_of));
	b->reservations = arena_take(&b->arena, nops, sizeof(*b->reservations));
	b->entries = arena_take(&b->arena, nops, sizeof(*b->entries));
	b->results = arena_take(&b->arena, nops, sizeof(*b->results));
	struct map by_key;
	map_init(&by_key, reservation_has_key);
	for (size_t i = 0; i < nops; i++) {
		batch_plan_take_reservation(b, &by_key, i);
		batch_plan_take_lines(b, i);
		if (ledger_changes_size(ops[i].kind))
			b->resizes[b->nresizes++] = (uint32_t)i;
	}
	map_done(&by_key);
	b->nnamed = b->nrows;
	return b;
}

/* ---- What was found ---------------------------------------------------------------------------
 */

void batch_plan_found_resize(struct batch_plan *b, size_t resize)
{
	must(resize < b->nresizes);
	b->known[b->resizes[resize]] = true;
}

void batch_plan_found_reservation(
	struct batch_plan *b, size_t reservation, const struct held *found)
{
	must(reservation < b->nreservations);
	struct batch_plan_reservation *h = &b->reservations[reservation];
	h->open = h->was_open = h->used = true;
	h->is = *found;
}

/* Makes room for one more, in steps of eight: a reservation rarely has many lines. */
static struct batch_plan_line *batch_plan_more(
	struct batch_plan *b, struct batch_plan_line *lines, size_t n)
{
	if (n % 8)
		return lines;
	struct batch_plan_line *more = arena_take(&b->arena, n + 8, sizeof(*more));
	if (n)
		memcpy(more, lines, n * sizeof(*more));
	return more;
}

void batch_plan_found_line(struct batch_plan *b, size_t reservation, const struct quota_line *line)
{
	must(reservation < b->nreservations);
	struct batch_plan_reservation *h = &b->reservations[reservation];
	h->lines = batch_plan_more(b, h->lines, h->nlines);
	h->lines[h->nlines++] = (struct batch_plan_line){batch_plan_add_row(b, line), line->amount};
}

void batch_plan_found_started_line(
	struct batch_plan *b, size_t reservation, const struct quota_line *line)
{
	must(reservation < b->nreservations);
	struct batch_plan_reservation *h = &b->reservations[reservation];
	h->started_lines = batch_plan_more(b, h->started_lines, h->nstarted_lines);
	h->started_lines[h->nstarted_lines++] =
		(struct batch_plan_line){batch_plan_add_row(b, line), line->amount};
}

void batch_plan_found_attempts(
	struct batch_plan *b, size_t reservation, bool used, int32_t last_attempt)
{
	must(reservation < b->nreservations);
	b->reservations[reservation].used |= used;
	b->reservations[reservation].last_attempt = last_attempt;
}

void batch_plan_found_row(
	struct batch_plan *b, const struct quota_line *name, const struct balance *found)
{
	struct batch_plan_row *r = b->rows[batch_plan_add_row(b, name)];
	r->exists = true;
	r->was = r->now = *found;
}

/* ---- The tree ---------------------------------------------------------------------------------
 */

/* Passes up what r's use has changed since `before`. moved: by a CEILING or an operation that
 * adopts, which never fail. The walk ends, since linked rows are in no circle. */
static void batch_plan_pass_up(
	struct batch_plan *b, struct batch_plan_row *r, int64_t before, bool moved)
{
	while (r->linked) {
		int64_t more = over(r, balance_use(&r->now)) - over(r, before);
		if (!more)
			return;
		r = b->rows[r->up];
		before = balance_use(&r->now);
		r->now.members = sum_capped(r->now.members, more);
		r->follows |= moved;
	}
}

static void batch_plan_link(struct batch_plan *b, struct batch_plan_row *r)
{
	r->linked = true;
	batch_plan_pass_up(b, r, 0, true);
}

static void batch_plan_unlink(struct batch_plan *b, struct batch_plan_row *r)
{
	struct batch_plan_row *up = b->rows[r->up];
	int64_t before = balance_use(&up->now);
	r->linked = false;
	up->now.members -= over(r, balance_use(&r->now));
	up->follows = true;
	batch_plan_pass_up(b, up, before, true);
}

/* Tells whether r, which is in no circle with `up`, gets into one as a child of up. */
static bool batch_plan_would_close(
	const struct batch_plan *b, const struct batch_plan_row *r, uint32_t up)
{
	const struct batch_plan_row *x = b->rows[up];
	while (x != r && x->linked)
		x = b->rows[x->up];
	return x == r;
}

/* Moves a row below another parent. On the way from one tree to another parents may go round in a
 * circle: its rows are not linked, until one of them moves away. */
static void batch_plan_move(struct batch_plan *b, struct batch_plan_row *r, uint32_t up)
{
	if (r->linked) {
		batch_plan_unlink(b, r);
	} else {
		uint32_t next = r->up;
		r->up = BATCH_PLAN_NO_ROW;
		for (; next != BATCH_PLAN_NO_ROW && b->rows[next] != r; next = b->rows[next]->up)
			batch_plan_link(b, b->rows[next]);
	}
	r->up = up;
}

static void batch_plan_attach(struct batch_plan *b, struct batch_plan_row *r)
{
	if (r->up == BATCH_PLAN_NO_ROW)
		return;
	if (!batch_plan_would_close(b, r, r->up)) {
		batch_plan_link(b, r);
		return;
	}
	for (struct batch_plan_row *x = b->rows[r->up]; x != r; x = b->rows[x->up])
		batch_plan_unlink(b, x);
}

/* Finds the parents of the rows that were found, or makes them. */
static void batch_plan_find_parents(struct batch_plan *b)
{
	for (size_t i = 0; i < b->nrows; i++)
		if (b->rows[i]->now.parent[0])
			b->rows[i]->up =
				batch_plan_add_parent(b, b->rows[i], b->rows[i]->now.parent);
	for (size_t i = 0; i < b->nrows; i++) {
		struct batch_plan_row *r = b->rows[i];
		uint32_t up = r->up;
		for (size_t k = 0; k < b->nrows && up != BATCH_PLAN_NO_ROW && up != i; k++)
			up = b->rows[up]->up;
		r->linked = r->up != BATCH_PLAN_NO_ROW && up != i;
	}
}

/* ---- One operation ----------------------------------------------------------------------------
 */

static void batch_plan_add(
	struct batch_plan *b, const struct batch_plan_line *l, enum ledger_state s, int sign)
{
	struct batch_plan_row *r = b->rows[l->row];
	int64_t before = balance_use(&r->now);
	r->now.part[s] += sign * l->amount;
	batch_plan_pass_up(b, r, before, false);
}

/* Tells whether a line fits, here and in all rows that it makes grow. */
static bool batch_plan_fits(const struct batch_plan *b, const struct batch_plan_line *l)
{
	const struct batch_plan_row *r = b->rows[l->row];
	int64_t more = l->amount;
	while (more) {
		int64_t use = balance_use(&r->now);
		if (more > r->now.wanted - use)
			return false;
		if (!r->linked)
			return true;
		more = over(r, use + more) - over(r, use);
		r = b->rows[r->up];
	}
	return true;
}

/* Adds lines whatever the ceilings: they are in use already. */
static void batch_plan_take_used(
	struct batch_plan *b, const struct batch_plan_line *lines, size_t n, enum ledger_state s)
{
	for (size_t k = 0; k < n; k++) {
		struct batch_plan_row *r = b->rows[lines[k].row];
		int64_t before = balance_use(&r->now);
		r->now.part[s] = sum_capped(r->now.part[s], lines[k].amount);
		r->follows = true;
		batch_plan_pass_up(b, r, before, true);
	}
}

/* Adds lines, or none if one does not fit. They may meet further up. */
static bool batch_plan_take_room(
	struct batch_plan *b, const struct batch_plan_line *lines, size_t n, enum ledger_state s)
{
	size_t taken = 0;
	while (taken < n && batch_plan_fits(b, &lines[taken]))
		batch_plan_add(b, &lines[taken++], s, 1);
	if (taken == n)
		return true;
	while (taken--)
		batch_plan_add(b, &lines[taken], s, -1);
	return false;
}

static struct batch_plan_line *batch_plan_copy(
	struct batch_plan *b, const struct batch_plan_line *lines, size_t n)
{
	struct batch_plan_line *copy = arena_take(&b->arena, n, sizeof(*copy));
	if (n)
		memcpy(copy, lines, n * sizeof(*copy));
	return copy;
}

static struct batch_plan_entry *batch_plan_enter(
	struct batch_plan *b, size_t op, const struct batch_plan_line *lines, size_t n)
{
	struct batch_plan_entry *e = &b->entries[b->nentries++];
	e->op = (uint32_t)op;
	e->lines = batch_plan_copy(b, lines, n);
	e->nlines = n;
	b->results[op].verdict = LEDGER_APPLIED;
	return e;
}

/* Returns the first unused attempt: earlier operations of the batch may have used more than were
 * read. */
static int32_t batch_plan_next_attempt(const struct batch_plan *b, size_t op)
{
	int32_t last = b->reservations[b->reservation_of[op]].last_attempt;
	for (size_t k = 0; k < b->nentries; k++) {
		const struct ledger_op *o = &b->ops[b->entries[k].op];
		if (ledger_reserves(o->kind) && o->attempt > last &&
			!uid_cmp(&o->uid, &b->ops[op].uid))
			last = o->attempt;
	}
	return last + 1;
}

static void batch_plan_reserve(struct batch_plan *b, size_t i, struct batch_plan_reservation *h)
{
	const struct ledger_op *op = &b->ops[i];
	const struct batch_plan_line *lines = b->lines_of[i];
	size_t n = b->nlines_of[i];
	if (h->used) {
		b->results[i] = (struct ledger_result){LEDGER_SPENT, batch_plan_next_attempt(b, i)};
		return;
	}
	if (op->kind == LEDGER_ADOPT) {
		batch_plan_take_used(b, lines, n, LEDGER_PENDING);
	} else if (!batch_plan_take_room(b, lines, n, LEDGER_PENDING)) {
		b->results[i].verdict = LEDGER_REFUSED;
		return;
	}
	struct batch_plan_entry *e = batch_plan_enter(b, i, lines, n);
	e->has_target = true;
	e->target = LEDGER_PENDING;
	h->open = h->changed = h->used = true;
	h->is = (struct held){.state = LEDGER_PENDING,
		.estimated = op->kind == LEDGER_ADOPT,
		.ns = op->ns,
		.name = op->name,
		.clusterqueue = op->clusterqueue,
		.localqueue = op->localqueue ? op->localqueue : "",
		.owner = op->owner ? op->owner : "",
		.labels = op->labels,
		.submitted_by = op->submitted_by,
		.created_ms = op->created_ms,
		.queued_ms = op->queued_ms,
		.reserved_ms = op->at_ms};
	h->lines = batch_plan_copy(b, lines, n);
	h->nlines = n;
}

/* COMMIT, STOP: moves the whole reservation to the next state, never back. */
static void batch_plan_advance(
	struct batch_plan *b, size_t i, struct batch_plan_reservation *h, enum ledger_state next)
{
	struct batch_plan_entry *e = batch_plan_enter(b, i, h->lines, h->nlines);
	e->has_source = e->has_target = true;
	e->source = h->is.state;
	e->target = next > h->is.state ? next : h->is.state;
	for (size_t k = 0; k < h->nlines; k++) {
		struct batch_plan_row *r = b->rows[h->lines[k].row];
		r->now.part[e->source] -= h->lines[k].amount;
		r->now.part[e->target] += h->lines[k].amount;
	}
	h->is.state = e->target;
	h->changed = true;
}

static void batch_plan_resize(
	struct batch_plan_reservation *h, struct batch_plan_line *lines, size_t n)
{
	if (h->is.started_ms && !h->is.has_started_lines) {
		h->is.has_started_lines = true;
		h->started_lines = h->lines;
		h->nstarted_lines = h->nlines;
	}
	h->lines = lines;
	h->nlines = n;
	h->changed = h->resized = true;
}

static void batch_plan_shrink(struct batch_plan *b, size_t i, struct batch_plan_reservation *h)
{
	const struct batch_plan_line *given = b->lines_of[i];
	struct batch_plan_line *freed = arena_take(&b->arena, h->nlines, sizeof(*freed));
	struct batch_plan_line *kept = arena_take(&b->arena, h->nlines, sizeof(*kept));
	size_t nfreed = 0, nkept = 0;
	for (size_t k = 0; k < h->nlines; k++) {
		struct batch_plan_line was = h->lines[k];
		int64_t now = 0;
		for (size_t g = 0; g < b->nlines_of[i]; g++)
			if (given[g].row == was.row)
				now = given[g].amount < was.amount ? given[g].amount : was.amount;
		if (now)
			kept[nkept++] = (struct batch_plan_line){was.row, now};
		if (now < was.amount)
			freed[nfreed++] = (struct batch_plan_line){was.row, was.amount - now};
	}
	struct batch_plan_entry *e = batch_plan_enter(b, i, freed, nfreed);
	e->has_source = true;
	e->source = h->is.state;
	for (size_t k = 0; k < nfreed; k++)
		batch_plan_add(b, &freed[k], h->is.state, -1);
	batch_plan_resize(h, kept, nkept);
}

static size_t batch_plan_line_of(const struct batch_plan_line *lines, size_t n, uint32_t row)
{
	size_t k = 0;
	while (k < n && lines[k].row != row)
		k++;
	return k;
}

static void batch_plan_grow(struct batch_plan *b, size_t i, struct batch_plan_reservation *h)
{
	const struct ledger_op *op = &b->ops[i];
	const struct batch_plan_line *given = b->lines_of[i];
	size_t most = h->nlines + b->nlines_of[i], n = h->nlines, nmore = 0;
	struct batch_plan_line *more = arena_take(&b->arena, most, sizeof(*more));
	struct batch_plan_line *lines = arena_take(&b->arena, most, sizeof(*lines));
	if (n)
		memcpy(lines, h->lines, n * sizeof(*lines));
	for (size_t g = 0; g < b->nlines_of[i]; g++) {
		size_t at = batch_plan_line_of(lines, n, given[g].row);
		if (at == n)
			lines[n++] = (struct batch_plan_line){given[g].row, 0};
		if (given[g].amount <= lines[at].amount)
			continue;
		more[nmore++] =
			(struct batch_plan_line){given[g].row, given[g].amount - lines[at].amount};
		lines[at].amount = given[g].amount;
	}
	if (op->adopts) {
		batch_plan_take_used(b, more, nmore, h->is.state);
	} else if (h->is.state != LEDGER_POSTED ||
		   !batch_plan_take_room(b, more, nmore, LEDGER_POSTED)) {
		b->results[i].verdict = LEDGER_REFUSED;
		return;
	}
	struct batch_plan_entry *e = batch_plan_enter(b, i, more, nmore);
	e->has_target = true;
	e->target = h->is.state;
	batch_plan_resize(h, lines, n);
}

static void batch_plan_close(struct batch_plan *b, size_t i, struct batch_plan_reservation *h)
{
	struct batch_plan_entry *e = batch_plan_enter(b, i, h->lines, h->nlines);
	e->has_source = true;
	e->source = h->is.state;
	for (size_t k = 0; k < h->nlines; k++)
		batch_plan_add(b, &h->lines[k], h->is.state, -1);
	h->open = false;
}

/* Keeps what the segment will say: the reason that was given first, and the most that was said to
 * be lost. */
static void batch_plan_tell_segment(
	struct batch_plan *b, size_t i, struct batch_plan_reservation *h)
{
	const struct ledger_op *op = &b->ops[i];
	if (op->kind == LEDGER_COMMIT) {
		h->is.started_ms = op->at_ms > 0 ? op->at_ms : 1;
		return;
	}
	int64_t at_ms = op->at_ms > 0 ? op->at_ms : 1;
	if (op->kind == LEDGER_STOP)
		h->is.stopping_ms = at_ms;
	else
		h->stopped_ms = at_ms;
	if (op->kind == LEDGER_RELEASE && op->priced)
		h->bill = op;
	if (op->kind == LEDGER_RELEASE)
		h->outcome = op->outcome;
	h->is.estimated |= op->estimated;
	h->is.reason = h->is.reason ? h->is.reason : op->reason;
	h->is.actor = h->is.actor ? h->is.actor : op->actor;
	if (!h->is.has_lost || op->lost_ms > h->is.lost_ms)
		h->is.lost_ms = op->lost_ms;
	h->is.has_lost = true;
}

/* Tells whether an operation on an open reservation took effect before. */
static bool batch_plan_repeated(
	const struct batch_plan *b, size_t i, const struct batch_plan_reservation *h)
{
	switch (b->ops[i].kind) {
	case LEDGER_COMMIT:
		return h->is.started_ms != 0;
	case LEDGER_STOP:
		return h->is.state == LEDGER_RELEASING;
	case LEDGER_SHRINK:
	case LEDGER_GROW:
		return b->known[i];
	case LEDGER_RESERVE:
	case LEDGER_ADOPT:
		return true;
	case LEDGER_RELEASE:
	case LEDGER_VOID:
	case LEDGER_CEILING:
		return false;
	}
	must_not_get_here();
}

static void batch_plan_take_op(struct batch_plan *b, size_t i)
{
	struct batch_plan_reservation *h = &b->reservations[b->reservation_of[i]];
	if (h->open && batch_plan_repeated(b, i, h)) {
		b->results[i].verdict = LEDGER_REPEATED;
		return;
	}
	if (!h->open && !ledger_reserves(b->ops[i].kind)) {
		b->results[i].verdict = LEDGER_SPENT;
		return;
	}
	switch (b->ops[i].kind) {
	case LEDGER_RESERVE:
	case LEDGER_ADOPT:
		batch_plan_reserve(b, i, h);
		break;
	case LEDGER_COMMIT:
		batch_plan_advance(b, i, h, LEDGER_POSTED);
		batch_plan_tell_segment(b, i, h);
		break;
	case LEDGER_STOP:
		batch_plan_advance(b, i, h, LEDGER_RELEASING);
		batch_plan_tell_segment(b, i, h);
		break;
	case LEDGER_SHRINK:
		batch_plan_shrink(b, i, h);
		break;
	case LEDGER_GROW:
		batch_plan_grow(b, i, h);
		break;
	case LEDGER_RELEASE:
	case LEDGER_VOID:
		batch_plan_close(b, i, h);
		batch_plan_tell_segment(b, i, h);
		break;
	case LEDGER_CEILING:
		must_not_get_here();
	}
}

/* CEILING, in any order: see batch_plan_move(). */
static void batch_plan_cap(struct batch_plan *b, size_t i)
{
	const struct ledger_op *op = &b->ops[i];
	struct batch_plan_row *r = b->rows[b->lines_of[i]->row];
	bool has_parent = op->parent && op->parent[0];
	batch_plan_move(
		b, r, has_parent ? batch_plan_add_parent(b, r, op->parent) : BATCH_PLAN_NO_ROW);
	r->now.wanted = b->lines_of[i]->amount;
	r->now.guaranteed = op->guaranteed;
	r->now.parent = has_parent ? op->parent : "";
	r->follows = r->made = true;
	batch_plan_attach(b, r);
	b->results[i].verdict = LEDGER_APPLIED;
}

void batch_plan_run(struct batch_plan *b)
{
	batch_plan_find_parents(b);
	for (size_t i = 0; i < b->nops; i++) {
		if (b->ops[i].kind == LEDGER_CEILING)
			batch_plan_cap(b, i);
		else
			batch_plan_take_op(b, i);
	}
}

/* ---- What is to be written --------------------------------------------------------------------
 */

bool batch_plan_row_changed(const struct batch_plan_row *r)
{
	const struct balance *w = &r->was, *n = &r->now;
	bool same = w->part[LEDGER_PENDING] == n->part[LEDGER_PENDING] &&
		    w->part[LEDGER_POSTED] == n->part[LEDGER_POSTED] &&
		    w->part[LEDGER_RELEASING] == n->part[LEDGER_RELEASING] &&
		    w->members == n->members && w->wanted == n->wanted &&
		    w->guaranteed == n->guaranteed && !strcmp(w->parent, n->parent);
	return !same || (r->made && !r->exists);
}

bool batch_plan_reservation_ended(const struct batch_plan_reservation *h)
{
	return h->is.started_ms && h->stopped_ms;
}

bool batch_plan_dirty(const struct batch_plan *b)
{
	bool dirty = b->nentries > 0;
	for (size_t i = 0; i < b->nrows; i++)
		dirty |= batch_plan_row_changed(b->rows[i]);
	return dirty;
}

bool batch_plan_all_applied(const struct batch_plan *b)
{
	bool all = true;
	for (size_t i = 0; i < b->nops; i++)
		all &= b->results[i].verdict == LEDGER_APPLIED;
	return all;
}
