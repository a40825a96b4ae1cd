#include "controller/answers/whatif_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "controller/answers/job_query.h"
#include "controller/answers/review_reply.h"
#include "controller/answers/whatif_verdicts.h"
#include "forecast/play.h"
#include "queue/price/money.h"
#include "sluice/queue.h"

enum fate { EARLIER, LATER, SAME, NEWLY, NEVER_ANY_MORE, FATES };

struct told_job {
	size_t index; /* index of the Job in the answer */
	const char *ns, *name, *clusterqueue;
	struct eta before, after;
	enum fate fate;
	int64_t earlier_ms; /* of EARLIER, LATER, and of SAME where the Job starts */
};

struct told {
	const struct ask_answer *a;
	struct told_job *job;
	size_t n;
	size_t count[FATES];
	/* The results: */
	int64_t now_ms, draws, horizon_s, earlier_s, later_s;
	const struct review_basis *basis;
	struct told_queue *queue;
	size_t nqueues, queues_left, items_left;
	struct view_list queues, items;
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

/* Sorts, and returns the median, the lower one of two. n > 0. */
static int64_t median(int64_t *number, size_t n)
{
	qsort(number, n, sizeof(*number), by_number);
	return number[(n - 1) / 2];
}

/* Returns the median of the Jobs that move so; VIEW_NONE: there are none. */
static int64_t median_move_s(const struct told *t, enum fate fate)
{
	int64_t *by_ms = mem_array(t->n + 1, sizeof(*by_ms));
	size_t n = 0;
	for (size_t i = 0; i < t->n; i++)
		if (t->job[i].fate == fate)
			by_ms[n++] = llabs(t->job[i].earlier_ms);
	int64_t median_s = n > 0 ? median(by_ms, n) / 1000 : VIEW_NONE;
	free(by_ms);
	return median_s;
}

/* ---- what it costs ----------------------------------------------------------------------------- */

static int64_t amount_in(const struct play_costs *c, const char *currency)
{
	const struct play_cost *cost = play_costs_find(c, currency);
	return cost ? cost->amount : 0;
}

struct told_cost {
	const char *currency;
	int64_t before, after;
};

static const struct view_member cost_rows[] = {
	{"currency", VIEW_TEXT, IN(told_cost, currency), "Of the amounts."},
	{"before", VIEW_MONEY, IN(told_cost, before), "Without the change: a decimal number."},
	{"after", VIEW_MONEY, IN(told_cost, after), "With the change."},
};
static const struct view cost_view = VIEW("WhatIfCost", NULL, cost_rows);

static void put_cost(struct json_writer *w, const struct told *t, const char *currency)
{
	struct told_cost x = {currency, amount_in(&t->a->variant[0].costs, currency),
		amount_in(&t->a->variant[1].costs, currency)};
	view_put(w, NULL, &cost_view, &x);
}

static void put_costs(struct json_writer *w, const char *key, const void *object)
{
	const struct told *t = object;
	const struct play_costs *before = &t->a->variant[0].costs;
	const struct play_costs *after = &t->a->variant[1].costs;
	if (before->n + after->n == 0)
		return;
	jw_array(w, key);
	for (size_t i = 0; i < before->n; i++)
		put_cost(w, t, before->item[i].currency);
	for (size_t i = 0; i < after->n; i++)
		if (!play_costs_find(before, after->item[i].currency))
			put_cost(w, t, after->item[i].currency);
	jw_end(w);
}

/* ---- each ClusterQueue ------------------------------------------------------------------------- */

struct told_queue {
	const char *name;
	size_t first, n; /* range in the Jobs sorted by ClusterQueue */
	size_t count[FATES];
	int64_t wait_before_s, wait_after_s;
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

/* Returns the median wait of a ClusterQueue; VIEW_NONE: half of its Jobs do not start. */
static int64_t wait_s(const struct told *t, const struct told_queue *x, bool is_after)
{
	int64_t *start_ms = mem_array(x->n, sizeof(*start_ms));
	for (size_t i = 0; i < x->n; i++) {
		const struct told_job *j = &t->job[x->first + i];
		start_ms[i] = median_of(is_after ? &j->after : &j->before);
	}
	int64_t ms = median(start_ms, x->n);
	free(start_ms);
	return ms < PLAY_NEVER ? (ms - t->a->now_ms) / 1000 : VIEW_NONE;
}

static const struct view_member queue_rows[] = {
	{"clusterQueue", VIEW_TEXT, IN(told_queue, name), "Its name."},
	{"earlier", VIEW_INT, IN(told_queue, count[EARLIER]), "As above, of its Jobs."},
	{"later", VIEW_INT, IN(told_queue, count[LATER]), "The same."},
	{"same", VIEW_INT, IN(told_queue, count[SAME]), "The same."},
	{"newlyStart", VIEW_INT, IN(told_queue, count[NEWLY]), "The same."},
	{"neverAnyMore", VIEW_INT, IN(told_queue, count[NEVER_ANY_MORE]), "The same."},
	{"p50WaitSecondsBefore", VIEW_INT, IN(told_queue, wait_before_s),
		"Half of its Jobs start within so long from now. Absent where half of them do not start."},
	{"p50WaitSecondsAfter", VIEW_INT, IN(told_queue, wait_after_s), "That with the change."},
};
static const struct view queue_view = VIEW("WhatIfQueue", NULL, queue_rows);

/* Splits the Jobs by ClusterQueue. Jobs without one are left out. */
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

static void find_queues(struct told *t)
{
	t->queue = mem_array(t->n + 1, sizeof(*t->queue));
	t->nqueues = split(t, t->queue);
	for (size_t i = 0; i < t->nqueues; i++) {
		t->queue[i].wait_before_s = wait_s(t, &t->queue[i], false);
		t->queue[i].wait_after_s = wait_s(t, &t->queue[i], true);
	}
	qsort(t->queue, t->nqueues, sizeof(*t->queue), by_moves);
	size_t shown = t->nqueues < WHATIF_QUEUES_TOLD_MAX ? t->nqueues : WHATIF_QUEUES_TOLD_MAX;
	t->queues_left = t->nqueues - shown;
	t->queues = (struct view_list){t->queue, shown, sizeof(*t->queue)};
}

/* ---- the Jobs that move most ------------------------------------------------------------------- */

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

struct told_item {
	const char *ns, *name, *clusterqueue;
	struct start_times before, after;
	int64_t earlier_s;
};

static const struct view_member item_rows[] = {
	{"namespace", VIEW_TEXT, IN(told_item, ns), "Of the Job."},
	{"name", VIEW_TEXT, IN(told_item, name), "Of the Job."},
	{"clusterQueue", VIEW_TEXT, IN(told_item, clusterqueue), "That it waits in."},
	{"before", VIEW_PART, IN(told_item, before), "The expected start without the change.",
		.of = &start_times_view},
	{"after", VIEW_PART, IN(told_item, after), "The expected start with the change.",
		.of = &start_times_view},
	{"earlierSeconds", VIEW_INT, IN(told_item, earlier_s),
		"How much earlier it would start; below 0: later. Absent where it has no start with or without the change."},
};
static const struct view item_view = VIEW("WhatIfItem", NULL, item_rows);

static struct told_item item_of(const struct told *t, const struct told_job *j)
{
	bool has_both = j->fate == EARLIER || j->fate == LATER;
	return (struct told_item){.ns = j->ns,
		.name = j->name,
		.clusterqueue = j->clusterqueue,
		.before = start_times_of(&j->before, t->a->variant[0].draws),
		.after = start_times_of(&j->after, t->a->variant[1].draws),
		.earlier_s = has_both ? j->earlier_ms / 1000 : VIEW_NONE};
}

static void find_items(struct told *t)
{
	size_t all = moved(t->count);
	size_t shown = all < WHATIF_ITEMS_TOLD_MAX ? all : WHATIF_ITEMS_TOLD_MAX;
	struct told_item *item = mem_array(shown + 1, sizeof(*item));
	qsort(t->job, t->n, sizeof(*t->job), by_move);
	for (size_t i = 0; i < shown; i++)
		item[i] = item_of(t, &t->job[i]);
	t->items_left = all - shown;
	t->items = (struct view_list){item, shown, sizeof(*item)};
}

/* ---- AdvanceReservations (whatif_verdicts.h) --------------------------------------------------- */

static void put_verdicts(struct json_writer *w, const char *key, const void *object)
{
	struct slice note = ask_note(((const struct told *)object)->a, 1);
	if (note.len > 0)
		jw_raw(w, key, note);
}

/* ---- all of it --------------------------------------------------------------------------------- */

static const struct view_member status_rows[] = {
	{"asOf", VIEW_TIME, IN(told, now_ms), "The time of the queue's state that was simulated."},
	{"draws", VIEW_INT, IN(told, draws), "How many times each was simulated."},
	{"basis", VIEW_OBJECT, IN(told, basis), "How many earlier runs and Jobs this is based on.",
		.of = &review_basis_view},
	{"horizonSeconds", VIEW_INT, IN(told, horizon_s), "How far ahead was simulated, at most."},
	{"jobs", VIEW_INT, IN(told, n), "How many Jobs wait: the sum of the five that follow."},
	{"earlier", VIEW_INT, IN(told, count[EARLIER]),
		"How many would start earlier, by a minute or more."},
	{"later", VIEW_INT, IN(told, count[LATER]),
		"How many would start later, by a minute or more."},
	{"same", VIEW_INT, IN(told, count[SAME]),
		"How many would start at the same time, or have no start in both."},
	{"newlyStart", VIEW_INT, IN(told, count[NEWLY]), "How many start only with the change."},
	{"neverAnyMore", VIEW_INT, IN(told, count[NEVER_ANY_MORE]),
		"How many no longer start with the change."},
	{"earlierSecondsMedian", VIEW_INT, IN(told, earlier_s),
		"The median of how much earlier those would start."},
	{"laterSecondsMedian", VIEW_INT, IN(told, later_s),
		"The median of how much later those would start."},
	{"costs", VIEW_PUT, 0, 0,
		"What the first runs of these Jobs cost, by currency, each run to its end. Absent where none has a price.",
		.put = put_costs, .of = &cost_view},
	{"advanceReservations", VIEW_PUT, 0, 0,
		"What the queue says of each AdvanceReservation among the objects.",
		.put = put_verdicts, .of = &whatif_verdict_view},
	{"queues", VIEW_LIST, IN(told, queues),
		"Each ClusterQueue with Jobs that wait; those with most Jobs that move come first.",
		.of = &queue_view},
	{"queuesLeft", VIEW_COUNT, IN(told, queues_left), "How many more ClusterQueues there are."},
	{"items", VIEW_LIST, IN(told, items),
		"The Jobs that move most. Those that come to start, or do no more, come first.",
		.of = &item_view},
	{"left", VIEW_COUNT, IN(told, items_left), "How many more Jobs change."},
};
static const struct view status_view = VIEW("WhatIfStatus", NULL, status_rows);

static const struct view_member whatif_rows[] = {
	{"status", VIEW_PART, 0, 0, "The Jobs that wait, as things are and as they would be.",
		.of = &status_view},
};
const struct view whatif_view = VIEW("WhatIf",
	"What would happen if objects were different: the queue is simulated as it is, and with these objects in place of the live ones. Nothing is written.",
	whatif_rows);

void whatif_put(const struct ask_answer *a, const struct queue *q, const struct review_basis *basis,
	struct buf *out)
{
	struct json_writer w = json_writer_object(out);
	struct told t = {.a = a,
		.now_ms = a->now_ms,
		.draws = (int64_t)a->draws,
		.basis = basis,
		.horizon_s = PLAY_HORIZON_MS / 1000};
	collect(&t, q);
	t.earlier_s = median_move_s(&t, EARLIER);
	t.later_s = median_move_s(&t, LATER);
	find_queues(&t);
	find_items(&t);
	jw_texts(&w, "kind", "WhatIf", "apiVersion", VISIBILITY_GROUP "/" VISIBILITY_VERSION, NULL);
	view_put_members(&w, &whatif_view, &t);
	jw_close(&w);
	buf_putc(out, '\n');
	free((void *)(uintptr_t)t.items.item);
	free(t.queue);
	free(t.job);
}
