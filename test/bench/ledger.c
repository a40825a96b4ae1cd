/*
 * How many operations a second the ledger takes: batches of N on one connection, fsync on, one
 * batch under way at a time, as the gate does it. Jobs live through RESERVE, COMMIT, STOP and
 * RELEASE; a batch is a quarter of each, of 30 queues with three lines each.
 *
 *   bench_ledger [operations in a batch] [batches] [rows of history first]
 *
 * Numbers for people; nothing is asserted but that every operation was APPLIED. On a machine that
 * has other things to do, the processor time is the number to compare.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <ev.h>

#include "base/must.h"
#include "test/unit/ledger/drive.h"

#define QUEUES 30
#define RESOURCES 3

static char node_names[QUEUES][16];
static struct quota_line lines[QUEUES][RESOURCES];

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct uid job(uint64_t n)
{
	struct uid u = {{0}};
	uint64_t mixed = n * 0x9e3779b97f4a7c15u; /* as random as real ones, for the index */
	memcpy(u.byte, &mixed, 8);
	memcpy(u.byte + 8, &n, 8);
	return u;
}

/* Another one each, for the index by names. */
static const char *name_of(uint64_t n)
{
	static char name[DRIVE_OPS_MAX][40];
	char *mine = name[n % DRIVE_OPS_MAX];
	snprintf(mine, sizeof(name[0]), "train-resnet-50-%llx",
		(unsigned long long)(n * 0x9e3779b97f4a7c15u));
	return mine;
}

static struct ledger_op op(enum ledger_kind k, uint64_t n)
{
	return (struct ledger_op){.kind = k,
		.uid = job(n),
		.attempt = 1,
		.at_ms = 1700000000000 + (int64_t)n,
		.ns = "team-vision",
		.name = name_of(n),
		.clusterqueue = "research",
		.localqueue = "main",
		.lines = lines[n % QUEUES],
		.nlines = RESOURCES,
		.reason = "Finished",
		.actor = "sluice-controller-5d9c7b9d4-x2x4z"};
}

static void make_quotas(struct drive *d, int64_t epoch)
{
	static const char *const resources[RESOURCES] = {"cpu", "memory", "pods"};
	struct ledger_op ops[QUEUES * RESOURCES];
	struct quota_line wanted[QUEUES * RESOURCES];
	size_t n = 0;
	for (size_t q = 0; q < QUEUES; q++) {
		snprintf(node_names[q], sizeof(node_names[q]), "cq/queue-%zu", q);
		for (size_t r = 0; r < RESOURCES; r++, n++) {
			lines[q][r] =
				(struct quota_line){node_names[q], "spot", resources[r], 4000};
			wanted[n] = lines[q][r];
			wanted[n].amount = INT64_MAX;
			ops[n] = (struct ledger_op){
				.kind = LEDGER_CEILING, .lines = &wanted[n], .nlines = 1};
		}
	}
	must(drive_batch(d, epoch, ops, n) == LEDGER_DONE);
}

static void make_history(struct pg_fixture *f, long rows)
{
	pg_fixture_sql(f,
		"INSERT INTO sluice.transfer (cell, job_uid, attempt, kind, seq, epoch, at, "
		"source, lines, reason, actor, lost_ms) SELECT 'bench', gen_random_uuid(), 1, "
		"'RELEASE', 0, 1, now(), 'posted', '[[\"cq/queue-1\", \"spot\", \"cpu\", 4000]]', "
		"'Finished', 'me', 0 "
		"FROM generate_series(1, %ld)",
		rows);
	pg_fixture_sql(f,
		"INSERT INTO sluice.segment (cell, job_uid, attempt, ns, name, clusterqueue, "
		"localqueue, started_at, stopped_at, reason, lines, owner) SELECT 'bench', "
		"gen_random_uuid(), 1, 'team-' || i %% 30, 'train-' || md5(i::text), 'queue-1', "
		"'main', now() - i * interval '1 s', now() - i * interval '1 s', 'Finished', "
		"'[[\"cq/queue-1\", \"spot\", \"cpu\", 4000]]', 'train-' "
		"FROM generate_series(1, %ld) AS i",
		rows);
	pg_fixture_sql(f, "CHECKPOINT");
}

/* Processor time of the backend that serves us. */
static double cpu_seconds(struct pg_fixture *f)
{
	char path[64];
	unsigned long user = 0, system = 0;
	snprintf(path, sizeof(path), "/proc/%s/stat",
		pg_fixture_sql(
			f, "SELECT pid FROM pg_stat_activity WHERE application_name = 'me'"));
	FILE *in = fopen(path, "r");
	must(in);
	must(fscanf(in, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
		     &system) == 2);
	fclose(in);
	return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static double own_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static int double_cmp(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	size_t size = argc > 1 ? (size_t)atol(argv[1]) : 100;
	size_t batches = argc > 2 ? (size_t)atol(argv[2]) : 500;
	long history = argc > 3 ? atol(argv[3]) : 0;
	static struct pg_fixture f;
	static struct drive d;
	static struct ledger_op ops[DRIVE_OPS_MAX];
	must(size >= 4 && size <= DRIVE_OPS_MAX && batches > 8);
	pg_fixture_start(&f, true);
	drive_start(&d, &f, "bench", "me");
	int64_t epoch = drive_lead(&d);
	alarm(0);
	make_quotas(&d, epoch);
	if (history)
		make_history(&f, history);

	double *took = calloc(batches, sizeof(*took)), begun = now(), cpu = cpu_seconds(&f),
	       own = own_seconds();
	size_t quarter = size / 4, total = 0;
	static const enum ledger_kind kinds[] = {
		LEDGER_RESERVE, LEDGER_COMMIT, LEDGER_STOP, LEDGER_RELEASE};
	must(took);
	for (size_t b = 0; b < batches; b++) {
		size_t n = 0;
		for (size_t k = 4; k-- > 0;)
			for (size_t i = 0; b >= k && i < quarter; i++)
				ops[n++] = op(kinds[k], (b - k) * quarter + i);
		double t = now();
		must(drive_batch(&d, epoch, ops, n) == LEDGER_DONE);
		took[b] = now() - t;
		for (size_t i = 0; i < n; i++)
			must(d.results[i].verdict == LEDGER_APPLIED);
		total += n;
	}
	double seconds = now() - begun;
	cpu = cpu_seconds(&f) - cpu;
	own = own_seconds() - own;
	qsort(took, batches, sizeof(*took), double_cmp);
	printf("%zu operations in batches of %zu: %.0f/s; a batch takes %.2f ms (p50), %.2f ms "
	       "(p99), "
	       "and %.2f ms of processor time, %.2f ms of it ours\n",
		total, size, (double)total / seconds, took[batches / 2] * 1e3,
		took[batches * 99 / 100] * 1e3, (cpu + own) / (double)batches * 1e3,
		own / (double)batches * 1e3);
	must(!strcmp(pg_fixture_sql(&f, "SELECT count(*) FROM sluice.audit"), "0"));
	printf("{\"operations_per_s\": %.0f, \"batch\": %zu, \"batch_ms\": {\"p50\": %.2f, "
	       "\"p99\": %.2f, "
	       "\"cpu\": %.2f, \"own_cpu\": %.2f}}\n",
		(double)total / seconds, size, took[batches / 2] * 1e3,
		took[batches * 99 / 100] * 1e3, (cpu + own) / (double)batches * 1e3,
		own / (double)batches * 1e3);
	free(took);
	drive_stop(&d);
	pg_fixture_stop(&f);
	return 0;
}
