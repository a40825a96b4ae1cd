#include "controller/ledger/pg_conn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ev.h>
#include <libpq-fe.h>

#include "base/backoff.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/mix.h"
#include "base/must.h"

#define PAUSE_FIRST_MS 100
#define PAUSE_LAST_MS 5000
#define PATIENCE_MS 10000
#define CONNECT_TIMEOUT_S 5
#define SECRETS_MAX 4
#define PREPARED_MAX 40 /* more than there are statements (sql.h) */

enum pg_conn_state {
	PG_CONN_DOWN, /* the pause before the next try */
	PG_CONN_CONNECTING,
	PG_CONN_IDLE,
	PG_CONN_BUSY,	/* a round is under way */
	PG_CONN_SCRIPT, /* a script is under way, outside of pipeline mode */
};

struct pg_conn {
	struct ev_loop *loop;
	struct pg_conn_events events;
	char *conninfo, *application_name;
	char *secrets[SECRETS_MAX]; /* never in a sentence */
	double connect_timeout;
	int64_t patience_ms;
	int64_t script_patience_ms; /* of the script that is under way; 0: for ever */
	uint64_t rng;

	enum pg_conn_state state;
	PGconn *conn; /* NULL exactly when DOWN */
	ev_io reading, writing;
	ev_timer deadline; /* of the connect, or of the next word of the server */
	ev_timer pause;
	int failures; /* in a row: makes the pause longer */
	uint32_t number;
	bool prepares;			    /* false once a prepared statement was missing */
	const char *prepared[PREPARED_MAX]; /* statements, on this connection */
	size_t nprepared;
	const char *preparing[ROUND_MAX * 2]; /* what the round sent: a prepare, or NULL */
	size_t sent, taken;
	bool unsent; /* libpq would not take a statement: the connection is of no use */
	struct round round;
	struct err notice; /* what the server said last before it hung up */
};

/* ---- State ------------------------------------------------------------------------------------
 */

static void pg_conn_arm(struct pg_conn *l, double seconds)
{
	ev_now_update(l->loop);
	ev_timer_stop(l->loop, &l->deadline);
	ev_timer_set(&l->deadline, seconds, 0.);
	ev_timer_start(l->loop, &l->deadline);
}

static double pg_conn_pause_s(struct pg_conn *l)
{
	int64_t ms = backoff_ms(PAUSE_FIRST_MS, (uint64_t)l->failures, PAUSE_LAST_MS);
	return (double)backoff_drawn_ms(ms, draw64(&l->rng)) / 1000.;
}

static void round_clear(struct round *r)
{
	for (size_t i = 0; i < r->count; i++)
		PQclear(r->result[i]);
	*r = (struct round){0};
}

static void pg_conn_enter(struct pg_conn *l, enum pg_conn_state next)
{
	l->state = next;
	switch (next) {
	case PG_CONN_DOWN:
		ev_timer_stop(l->loop, &l->deadline);
		ev_io_stop(l->loop, &l->reading);
		ev_io_stop(l->loop, &l->writing);
		PQfinish(l->conn);
		l->conn = NULL;
		l->unsent = false;
		l->nprepared = l->sent = l->taken = 0;
		round_clear(&l->round);
		ev_now_update(l->loop);
		ev_timer_set(&l->pause, pg_conn_pause_s(l), 0.);
		ev_timer_start(l->loop, &l->pause);
		l->failures++;
		break;
	case PG_CONN_CONNECTING:
		l->notice.text[0] = '\0';
		pg_conn_arm(l, l->connect_timeout);
		break;
	case PG_CONN_IDLE:
		ev_timer_stop(l->loop, &l->deadline);
		break;
	case PG_CONN_BUSY:
		pg_conn_arm(l, (double)l->patience_ms / 1000.);
		break;
	case PG_CONN_SCRIPT:
		if (l->script_patience_ms > 0)
			pg_conn_arm(l, (double)l->script_patience_ms / 1000.);
		break;
	}
}

/* ---- Sentences --------------------------------------------------------------------------------
 */

