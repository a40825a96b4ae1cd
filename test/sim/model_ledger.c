#include "test/sim/model_ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"

/* A timeline that no server has: starts are still paused. */
#define UNSETTLED UINT64_MAX

struct model_ledger {
	struct {
		int64_t epoch, expires_ms;
		char holder[128];
		uint64_t timeline; /* when a leader had last settled, or UNSETTLED */
		uint64_t taken_on; /* the timeline on which it was taken, and is good */
	} lease;
	uint64_t timeline;
	int64_t batches;
	struct model_row *rows;
	size_t nrows;
	struct model_reservation **reservations;
	size_t nreservations;
	bool has_trees;	   /* a row has a parent */
	uint32_t unfenced; /* bit by ledger_kind */
	bool on_any_server;
	uint64_t key;
};

struct model_ledger *model_ledger_new(void)
{
	return mem_alloc(sizeof(struct model_ledger));
}

struct model_ledger *model_ledger_new_key(uint64_t key)
{
	struct model_ledger *l = model_ledger_new();
	l->key = key;
	return l;
}

static void reservation_free(struct model_reservation *h)
{
	free((void *)h->reservation.lines);
	free((char *)h->reservation.ns);
	free((char *)h->reservation.name);
	free((char *)h->reservation.clusterqueue);
	free((char *)h->reservation.localqueue);
	free(h->owner);
	free(h->submitted_by);
	free(h->labels);
	free(h->bill.plan);
	free(h->bill.currency);
	free(h->bill.price);
	free(h->stop.reason);
	free(h->stop.actor);
	free(h->close.reason);
	free(h->close.actor);
	free(h->resized);
	free(h);
}

void model_ledger_free(struct model_ledger *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->nreservations; i++)
		reservation_free(l->reservations[i]);
	free(l->reservations);
	for (size_t i = 0; i < l->nrows; i++) {
		free((char *)l->rows[i].node);
		free((char *)l->rows[i].flavor);
		free((char *)l->rows[i].resource);
		free((char *)l->rows[i].parent);
	}
	free(l->rows);
	free(l);
}

/* ---- Lease ------------------------------------------------------------------------------------
 */

/* attach.sql, fence.sql */
static bool is_fenced(const struct model_ledger *l, int64_t epoch)
{
	return epoch != l->lease.epoch || (l->lease.taken_on != l->timeline && !l->on_any_server);
}

void model_ledger_lease(struct model_ledger *l, const char *holder, int64_t epoch,
	int64_t epoch_seen, int64_t lease_ms, bool settled, int64_t now_ms,
	struct ledger_lease *ret)
{
	bool mine, moved = false;
	if (epoch == 0) {
		mine = now_ms >= l->lease.expires_ms || is_fenced(l, l->lease.epoch);
		if (mine) {
			moved = l->lease.epoch > 0 && l->lease.timeline != l->timeline;
			if (l->lease.epoch == 0)
				l->lease.timeline = l->timeline;
			l->lease.taken_on = l->timeline;
			l->lease.epoch =
				1 + (epoch_seen > l->lease.epoch ? epoch_seen : l->lease.epoch);
			snprintf(l->lease.holder, sizeof(l->lease.holder), "%s", holder);
		}
	} else {
		mine = !is_fenced(l, epoch);
		if (mine)
			l->lease.timeline = settled ? l->timeline : UNSETTLED;
	}
	if (mine)
		l->lease.expires_ms = now_ms + lease_ms;
	*ret = (struct ledger_lease){
		.held = mine, .epoch = l->lease.epoch, .moved = moved, .story_key = {l->key, 1}};
	snprintf(ret->holder, sizeof(ret->holder), "%s", l->lease.holder);
}

void model_ledger_resign(struct model_ledger *l, int64_t epoch)
{
	if (epoch == l->lease.epoch)
		l->lease.expires_ms = INT64_MIN;
}

