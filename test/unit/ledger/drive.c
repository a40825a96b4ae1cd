#include "drive.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ev.h>

#include "base/must.h"
#include "controller/ledger/pg_priv.h"
#include "controller/ledger/sql.h"

/* True: it was done. */
static bool answered(struct drive *d, const struct pg_answer *a)
{
	must(!d->inside);
	must(a->id == d->answered + 1); /* in order, each once */
	must((a->outcome == LEDGER_LOST) == (a->why && a->why[0]));
	d->answered = a->id;
	d->outcome = a->outcome;
	return a->outcome == LEDGER_DONE;
}

static void on_done(const struct pg_answer *a, void *ctx)
{
	answered(ctx, a);
}

static void on_lease(const struct pg_answer *a, void *ctx)
{
	struct drive *d = ctx;
	d->lease = answered(d, a) ? *a->lease : (struct ledger_lease){0};
}

void reservation_print(struct buf *b, const struct ledger_reservation *h)
{
	static const char *const states[] = {"pending", "posted", "releasing"};
	char uid[UID_TEXT_SIZE];
	uid_format(&h->uid, uid);
	buf_printf(b, "%s#%d %s %s/%s %s", uid, h->attempt, states[h->state], h->ns, h->name,
		h->clusterqueue);
	if (h->localqueue[0])
		buf_printf(b, " by %s", h->localqueue);
	buf_printf(b, " %lld %lld", (long long)h->reserved_ms, (long long)h->started_ms);
	if (h->submitted_by)
		buf_printf(b, " for %s", h->submitted_by);
	if (h->estimated)
		buf_puts(b, " estimated");
	if (h->sizes)
		buf_printf(b, " sizes %d", h->sizes);
	for (size_t i = 0; i < h->nlines; i++)
		buf_printf(b, " %s:%s:%s=%lld", h->lines[i].node, h->lines[i].flavor,
			h->lines[i].resource, (long long)h->lines[i].amount);
	buf_putc(b, '\n');
}

static void on_load(const struct pg_answer *a, void *ctx)
{
	struct drive *d = ctx;
	const struct ledger_reservation *reservations = a->reservations;
	answered(d, a);
	buf_reset(&d->reservations);
	for (size_t i = 0; i < a->n; i++)
		reservation_print(&d->reservations, &reservations[i]);
}

static void on_batch(const struct pg_answer *a, void *ctx)
{
	struct drive *d = ctx;
	answered(d, a);
	must(a->n == (a->outcome == LEDGER_DONE ? d->expected : 0));
	if (a->n > 0)
		memcpy(d->results, a->results, d->expected * sizeof(*d->results));
}

static void on_recall(const struct pg_answer *a, void *ctx)
{
	struct drive *d = ctx;
	answered(d, a);
	buf_reset(&d->runs);
	for (size_t i = 0; i < a->n; i++) {
		const struct ledger_run *r = &a->runs[i];
		buf_printf(&d->runs, "%s/%s %s %lld-%lld", r->ns, r->localqueue, r->clusterqueue,
			(long long)r->from_ms, (long long)r->to_ms);
		for (size_t k = 0; k < r->nlines; k++)
			buf_printf(&d->runs, " %s:%s:%s=%lld", r->lines[k].node, r->lines[k].flavor,
				r->lines[k].resource, (long long)r->lines[k].amount);
		buf_putc(&d->runs, '\n');
	}
	if (a->n > 0)
		d->mark = a->runs[a->n - 1].mark;
}

static void on_spent(const struct pg_answer *a, void *ctx)
{
	struct drive *d = ctx;
	const struct ledger_spent *spent = a->spent;
	answered(d, a);
	buf_reset(&d->past);
	for (size_t i = 0; i < a->n; i++)
		buf_printf(&d->past, "%s %s/%s %lld %lld %s\n", spent[i].clusterqueue, spent[i].ns,
			spent[i].localqueue, (long long)spent[i].started_ms,
			(long long)spent[i].cost, spent[i].currency);
}