/* Puts libpq's message into one line, without our secrets. */
static void sentence_set(const struct pg_conn *l, struct err *e, const char *message)
{
	err_set(e, 0, "%s", message);
	size_t n = 0;
	for (const char *c = e->text; *c; c++) {
		char ch = *c == '\n' || *c == '\t' ? ' ' : *c;
		if (ch == ' ' && (n == 0 || e->text[n - 1] == ' '))
			continue;
		e->text[n++] = ch;
	}
	while (n && e->text[n - 1] == ' ')
		n--;
	e->text[n] = '\0';
	for (size_t i = 0; i < SECRETS_MAX; i++) {
		const char *secret = l->secrets[i];
		for (char *at; secret && *secret && (at = strstr(e->text, secret));) {
			struct err rest;
			err_set(&rest, 0, "%s", at + strlen(secret));
			*at = '\0';
			/* A byte that is in no password that has got this far. */
			struct err head = *e;
			err_set(e, 0, "%s\x01%s", head.text, rest.text);
		}
	}
	for (char *c = e->text; *c; c++)
		*c = *c == '\x01' ? '*' : *c;
}

void pg_conn_drop(struct pg_conn *l, const char *sentence)
{
	must(l->conn);
	struct err why;
	sentence_set(l, &why, sentence);
	bool came_up = l->state != PG_CONN_CONNECTING;
	pg_conn_enter(l, PG_CONN_DOWN);
	l->events.down(came_up, why.text, l->events.ctx);
}

static void pg_conn_lose(struct pg_conn *l)
{
	struct err why;
	if (l->round.fault.text[0])
		why = l->round.fault;
	else if (l->notice.text[0])
		why = l->notice;
	else
		err_set(&why, 0, "%s", PQerrorMessage(l->conn));
	pg_conn_drop(l, why.text[0] ? why.text : "the connection to Postgres broke");
}

/* Keeps the last words of a server that hangs up while nothing was asked; the rest is chatter, and
 * libpq would print it. */
static void pg_conn_notice(void *ctx, const PGresult *r)
{
	struct pg_conn *l = ctx;
	const char *severity = PQresultErrorField(r, PG_DIAG_SEVERITY_NONLOCALIZED);
	const char *text = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
	if (severity && text && (!strcmp(severity, "FATAL") || !strcmp(severity, "PANIC")))
		err_set(&l->notice, 0, "%s", text);
}

/* ---- Connecting -------------------------------------------------------------------------------
 */

static void pg_conn_watch(struct pg_conn *l, int events)
{
	ev_io_stop(l->loop, &l->reading);
	ev_io_stop(l->loop, &l->writing);
	int fd = PQsocket(l->conn);
	if (fd < 0)
		return;
	ev_io_set(&l->reading, fd, EV_READ);
	ev_io_set(&l->writing, fd, EV_WRITE);
	if (events & EV_READ)
		ev_io_start(l->loop, &l->reading);
	if (events & EV_WRITE)
		ev_io_start(l->loop, &l->writing);
}

static void pg_conn_established(struct pg_conn *l)
{
	if (PQsetnonblocking(l->conn, 1) || !PQenterPipelineMode(l->conn)) {
		pg_conn_lose(l);
		return;
	}
	l->number++;
	pg_conn_watch(l, EV_READ);
	pg_conn_enter(l, PG_CONN_IDLE);
	l->events.up(l->events.ctx);
}

static void pg_conn_poll(struct pg_conn *l)
{
	ev_io_stop(l->loop, &l->reading);
	ev_io_stop(l->loop, &l->writing);
	switch (PQconnectPoll(l->conn)) {
	case PGRES_POLLING_READING:
		pg_conn_watch(l, EV_READ);
		break;
	case PGRES_POLLING_WRITING:
		pg_conn_watch(l, EV_WRITE);
		break;
	case PGRES_POLLING_OK:
		pg_conn_established(l);
		break;
	case PGRES_POLLING_FAILED:
	case PGRES_POLLING_ACTIVE:
		pg_conn_lose(l);
		break;
	}
}

/* Connects. The connection string overrides our settings. (A service file does not.) */
static void pg_conn_connect(struct pg_conn *l)
{
	const char *keys[12], *values[12];
	int n = 0;
#define SET(key, value) (keys[n] = (key), values[n] = (value), n++)
	if (!getenv("PGAPPNAME"))
		SET("application_name", l->application_name);
	if (!getenv("PGTARGETSESSIONATTRS"))
		SET("target_session_attrs", "read-write"); /* after a failover: the right one */
	SET("keepalives_idle", "10");
	SET("keepalives_interval", "5");
	SET("keepalives_count", "3");
	SET("tcp_user_timeout", "10000");
	SET("dbname", l->conninfo);
	SET("client_encoding", "UTF8");
	keys[n] = values[n] = NULL;
#undef SET
	l->conn = PQconnectStartParams(keys, values, 1);
	must(l->conn);
	PQsetNoticeReceiver(l->conn, pg_conn_notice, l);
	pg_conn_enter(l, PG_CONN_CONNECTING);
	if (PQstatus(l->conn) == CONNECTION_BAD)
		pg_conn_lose(l);
	else
		pg_conn_watch(l, EV_WRITE); /* as if PQconnectPoll had said so */
}