/* ---- Balances ---------------------------------------------------------------------------------
 */

static struct model_row *row_find(const struct model_ledger *l, const struct quota_line *line)
{
	for (size_t i = 0; i < l->nrows; i++) {
		struct model_row *r = &l->rows[i];
		if (!strcmp(r->node, line->node) && !strcmp(r->flavor, line->flavor) &&
			!strcmp(r->resource, line->resource))
			return r;
	}
	return NULL;
}

static struct model_row *row_get(struct model_ledger *l, const struct quota_line *line)
{
	struct model_row *r = row_find(l, line);
	if (r)
		return r;
	l->rows = mem_grow(l->rows, l->nrows + 1, sizeof(*l->rows));
	r = &l->rows[l->nrows++];
	*r = (struct model_row){.node = mem_strdup(line->node),
		.flavor = mem_strdup(line->flavor),
		.resource = mem_strdup(line->resource),
		.parent = mem_strdup(""),
		.up = NO_ROW};
	return r;
}

static int64_t sum_capped(int64_t x, int64_t y)
{
	int64_t sum;
	return __builtin_add_overflow(x, y, &sum) ? INT64_MAX : sum;
}

static int64_t row_use(const struct model_row *r)
{
	return sum_capped(r->pending + r->posted + r->releasing, r->members);
}

static bool row_in_circle(const struct model_ledger *l, const struct model_row *r)
{
	size_t self = (size_t)(r - l->rows), up = r->up;
	for (size_t i = 0; i < l->nrows && up != NO_ROW && up != self; i++)
		up = l->rows[up].up;
	return up == self;
}

static int64_t row_members(const struct model_ledger *l, const struct model_row *r)
{
	int64_t sum = 0;
	for (size_t i = 0; r->is_parent && i < l->nrows; i++) {
		const struct model_row *c = &l->rows[i];
		if (!c->linked || &l->rows[c->up] != r)
			continue;
		int64_t use = sum_capped(c->pending + c->posted + c->releasing, row_members(l, c));
		if (use > c->guaranteed)
			sum = sum_capped(sum, use - c->guaranteed);
	}
	return sum;
}

static void rows_derive(struct model_ledger *l)
{
	for (size_t i = 0; l->has_trees && i < l->nrows; i++)
		l->rows[i].members = row_members(l, &l->rows[i]);
}

static void rows_find_parents(struct model_ledger *l)
{
	for (size_t i = 0; i < l->nrows; i++) {
		struct model_row *r = &l->rows[i];
		const struct model_row *up =
			r->parent[0] ? row_find(l, &(struct quota_line){r->parent, r->flavor,
							   r->resource, 0})
				     : NULL;
		r->up = up ? (size_t)(up - l->rows) : NO_ROW;
		r->is_parent = false;
	}
	for (size_t i = 0; i < l->nrows; i++) {
		struct model_row *r = &l->rows[i];
		r->linked = r->up != NO_ROW && !row_in_circle(l, r);
		if (r->up != NO_ROW)
			l->rows[r->up].is_parent = true;
	}
}

/* Use may stay above a lowered ceiling, but what was given back is gone. */
static void rows_settle(struct model_ledger *l)
{
	for (size_t i = 0; i < l->nrows; i++) {
		struct model_row *r = &l->rows[i];
		int64_t use = row_use(r);
		r->bound = use > r->ceiling ? use : r->ceiling;
	}
}

static int64_t *row_part(struct model_row *r, enum ledger_state s)
{
	switch (s) {
	case LEDGER_PENDING:
		return &r->pending;
	case LEDGER_POSTED:
		return &r->posted;
	case LEDGER_RELEASING:
		return &r->releasing;
	}
	must_not_get_here();
}

