#include "controller/overcommit/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/map.h"
#include "base/mem.h"
#include "controller/ledger/pg.h"
#include "controller/ledger/sql.h"
#include "overcommit/forecast.h"

enum {
	MINUTE_MS = 60000,
	HOUR_MS = 60 * MINUTE_MS,
	DAY_MS = 24 * HOUR_MS,
	WRITE_MS = 5 * MINUTE_MS,
	BATCH_MAX = 6000, /* minutes in a statement */
	PAGE = 200,	  /* hours in a page */
	REST_MAX = 60,	  /* the most ticks without a question after trouble */
};

/* A node's minute that is not over. */
struct minute {
	int64_t at_ms; /* its beginning */
	struct load taken;
	char node[];
};

/* A minute that is over, and not written. */
struct note {
	char *node;
	int64_t at_ms;
	struct load taken;
};

struct history {
	struct history_options o;
	bool under_way; /* a question */
	struct map minutes;
	struct note *note; /* oldest first */
	size_t nnotes, room, sent;
	int64_t epoch, now_ms, written_ms;
	unsigned too_much; /* how often, at once, the ledger gave up deleting what is old */
	uint64_t failures; /* of questions, in a row */
	int64_t rest;	   /* ticks until the next question */
	/* The last that was said; "": the last question was answered. */
	char trouble[LOG_TROUBLE_MAX];
	/* The reading. */
	bool wants; /* there is more to read */
	history_told_fn *told;
	void *ctx;
	char *after_node;
	int64_t after_ms;
};

static bool minute_has_node(const void *value, const void *key)
{
	return strcmp(((const struct minute *)value)->node, key) == 0;
}

/* ---- questions ------------------------------------------------------------------------------- */

static void ask(struct history *h, const struct pg_query *q, struct params *p,
	void (*fn)(const struct pg_answer *a, void *ctx))
{
	h->under_way = true;
	pg_ask(h->o.pg, q, p, &(struct pg_asker){fn, h, 0});
}

