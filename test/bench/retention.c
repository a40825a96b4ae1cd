/*
 * What forgetting costs in a large ledger, fsync on: how long a batch of forgotten attempts takes,
 * and how long a batch of operations takes meanwhile, one after another on one connection, as the
 * gate does it. Attempts ended evenly over the last 800 days; half of them are to go.
 *
 *   bench_retention [attempts] [batches of operations]
 *
 * Numbers for people; asserted is that every operation was APPLIED, that the sums are as before, and
 * that the ledger is sound.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <libpq-fe.h>

#include "base/must.h"
#include "controller/ledger/sql.h"
#include "test/unit/ledger/drive.h"

#define QUEUES 30
#define OPS 64 /* in a batch */
#define KEEP_MS "34560000000"

static struct quota_line lines[QUEUES];
static char node_names[QUEUES][16];

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- the ledger ------------------------------------------------------------------------------ */

static void make_history(struct pg_fixture *f, long attempts)
{
	pg_fixture_sql(f,
		"CREATE TABLE public.run AS SELECT gen_random_uuid() AS uid, now() - n * interval "
		"'800 days' / %ld AS ended, n FROM generate_series(1, %ld) AS n",
		attempts, attempts);
	pg_fixture_sql(f,
		"INSERT INTO sluice.segment (cell, job_uid, attempt, ns, name, clusterqueue, "
		"localqueue, started_at, stopping_at, stopped_at, reason, actor, lost_ms, lines, "
		"owner, labels, plan, currency, price, cost_micro) SELECT 'bench', uid, 1, 'team-' "
		"|| n %% 50, 'train-resnet-50-' || n, 'queue-' || n %% 30, 'main', ended - interval "
		"'1 h', ended - interval '1 s', ended, 'Finished', 'sluice-controller-5d9c7b9d4', 0, "
		"'[[\"cq/queue-1\", \"spot\", \"cpu\", 4000], [\"cq/queue-1\", \"spot\", "
		"\"memory\", 8589934592], [\"cq/queue-1\", \"spot\", \"pods\", 1]]', 'sweep-', "
		"'{\"team\": \"vision\"}', 'day', 'EUR', '[{\"from\": \"2026-11-20T00:00:00Z\", "
		"\"perHour\": \"0.0800\"}]', n FROM public.run");
	pg_fixture_sql(f,
		"INSERT INTO sluice.transfer (cell, job_uid, attempt, kind, seq, epoch, at, source, "
		"target, lines, reason, actor, lost_ms) SELECT 'bench', uid, 1, kind, 0, 1, ended, "
		"nullif(source, ''), nullif(target, ''), '[[\"cq/queue-1\", \"spot\", \"cpu\", 4000], "
		"[\"cq/queue-1\", \"spot\", \"memory\", 8589934592], [\"cq/queue-1\", \"spot\", "
		"\"pods\", 1]]', 'Finished', 'sluice-controller-5d9c7b9d4', 0 FROM public.run, "
		"(VALUES ('RESERVE', '', 'pending'), ('COMMIT', 'pending', 'posted'), ('STOP', "
		"'posted', 'releasing'), ('RELEASE', 'releasing', '')) AS k (kind, source, target)");
	pg_fixture_sql(f, "DROP TABLE public.run");
	pg_fixture_sql(f, "VACUUM ANALYZE sluice.segment");
	pg_fixture_sql(f, "VACUUM ANALYZE sluice.transfer");
	pg_fixture_sql(f, "CHECKPOINT");
}

static void print_size(struct pg_fixture *f, const char *when)
{
	printf("%s: %s\n", when,
		pg_fixture_sql(f,
			"SELECT string_agg(relname || ' ' || pg_size_pretty(pg_total_relation_size("
			"oid)), ', ' ORDER BY relname) FROM pg_class WHERE relnamespace = "
			"'sluice'::regnamespace AND relname IN ('segment', 'transfer', "
			"'segment_month')"));
	fflush(stdout);
}

static const char *sums(struct pg_fixture *f)
{
	return pg_fixture_sql(f,
		"SELECT concat_ws(' ', count(*), sum(runs), sum(run_seconds)::int8, "
		"(sum(cost) * 1000000)::int8) FROM sluice.cost_by_month WHERE cell = 'bench'");
}

/* ---- forgetting ------------------------------------------------------------------------------ */

static void run_sql(PGconn *pg, const char *sql, int n, const char *const *values)
{
	PGresult *r = PQexecParams(pg, sql, n, NULL, values, NULL, NULL, 0);
	if (PQresultStatus(r) != PGRES_TUPLES_OK && PQresultStatus(r) != PGRES_COMMAND_OK) {
		fprintf(stderr, "%s\n", PQerrorMessage(pg));
		abort();
	}
	PQclear(r);
}

/* What retention.c sends, as it sends it; returns the seconds. */
static double forget(PGconn *pg, int64_t epoch, const char *batch)
{
	char text[32], before[32];
	const char *patience = "8000", *p[] = {"bench", text, before, KEEP_MS, batch};
	snprintf(text, sizeof(text), "%lld", (long long)epoch);
	snprintf(before, sizeof(before), "%lld", (long long)time(NULL) * 1000 - atoll(KEEP_MS));
	double t = now();
	run_sql(pg, "BEGIN", 0, NULL);
	run_sql(pg, SQL_SETTINGS, 1, &patience);
	run_sql(pg, SQL_FORGET, 5, p);
	run_sql(pg, "COMMIT", 0, NULL);
	return now() - t;
}