static void reservation_move(
	struct model_ledger *l, struct model_reservation *h, enum ledger_state next)
{
	for (size_t i = 0; i < h->reservation.nlines; i++) {
		struct model_row *r = row_get(l, &h->reservation.lines[i]);
		*row_part(r, h->reservation.state) -= h->reservation.lines[i].amount;
		*row_part(r, next) += h->reservation.lines[i].amount;
	}
	h->reservation.state = next;
}

/* ---- Operations -------------------------------------------------------------------------------
 */

static struct model_reservation *reservation_find(
	const struct model_ledger *l, const struct uid *uid, int32_t attempt)
{
	for (size_t i = 0; i < l->nreservations; i++)
		if (l->reservations[i]->reservation.attempt == attempt &&
			!uid_cmp(&l->reservations[i]->reservation.uid, uid))
			return l->reservations[i];
	return NULL;
}

static int32_t next_attempt(const struct model_ledger *l, const struct uid *uid)
{
	int32_t most = 0;
	for (size_t i = 0; i < l->nreservations; i++)
		if (!uid_cmp(&l->reservations[i]->reservation.uid, uid) &&
			l->reservations[i]->reservation.attempt > most)
			most = l->reservations[i]->reservation.attempt;
	return most + 1;
}

static int line_cmp(const void *a, const void *b)
{
	const struct quota_line *x = a, *y = b;
	int c = strcmp(x->node, y->node);
	if (!c)
		c = strcmp(x->flavor, y->flavor);
	return c ? c : strcmp(x->resource, y->resource);
}

/* The strings of a line are those of its row, which stays: a reservation that was read keeps its
 * meaning whatever happens to the ledger afterwards. */
static struct quota_line *lines_copy(
	struct model_ledger *l, const struct ledger_op *op, size_t *ret_n)
{
	struct quota_line *lines = mem_array(op->nlines + 1, sizeof(*lines));
	size_t n = 0;
	for (size_t i = 0; i < op->nlines; i++) {
		must(op->lines[i].amount >= 0);
		const struct model_row *r = row_get(l, &op->lines[i]);
		if (op->lines[i].amount)
			lines[n++] = (struct quota_line){
				r->node, r->flavor, r->resource, op->lines[i].amount};
	}
	qsort(lines, n, sizeof(*lines), line_cmp);
	*ret_n = n;
	return lines;
}

struct lines {
	const struct quota_line *line;
	size_t n;
};

static void rows_take(struct model_ledger *l, struct lines more, enum ledger_state s, int sign)
{
	for (size_t i = 0; i < more.n; i++)
		*row_part(row_get(l, &more.line[i]), s) += sign * more.line[i].amount;
	rows_derive(l);
}

/* With the lines added, no row that grew is over its ceiling. */
static bool has_room(struct model_ledger *l, struct lines more)
{
	for (size_t i = 0; i < more.n; i++) {
		const struct model_row *r = row_get(l, &more.line[i]);
		if (more.line[i].amount &&
			(r->squeezed || INT64_MAX - row_use(r) < more.line[i].amount))
			return false;
	}
	size_t n = l->nrows;
	int64_t *before = mem_array(n + 1, sizeof(*before));
	for (size_t i = 0; i < n; i++)
		before[i] = row_use(&l->rows[i]);
	rows_take(l, more, LEDGER_PENDING, 1);
	bool room = true;
	for (size_t i = 0; i < n; i++)
		if (row_use(&l->rows[i]) > before[i])
			room &= row_use(&l->rows[i]) <= l->rows[i].ceiling && !l->rows[i].squeezed;
	rows_take(l, more, LEDGER_PENDING, -1);
	free(before);
	return room;
}