static void on_durations(const struct pg_answer *a, void *ctx)
{
	struct drive *d = ctx;
	const struct ledger_duration *runs = a->durations;
	answered(d, a);
	buf_reset(&d->past);
	for (size_t i = 0; i < a->n; i++)
		buf_printf(&d->past, "%s/%s %lld %s>%s %s\n", runs[i].ns, runs[i].family,
			(long long)runs[i].ran_ms, runs[i].localqueue, runs[i].clusterqueue,
			runs[i].user);
}

static void on_cost(const struct pg_answer *a, void *ctx)
{
	struct drive *d = ctx;
	const struct ledger_cost *rows = a->costs;
	answered(d, a);
	d->forgotten_until_ms = a->forgotten_until_ms;
	buf_reset(&d->past);
	for (size_t i = 0; i < a->n; i++) {
		buf_printf(&d->past, "%s %lld runs %lld %lld %s lost %lld",
			rows[i].is_total ? "*"
			: rows[i].key	 ? rows[i].key
					 : "-",
			(long long)rows[i].runs, (long long)rows[i].ran_ms, (long long)rows[i].cost,
			rows[i].currency ? rows[i].currency : "-", (long long)rows[i].lost_ms);
		if (rows[i].estimated_ms > 0)
			buf_printf(&d->past, " estimated %lld %lld",
				(long long)rows[i].estimated_ms, (long long)rows[i].estimated_cost);
		buf_putc(&d->past, '\n');
	}
}

static void on_rows(const struct pg_answer *a, void *ctx)
{
	struct drive *d = ctx;
	const struct ledger_row *rows = a->texts;
	answered(d, a);
	d->forgotten_until_ms = a->forgotten_until_ms;
	buf_reset(&d->past);
	for (size_t i = 0; i < a->n; i++)
		buf_printf(&d->past, "%s%s\n", rows[i].is_total ? "* " : "", rows[i].json);
}

static void on_state(bool up, const char *sentence, void *ctx)
{
	struct drive *d = ctx;
	must(!d->inside);
	must(up == !sentence);
	d->ups += up;
	d->downs += !up;
	snprintf(d->sentence, sizeof(d->sentence), "%s", sentence ? sentence : "");
}

void drive_start(
	struct drive *d, const struct pg_fixture *f, const char *cell, const char *identity)
{
	*d = (struct drive){.loop = ev_loop_new(EVFLAG_AUTO)};
	buf_init(&d->reservations, (size_t)1 << 26);
	buf_init(&d->runs, (size_t)1 << 26);
	buf_init(&d->past, (size_t)1 << 26);
	snprintf(d->cell, sizeof(d->cell), "%s", cell);
	struct pg_options o = {f->conninfo, cell, identity, 7, .state = on_state, .ctx = d};
	struct err why;
	if (pg_new(d->loop, &o, &d->pg, &why)) {
		fprintf(stderr, "%s\n", why.text);
		must_not_get_here();
	}
	alarm(900);
}

void drive_stop(struct drive *d)
{
	pg_free(d->pg);
	ev_loop_destroy(d->loop);
	buf_done(&d->reservations);
	buf_done(&d->runs);
	buf_done(&d->past);
}

void drive_until_up(struct drive *d)
{
	while (!pg_up(d->pg))
		ev_run(d->loop, EVRUN_ONCE);
}

void drive_until_down(struct drive *d)
{
	while (pg_up(d->pg))
		ev_run(d->loop, EVRUN_ONCE);
}

void drive_until_answered(struct drive *d, uint64_t id)
{
	while (d->answered < id)
		ev_run(d->loop, EVRUN_ONCE);
}

struct pg_asker drive_asker(struct drive *d, void (*fn)(const struct pg_answer *a, void *ctx))
{
	return (struct pg_asker){fn ? fn : on_done, d, ++d->next_id};
}

/* What was asked is answered later, and never before the call is over. */
#define ASK(d, fn, call, ...)                                                                      \
	do {                                                                                       \
		const struct pg_asker who = drive_asker(d, fn);                                    \
		(d)->inside = true;                                                                \
		call((d)->pg, __VA_ARGS__, &who);                                                  \
		(d)->inside = false;                                                               \
	} while (0)

static enum ledger_outcome outcome(struct drive *d)
{
	drive_until_answered(d, d->next_id);
	return d->outcome;
}

