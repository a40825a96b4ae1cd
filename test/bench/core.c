/*
 * How fast the queue decides, and what a waiting Job costs. No test: it prints a table, and as its
 * last line one JSON object. Usage: bench_core [JOBS [SHAPES [BOOKED]]], by default 1,000,000 Jobs, once
 * in 10 and once in 100,000 shapes. With BOOKED so many more Jobs wait for their cheapest start, and have
 * booked it.
 *
 *   tell     a Job is told to the queue, waiting
 *   drain    quota for all: how many starts a second, in passes of 1,000
 *   again    the same, when all Jobs have gone and were told anew: no page is touched for the first
 *            time
 *   finish   quota full: one Job ends, a pass follows, whatever fits starts
 *   refuse   quota full: one Job arrives, a pass follows, nothing starts
 *   explain  why a waiting Job waits
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "sluice/queue.h"
#include "test/bench/cpu.h"

#define ROUNDS 20000
#define RUNNING 1000

static double now_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static uint64_t draw(uint64_t *state)
{
	uint64_t z = (*state += 0x9E3779B97F4A7C15u);
	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return z ^ z >> 31;
}

static struct uid uid_of(uint64_t n)
{
	struct uid uid = {{0}};
	uint64_t state = n, high = draw(&state);
	memcpy(uid.byte, &high, 8);
	memcpy(uid.byte + 8, &n, 8);
	return uid;
}

/* Two flavors; cpu and memory for `jobs` average Jobs in each. */
static void set_quota(struct queue *q, int64_t jobs)
{
	static const char *const resource[] = {"cpu", "memory"};
	struct quota_spec quota[] = {{"cpu", jobs * 5000, QUOTA_UNLIMITED, QUOTA_UNLIMITED},
		{"memory", jobs * (10LL << 30), QUOTA_UNLIMITED, QUOTA_UNLIMITED}};
	struct flavor_quota_spec flavor[] = {{"spot", quota, 2}, {"on-demand", quota, 2}};
	struct resource_group_spec group = {resource, 2, flavor, 2};
	struct clusterqueue_spec s = {.name = "batch",
		.cohort = "",
		.groups = &group,
		.ngroups = 1,
		.has_namespace_selector = true};
	queue_set_clusterqueue(q, &s, NULL);
}

/* Hours are cheap from CHEAP_MS on. */
#define CHEAP_MS INT64_C(1000000000)
static void set_prices(struct queue *q)
{
	static const struct price_base base[] = {{"cpu", false, 1000000}};
	static const struct price_point series[] = {
		{0, PRICE_FACTOR_ONE}, {CHEAP_MS, PRICE_FACTOR_ONE / 10}};
	struct priceplan_spec s = {.name = "plan",
		.currency = "EUR",
		.base = base,
		.nbases = 1,
		.has_series = true,
		.series = series,
		.nseries = 2,
		.stale_after_ms = 2 * CHEAP_MS};
	queue_set_priceplan(q, &s, NULL);
}

/* Shape s of n: cpu around 5, memory around 10Gi, no two alike. A tenth needs one flavor. */
static void tell_job(struct queue *q, uint64_t n, uint64_t shapes, bool cheapest)
{
	uint64_t state = n % shapes + 1, a = draw(&state), b = draw(&state);
	struct resource request[] = {
		{"cpu", 100 + (int64_t)(a % 9800)}, {"memory", (int64_t)(b % (20ULL << 30)) + 1}};
	struct container container = {.requests = {request, 2}};
	static const struct label pool = {"pool", "spot"};
	char name[64];
	snprintf(name, sizeof(name), "nightly-aggregate-customer-%013llu", (unsigned long long)n);
	struct job j = {.uid = uid_of(n),
		.ns = "team-a",
		.name = name,
		.queue = "main",
		.priority_class = "",
		.pod_priority_class = "",
		.suspend = true,
		.parallelism = 1,
		.has_completions = true,
		.completions = 1,
		.created_ms = (int64_t)(n / 100) * 1000,
		.pod = {.containers = &container, .ncontainers = 1},
		.durations = {.expected_ms = cheapest ? 3600000 : 0},
		.terms = {.cheapest = cheapest, .deadline_ms = cheapest ? 2 * CHEAP_MS : 0},
		.placement = {.node_selector = &pool, .nnode_selector = a % 10 == 0}};
	queue_set_job(q, &j);
}

