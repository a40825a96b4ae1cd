#include "controller/answers/counters.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "controller/gate/reasons.h"

static const double wait_bounds[] = {
	0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 12 * 3600, 86400, 7 * 86400};
static const double pass_bounds[] = {
	0.00001, 0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1};

enum { LOOK_MS = 60 * 1000, GONE_MS = 3600 * 1000 };

struct causes {
	struct counters_cause *at;
	size_t n;
};

struct counters {
	struct causes causes[COUNTERS_CAUSES];
	struct map by_name;
	struct counters_row **row; /* owned */
	size_t rows;
	struct histogram passes;
	int64_t look_ms; /* when ClusterQueues that are gone are looked for next */
};

static bool row_has_name(const void *value, const void *key)
{
	const struct counters_row *r = value;
	return strcmp(r->clusterqueue, key) == 0;
}

void counters_no_waits(struct histogram *ret)
{
	histogram_init(ret, wait_bounds, sizeof(wait_bounds) / sizeof(wait_bounds[0]));
}

struct counters *counters_new(void)
{
	struct counters *t = mem_alloc(sizeof(*t));
	map_init(&t->by_name, row_has_name);
	histogram_init(&t->passes, pass_bounds, sizeof(pass_bounds) / sizeof(pass_bounds[0]));
	return t;
}

static void cause_done(struct counters_cause *c)
{
	free(c->clusterqueue);
	free(c->reason);
}

static void causes_done(struct causes *c)
{
	for (size_t i = 0; i < c->n; i++)
		cause_done(&c->at[i]);
	free(c->at);
}

static void causes_append(struct causes *c, const char *clusterqueue, const char *reason,
	uint64_t count, bool waits_again)
{
	c->at = mem_grow(c->at, c->n + 1, sizeof(*c->at));
	c->at[c->n++] = (struct counters_cause){
		mem_strdup(clusterqueue), mem_strdup(reason), count, waits_again};
}

/* Counts for a cause. There are few, as many as ClusterQueues times a handful of reasons, so it is
 * searched for. */
static void causes_add(struct causes *c, const char *clusterqueue, const char *reason,
	uint64_t count, bool waits_again)
{
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->at[i].clusterqueue, clusterqueue) == 0 &&
			strcmp(c->at[i].reason, reason) == 0) {
			c->at[i].count += count;
			return;
		}
	causes_append(c, clusterqueue, reason, count, waits_again);
}

static void row_free(struct counters_row *r)
{
	free(r->clusterqueue);
	free(r);
}

void counters_free(struct counters *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < COUNTERS_CAUSES; i++)
		causes_done(&t->causes[i]);
	for (size_t i = 0; i < t->rows; i++)
		row_free(t->row[i]);
	free(t->row);
	map_done(&t->by_name);
	free(t);
}

const struct counters_row *counters_get(const struct counters *t, const char *clusterqueue)
{
	return map_get(&t->by_name, map_hash_string(clusterqueue), clusterqueue);
}

const struct counters_row *counters_at(const struct counters *t, size_t index)
{
	return index < t->rows ? t->row[index] : NULL;
}

static struct counters_row *counters_row(struct counters *t, const char *clusterqueue)
{
	uint64_t hash = map_hash_string(clusterqueue);
	struct counters_row *r = map_get(&t->by_name, hash, clusterqueue);
	if (r)
		return r;
	r = mem_alloc(sizeof(*r));
	r->clusterqueue = mem_strdup(clusterqueue);
	counters_no_waits(&r->waits);
	map_put(&t->by_name, hash, r);
	t->row = mem_grow(t->row, t->rows + 1, sizeof(struct counters_row *));
	t->row[t->rows++] = r;
	return r;
}

static void begin_losses(struct counters *t, struct counters_row *r)
{
	if (r->has_losses)
		return;
	r->has_losses = true;
	r->losses = t->causes[COUNTERS_LOSSES].n;
	for (enum stop_reason s = STOP_REASON_NONE + 1; *stop_reason_name(s); s++)
		causes_append(
			&t->causes[COUNTERS_LOSSES], r->clusterqueue, stop_reason_name(s), 0, true);
}

static void count_loss(struct counters *t, struct counters_row *r, const struct note *n)
{
	const char *reason = n->reason ? n->reason : "";
	if (n->lost_ms <= 0)
		return;
	begin_losses(t, r);
	struct counters_cause *loss = &t->causes[COUNTERS_LOSSES].at[r->losses];
	for (enum stop_reason s = STOP_REASON_NONE + 1; *stop_reason_name(s); s++, loss++)
		if (strcmp(reason, stop_reason_name(s)) == 0) {
			loss->count += (uint64_t)n->lost_ms;
			return;
		}
	causes_add(
		&t->causes[COUNTERS_LOSSES], n->clusterqueue, reason, (uint64_t)n->lost_ms, true);
}

/* True for a reason for which the gate itself stops. */
static bool is_of_the_gate(const char *reason)
{
	return strcmp(reason, REASON_NOT_ADMITTED) == 0 || strcmp(reason, REASON_SCALED_UP) == 0 ||
	       strcmp(reason, REASON_BACKOFF_LIMIT_NEAR) == 0;
}