void drive_ask_lease(struct drive *d, int64_t epoch, int64_t seen, int64_t lease_ms, bool settled)
{
	ASK(d, on_lease, pg_lease, epoch, seen, lease_ms, settled);
}

enum ledger_outcome drive_lease(struct drive *d, int64_t epoch, int64_t lease_ms)
{
	drive_ask_lease(d, epoch, 0, lease_ms, true);
	return outcome(d);
}

enum ledger_outcome drive_migrate(struct drive *d)
{
	const struct pg_asker who = drive_asker(d, NULL);
	d->inside = true;
	pg_migrate(d->pg, &who);
	d->inside = false;
	return outcome(d);
}

enum ledger_outcome drive_load(struct drive *d, int64_t epoch)
{
	ASK(d, on_load, pg_load, epoch);
	return outcome(d);
}

enum ledger_outcome drive_recall(struct drive *d, int64_t epoch, size_t attempts)
{
	ASK(d, on_recall, pg_recall, epoch, &d->mark, attempts);
	return outcome(d);
}

enum ledger_outcome drive_spent(
	struct drive *d, int64_t epoch, int64_t since_ms, int64_t from_ms, int64_t to_ms)
{
	ASK(d, on_spent, pg_recall_spent, epoch, since_ms, from_ms, to_ms);
	return outcome(d);
}

enum ledger_outcome drive_durations(
	struct drive *d, int64_t epoch, int64_t since_ms, size_t of_each)
{
	ASK(d, on_durations, pg_recall_durations, epoch, since_ms, of_each);
	return outcome(d);
}

enum ledger_outcome drive_past(struct drive *d, const struct past_question *q, size_t rows)
{
	ASK(d, q->kind == PAST_COST ? on_cost : on_rows, pg_past, q, rows);
	return outcome(d);
}

void drive_go_back_a_version(void)
{
	pg_fixture_sql(&F,
		"DROP INDEX sluice.transfer_resized; DELETE FROM sluice.schema_addition WHERE number = 16");
}

int drive_schema_version(struct pg_fixture *f)
{
	int version = atoi(pg_fixture_sql(f, "SELECT max(version) FROM sluice.schema_version"));
	if (*pg_fixture_sql(f, "SELECT to_regclass('sluice.schema_addition') IS NOT NULL") != 't')
		return version;
	int addition = atoi(
		pg_fixture_sql(f, "SELECT coalesce(max(number), 0) FROM sluice.schema_addition"));
	return addition > version ? addition : version;
}

uint64_t drive_ask_batch(struct drive *d, const struct ledger_batch *b)
{
	must(b->nops <= DRIVE_OPS_MAX);
	d->expected = b->nops;
	ASK(d, on_batch, pg_batch, b);
	return d->next_id;
}

enum ledger_outcome drive_batch(
	struct drive *d, int64_t epoch, const struct ledger_op *ops, size_t nops)
{
	struct ledger_batch b = {epoch, ops, nops};
	drive_until_answered(d, drive_ask_batch(d, &b));
	return d->outcome;
}

int64_t drive_lead(struct drive *d)
{
	int tries = 0;
	do {
		if (++tries > 20) {
			fprintf(stderr, "cannot lead: %s\n", d->sentence);
			must_not_get_here();
		}
		drive_until_up(d);
	} while (drive_lease(d, 0, 3600000) != LEDGER_DONE);
	must(d->lease.held);
	return d->lease.epoch;
}

static void make_schema(const struct pg_fixture *f)
{
	struct drive d;
	drive_start(&d, f, "first", "me");
	drive_lead(&d);
	drive_stop(&d);
}

struct pg_fixture F;

int drive_open_group(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN);
	pg_fixture_start(&F, false);
	make_schema(&F);
	return 0;
}

int drive_close_group(void **state)
{
	(void)state;
	pg_fixture_stop(&F);
	return 0;
}

const char *drive_audit(void)
{
	return pg_fixture_sql(&F,
		"SELECT string_agg(found, ' ') FROM (SELECT a::text FROM sluice.audit a UNION ALL "
		"SELECT a::text FROM sluice.audit_history a) AS all_of (found)");
}
