#include "controller/overcommit/history.h"

#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "controller/ledger/pg_conn.h"
#include "controller/ledger/sql.h"
#include "overcommit/forecast.h"

enum {
	MINUTE_MS = 60000,
	HOUR_MS = 60 * MINUTE_MS,
	WRITE_MS = 5 * MINUTE_MS,
	BATCH_MAX = 6000, /* minutes in a statement */
	PAGE = 200,	  /* hours in a page */
};

/* A node's minute that is not over. */
struct minute {
	int64_t at_ms; /* its beginning */
	struct load taken;
	char node[];
};

/* One that is over, and not written. */
struct note {
	char *node;
	int64_t at_ms;
	struct load taken;
};

enum history_state { IDLE, READING, WRITING };

struct history {
	struct history_options o;
	struct ev_loop *loop;
	struct pg_conn *conn; /* NULL: not needed yet */
	bool up;
	enum history_state state;
	struct map minutes;
	struct note *note; /* oldest first */
	size_t nnotes, room, sent;
	int64_t epoch, written_ms;
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

/* ---- reading --------------------------------------------------------------------------------- */

static void read_page(struct history *h)
{
	struct params *p = params_new();
	params_text(p, h->o.cell);
	params_text(p, h->after_node);
	params_int8(p, h->after_ms);
	params_int8(p, PAGE);
	h->state = READING;
	pg_conn_add(h->conn, SQL_HISTORY_READ, p);
	pg_conn_go(h->conn);
}

/* The next number of "1,,3"; false where there is none. */
static bool take_number(const char **at, int64_t *ret)
{
	char *end;
	long long v = strtoll(*at, &end, 10);
	bool any = end != *at;
	*at = *end == ',' ? end + 1 : end;
	*ret = v;
	return any;
}

static void tell_hour(
	struct history *h, const char *node, int64_t hour_ms, const char *cpu, const char *memory)
{
	for (int i = 0; i < 60; i++) {
		struct load l;
		bool both = take_number(&cpu, &l.cpu_milli);
		both &= take_number(&memory, &l.memory_bytes);
		if (both)
			h->told(node, hour_ms + (int64_t)i * MINUTE_MS, l, h->ctx);
	}
}

static void take_page(struct history *h, const struct pg_result *r)
{
	int rows = PQntuples(r);
	for (int i = 0; i < rows; i++)
		tell_hour(h, field_text(r, i, 0), field_int8(r, i, 1), field_text(r, i, 2),
			field_text(r, i, 3));
	if (rows == PAGE) {
		free(h->after_node);
		h->after_node = mem_strdup(field_text(r, rows - 1, 0));
		h->after_ms = field_int8(r, rows - 1, 1);
		return;
	}
	h->wants = false;
	h->told("", 0, (struct load){0, 0}, h->ctx);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put_notes(struct history *h, struct params *p)
{
	struct param *nodes = params_array(p, PARAM_TEXT);
	for (size_t i = 0; i < h->sent; i++)
		put_text(nodes, h->note[i].node);
	struct param *hours = params_array(p, PARAM_TIME);
	for (size_t i = 0; i < h->sent; i++)
		put_time(hours, h->note[i].at_ms / HOUR_MS * HOUR_MS);
	struct param *minutes = params_array(p, PARAM_INT4);
	for (size_t i = 0; i < h->sent; i++)
		put_int4(minutes, (int32_t)(h->note[i].at_ms % HOUR_MS / MINUTE_MS));
	struct param *cpu = params_array(p, PARAM_INT8);
	for (size_t i = 0; i < h->sent; i++)
		put_int8(cpu, h->note[i].taken.cpu_milli);
	struct param *memory = params_array(p, PARAM_INT8);
	for (size_t i = 0; i < h->sent; i++)
		put_int8(memory, h->note[i].taken.memory_bytes);
}

static void write_notes(struct history *h, int64_t now_ms)
{
	struct params *p = params_new(), *old = params_new();
	h->sent = h->nnotes < BATCH_MAX ? h->nnotes : BATCH_MAX;
	params_text(p, h->o.cell);
	params_int8(p, h->epoch);
	put_notes(h, p);
	params_text(old, h->o.cell);
	params_int8(old, h->epoch);
	params_int8(old, now_ms - FORECAST_RETENTION_MS);
	h->state = WRITING;
	pg_conn_add(h->conn, SQL_HISTORY_WRITE, p);
	pg_conn_add(h->conn, SQL_HISTORY_FORGET, old);
	pg_conn_go(h->conn);
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

/* ---- the connection -------------------------------------------------------------------------- */

static void on_up(void *ctx)
{
	((struct history *)ctx)->up = true;
}

static void on_down(bool came_up, const char *sentence, void *ctx)
{
	struct history *h = ctx;
	h->up = false;
	h->state = IDLE;
	if (came_up)
		log_event(h->o.log, LEVEL_WARN, "history-down", "why", sentence, "effect",
			"what nodes use is kept for an hour", NULL);
}

static void on_round(struct round *r, void *ctx)
{
	struct history *h = ctx;
	enum history_state was = h->state;
	h->state = IDLE;
	if (r->sqlstate[0]) {
		if (!pg_conn_unprepared(r->sqlstate))
			pg_conn_drop(h->conn, r->fault.text);
		return;
	}
	pg_conn_praise(h->conn);
	if (was == WRITING)
		forget_notes(h, h->sent);
	if (was != READING || r->count != 1)
		return;
	take_page(h, r->result[0]);
	if (h->wants) /* the loop turns before its answer is there */
		read_page(h);
}

static void connect_to_ledger(struct history *h)
{
	struct pg_conn_options o = {.conninfo = h->o.conninfo,
		.application_name = "sluice-controller history",
		.seed = h->o.seed};
	struct pg_conn_events events = {.up = on_up, .down = on_down, .round = on_round, .ctx = h};
	struct err e = {""};
	if (!h->conn && pg_conn_new(h->loop, &o, &events, &h->conn, &e) != 0)
		log_event(h->o.log, LEVEL_WARN, "history-down", "why", e.text, NULL);
}

/* ---- its life -------------------------------------------------------------------------------- */

struct history *history_new(struct ev_loop *loop, const struct history_options *o)
{
	struct history *h = mem_alloc(sizeof(*h));
	h->loop = loop;
	h->o = *o;
	map_init(&h->minutes, minute_has_node);
	return h;
}

void history_free(struct history *h)
{
	if (!h)
		return;
	if (h->conn)
		pg_conn_free(h->conn);
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

/* What could not be written for an hour is let go; not while it is on its way. */
static void forget_old(struct history *h, int64_t now_ms)
{
	size_t n = 0;
	while (n < h->nnotes && h->note[n].at_ms < now_ms - HOUR_MS)
		n++;
	if (n > 0 && h->state != WRITING && !h->up)
		forget_notes(h, n);
}

void history_tick(struct history *h, int64_t epoch, int64_t now_ms)
{
	h->epoch = epoch;
	forget_old(h, now_ms);
	bool due = h->nnotes > 0 && (now_ms - h->written_ms >= WRITE_MS || now_ms < h->written_ms);
	if (!h->wants && !due)
		return;
	connect_to_ledger(h);
	if (!h->up || h->state != IDLE || pg_conn_busy(h->conn))
		return;
	if (h->wants) {
		read_page(h);
		return;
	}
	if (h->nnotes <= BATCH_MAX)
		h->written_ms = now_ms;
	write_notes(h, now_ms);
}
