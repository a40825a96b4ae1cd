#include "controller/ledger/retention.h"

#include <stdlib.h>

#include "base/mem.h"
#include "controller/ledger/pg.h"
#include "controller/ledger/sql.h"

enum {
	BATCH = 1000,		  /* attempts: tens of milliseconds of one backend */
	FIRST_AFTER_MS = 60000,	  /* a new leader has other things to do */
	PAUSE_MS = 10000,	  /* between batches: six million attempts in 17 hours */
	IDLE_MS = 3600000,	  /* when all is done */
	AFTER_TROUBLE_MS = 60000, /* when it could not be done */
};

struct retention {
	struct retention_options o;
	bool under_way; /* a batch is */
	int64_t epoch;
	int64_t next_tick_ms, tick_ms; /* of the next thing to do; of the last tick */
	int64_t first_ms, pause_ms, batch;
	int64_t attempts, runs;	       /* deleted since nothing was left last */
	char trouble[LOG_TROUBLE_MAX]; /* said last */
};

struct forgotten {
	int64_t attempts, runs;
};

static void read_forgotten(const struct pg_result *res, int row, void *ret)
{
	*(struct forgotten *)ret =
		(struct forgotten){field_int8(res, row, 0), field_int8(res, row, 1)};
}

/* Fenced by the epoch alone: an answer without a row says that another controller leads. */
static const struct pg_query FORGET = {.name = "forget",
	.sql = SQL_FORGET,
	.aside = true,
	.row_bytes = sizeof(struct forgotten),
	.read = read_forgotten};

static void forgot_all(struct retention *r)
{
	if (r->attempts > 0)
		log_event(r->o.log, LEVEL_INFO, "forgot", "what",
			"attempts that ended before --keep-history; their sums by month are kept",
			"#attempts", LOG_NUMBER(r->attempts), "#runs", LOG_NUMBER(r->runs), NULL);
	r->attempts = r->runs = 0;
	r->next_tick_ms = r->tick_ms + IDLE_MS;
}

static void on_forgot(const struct pg_answer *a, void *ctx)
{
	struct retention *r = ctx;
	const struct forgotten *forgotten = a->rows;
	r->under_way = false;
	if (a->outcome != LEDGER_DONE) {
		r->next_tick_ms = r->tick_ms + AFTER_TROUBLE_MS;
		log_trouble(r->o.log, r->trouble, "retention-down", a->why,
			"the ledger grows; what is old is deleted later");
		return;
	}
	r->trouble[0] = '\0';
	if (a->n == 0) { /* another controller leads, and forgets */
		r->next_tick_ms = r->tick_ms + IDLE_MS;
		return;
	}
	r->attempts += forgotten->attempts;
	r->runs += forgotten->runs;
	if (forgotten->attempts < r->batch)
		forgot_all(r);
	else
		r->next_tick_ms = r->tick_ms + r->pause_ms;
}

static void forget_batch(struct retention *r, int64_t before_ms)
{
	struct params *p = pg_params(r->o.pg);
	params_int8(p, r->epoch);
	params_int8(p, before_ms > 0 ? before_ms : 0);
	params_int8(p, r->o.keep_ms);
	params_int8(p, r->batch);
	r->under_way = true;
	pg_ask(r->o.pg, &FORGET, p, &(struct pg_asker){on_forgot, r, 0});
}

/* ---- its life -------------------------------------------------------------------------------- */

struct retention *retention_new(const struct retention_options *o)
{
	struct retention *r = mem_alloc(sizeof(*r));
	r->o = *o;
	r->first_ms = FIRST_AFTER_MS;
	r->pause_ms = PAUSE_MS;
	r->batch = BATCH;
	return r;
}

void retention_free(struct retention *r)
{
	free(r);
}

void retention_set_pace(struct retention *r, int64_t pause_ms, int64_t batch)
{
	r->first_ms = 0;
	r->pause_ms = pause_ms;
	r->batch = batch;
}

void retention_tick(
	struct retention *r, int64_t epoch, int64_t since_ms, int64_t now_ms, int64_t tick_ms)
{
	r->tick_ms = tick_ms;
	if (r->epoch != epoch) {
		r->epoch = epoch;
		r->next_tick_ms = tick_ms + r->first_ms;
	}
	if (tick_ms < r->next_tick_ms || r->under_way)
		return;
	int64_t old_ms = now_ms - r->o.keep_ms, spare_ms = since_ms - RETENTION_DAY_MS;
	forget_batch(r, old_ms < spare_ms ? old_ms : spare_ms);
}