static struct ledger_result op_reserve(
	struct model_ledger *l, const struct ledger_op *op, int64_t epoch)
{
	struct model_reservation *h = reservation_find(l, &op->uid, op->attempt);
	struct lines all = {op->lines, op->nlines};
	if (h && h->open)
		return (struct ledger_result){LEDGER_REPEATED, 0};
	if (h)
		return (struct ledger_result){LEDGER_SPENT, next_attempt(l, &op->uid)};
	if (op->kind == LEDGER_RESERVE && !has_room(l, all))
		return (struct ledger_result){LEDGER_REFUSED, 0};
	h = mem_alloc(sizeof(*h));
	h->open = true;
	h->epoch = epoch;
	h->reservation = (struct ledger_reservation){.uid = op->uid,
		.attempt = op->attempt,
		.state = LEDGER_PENDING,
		.ns = mem_strdup(op->ns),
		.name = mem_strdup(op->name),
		.clusterqueue = mem_strdup(op->clusterqueue),
		.localqueue = mem_strdup(op->localqueue ? op->localqueue : ""),
		.reserved_ms = op->at_ms,
		.estimated = op->kind == LEDGER_ADOPT};
	h->estimated = h->reservation.estimated;
	h->owner = mem_strdup(op->owner ? op->owner : "");
	h->labels = mem_strdup(op->labels);
	h->submitted_by = mem_strdup(op->submitted_by);
	h->created_ms = op->created_ms;
	h->reservation.lines = lines_copy(l, op, &h->reservation.nlines);
	rows_take(l, all, LEDGER_PENDING, 1);
	l->reservations =
		mem_grow(l->reservations, l->nreservations + 1, sizeof(struct model_reservation *));
	l->reservations[l->nreservations++] = h;
	return (struct ledger_result){LEDGER_APPLIED, 0};
}

static enum ledger_verdict op_commit(
	struct model_ledger *l, struct model_reservation *h, const struct ledger_op *op)
{
	if (h->committed)
		return LEDGER_REPEATED;
	h->committed = true;
	h->reservation.started_ms = op->at_ms;
	if (h->reservation.state == LEDGER_PENDING)
		reservation_move(l, h, LEDGER_POSTED);
	return LEDGER_APPLIED;
}

static enum ledger_verdict op_stop(
	struct model_ledger *l, struct model_reservation *h, const struct ledger_op *op)
{
	if (h->stopped)
		return LEDGER_REPEATED;
	h->stopped = true;
	h->stop.at_ms = op->at_ms;
	h->stop.lost_ms = op->lost_ms;
	h->stop.reason = mem_strdup(op->reason);
	h->stop.actor = mem_strdup(op->actor);
	reservation_move(l, h, LEDGER_RELEASING);
	return LEDGER_APPLIED;
}

/* False: it did before. */
static bool takes_effect(struct model_reservation *h, const struct ledger_op *op)
{
	for (size_t i = 0; i < h->nresized; i++)
		if (h->resized[i].kind == op->kind && h->resized[i].seq == op->seq)
			return false;
	return true;
}

static void resized(struct model_reservation *h, const struct ledger_op *op)
{
	h->resized = mem_grow(h->resized, h->nresized + 1, sizeof(*h->resized));
	h->resized[h->nresized++] = (struct model_resize){op->kind, op->seq};
	if (op->seq > h->reservation.sizes)
		h->reservation.sizes = op->seq;
}

static enum ledger_verdict op_shrink(
	struct model_ledger *l, struct model_reservation *h, const struct ledger_op *op)
{
	if (!takes_effect(h, op))
		return LEDGER_REPEATED;
	resized(h, op);
	struct quota_line *lines = (struct quota_line *)h->reservation.lines;
	size_t kept = 0;
	for (size_t i = 0; i < h->reservation.nlines; i++) {
		int64_t amount = 0;
		for (size_t k = 0; k < op->nlines; k++)
			if (!line_cmp(&op->lines[k], &lines[i]))
				amount = op->lines[k].amount;
		if (amount < lines[i].amount) {
			struct model_row *r = row_get(l, &lines[i]);
			*row_part(r, h->reservation.state) -= lines[i].amount - amount;
			lines[i].amount = amount;
		}
		if (lines[i].amount)
			lines[kept++] = lines[i];
	}
	h->reservation.nlines = kept;
	return LEDGER_APPLIED;
}

