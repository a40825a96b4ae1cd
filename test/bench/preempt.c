/*
 * What it costs to find victims. No test: it prints a table, and as its last line one JSON object.
 * Usage: bench_preempt [RUNNING], by default 100,000 Jobs that run, of priorities 0 to 4; each
 * world once with Jobs that are alike and once with Jobs of which hardly two ask for the same.
 *
 *   one      one ClusterQueue that displaces its own
 *   cohort   100 ClusterQueues; the first takes back what the others borrow of it
 *   fair     the same with fair sharing
 *
 * One that wants the room of 1, 100, 1,000 and a fifth of all comes, with no other waiting:
 *
 *   displace   it is told, a pass follows, others are told to stop
 *   start      they are gone, a pass follows, it starts
 *   end        it ends, a pass follows, those start again
 *
 * And one that wants more than all could leave, and waits:
 *
 *   refuse     it is told, a pass follows, nothing happens
 *   finish     meanwhile a run ends, a pass follows, and another one starts
 *
 *   borrow     many Jobs, no two alike, wait in a ClusterQueue that may take back what others borrow,
 *              or in 98 of them; a small one of another comes, a pass follows, it starts by
 *              borrowing. Those that wait have no higher priority than what they could take back,
 *              or want more than that
 *
 *   explain    one ClusterQueue, or the Cohort, with a minRun that spares all that run; these began one
 *              second after the other, a hundredth in each. One comes that wants the room of 1, 100,
 *              1,000 and a fifth of all. What it costs to say until when it waits
 *
 * Microseconds of processor time of this process, the median and the longest.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "sluice/queue.h"
#include "test/bench/cpu.h"

enum { QUEUES = 100, PRIORITIES = 5, ROUNDS = 101, ASKER_PRIORITY = 10 };

#define ASKERS (UINT64_C(1) << 40) /* uids of those that preempt */

struct bench {
	struct queue *q;
	size_t queues;
	uint64_t running, askers;
	bool varied;
	int64_t now_ms, min_run_ms;
	int64_t use[QUEUES]; /* cpu */
	struct decision *out;
	struct uid *stopped;
	size_t nstopped;
};

static struct uid uid_of(uint64_t n)
{
	struct uid uid = {{0}};
	memcpy(uid.byte, &n, sizeof(n));
	return uid;
}

static void queue_name(char *ret, size_t size, size_t i)
{
	snprintf(ret, size, "queue-%zu", i);
}

static void tell_queue(struct bench *b, size_t i, int64_t nominal)
{
	static const char *const resource[] = {"cpu"};
	char name[32];
	queue_name(name, sizeof(name), i);
	struct quota_spec quota = {"cpu", nominal, QUOTA_UNLIMITED, QUOTA_UNLIMITED};
	struct flavor_quota_spec flavor = {"default", &quota, 1};
	struct resource_group_spec group = {resource, 1, &flavor, 1};
	struct clusterqueue_spec s = {.name = name,
		.cohort = b->queues > 1 ? "all" : "",
		.groups = &group,
		.ngroups = 1,
		.has_namespace_selector = true,
		.preemption = {.within_clusterqueue = PREEMPT_LOWER_PRIORITY,
			.reclaim_within_cohort = PREEMPT_LOWER_PRIORITY,
			.min_run_ms = b->min_run_ms},
		.weight = 1};
	must(queue_set_clusterqueue(b->q, &s, NULL) == 0);
	struct localqueue_spec local = {
		.ns = "team", .name = name, .clusterqueue = name, .weight = 1};
	must(queue_set_localqueue(b->q, &local, NULL) == 0);
}