/* Says whether there is an answer. If not, the next question comes after a while. */
static bool answered(struct history *h, const struct pg_answer *a)
{
	h->under_way = false;
	if (a->outcome == LEDGER_DONE) {
		h->failures = 0;
		h->trouble[0] = '\0';
		return true;
	}
	h->rest = backoff_ms(1, h->failures++, REST_MAX);
	log_trouble(
		h->o.log, h->trouble, "history-down", a->why, "what nodes use is kept for an hour");
	return false;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct hour {
	const char *node, *cpu, *memory; /* "1,,3": a number a minute */
	int64_t at_ms;
};

static void read_hour(const struct pg_result *res, int row, void *ret)
{
	*(struct hour *)ret = (struct hour){.node = field_text(res, row, 0),
		.at_ms = field_int8(res, row, 1),
		.cpu = field_text(res, row, 2),
		.memory = field_text(res, row, 3)};
}

static const struct pg_query READ = {.name = "node-history",
	.sql = SQL_HISTORY_READ,
	.aside = true,
	.plans_freely = true,
	.row_bytes = sizeof(struct hour),
	.read = read_hour};

/* Takes the next number of "1,,3"; false where there is none. */
static bool take_number(const char **at, int64_t *ret)
{
	char *end;
	long long v = strtoll(*at, &end, 10);
	bool any = end != *at;
	*at = *end == ',' ? end + 1 : end;
	*ret = v;
	return any;
}

static void tell_hour(struct history *h, const struct hour *hour)
{
	const char *cpu = hour->cpu, *memory = hour->memory;
	for (int i = 0; i < 60; i++) {
		struct load l;
		bool both = take_number(&cpu, &l.cpu_milli);
		both &= take_number(&memory, &l.memory_bytes);
		if (both)
			h->told(hour->node, hour->at_ms + (int64_t)i * MINUTE_MS, l, h->ctx);
	}
}

static void on_page(const struct pg_answer *a, void *ctx);

static void read_page(struct history *h)
{
	struct params *p = pg_params(h->o.pg);
	params_text(p, h->after_node);
	params_int8(p, h->after_ms);
	params_int8(p, PAGE);
	ask(h, &READ, p, on_page);
}

static void on_page(const struct pg_answer *a, void *ctx)
{
	struct history *h = ctx;
	const struct hour *hours = a->rows;
	if (!answered(h, a))
		return;
	for (size_t i = 0; i < a->n; i++)
		tell_hour(h, &hours[i]);
	if (a->n < PAGE) {
		h->wants = false;
		h->told("", 0, (struct load){0, 0}, h->ctx);
		return;
	}
	free(h->after_node);
	h->after_node = mem_strdup(hours[a->n - 1].node);
	h->after_ms = hours[a->n - 1].at_ms;
	read_page(h); /* the loop turns before the answer is there */
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put_note(struct param *c, const struct note *n)
{
	put_text(c++, n->node);
	put_time(c++, n->at_ms / HOUR_MS * HOUR_MS);
	put_int4(c++, (int32_t)(n->at_ms % HOUR_MS / MINUTE_MS));
	put_int8(c++, n->taken.cpu_milli);
	put_int8(c++, n->taken.memory_bytes);
}

static void forget_notes(struct history *h, size_t n)
{
	if (n == 0)
		return;
	for (size_t i = 0; i < n; i++)
		free(h->note[i].node);
	memmove(h->note, h->note + n, (h->nnotes - n) * sizeof(*h->note));
	h->nnotes -= n;
}

static const struct pg_query WRITE = {.name = "write-node-history",
	.sql = SQL_HISTORY_WRITE,
	.aside = true,
	.plans_freely = true};
static const struct pg_query FORGET = {.name = "forget-node-history",
	.sql = SQL_HISTORY_FORGET,
	.aside = true,
	.plans_freely = true};

static void on_forgot(const struct pg_answer *a, void *ctx)
{
	struct history *h = ctx;
	answered(h, a);
	if (a->too_long)
		h->too_much++;
	else if (h->too_much > 0)
		h->too_much--;
}

/* Deletes what is too old. After weeks without a leader that may be more than the server does in
 * the time of a statement: then the oldest first. */
static void forget_hours(struct history *h)
{
	struct params *p = pg_params(h->o.pg);
	int64_t more_ms =
		h->too_much > 0 ? backoff_ms(DAY_MS, h->too_much - 1, INT64_C(1000) * DAY_MS) : 0;
	params_int8(p, h->epoch);
	params_int8(p, h->now_ms - FORECAST_RETENTION_MS - more_ms);
	ask(h, &FORGET, p, on_forgot);
}

static void on_written(const struct pg_answer *a, void *ctx)
{
	struct history *h = ctx;
	if (!answered(h, a))
		return;
	if (h->sent < BATCH_MAX) /* no more are left */
		h->written_ms = h->now_ms;
	forget_notes(h, h->sent);
	forget_hours(h);
}

static void write_notes(struct history *h)
{
	struct params *p = pg_params(h->o.pg);
	h->sent = h->nnotes < BATCH_MAX ? h->nnotes : BATCH_MAX;
	params_int8(p, h->epoch);
	struct param *columns = params_columns(p, "tzinn");
	for (size_t i = 0; i < h->sent; i++)
		put_note(columns, &h->note[i]);
	ask(h, &WRITE, p, on_written);
}

/* ---- its life -------------------------------------------------------------------------------- */

struct history *history_new(const struct history_options *o)
{
	struct history *h = mem_alloc(sizeof(*h));
	h->o = *o;
	map_init(&h->minutes, minute_has_node);
	return h;
}

void history_free(struct history *h)
{
	if (!h)
		return;
	map_free(&h->minutes, free);
	forget_notes(h, h->nnotes);
	free(h->note);
	free(h->after_node);
	free(h);
}

void history_recall(struct history *h, int64_t epoch, history_told_fn *told, void *ctx)
{
	h->epoch = epoch;
	h->told = told;
	h->ctx = ctx;
	h->wants = true;
	free(h->after_node);
	h->after_node = mem_strdup("");
	h->after_ms = 0;
}

static void add_note(struct history *h, const struct minute *m)
{
	h->note = mem_room(h->note, h->nnotes, &h->room, 256, sizeof(*h->note));
	h->note[h->nnotes++] = (struct note){mem_strdup(m->node), m->at_ms, m->taken};
}

void history_note(struct history *h, const char *node, int64_t at_ms, struct load taken)
{
	struct minute *m = map_get(&h->minutes, map_hash_string(node), node);
	int64_t minute_ms = at_ms / MINUTE_MS * MINUTE_MS;
	if (!m) {
		m = mem_alloc(sizeof(*m) + strlen(node) + 1);
		memcpy(m->node, node, strlen(node) + 1);
		m->at_ms = minute_ms;
		map_put(&h->minutes, map_hash_string(node), m);
	}
	if (m->at_ms != minute_ms) {
		add_note(h, m);
		m->at_ms = minute_ms;
		m->taken = (struct load){0, 0};
	}
	m->taken = load_max(m->taken, taken);
}

/* Forgets what could not be written for an hour, unless it is on its way. */
static void forget_old(struct history *h)
{
	size_t n = 0;
	while (n < h->nnotes && h->note[n].at_ms < h->now_ms - HOUR_MS)
		n++;
	if (!h->under_way && h->trouble[0])
		forget_notes(h, n);
}

void history_tick(struct history *h, int64_t epoch, int64_t now_ms)
{
	h->epoch = epoch;
	h->now_ms = now_ms;
	forget_old(h);
	bool due = h->nnotes > 0 && (now_ms - h->written_ms >= WRITE_MS || now_ms < h->written_ms);
	if (h->rest > 0)
		h->rest--;
	else if (!h->under_way && h->wants)
		read_page(h);
	else if (!h->under_way && due)
		write_notes(h);
}