static int64_t held_of(const struct model_reservation *h, const struct quota_line *name)
{
	for (size_t i = 0; i < h->reservation.nlines; i++)
		if (!line_cmp(&h->reservation.lines[i], name))
			return h->reservation.lines[i].amount;
	return 0;
}

/* What the lines given are more than what is held. */
static struct lines lines_more(
	struct model_ledger *l, const struct model_reservation *h, const struct ledger_op *op)
{
	size_t n, nmore = 0;
	struct quota_line *more = lines_copy(l, op, &n);
	for (size_t i = 0; i < n; i++) {
		int64_t held = held_of(h, &more[i]);
		more[nmore] = more[i];
		more[nmore].amount -= held;
		nmore += more[nmore].amount > 0;
	}
	return (struct lines){more, nmore};
}

static void raise_lines(struct model_reservation *h, struct lines more)
{
	size_t n = h->reservation.nlines;
	struct quota_line *lines = (struct quota_line *)h->reservation.lines;
	lines = mem_grow(lines, n + more.n + 1, sizeof(*lines));
	for (size_t i = 0; i < more.n; i++) {
		size_t at = 0;
		while (at < n && line_cmp(&lines[at], &more.line[i]))
			at++;
		if (at == n) {
			lines[n] = more.line[i];
			lines[n++].amount = 0;
		}
		lines[at].amount += more.line[i].amount;
	}
	qsort(lines, n, sizeof(*lines), line_cmp);
	h->reservation.lines = lines;
	h->reservation.nlines = n;
}

static enum ledger_verdict op_grow(
	struct model_ledger *l, struct model_reservation *h, const struct ledger_op *op)
{
	if (!takes_effect(h, op))
		return LEDGER_REPEATED;
	struct lines more = lines_more(l, h, op);
	bool runs = h->reservation.state == LEDGER_POSTED;
	bool taken = op->adopts || (runs && has_room(l, more));
	if (taken) {
		resized(h, op);
		rows_take(l, more, h->reservation.state, 1);
		raise_lines(h, more);
	}
	free((void *)more.line);
	return taken ? LEDGER_APPLIED : LEDGER_REFUSED;
}

static void take_bill(struct model_reservation *h, const struct ledger_op *op)
{
	if (op->kind != LEDGER_RELEASE || !op->priced)
		return;
	h->bill.priced = true;
	h->bill.cost = op->cost;
	h->bill.plan = mem_strdup(op->plan);
	h->bill.currency = mem_strdup(op->currency);
	h->bill.price = mem_strdup(op->price);
}

static enum ledger_verdict op_close(struct model_ledger *l, struct model_reservation *h,
	const struct ledger_op *op, int64_t epoch)
{
	h->open = false;
	h->close_epoch = epoch;
	h->resolved++;
	h->estimated |= op->estimated;
	h->closed_by = op->kind;
	h->closed_from = h->reservation.state;
	h->closed_ms = op->at_ms;
	h->close.at_ms = op->at_ms;
	h->outcome = op->kind == LEDGER_RELEASE ? op->outcome : LEDGER_JOB_GOES_ON;
	h->close.lost_ms = op->lost_ms;
	h->close.reason = mem_strdup(op->reason);
	h->close.actor = mem_strdup(op->actor);
	take_bill(h, op);
	for (size_t i = 0; i < h->reservation.nlines; i++) {
		struct model_row *r = row_get(l, &h->reservation.lines[i]);
		*row_part(r, h->reservation.state) -= h->reservation.lines[i].amount;
	}
	return LEDGER_APPLIED;
}

