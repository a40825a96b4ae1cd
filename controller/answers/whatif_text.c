#include "controller/answers/whatif_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "controller/answers/job_query.h"
#include "controller/answers/review_reply.h"
#include "forecast/play.h"
#include "queue/price/money.h"
#include "sluice/queue.h"

enum fate { EARLIER, LATER, SAME, NEWLY, NEVER_ANY_MORE, FATES };

struct told_job {
	size_t index; /* in the answer */
	const char *ns, *name, *clusterqueue;
	struct eta before, after;
	enum fate fate;
	int64_t earlier_ms; /* EARLIER, LATER, SAME, where it starts */
};

struct told {
	const struct ask_answer *a;
	struct told_job *job;
	size_t n;
	size_t count[FATES];
};

/* ---- each Job ---------------------------------------------------------------------------------- */

static int64_t median_of(const struct eta *eta)
{
	return eta->start.p50_ms;
}

static void judge(struct told_job *j)
{
	int64_t before_ms = median_of(&j->before), after_ms = median_of(&j->after);
	bool starts = before_ms < PLAY_NEVER, would_start = after_ms < PLAY_NEVER;
	j->fate = SAME;
	if (!starts && !would_start)
		return;
	if (eta_is_unknown(&j->before) || eta_is_unknown(&j->after))
		return; /* a play was cut off before */
	if (!starts || !would_start) {
		j->fate = would_start ? NEWLY : NEVER_ANY_MORE;
		return;
	}
	j->earlier_ms = before_ms - after_ms;
	if (j->earlier_ms >= WHATIF_SAME_MS)
		j->fate = EARLIER;
	else if (j->earlier_ms <= -WHATIF_SAME_MS)
		j->fate = LATER;
}

static void collect(struct told *t, const struct queue *q)
{
	t->job = mem_array(t->a->n + 1, sizeof(*t->job));
	for (size_t i = 0; i < t->a->n; i++) {
		struct job_outline o;
		struct told_job *j = &t->job[t->n];
		*j = (struct told_job){
			.index = i, .before = ask_eta(t->a, 0, i), .after = ask_eta(t->a, 1, i)};
		if (!queue_outline_job(q, &j->before.uid, &o))
			continue;
		j->ns = o.ns;
		j->name = o.name;
		j->clusterqueue = o.clusterqueue;
		judge(j);
		t->count[j->fate]++;
		t->n++;
	}
}

/* ---- medians ----------------------------------------------------------------------------------- */

static int by_number(const void *va, const void *vb)
{
	int64_t a = *(const int64_t *)va, b = *(const int64_t *)vb;
	return a < b ? -1 : a > b;
}

/* Sorts; the lower one of two. n > 0. */
static int64_t median(int64_t *number, size_t n)
{
	qsort(number, n, sizeof(*number), by_number);
	return number[(n - 1) / 2];
}

static void put_median_move(const struct told *t, enum fate fate, const char *key, struct buf *out)
{
	int64_t *by_ms = mem_array(t->n + 1, sizeof(*by_ms));
	size_t n = 0;
	for (size_t i = 0; i < t->n; i++)
		if (t->job[i].fate == fate)
			by_ms[n++] = llabs(t->job[i].earlier_ms);
	if (n > 0)
		buf_printf(out, ",\"%s\":%" PRId64, key, median(by_ms, n) / 1000);
	free(by_ms);
}

/* ---- what it costs ----------------------------------------------------------------------------- */

static int64_t amount_in(const struct play_costs *c, const char *currency)
{
	const struct play_cost *cost = play_costs_find(c, currency);
	return cost ? cost->amount : 0;
}

static void put_cost(const struct told *t, const char *currency, size_t *count, struct buf *out)
{
	char before[MONEY_TEXT_SIZE], after[MONEY_TEXT_SIZE];
	money_format(amount_in(&t->a->variant[0].costs, currency), before);
	money_format(amount_in(&t->a->variant[1].costs, currency), after);
	buf_puts(out, (*count)++ ? ",{\"currency\":" : ",\"costs\":[{\"currency\":");
	buf_json_string(out, currency);
	buf_printf(out, ",\"before\":\"%s\",\"after\":\"%s\"}", before, after);
}