static void on_pause(struct ev_loop *loop, ev_timer *w, int events)
{
	(void)loop, (void)events;
	pg_conn_connect(w->data);
}

static void on_deadline(struct ev_loop *loop, ev_timer *w, int events)
{
	(void)loop, (void)events;
	struct pg_conn *l = w->data;
	pg_conn_drop(l, l->state == PG_CONN_CONNECTING
				? "Postgres did not answer in time to a connect"
				: "Postgres did not answer in time to a statement");
}

/* ---- Rounds -----------------------------------------------------------------------------------
 */

/* Sends what is left. True while there is a connection to go on with. */
static bool pg_conn_flush(struct pg_conn *l)
{
	int left = PQflush(l->conn);
	if (left < 0)
		return false;
	if (left)
		ev_io_start(l->loop, &l->writing);
	else
		ev_io_stop(l->loop, &l->writing);
	return true;
}

static void round_fault(struct pg_conn *l, const PGresult *r)
{
	if (l->round.fault.text[0])
		return; /* the first is the cause */
	const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
	const char *text = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
	snprintf(l->round.sqlstate, sizeof(l->round.sqlstate), "%s", state ? state : "?");
	sentence_set(l, &l->round.fault, text ? text : PQresultErrorMessage(r));
	if (!l->round.fault.text[0])
		err_set(&l->round.fault, 0, "Postgres reported an error without a message");
}

static void round_done(struct pg_conn *l)
{
	struct round r = l->round;
	l->round = (struct round){0};
	l->sent = l->taken = 0;
	l->prepares &= !pg_conn_unprepared(r.sqlstate);
	pg_conn_enter(l, PG_CONN_IDLE);
	l->events.round(&r, l->events.ctx);
	round_clear(&r);
}

/* Puts a result into the round; true when it was the last. */
static bool round_take(struct pg_conn *l, PGresult *r)
{
	switch (PQresultStatus(r)) {
	case PGRES_PIPELINE_SYNC:
		PQclear(r);
		return true;
	case PGRES_TUPLES_OK:
	case PGRES_COMMAND_OK:
		if (l->state == PG_CONN_BUSY && l->preparing[l->taken++]) {
			must(l->nprepared < PREPARED_MAX);
			l->prepared[l->nprepared++] = l->preparing[l->taken - 1];
		} else if (l->state == PG_CONN_BUSY) {
			must(l->round.count < ROUND_MAX);
			l->round.result[l->round.count++] = r;
			return false;
		}
		break;
	case PGRES_PIPELINE_ABORTED: /* comes after the one that failed */
		break;
	case PGRES_FATAL_ERROR:
	case PGRES_BAD_RESPONSE:
	case PGRES_NONFATAL_ERROR:
		round_fault(l, r);
		break;
	case PGRES_EMPTY_QUERY:
	case PGRES_COPY_OUT:
	case PGRES_COPY_IN:
	case PGRES_COPY_BOTH:
	case PGRES_SINGLE_TUPLE:
		must_not_get_here(); /* nothing of the kind is ever sent */
	}
	PQclear(r);
	return false;
}

/* Takes in what has come. The owner may start the next round from inside the last one's event, or
 * the link may go down: so the state is looked at anew each time. */
static void pg_conn_collect(struct pg_conn *l)
{
	int nothing = 0;
	while ((l->state == PG_CONN_BUSY || l->state == PG_CONN_SCRIPT) && !PQisBusy(l->conn)) {
		PGresult *r = PQgetResult(l->conn);
		if (r) {
			nothing = 0;
			if (round_take(l, r))
				round_done(l);
		} else if (l->state == PG_CONN_SCRIPT) {
			if (PQstatus(l->conn) == CONNECTION_BAD)
				return;
			round_done(l);
		} else if (++nothing > 2 || PQstatus(l->conn) == CONNECTION_BAD) {
			return;
		}
	}
}