static void op_ceiling(struct model_ledger *l, const struct ledger_op *op)
{
	must(op->nlines == 1 && op->guaranteed >= 0);
	const struct quota_line *line = &op->lines[0];
	const char *parent = op->parent ? op->parent : "";
	if (parent[0])
		row_get(l, &(struct quota_line){parent, line->flavor, line->resource, 0});
	l->has_trees |= parent[0] != '\0';
	struct model_row *r = row_get(l, line);
	r->ceiling = line->amount;
	r->guaranteed = op->guaranteed;
	free((char *)r->parent);
	r->parent = mem_strdup(parent);
	if (l->has_trees)
		rows_find_parents(l);
}

static struct ledger_result op_take(
	struct model_ledger *l, const struct ledger_op *op, int64_t epoch)
{
	if (ledger_reserves(op->kind))
		return op_reserve(l, op, epoch);
	if (op->kind == LEDGER_CEILING) {
		op_ceiling(l, op);
		return (struct ledger_result){LEDGER_APPLIED, 0};
	}
	struct model_reservation *h = reservation_find(l, &op->uid, op->attempt);
	if (!h || !h->open)
		return (struct ledger_result){LEDGER_SPENT, 0};
	switch (op->kind) {
	case LEDGER_COMMIT:
		return (struct ledger_result){op_commit(l, h, op), 0};
	case LEDGER_STOP:
		return (struct ledger_result){op_stop(l, h, op), 0};
	case LEDGER_SHRINK:
		return (struct ledger_result){op_shrink(l, h, op), 0};
	case LEDGER_GROW:
		return (struct ledger_result){op_grow(l, h, op), 0};
	case LEDGER_RELEASE:
	case LEDGER_VOID:
		return (struct ledger_result){op_close(l, h, op, epoch), 0};
	case LEDGER_RESERVE:
	case LEDGER_ADOPT:
	case LEDGER_CEILING:
		break;
	}
	must_not_get_here();
}

static struct ledger_result op_apply(
	struct model_ledger *l, const struct ledger_op *op, int64_t epoch)
{
	struct ledger_result r = op_take(l, op, epoch);
	rows_derive(l);
	bool never_refused = op->kind != LEDGER_RESERVE && (op->kind != LEDGER_GROW || op->adopts);
	if (never_refused)
		rows_settle(l);
	return r;
}

enum ledger_outcome model_ledger_batch(struct model_ledger *l, const struct ledger_batch *b,
	size_t upto, struct ledger_result *results)
{
	bool fenced = is_fenced(l, b->epoch);
	l->batches += !fenced;
	for (size_t i = 0; i < b->nops && i < upto; i++) {
		const struct ledger_op *op = &b->ops[i];
		must(op->kind == LEDGER_CEILING || op->attempt >= 1);
		if (fenced && !(l->unfenced >> op->kind & 1))
			continue;
		struct ledger_result r = op_apply(l, op, b->epoch);
		if (results)
			results[i] = r;
	}
	return fenced ? LEDGER_FENCED : LEDGER_DONE;
}

int64_t model_ledger_batches(const struct model_ledger *l)
{
	return l->batches;
}

static struct model_reservation *reservation_copy(
	struct model_ledger *l, const struct model_reservation *h)
{
	struct model_reservation *c = mem_alloc(sizeof(*c));
	*c = *h;
	struct ledger_reservation *r = &c->reservation;
	r->ns = mem_strdup(r->ns);
	r->name = mem_strdup(r->name);
	r->clusterqueue = mem_strdup(r->clusterqueue);
	r->localqueue = mem_strdup(r->localqueue);
	struct quota_line *lines = mem_array(r->nlines + 1, sizeof(*lines));
	for (size_t i = 0; i < r->nlines; i++) {
		const struct model_row *row = row_find(l, &r->lines[i]);
		must(row); /* a line has its row, and rows stay */
		lines[i] = (struct quota_line){
			row->node, row->flavor, row->resource, r->lines[i].amount};
	}
	r->lines = lines;
	c->owner = mem_strdup(h->owner);
	c->labels = mem_strdup(h->labels);
	c->submitted_by = mem_strdup(h->submitted_by);
	c->bill.plan = mem_strdup(h->bill.plan);
	c->bill.currency = mem_strdup(h->bill.currency);
	c->bill.price = mem_strdup(h->bill.price);
	c->stop.reason = mem_strdup(h->stop.reason);
	c->stop.actor = mem_strdup(h->stop.actor);
	c->close.reason = mem_strdup(h->close.reason);
	c->close.actor = mem_strdup(h->close.actor);
	c->resized = mem_array(h->nresized + 1, sizeof(*c->resized));
	if (h->nresized)
		memcpy(c->resized, h->resized, h->nresized * sizeof(*c->resized));
	return c;
}