static void tell_job(
	struct bench *b, uint64_t id, size_t queue, int64_t cpu, int32_t priority, int64_t at_ms)
{
	char name[32], in[32], class[16];
	struct resource request = {"cpu", cpu, 0};
	struct container c = {.requests = {&request, 1}};
	queue_name(in, sizeof(in), queue);
	snprintf(name, sizeof(name), "job-%llu", (unsigned long long)id);
	snprintf(class, sizeof(class), "p%d", (int)priority);
	queue_set_job(b->q, &(struct job){.uid = uid_of(id),
				    .ns = "team",
				    .name = name,
				    .queue = in,
				    .priority_class = class,
				    .pod_priority_class = "",
				    .suspend = true,
				    .parallelism = 1,
				    .has_completions = true,
				    .completions = 1,
				    .created_ms = at_ms,
				    .pod = {.containers = &c, .ncontainers = 1}});
}

/* Of those that run: about 1 cpu. In a cohort the first queue has none of them. */
static int64_t cpu_of(const struct bench *b, uint64_t n)
{
	return b->varied ? 500 + (int64_t)(n * 2654435761u % 1000) : 1000;
}

static size_t queue_of(const struct bench *b, uint64_t n)
{
	return b->queues > 1 ? 1 + n % (b->queues - 1) : 0;
}

static void tell_running(struct bench *b, uint64_t n)
{
	tell_job(b, n + 1, queue_of(b, n), cpu_of(b, n), (int32_t)(n / 7 % PRIORITIES),
		(int64_t)(n / 100));
}

/* A pass; those that have to stop are kept. How many start. */
static size_t decide(struct bench *b)
{
	int64_t next_ms;
	size_t started = 0, n = queue_decide(b->q, b->now_ms, b->out, b->running + 8, &next_ms);
	for (size_t i = 0; i < n; i++) {
		started += b->out[i].kind == DECISION_START;
		if (b->out[i].kind == DECISION_STOP)
			b->stopped[b->nstopped++] = b->out[i].uid;
	}
	return started;
}

static void tell_priorities(struct queue *q)
{
	for (int32_t p = 0; p <= ASKER_PRIORITY; p++) {
		char class[16];
		snprintf(class, sizeof(class), "p%d", (int)p);
		queue_set_priority(q, &(struct priority_spec){PRIORITY_WORKLOAD, class, p, false});
	}
}

/* They start; with minRun a hundredth in each second. */
static void start_all(struct bench *b)
{
	uint64_t steps = b->min_run_ms ? 100 : 1, started = 0;
	for (uint64_t n = 0, step = 1; step <= steps; step++) {
		for (; n < b->running * step / steps; n++) {
			tell_running(b, n);
			b->use[queue_of(b, n)] += cpu_of(b, n);
		}
		started += decide(b);
		b->now_ms += b->min_run_ms ? 1000 : 0;
	}
	must(started == b->running);
}

/* All start, and then there is quota for no more; in a cohort a tenth of what runs is lent. */
static void bench_open(
	struct bench *b, bool cohort, bool fair, bool varied, uint64_t running, int64_t min_run_ms)
{
	struct queue_config config;
	*b = (struct bench){.q = queue_new(),
		.queues = cohort ? QUEUES : 1,
		.running = running,
		.varied = varied,
		.now_ms = 1000000,
		.min_run_ms = min_run_ms,
		.out = mem_array(running + 8, sizeof(*b->out)),
		.stopped = mem_array(running + 8, sizeof(*b->stopped))};
	queue_config_default(&config);
	config.fair_sharing = fair;
	queue_configure(b->q, &config);
	queue_set_flavor(b->q, &(struct flavor_spec){.name = "default"}, NULL);
	tell_priorities(b->q);
	for (size_t i = 0; i < b->queues; i++)
		tell_queue(b, i, INT64_C(1) << 50);
	start_all(b);
	int64_t lent = 0;
	for (size_t i = 1; i < b->queues; i++) {
		tell_queue(b, i, b->use[i] - b->use[i] / 10);
		lent += b->use[i] / 10;
	}
	tell_queue(b, 0, cohort ? lent : b->use[0]);
	decide(b);
}