static struct queue *world(void)
{
	struct queue *q = queue_new();
	static const struct label spot = {"pool", "spot"}, demand = {"pool", "on-demand"};
	struct flavor_spec a = {"spot", {.labels = &spot, .nlabels = 1}};
	struct flavor_spec b = {"on-demand", {.labels = &demand, .nlabels = 1}};
	struct localqueue_spec local = {.ns = "team-a", .name = "main", .clusterqueue = "batch"};
	queue_set_flavor(q, &a, NULL);
	queue_set_flavor(q, &b, NULL);
	set_quota(q, 0);
	queue_set_localqueue(q, &local, NULL);
	return q;
}

struct running { /* a ring of those that run */
	struct uid *uid;
	size_t n, room;
};

static size_t decide(struct queue *q, struct running *r)
{
	static struct decision out[1000];
	int64_t next_ms;
	size_t n = queue_decide(q, 1000, out, 1000, &next_ms);
	for (size_t i = 0; i < n; i++) {
		r->uid = mem_room(r->uid, r->n, &r->room, 4096, sizeof(*r->uid));
		r->uid[r->n++] = out[i].uid;
	}
	return n;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static double print_row(const char *what, double *us, size_t n, const char *note)
{
	qsort(us, n, sizeof(*us), by_size);
	printf("  %-8s p50 %8.2f us   p99 %8.2f us   max %9.2f us   %s\n", what, us[n / 2],
		us[n / 100 * 99], us[n - 1], note);
	return us[n / 100 * 99];
}

/* One Job ends, chosen at random, and a pass fills what it left. */
static double bench_finish(struct queue *q, struct running *r)
{
	static double us[ROUNDS];
	uint64_t state = 42;
	size_t started = 0;
	for (size_t i = 0; i < ROUNDS; i++) {
		size_t at = draw(&state) % r->n;
		struct uid uid = r->uid[at];
		r->uid[at] = r->uid[--r->n];
		double t = now_us();
		queue_drop_job(q, &uid);
		started += decide(q, r);
		us[i] = now_us() - t;
	}
	char note[64];
	snprintf(note, sizeof(note), "%zu started", started);
	return print_row("finish", us, ROUNDS, note);
}

static double bench_refuse(struct queue *q, struct running *r, uint64_t from, uint64_t shapes)
{
	static double us[ROUNDS];
	size_t started = 0;
	for (size_t i = 0; i < ROUNDS; i++) {
		double t = now_us();
		tell_job(q, from + i, shapes, false);
		started += decide(q, r);
		us[i] = now_us() - t;
	}
	char note[64];
	snprintf(note, sizeof(note), "%zu started", started);
	return print_row("refuse", us, ROUNDS, note);
}

static double bench_explain(struct queue *q, uint64_t jobs)
{
	static double us[ROUNDS];
	struct explanation x = {.sentence = ""};
	for (size_t i = 0; i < ROUNDS; i++) {
		struct uid uid = uid_of(jobs - 1 - i % (jobs / 2));
		double t = now_us();
		queue_explain(q, &uid, 1000, &x);
		us[i] = now_us() - t;
	}
	double p99 = print_row("explain", us, ROUNDS, "");
	printf("           \"%s\"\n", x.sentence);
	return p99;
}

struct rate {
	double per_s, per_cpu_s;
};

/* Quota for all: until none waits. */
static struct rate bench_drain(struct queue *q, struct running *r, uint64_t jobs, const char *what)
{
	set_quota(q, (int64_t)jobs * 100);
	size_t n, started = 0;
	double t = now_us(), cpu = cpu_us();
	while ((n = decide(q, r)) > 0)
		started += n;
	struct rate rate = {
		(double)started / (now_us() - t) * 1e6, (double)started / (cpu_us() - cpu) * 1e6};
	printf("  %-8s %zu starts, %.0f a second, %.0f a second of cpu\n", what, started,
		rate.per_s, rate.per_cpu_s);
	return rate;
}

/* None of them starts. */
static void book(struct queue *q, uint64_t first, uint64_t booked, uint64_t shapes)
{
	struct running none = {0};
	set_prices(q);
	set_quota(q, RUNNING);
	for (uint64_t n = first; n < first + booked; n++)
		tell_job(q, n, shapes, true);
	double t = now_us();
	while (decide(q, &none) > 0)
		;
	double each = (now_us() - t) / (double)booked;
	struct uid last = uid_of(first + booked - 1);
	struct explanation x = {.sentence = ""};
	queue_explain(q, &last, 1000, &x);
	printf("  book     %.2f us for each of %llu starts; the last one is at %lld s\n", each,
		(unsigned long long)booked, (long long)(x.not_before_ms / 1000));
	free(none.uid);
}

static void bench(uint64_t jobs, uint64_t shapes, uint64_t booked, bool last)
{
	struct queue *q = world();
	struct running r = {0};
	printf("%llu Jobs in %llu shapes\n", (unsigned long long)jobs, (unsigned long long)shapes);
	if (booked > 0)
		book(q, jobs + 2 * ROUNDS, booked, shapes);
	double t = now_us();
	for (uint64_t n = 0; n < jobs; n++)
		tell_job(q, n, shapes, false);
	double tell = (now_us() - t) / (double)jobs;
	double bytes = (double)queue_memory_bytes(q) / (double)queue_waiting(q);
	printf("  tell     %.2f us each; %.0f bytes a waiting Job\n", tell, bytes);

	set_quota(q, RUNNING);
	while (decide(q, &r) > 0)
		;
	double finish = bench_finish(q, &r);
	double refuse = bench_refuse(q, &r, jobs, shapes);
	bench_explain(q, jobs);

	struct rate drain = bench_drain(q, &r, jobs, "drain");
	for (uint64_t n = 0; n < jobs + ROUNDS; n++) {
		struct uid uid = uid_of(n);
		queue_drop_job(q, &uid);
	}
	set_quota(q, 0);
	for (uint64_t n = 0; n < jobs; n++)
		tell_job(q, n, shapes, false);
	struct rate again = bench_drain(q, &r, jobs, "again");
	printf("%s{\"jobs\":%llu,\"shapes\":%llu,\"tell_us\":%.2f,\"bytes_per_waiting_job\":%.0f,"
	       "\"finish_p99_us\":%.2f,\"refuse_p99_us\":%.2f,\"decisions_per_s\":%.0f,\"decisions_"
	       "per_cpu_s\":%.0f,\"again_per_s\":%.0f,\"again_per_cpu_s\":%.0f}\n",
		last ? "" : "  ", (unsigned long long)jobs, (unsigned long long)shapes, tell, bytes,
		finish, refuse, drain.per_s, drain.per_cpu_s, again.per_s, again.per_cpu_s);
	queue_free(q);
	free(r.uid);
}

int main(int argc, char **argv)
{
	uint64_t jobs = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
	if (jobs < 2 * ROUNDS)
		jobs = 2 * ROUNDS;
	if (argc > 2) {
		uint64_t shapes = strtoull(argv[2], NULL, 10);
		uint64_t booked = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
		bench(jobs, shapes ? shapes : 1, booked, true);
		return 0;
	}
	bench(jobs, 10, 0, false);
	bench(jobs, 100000, 0, true);
	return 0;
}