struct model_ledger *model_ledger_copy(const struct model_ledger *l)
{
	struct model_ledger *c = mem_alloc(sizeof(*c));
	*c = *l;
	c->timeline++;
	c->rows = mem_array(l->nrows + 1, sizeof(*c->rows));
	for (size_t i = 0; i < l->nrows; i++) {
		c->rows[i] = l->rows[i];
		c->rows[i].node = mem_strdup(l->rows[i].node);
		c->rows[i].flavor = mem_strdup(l->rows[i].flavor);
		c->rows[i].resource = mem_strdup(l->rows[i].resource);
		c->rows[i].parent = mem_strdup(l->rows[i].parent);
		c->rows[i].squeezed = false;
	}
	c->reservations = mem_array(l->nreservations + 1, sizeof(struct model_reservation *));
	for (size_t i = 0; i < l->nreservations; i++)
		c->reservations[i] = reservation_copy(c, l->reservations[i]);
	return c;
}

/* ---- Reading ----------------------------------------------------------------------------------
 */

static int reservation_cmp(const void *a, const void *b)
{
	const struct ledger_reservation *x = a, *y = b;
	int c = uid_cmp(&x->uid, &y->uid);
	return c ? c : (x->attempt > y->attempt) - (x->attempt < y->attempt);
}

enum ledger_outcome model_ledger_load(
	const struct model_ledger *l, int64_t epoch, struct ledger_reservation **ret, size_t *ret_n)
{
	if (is_fenced(l, epoch))
		return LEDGER_FENCED;
	size_t n = 0, lines = 0;
	for (size_t i = 0; i < l->nreservations; i++)
		if (l->reservations[i]->open) {
			n++;
			lines += l->reservations[i]->reservation.nlines;
		}
	struct ledger_reservation *out =
		mem_alloc((n + 1) * sizeof(*out) + lines * sizeof(struct quota_line));
	struct quota_line *line = (struct quota_line *)(void *)(out + n + 1);
	size_t k = 0;
	for (size_t i = 0; i < l->nreservations; i++) {
		const struct ledger_reservation *h = &l->reservations[i]->reservation;
		if (!l->reservations[i]->open)
			continue;
		out[k] = *h;
		out[k].owner = l->reservations[i]->owner;
		out[k].submitted_by = l->reservations[i]->submitted_by;
		out[k++].lines = line;
		if (h->nlines)
			memcpy(line, h->lines, h->nlines * sizeof(*line));
		line += h->nlines;
	}
	qsort(out, n, sizeof(*out), reservation_cmp);
	*ret = out;
	*ret_n = n;
	return LEDGER_DONE;
}

size_t model_ledger_rows(const struct model_ledger *l, const struct model_row **ret)
{
	*ret = l->rows;
	return l->nrows;
}

int64_t model_ledger_use(
	const struct model_ledger *l, const char *node, const char *flavor, const char *resource)
{
	const struct model_row *r = row_find(l, &(struct quota_line){node, flavor, resource, 0});
	return r ? row_use(r) : 0;
}

size_t model_ledger_reservations(
	const struct model_ledger *l, const struct model_reservation *const **ret)
{
	*ret = (const struct model_reservation *const *)l->reservations;
	return l->nreservations;
}