static void bench_close(struct bench *b)
{
	queue_free(b->q);
	free(b->out);
	free(b->stopped);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static double print_row(const char *what, double *us, size_t n, const char *note)
{
	qsort(us, n, sizeof(*us), by_size);
	printf("    %-9s p50 %10.1f us   max %10.1f us   %s\n", what, us[n / 2], us[n - 1], note);
	return us[n / 2];
}

static void release_stopped(struct bench *b)
{
	for (size_t i = 0; i < b->nstopped; i++)
		queue_release_job(b->q, &b->stopped[i], 1000000, 0);
	b->nstopped = 0;
}

/* One comes that wants so many cpu, gets it, and ends. */
static double bench_displace(struct bench *b, int64_t cpu, size_t rounds)
{
	static double displace[ROUNDS], start[ROUNDS], end[ROUNDS];
	size_t victims = 0;
	for (size_t i = 0; i < rounds; i++) {
		struct uid uid = uid_of(ASKERS + ++b->askers);
		double t = cpu_us();
		tell_job(b, ASKERS + b->askers, 0, cpu, ASKER_PRIORITY, 0);
		decide(b);
		displace[i] = cpu_us() - t;
		victims += b->nstopped;
		must(b->nstopped > 0);
		t = cpu_us();
		release_stopped(b);
		must(decide(b) > 0);
		start[i] = cpu_us() - t;
		t = cpu_us();
		queue_drop_job(b->q, &uid);
		decide(b);
		end[i] = cpu_us() - t;
	}
	char note[64];
	snprintf(note, sizeof(note), "%.1f victims", (double)victims / (double)rounds);
	printf("   for %lld cpu\n", (long long)(cpu / 1000));
	double us = print_row("displace", displace, rounds, note);
	print_row("start", start, rounds, "");
	print_row("end", end, rounds, "");
	return us;
}

static double bench_refuse(struct bench *b, int64_t cpu)
{
	static double refuse[ROUNDS], finish[ROUNDS];
	size_t rounds = ROUNDS / 5, started = 0;
	for (size_t i = 0; i < rounds; i++) {
		struct uid uid = uid_of(ASKERS + ++b->askers),
			   run = uid_of(i * 7 * PRIORITIES + 35);
		double t = cpu_us();
		tell_job(b, ASKERS + b->askers, 0, cpu, PRIORITIES - 1, 0);
		must(decide(b) == 0 && b->nstopped == 0);
		refuse[i] = cpu_us() - t;
		t = cpu_us();
		queue_drop_job(b->q, &run);
		tell_running(b, i * 7 * PRIORITIES + 34);
		started += decide(b);
		finish[i] = cpu_us() - t;
		queue_drop_job(b->q, &uid);
		decide(b);
	}
	char note[64];
	snprintf(note, sizeof(note), "%zu started", started);
	printf("   for %lld cpu\n", (long long)(cpu / 1000));
	print_row("refuse", refuse, rounds, "");
	return print_row("finish", finish, rounds, note);
}

static void bench(const char *what, bool cohort, bool fair, bool varied, uint64_t running)
{
	struct bench b;
	printf("%s, %s\n", what, varied ? "no two alike" : "all alike");
	bench_open(&b, cohort, fair, varied, running, 0);
	int64_t most = (cohort ? b.use[1] * (QUEUES - 1) / 10 : b.use[0]) * 4 / 5;
	double one = bench_displace(&b, 1000, ROUNDS);
	bench_displace(&b, 100000, ROUNDS / 2);
	double many = bench_displace(&b, 1000000, ROUNDS / 5);
	bench_displace(&b, most / 4, 3);
	double finish = bench_refuse(&b, cohort ? most * 5 / 2 : most + most / 5);
	printf("  {\"world\":\"%s\",\"varied\":%s,\"displace_1_us\":%.1f,\"displace_1000_us\":%.1f,"
	       "\"finish_us\":%.1f}\n",
		what, varied ? "true" : "false", one, many, finish);
	bench_close(&b);
}

/* Of so many ClusterQueues, all but the second and the third one. */
static size_t asking_queue(uint64_t n, size_t askers)
{
	size_t i = n % askers;
	return i ? i + 2 : 0;
}

/* So many Jobs wait, in so many ClusterQueues. The second one borrows of the third, that is idle. */
static void bench_borrow(const char *what, uint64_t waiting, size_t askers, int32_t priority)
{
	static double arrive[ROUNDS];
	struct bench b = {.q = queue_new(),
		.queues = QUEUES,
		.running = waiting,
		.now_ms = 1000000,
		.out = mem_array(waiting + 8, sizeof(*b.out)),
		.stopped = mem_array(waiting + 8, sizeof(*b.stopped))};
	queue_set_flavor(b.q, &(struct flavor_spec){.name = "default"}, NULL);
	tell_priorities(b.q);
	for (size_t i = 0; i < b.queues; i++)
		tell_queue(&b, i, i == 0 ? 10000000 : i == 2 ? 1000000 : 0);
	tell_job(&b, ASKERS, 0, 9990000, ASKER_PRIORITY, 0);
	must(decide(&b) == 1);
	for (uint64_t n = 0; n < waiting; n++)
		tell_job(&b, n + 1, asking_queue(n, askers), 5000000 + (int64_t)n, priority, 0);
	must(decide(&b) == 0);
	for (size_t i = 0; i < ROUNDS; i++) {
		double t = cpu_us();
		tell_job(&b, ASKERS + 1 + i, 1, 1000, 0, 0);
		must(decide(&b) == 1 && b.nstopped == 0);
		arrive[i] = cpu_us() - t;
	}
	printf("borrow, %llu wait in %zu, %s\n", (unsigned long long)waiting, askers, what);
	print_row("arrive", arrive, ROUNDS, "");
	bench_close(&b);
}

/* The pass that finds no victims is not counted. */
static void explain_one(struct bench *b, int64_t cpu)
{
	static double explain[ROUNDS];
	size_t rounds = ROUNDS / 5;
	struct explanation x;
	for (size_t i = 0; i < rounds; i++) {
		struct uid uid = uid_of(ASKERS + ++b->askers);
		tell_job(b, ASKERS + b->askers, 0, cpu, ASKER_PRIORITY, 0);
		must(decide(b) == 0 && b->nstopped == 0);
		double t = cpu_us();
		must(queue_explain(b->q, &uid, b->now_ms, &x));
		explain[i] = cpu_us() - t;
		must(strstr(x.sentence, "preemption.minRun"));
		queue_drop_job(b->q, &uid);
		decide(b);
	}
	char note[64];
	snprintf(note, sizeof(note), "for %lld cpu", (long long)(cpu / 1000));
	print_row("explain", explain, rounds, note);
}

static void bench_explain(const char *what, bool cohort, bool fair, uint64_t running)
{
	struct bench b;
	printf("explain, %s, no two alike\n", what);
	bench_open(&b, cohort, fair, true, running, 3600000);
	int64_t most = (cohort ? b.use[1] * (QUEUES - 1) / 10 : b.use[0]) * 4 / 5;
	explain_one(&b, 1000);
	explain_one(&b, 100000);
	explain_one(&b, 1000000);
	explain_one(&b, most / 4);
	bench_close(&b);
}

int main(int argc, char **argv)
{
	uint64_t running = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
	const char *only = argc > 2 ? argv[2] : "";
	if (running < 15000)
		running = 15000;
	for (int varied = 0; varied < 2; varied++) {
		if (!*only || strcmp(only, "one") == 0)
			bench("one", false, false, varied, running);
		if (!*only || strcmp(only, "cohort") == 0)
			bench("cohort", true, false, varied, running);
		if (!*only || strcmp(only, "fair") == 0)
			bench("fair", true, true, varied, running);
	}
	if (!*only || strcmp(only, "explain") == 0) {
		bench_explain("one", false, false, running);
		bench_explain("cohort", true, false, running);
		bench_explain("fair", true, true, running);
	}
	for (uint64_t waiting = 1000; waiting <= 100000 && (!*only || strcmp(only, "borrow") == 0);
		waiting *= 100) {
		bench_borrow("of no higher priority", waiting, 1, 0);
		bench_borrow("that want more", waiting, 1, 5);
		bench_borrow("that want more", waiting, QUEUES - 2, 5);
	}
	return 0;
}