static void on_readable(struct ev_loop *loop, ev_io *w, int events)
{
	(void)loop, (void)events;
	struct pg_conn *l = w->data;
	if (l->state == PG_CONN_CONNECTING) {
		pg_conn_poll(l);
		return;
	}
	bool alive = PQconsumeInput(l->conn);
	if (alive && l->state == PG_CONN_BUSY)
		pg_conn_arm(l, (double)l->patience_ms / 1000.); /* it is talking */
	pg_conn_collect(l);
	if (l->state == PG_CONN_DOWN)
		return;
	if (l->state == PG_CONN_IDLE)
		PQisBusy(l->conn); /* has libpq look at what was not asked for: last words */
	if (!alive || PQstatus(l->conn) == CONNECTION_BAD)
		pg_conn_lose(l);
}

static void on_writable(struct ev_loop *loop, ev_io *w, int events)
{
	(void)loop, (void)events;
	struct pg_conn *l = w->data;
	if (l->state == PG_CONN_CONNECTING)
		pg_conn_poll(l);
	else if (l->unsent || !pg_conn_flush(l))
		pg_conn_lose(l);
}

/* A send that fails is noticed by the loop, not here: answers never come from inside a call. */
static void pg_conn_sent(struct pg_conn *l, bool ok)
{
	l->unsent |= !ok || !pg_conn_flush(l);
	if (l->unsent)
		ev_feed_event(l->loop, &l->writing, EV_WRITE);
}

bool pg_conn_unprepared(const char *sqlstate)
{
	/* no such statement; there is one already; its plan is of an older schema */
	return !strcmp(sqlstate, "26000") || !strcmp(sqlstate, "42P05") ||
	       !strcmp(sqlstate, "0A000");
}

static bool pg_conn_send_prepared(struct pg_conn *l, const char *sql, struct params *p)
{
	char name[32];
	snprintf(name, sizeof(name), "sluice_%016llx",
		(unsigned long long)map_hash_bytes(sql, strlen(sql)));
	bool there = false;
	for (size_t i = 0; i < l->nprepared; i++)
		there |= l->prepared[i] == sql;
	if (!there) {
		if (!params_send_prepare(p, l->conn, name, sql))
			return false;
		l->preparing[l->sent++] = sql;
	}
	l->preparing[l->sent++] = NULL;
	return params_send_prepared(p, l->conn, name);
}

void pg_conn_add_kept(struct pg_conn *l, const char *sql, struct params *p)
{
	must(l->state == PG_CONN_IDLE && l->sent < ROUND_MAX * 2 - 1);
	if (PQpipelineStatus(l->conn) == PQ_PIPELINE_OFF)
		PQenterPipelineMode(l->conn);
	if (l->prepares) {
		l->unsent |= !pg_conn_send_prepared(l, sql, p);
	} else {
		l->preparing[l->sent++] = NULL;
		l->unsent |= !params_send(p, l->conn, sql);
	}
}

void pg_conn_add(struct pg_conn *l, const char *sql, struct params *p)
{
	struct params *mine = p ? p : params_new();
	pg_conn_add_kept(l, sql, mine);
	params_free(mine);
}

void pg_conn_go(struct pg_conn *l)
{
	must(l->state == PG_CONN_IDLE);
	bool ok = PQpipelineSync(l->conn);
	pg_conn_enter(l, PG_CONN_BUSY);
	pg_conn_sent(l, ok);
}

void pg_conn_script(struct pg_conn *l, const char *sql, int64_t patience_ms)
{
	must(l->state == PG_CONN_IDLE);
	l->script_patience_ms = patience_ms;
	bool ok = PQexitPipelineMode(l->conn) && PQsendQuery(l->conn, sql);
	pg_conn_enter(l, PG_CONN_SCRIPT);
	pg_conn_sent(l, ok);
}

/* ---- Life -------------------------------------------------------------------------------------
 */

static size_t count_commas(const char *s)
{
	size_t n = 0;
	for (; s && *s; s++)
		n += *s == ',';
	return n;
}

/* Parses the connection string. libpq's own message quotes it, with the password, so ours is
 * another. */