const struct model_reservation *model_ledger_reservation(
	const struct model_ledger *l, const struct uid *uid, int32_t attempt)
{
	return reservation_find(l, uid, attempt);
}

const struct model_reservation *model_ledger_open_reservation(
	const struct model_ledger *l, const struct uid *uid)
{
	for (size_t i = l->nreservations; i-- > 0;)
		if (l->reservations[i]->open && !uid_cmp(&l->reservations[i]->reservation.uid, uid))
			return l->reservations[i];
	return NULL;
}

/* ---- Its own books ----------------------------------------------------------------------------
 */

/* What a row's three parts should be, added up anew from the open reservations. */
static struct model_row row_recount(const struct model_ledger *l, const struct model_row *r)
{
	struct model_row sum = {0};
	struct quota_line key = {r->node, r->flavor, r->resource, 0};
	for (size_t i = 0; i < l->nreservations; i++) {
		const struct model_reservation *h = l->reservations[i];
		for (size_t k = 0; h->open && k < h->reservation.nlines; k++)
			if (!line_cmp(&h->reservation.lines[k], &key))
				*row_part(&sum, h->reservation.state) +=
					h->reservation.lines[k].amount;
	}
	return sum;
}

static bool row_check(const struct model_ledger *l, const struct model_row *r, struct buf *why)
{
	struct model_row sum = row_recount(l, r);
	if (sum.pending != r->pending || sum.posted != r->posted || sum.releasing != r->releasing) {
		buf_printf(why,
			"%s %s %s: balance %lld+%lld+%lld, but its holds sum up to %lld+%lld+%lld",
			r->node, r->flavor, r->resource, (long long)r->pending,
			(long long)r->posted, (long long)r->releasing, (long long)sum.pending,
			(long long)sum.posted, (long long)sum.releasing);
		return false;
	}
	if (r->members != row_members(l, r)) {
		buf_printf(why, "%s %s %s: %lld of its children count, but they pass up %lld",
			r->node, r->flavor, r->resource, (long long)r->members,
			(long long)row_members(l, r));
		return false;
	}
	if (row_use(r) > r->bound) {
		buf_printf(why, "%s %s %s: use %lld is over %lld (ceiling %lld)", r->node,
			r->flavor, r->resource, (long long)row_use(r), (long long)r->bound,
			(long long)r->ceiling);
		return false;
	}
	return true;
}

static bool reservation_check(const struct model_ledger *l, size_t index, struct buf *why)
{
	const struct model_reservation *h = l->reservations[index];
	if (h->resolved != (h->open ? 0 : 1)) {
		buf_printf(why, "%s/%s attempt %d: resolved %d times", h->reservation.ns,
			h->reservation.name, h->reservation.attempt, h->resolved);
		return false;
	}
	for (size_t i = 0; h->open && i < index; i++)
		if (l->reservations[i]->open &&
			!uid_cmp(&l->reservations[i]->reservation.uid, &h->reservation.uid)) {
			buf_printf(why, "%s/%s: attempts %d and %d are both open",
				h->reservation.ns, h->reservation.name,
				l->reservations[i]->reservation.attempt, h->reservation.attempt);
			return false;
		}
	return true;
}

bool model_ledger_check(const struct model_ledger *l, struct buf *why)
{
	for (size_t i = 0; i < l->nrows; i++)
		if (!row_check(l, &l->rows[i], why))
			return false;
	for (size_t i = 0; i < l->nreservations; i++)
		if (!reservation_check(l, i, why))
			return false;
	return true;
}

void model_ledger_squeeze(struct model_ledger *l, size_t row, bool squeezed)
{
	must(row < l->nrows);
	l->rows[row].squeezed = squeezed;
}

void model_ledger_plant_unfenced(struct model_ledger *l, enum ledger_kind k)
{
	l->unfenced |= 1u << k;
}

void model_ledger_plant_on_any_server(struct model_ledger *l)
{
	l->on_any_server = true;
}