static int double_cmp(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void print_times(const char *what, double *took, size_t n)
{
	qsort(took, n, sizeof(*took), double_cmp);
	printf("%s: %.1f ms (p50), %.1f ms (p99), %.1f ms at most, of %zu\n", what,
		took[n / 2] * 1e3, took[n * 99 / 100] * 1e3, took[n - 1] * 1e3, n);
	fflush(stdout);
}

static void time_forgetting(struct pg_fixture *f, int64_t epoch, const char *batch, size_t n)
{
	char what[64];
	double took[100];
	PGconn *pg = PQconnectdb(f->conninfo);
	for (size_t i = 0; i < n; i++)
		took[i] = forget(pg, epoch, batch);
	PQfinish(pg);
	snprintf(what, sizeof(what), "forgetting %s attempts", batch);
	print_times(what, took, n);
}

/* A process that forgets all the time, or every so many microseconds, until it is killed. */
static pid_t keep_forgetting(struct pg_fixture *f, int64_t epoch, useconds_t pause)
{
	pid_t pid = fork();
	must(pid >= 0);
	if (pid > 0)
		return pid;
	PGconn *pg = PQconnectdb(f->conninfo);
	for (;;) {
		forget(pg, epoch, "1000");
		usleep(pause);
	}
}

static void stop_process(pid_t pid)
{
	kill(pid, SIGKILL);
	must(waitpid(pid, NULL, 0) == pid);
}

/* ---- operations meanwhile -------------------------------------------------------------------- */

static struct ledger_op op(enum ledger_kind k, uint64_t n)
{
	struct ledger_op o = {.kind = k,
		.attempt = 1,
		.at_ms = (int64_t)time(NULL) * 1000,
		.ns = "team-vision",
		.name = "train-resnet-50-8f2c1",
		.clusterqueue = "research",
		.localqueue = "main",
		.lines = &lines[n % QUEUES],
		.nlines = 1,
		.reason = "Finished",
		.actor = "sluice-controller-5d9c7b9d4-x2x4z"};
	uint64_t mixed = n * 0x9e3779b97f4a7c15u; /* as random as real ones, for the index */
	memcpy(o.uid.byte, &mixed, 8);
	memcpy(o.uid.byte + 8, &n, 8);
	return o;
}

static void make_quotas(struct drive *d, int64_t epoch)
{
	struct ledger_op ops[QUEUES];
	static struct quota_line wanted[QUEUES];
	for (size_t q = 0; q < QUEUES; q++) {
		snprintf(node_names[q], sizeof(node_names[q]), "cq/queue-%zu", q);
		lines[q] = (struct quota_line){node_names[q], "spot", "cpu", 4000};
		wanted[q] = lines[q];
		wanted[q].amount = INT64_MAX;
		ops[q] = (struct ledger_op){
			.kind = LEDGER_CEILING, .lines = &wanted[q], .nlines = 1};
	}
	must(drive_batch(d, epoch, ops, QUEUES) == LEDGER_DONE);
}

static void time_operations(struct drive *d, int64_t epoch, size_t batches, const char *what)
{
	static const enum ledger_kind kinds[] = {
		LEDGER_RESERVE, LEDGER_COMMIT, LEDGER_STOP, LEDGER_RELEASE};
	static uint64_t begun;
	static struct ledger_op ops[OPS];
	double *took = calloc(batches, sizeof(*took));
	size_t quarter = OPS / 4;
	must(took);
	for (size_t b = 0; b < batches + 3; b++) {
		size_t n = 0;
		for (size_t k = 4; k-- > 0;)
			for (size_t i = 0; b >= k && b - k < batches && i < quarter; i++)
				ops[n++] = op(kinds[k], begun + (b - k) * quarter + i);
		double t = now();
		must(drive_batch(d, epoch, ops, n) == LEDGER_DONE);
		if (b < batches)
			took[b] = now() - t;
		for (size_t i = 0; i < n; i++)
			must(d->results[i].verdict == LEDGER_APPLIED);
	}
	begun += batches * quarter;
	print_times(what, took, batches);
	free(took);
}

int main(int argc, char **argv)
{
	long attempts = argc > 1 ? atol(argv[1]) : 1000000;
	size_t batches = argc > 2 ? (size_t)atol(argv[2]) : 2000;
	static struct pg_fixture f;
	static struct drive d;
	must(attempts >= 400000 && batches > 100);
	pg_fixture_start(&f, true);
	drive_start(&d, &f, "bench", "me");
	int64_t epoch = drive_lead(&d);
	alarm(0);
	make_quotas(&d, epoch);
	make_history(&f, attempts);
	print_size(&f, "before");
	char before[256];
	snprintf(before, sizeof(before), "%s", sums(&f));

	time_forgetting(&f, epoch, "100", 30);
	time_forgetting(&f, epoch, "1000", 60);
	time_forgetting(&f, epoch, "5000", 10);
	must(!strcmp(before, sums(&f)));
	time_operations(&d, epoch, batches, "64 operations, nothing else to do");
	pid_t pid = keep_forgetting(&f, epoch, 10000000);
	time_operations(&d, epoch, batches, "64 operations, 1,000 forgotten every 10 s");
	stop_process(pid);
	pid = keep_forgetting(&f, epoch, 0);
	time_operations(&d, epoch, batches, "64 operations, forgetting without a pause");
	stop_process(pid);
	printf("left to forget: %s\n",
		pg_fixture_sql(&f, "SELECT count(*) FROM sluice.segment WHERE stopped_at < now() - "
				   "interval '400 days'"));
	print_size(&f, "after");
	must(!strcmp(pg_fixture_sql(&f, "SELECT count(*) FROM sluice.audit"), "0"));
	drive_stop(&d);
	pg_fixture_stop(&f);
	return 0;
}