static int pg_conn_parse(struct pg_conn *l, struct err *e)
{
	PQconninfoOption *options = PQconninfoParse(l->conninfo, NULL);
	if (!options)
		return err_set(e, ERR_INVALID,
			"the database is not named by a libpq connection string: it is postgresql://user@host:port/database, or words like host=... dbname=... (a value with blanks in single quotes), or empty for the PG* variables");
	const char *timeout = getenv("PGCONNECT_TIMEOUT"), *host = getenv("PGHOST");
	size_t n = 0;
	for (PQconninfoOption *o = options; o->keyword; o++) {
		if (!o->val)
			continue;
		if (!strcmp(o->keyword, "connect_timeout"))
			timeout = o->val;
		if (!strcmp(o->keyword, "host"))
			host = o->val;
		if (!strcmp(o->keyword, "password") || !strcmp(o->keyword, "sslpassword"))
			l->secrets[n++] = mem_strdup(o->val);
	}
	l->secrets[n] = mem_strdup(getenv("PGPASSWORD"));
	/* libpq leaves the timeout of an asynchronous connect to us. */
	int seconds = timeout ? atoi(timeout) : CONNECT_TIMEOUT_S;
	seconds = seconds > 0 && seconds < 3600 ? seconds : CONNECT_TIMEOUT_S;
	l->connect_timeout = (double)seconds * (double)(1 + count_commas(host));
	int rc = 0;
	if (host && strchr(host, '@'))
		rc = err_set(e, ERR_INVALID,
			"the host in the database's connection string has an @ in it: write an @ in a user name or password as %%40");
	PQconninfoFree(options);
	return rc;
}

int pg_conn_new(struct ev_loop *loop, const struct pg_conn_options *o,
	const struct pg_conn_events *events, struct pg_conn **ret, struct err *e)
{
	struct pg_conn *l = mem_alloc(sizeof(*l));
	l->loop = loop;
	l->events = *events;
	l->conninfo = mem_strdup(o->conninfo ? o->conninfo : "");
	l->application_name = mem_strdup(o->application_name);
	l->rng = o->seed ? o->seed : 1;
	l->patience_ms = PATIENCE_MS;
	l->prepares = true;
	ev_io_init(&l->reading, on_readable, -1, EV_READ);
	ev_io_init(&l->writing, on_writable, -1, EV_WRITE);
	ev_timer_init(&l->deadline, on_deadline, 0., 0.);
	ev_timer_init(&l->pause, on_pause, 0., 0.);
	l->reading.data = l->writing.data = l->deadline.data = l->pause.data = l;
	int rc = pg_conn_parse(l, e);
	if (rc) {
		pg_conn_free(l);
		return rc;
	}
	ev_timer_start(loop, &l->pause); /* at once, but from the loop */
	*ret = l;
	return 0;
}

void pg_conn_free(struct pg_conn *l)
{
	if (!l)
		return;
	ev_timer_stop(l->loop, &l->pause);
	ev_timer_stop(l->loop, &l->deadline);
	ev_io_stop(l->loop, &l->reading);
	ev_io_stop(l->loop, &l->writing);
	PQfinish(l->conn);
	round_clear(&l->round);
	for (size_t i = 0; i < SECRETS_MAX; i++)
		free(l->secrets[i]);
	free(l->conninfo);
	free(l->application_name);
	free(l);
}

bool pg_conn_up(const struct pg_conn *l)
{
	return l->state != PG_CONN_DOWN && l->state != PG_CONN_CONNECTING;
}

bool pg_conn_busy(const struct pg_conn *l)
{
	return l->state == PG_CONN_BUSY || l->state == PG_CONN_SCRIPT;
}

uint32_t pg_conn_number(const struct pg_conn *l)
{
	return l->number;
}

int pg_conn_backend_pid(const struct pg_conn *l)
{
	return PQbackendPID(l->conn);
}

const char *pg_conn_user(const struct pg_conn *l)
{
	return PQuser(l->conn);
}

void pg_conn_set_patience(struct pg_conn *l, int64_t ms)
{
	l->patience_ms = ms;
}

void pg_conn_praise(struct pg_conn *l)
{
	l->failures = 0;
}

void pg_conn_add_settings(struct pg_conn *l, const char *sql)
{
	int64_t ms = l->patience_ms * 4 / 5;
	char text[32];
	struct params *p = params_new();
	snprintf(text, sizeof(text), "%lld", (long long)(ms > 0 ? ms : 1));
	params_text(p, text);
	pg_conn_add(l, sql, p);
}
