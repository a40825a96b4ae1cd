#include "controller/write/recall.h"

#include "base/must.h"

#define PAGE 1000
#define DAY_MS INT64_C(86400000)
#define STRETCH_MS (7 * DAY_MS)
#define SPENT_BACK_MS (5 * STRETCH_MS)
#define QUARTER_MS INT64_C(900000)
#define DURATIONS_BACK_MS (30 * DAY_MS)
#define DURATIONS_OF_EACH 20 /* as many as the queue keeps */

/* Begins the next stretch. The last has no end: clocks of leaders differ. */
static void next_stretch(struct recall *r, int64_t from_ms, int64_t now_ms)
{
	r->spent_from_ms = from_ms;
	r->spent_to_ms = from_ms + STRETCH_MS < now_ms ? from_ms + STRETCH_MS : INT64_MAX;
}

static int64_t spent_since_ms(const struct queue *q, int64_t now_ms)
{
	int64_t since_ms = queue_recall_spent_since_ms(q, now_ms);
	int64_t least_ms = (now_ms - SPENT_BACK_MS) / QUARTER_MS * QUARTER_MS;
	return since_ms > 0 && since_ms < least_ms ? since_ms : least_ms;
}

int64_t recall_since_ms(const struct queue *q, int64_t now_ms)
{
	int64_t runs_ms = now_ms - queue_recall_ms(q), spent_ms = spent_since_ms(q, now_ms);
	return runs_ms < spent_ms ? runs_ms : spent_ms; /* DURATIONS_BACK_MS is less */
}

static void begin(struct recall *r, const struct queue *q, int64_t now_ms)
{
	int64_t back_ms = queue_recall_ms(q);
	r->mark = ledger_mark_since(now_ms - back_ms);
	r->spent_since_ms = spent_since_ms(q, now_ms);
	r->durations_since_ms = now_ms - DURATIONS_BACK_MS;
	next_stretch(r, r->spent_since_ms, now_ms);
	r->stage = back_ms > 0 ? RECALL_RUNS : RECALL_SPENT;
}

bool recall_ask(struct recall *r, const struct queue *q, struct pg *pg,
	const struct pg_asker *asker, int64_t epoch, int64_t now_ms)
{
	if (r->stage == RECALL_NEW)
		begin(r, q, now_ms);
	switch (r->stage) {
	case RECALL_RUNS:
		pg_recall(pg, epoch, &r->mark, PAGE, asker);
		return true;
	case RECALL_SPENT:
		pg_recall_spent(
			pg, epoch, r->spent_since_ms, r->spent_from_ms, r->spent_to_ms, asker);
		return true;
	case RECALL_DURATIONS:
		pg_recall_durations(pg, epoch, r->durations_since_ms, DURATIONS_OF_EACH, asker);
		return true;
	case RECALL_OVER:
		return false;
	case RECALL_NEW:
		break;
	}
	must_not_get_here();
}

static void take_runs(struct recall *r, struct queue *q, const struct ledger_run *runs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		queue_recall_run(q, runs[i].ns, runs[i].localqueue, runs[i].lines, runs[i].nlines,
			runs[i].from_ms, runs[i].to_ms);
	r->runs += n;
	if (n > 0)
		r->mark = runs[n - 1].mark;
	else
		r->stage = RECALL_SPENT;
}

static void take_spent(
	struct recall *r, struct queue *q, const struct ledger_spent *spent, size_t n)
{
	for (size_t i = 0; i < n; i++)
		queue_recall_spent(q, spent[i].clusterqueue, spent[i].ns, spent[i].localqueue,
			spent[i].currency, spent[i].started_ms, spent[i].cost);
	r->spent += n;
	if (r->spent_to_ms == INT64_MAX)
		r->stage = RECALL_DURATIONS;
	else
		next_stretch(r, r->spent_to_ms, r->durations_since_ms + DURATIONS_BACK_MS);
}

static void tell_forecasts(struct forecasts *f, const struct ledger_duration *run)
{
	struct duration_run told = {.ns = run->ns,
		.family = run->family,
		.user = run->user,
		.localqueue = run->localqueue,
		.clusterqueue = run->clusterqueue};
	forecasts_tell_run(f, &told, run->ran_ms);
}

static void take_durations(struct recall *r, struct queue *q, struct forecasts *f,
	const struct ledger_duration *runs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		queue_recall_duration(q, runs[i].ns, runs[i].family, runs[i].ran_ms);
	for (size_t i = 0; f && i < n; i++)
		tell_forecasts(f, &runs[i]);
	r->durations += n;
	r->stage = RECALL_OVER;
}

void recall_take(struct recall *r, struct queue *q, struct forecasts *f, const struct pg_answer *a)
{
	switch (r->stage) {
	case RECALL_RUNS:
		take_runs(r, q, a->runs, a->n);
		return;
	case RECALL_SPENT:
		take_spent(r, q, a->spent, a->n);
		return;
	case RECALL_DURATIONS:
		take_durations(r, q, f, a->durations, a->n);
		return;
	case RECALL_NEW:
	case RECALL_OVER:
		break;
	}
	must_not_get_here();
}