/* Counts a stop. A stop by the Job's owner (deleted, suspended by its user, changed) is no
 * eviction. */
static void count_stop(struct counters *t, struct counters_row *row, const struct note *n)
{
	row->stops++;
	if (n->reason && is_of_the_gate(n->reason))
		causes_add(&t->causes[COUNTERS_EVICTIONS], n->clusterqueue, n->reason, 1, true);
	for (enum stop_reason r = STOP_REASON_NONE + 1; *stop_reason_name(r); r++)
		if (n->reason && strcmp(n->reason, stop_reason_name(r)) == 0)
			causes_add(&t->causes[COUNTERS_EVICTIONS], n->clusterqueue, n->reason, 1,
				r != STOP_REASON_HELD && !stop_reason_deactivates(r));
	if (n->preemption && n->preemption[0])
		causes_add(&t->causes[COUNTERS_PREEMPTIONS], n->preempting ? n->preempting : "",
			n->preemption, 1, true);
	count_loss(t, row, n);
}

const struct counters_cause *counters_cause_at(
	const struct counters *t, enum counters_cause_of of, size_t index)
{
	return index < t->causes[of].n ? &t->causes[of].at[index] : NULL;
}

static void count_start(struct counters *t, struct counters_row *row, const struct note *n)
{
	row->admissions++;
	(void)t;
	histogram_add(&row->waits, (double)(n->waited_ms > 0 ? n->waited_ms : 0) / 1000.0);
}

static void count_finish(struct counters *t, struct counters_row *row, const struct note *n)
{
	(void)t;
	(void)n;
	row->finishes++;
}

static void count_cost(struct counters *t, struct counters_row *row, const struct note *n)
{
	(void)row;
	if (n->currency && n->currency[0] && n->cost > 0)
		causes_add(&t->causes[COUNTERS_COSTS], n->clusterqueue, n->currency,
			(uint64_t)n->cost, true);
}

static void count_trouble(struct counters *t, struct counters_row *row, const struct note *n)
{
	(void)row;
	causes_add(&t->causes[COUNTERS_TROUBLES], n->clusterqueue, n->reason, 1, true);
}

void counters_note(struct counters *t, const struct note *n)
{
	static void (*const counts[])(
		struct counters * t, struct counters_row * row, const struct note *n) = {
#define NOTE(kind, name, level, word, event, counts) [NOTE_##kind] = counts,
#include "controller/gate/notes.def"
	};
	if (!n->clusterqueue || n->clusterqueue[0] == '\0')
		return;
	struct counters_row *row = counters_row(t, n->clusterqueue);
	if (counts[n->kind])
		counts[n->kind](t, row, n);
}

/* ---- ClusterQueues that are gone -------------------------------------------------------------- */

static void causes_forget(struct causes *c, const char *clusterqueue)
{
	size_t kept = 0;
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->at[i].clusterqueue, clusterqueue) == 0)
			cause_done(&c->at[i]);
		else
			c->at[kept++] = c->at[i];
	c->n = kept;
}

static void forget(struct counters *t, struct counters_row *r)
{
	for (size_t i = 0; i < COUNTERS_CAUSES; i++)
		causes_forget(&t->causes[i], r->clusterqueue);
	map_take(&t->by_name, map_hash_string(r->clusterqueue), r->clusterqueue);
	row_free(r);
}

/* Finds where the losses of each row begin, since others were taken out between them. */
static void find_losses(struct counters *t)
{
	const struct causes *c = &t->causes[COUNTERS_LOSSES];
	for (size_t i = 0; i < t->rows; i++) {
		struct counters_row *r = t->row[i];
		r->losses = 0;
		while (r->has_losses && strcmp(c->at[r->losses].clusterqueue, r->clusterqueue) != 0)
			r->losses++;
	}
}

static void see_what_is_there(struct counters *t, const struct queue *q, int64_t tick_ms)
{
	struct clusterqueue_view v;
	for (size_t i = 0; queue_view_any_clusterqueue(q, i, &v); i++) {
		struct counters_row *r = map_get(&t->by_name, map_hash_string(v.name), v.name);
		if (r && (v.exists || v.reserving > 0))
			r->known_ms = tick_ms;
	}
}

void counters_forget_gone(struct counters *t, const struct queue *q, int64_t tick_ms)
{
	size_t kept = 0;
	if (tick_ms < t->look_ms)
		return;
	t->look_ms = tick_ms + LOOK_MS;
	see_what_is_there(t, q, tick_ms);
	for (size_t i = 0; i < t->rows; i++) {
		struct counters_row *r = t->row[i];
		if (r->known_ms == 0)
			r->known_ms = tick_ms;
		if (tick_ms - r->known_ms < GONE_MS)
			t->row[kept++] = r;
		else
			forget(t, r);
	}
	if (kept < t->rows) {
		t->rows = kept;
		find_losses(t);
	}
}

void counters_pass(struct counters *t, int64_t took_us)
{
	histogram_add(&t->passes, (double)took_us / 1e6);
}

const struct histogram *counters_passes(const struct counters *t)
{
	return &t->passes;
}