static void put_costs(const struct told *t, struct buf *out)
{
	const struct play_costs *before = &t->a->variant[0].costs;
	const struct play_costs *after = &t->a->variant[1].costs;
	size_t count = 0;
	for (size_t i = 0; i < before->n; i++)
		put_cost(t, before->item[i].currency, &count, out);
	for (size_t i = 0; i < after->n; i++)
		if (!play_costs_find(before, after->item[i].currency))
			put_cost(t, after->item[i].currency, &count, out);
	if (count > 0)
		buf_putc(out, ']');
}

/* ---- each ClusterQueue ------------------------------------------------------------------------- */

struct told_queue {
	const char *name;
	size_t first, n; /* in the Jobs sorted by ClusterQueue */
	size_t count[FATES];
};

static int by_clusterqueue(const void *va, const void *vb)
{
	const struct told_job *a = va, *b = vb;
	int c = strcmp(a->clusterqueue, b->clusterqueue);
	if (c != 0)
		return c;
	return a->index < b->index ? -1 : 1;
}

static size_t moved(const size_t count[FATES])
{
	return count[EARLIER] + count[LATER] + count[NEWLY] + count[NEVER_ANY_MORE];
}

static int by_moves(const void *va, const void *vb)
{
	const struct told_queue *a = va, *b = vb;
	size_t of_a = moved(a->count), of_b = moved(b->count);
	if (of_a != of_b)
		return of_a > of_b ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Nothing where half of them do not start. */
static void put_wait(const struct told *t, const struct told_queue *x, bool is_after,
	const char *key, struct buf *out)
{
	int64_t *start_ms = mem_array(x->n, sizeof(*start_ms));
	for (size_t i = 0; i < x->n; i++) {
		const struct told_job *j = &t->job[x->first + i];
		start_ms[i] = median_of(is_after ? &j->after : &j->before);
	}
	int64_t ms = median(start_ms, x->n);
	if (ms < PLAY_NEVER)
		buf_printf(out, ",\"%s\":%" PRId64, key, (ms - t->a->now_ms) / 1000);
	free(start_ms);
}

static void put_counts(const size_t count[FATES], struct buf *out)
{
	buf_printf(out,
		",\"earlier\":%zu,\"later\":%zu,\"same\":%zu,\"newlyStart\":%zu,\"neverAnyMore\":%zu",
		count[EARLIER], count[LATER], count[SAME], count[NEWLY], count[NEVER_ANY_MORE]);
}

static void put_queue(const struct told *t, const struct told_queue *x, struct buf *out)
{
	buf_puts(out, "{\"clusterQueue\":");
	buf_json_string(out, x->name);
	put_counts(x->count, out);
	put_wait(t, x, false, "p50WaitSecondsBefore", out);
	put_wait(t, x, true, "p50WaitSecondsAfter", out);
	buf_putc(out, '}');
}

/* Jobs without a ClusterQueue are of none. */
static size_t split(struct told *t, struct told_queue *ret)
{
	size_t n = 0;
	qsort(t->job, t->n, sizeof(*t->job), by_clusterqueue);
	for (size_t i = 0; i < t->n; i++) {
		const struct told_job *j = &t->job[i];
		if (!*j->clusterqueue)
			continue;
		if (n == 0 || strcmp(ret[n - 1].name, j->clusterqueue) != 0)
			ret[n++] = (struct told_queue){.name = j->clusterqueue, .first = i};
		ret[n - 1].n++;
		ret[n - 1].count[j->fate]++;
	}
	return n;
}

static void put_queues(struct told *t, struct buf *out)
{
	struct told_queue *queue = mem_array(t->n + 1, sizeof(*queue));
	size_t n = split(t, queue);
	qsort(queue, n, sizeof(*queue), by_moves);
	buf_puts(out, ",\"queues\":[");
	for (size_t i = 0; i < n && i < WHATIF_QUEUES_TOLD_MAX; i++) {
		buf_puts(out, i ? "," : "");
		put_queue(t, &queue[i], out);
	}
	buf_putc(out, ']');
	if (n > WHATIF_QUEUES_TOLD_MAX)
		buf_printf(out, ",\"queuesLeft\":%zu", n - WHATIF_QUEUES_TOLD_MAX);
	free(queue);
}

/* ---- the Jobs that move most ------------------------------------------------------------------- */

/* A Job that starts only then, or only now, moves most. */
static int64_t size_of_move(const struct told_job *j)
{
	if (j->fate == NEWLY || j->fate == NEVER_ANY_MORE)
		return INT64_MAX;
	return j->fate == SAME ? -1 : llabs(j->earlier_ms);
}

static int by_move(const void *va, const void *vb)
{
	const struct told_job *a = va, *b = vb;
	int64_t of_a = size_of_move(a), of_b = size_of_move(b);
	if (of_a != of_b)
		return of_a > of_b ? -1 : 1;
	return a->index < b->index ? -1 : 1;
}

static void put_item(const struct told *t, const struct told_job *j, struct buf *out)
{
	buf_puts(out, "{\"namespace\":");
	buf_json_string(out, j->ns);
	buf_puts(out, ",\"name\":");
	buf_json_string(out, j->name);
	buf_puts(out, ",\"clusterQueue\":");
	buf_json_string(out, j->clusterqueue);
	buf_puts(out, ",\"before\":");
	review_put_start(out, &j->before, t->a->variant[0].draws);
	buf_puts(out, ",\"after\":");
	review_put_start(out, &j->after, t->a->variant[1].draws);
	if (j->fate == EARLIER || j->fate == LATER)
		buf_printf(out, ",\"earlierSeconds\":%" PRId64, j->earlier_ms / 1000);
	buf_putc(out, '}');
}

static void put_items(struct told *t, struct buf *out)
{
	size_t all = moved(t->count);
	qsort(t->job, t->n, sizeof(*t->job), by_move);
	buf_puts(out, ",\"items\":[");
	for (size_t i = 0; i < all && i < WHATIF_ITEMS_TOLD_MAX; i++) {
		buf_puts(out, i ? "," : "");
		put_item(t, &t->job[i], out);
	}
	buf_putc(out, ']');
	if (all > WHATIF_ITEMS_TOLD_MAX)
		buf_printf(out, ",\"left\":%zu", all - WHATIF_ITEMS_TOLD_MAX);
}

/* ---- AdvanceReservations (whatif_verdicts.h) --------------------------------------------------- */

static void put_verdicts(const struct ask_answer *a, struct buf *out)
{
	struct slice note = ask_note(a, 1);
	if (note.len == 0)
		return;
	buf_puts(out, ",\"advanceReservations\":");
	buf_add(out, note.ptr, note.len);
}

/* ---- all of it --------------------------------------------------------------------------------- */

void whatif_put(const struct ask_answer *a, const struct queue *q, const struct review_basis *basis,
	struct buf *out)
{
	struct told t = {.a = a};
	collect(&t, q);
	buf_puts(out, "{\"kind\":\"WhatIf\",\"apiVersion\":\"" VISIBILITY_GROUP
		      "/" VISIBILITY_VERSION "\",\"status\":{");
	review_put_moment(out, a, basis);
	buf_printf(
		out, ",\"horizonSeconds\":%" PRId64 ",\"jobs\":%zu", PLAY_HORIZON_MS / 1000, t.n);
	put_counts(t.count, out);
	put_median_move(&t, EARLIER, "earlierSecondsMedian", out);
	put_median_move(&t, LATER, "laterSecondsMedian", out);
	put_costs(&t, out);
	put_verdicts(a, out);
	put_queues(&t, out);
	put_items(&t, out);
	buf_puts(out, "}}\n");
	free(t.job);
}
