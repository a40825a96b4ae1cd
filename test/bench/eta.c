/*
 * How far forecasts of starts are from what came. No test: it prints rows for test/bench/eta.py,
 * which has the sums.
 *
 * A trace is played by the engine of `sluice simulate`, with the true lengths of its runs: that is
 * what comes. The forecast (forecast/ask.h) is asked in between, of the same queue, which knows only
 * what people asked for and the runs that have ended by then. The two loops are different code. So a
 * play that is told all lengths and all Jobs to come must be right to the millisecond, which is
 * checked with each question (column `all`).
 *
 *   bench_eta --world FILE --trace FILE --compress X --queue NS/NAME|- --asks N [--seed S]
 *             [--people each|habit|same] [--exact] [--told] [--once] [--quick]
 *
 * Which Jobs are asked for: N of those that will have waited more than a minute, evenly, each at its
 * arrival. --exact: people know how long their Jobs run. --told: all lengths were seen before, as
 * samples, so that what a family does is known as well as can be. --once: the only question is put for
 * the first of the Jobs, for the sake of its cost. --people: what they ask for (ask_as_people()).
 * --quick: p10, p50 and p90 alone.
 *
 * Rows, a line each: arrival, start, then what was told at the arrival: p10, p50, p90; `alone`, the
 * median of plays in which no Job comes any more; `asked`, such a play with the times that people
 * asked for, as Slurm's; `lengths`, one with the true lengths; `comers`, the median of plays that
 * know what will come, but not the lengths; `all`, both. In ms after the trace's start; -1: never.
 */
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/simulate/engine.h"
#include "cli/simulate/manifest.h"
#include "forecast/arrivals.h"
#include "forecast/ask.h"
#include "forecast/durations.h"

#define MINUTE_MS 60000

enum knows {
	KNOWS_PAST,
	KNOWS_LENGTHS_OF_PAST,
	KNOWS_ASKED,
	KNOWS_LENGTHS,
	KNOWS_COMERS,
	KNOWS_ALL
};

enum people { PEOPLE_EACH, PEOPLE_HABIT, PEOPLE_SAME, PEOPLE };
static const char *const people_name[] = {"each", "habit", "same"};

struct options {
	enum people people;
	const char *world, *trace, *queue;
	double compress;
	size_t asks;
	int64_t seed;
	bool exact, told, once, quick;
};

struct bench {
	const struct options *o;
	struct world *w;
	struct durations *durations;
	struct arrivals *arrivals;
	int64_t *start_ms; /* first starts; NEVER_MS */
	bool *chosen;
	size_t narrived; /* of world.arrival */
	size_t nasked;
	int64_t cpu_us, cpu_most_us;
	size_t plays;
	/* Of a play, in its own process. */
	enum knows knows;
	uint64_t draw;
	int64_t now_ms;
	size_t next_comer;
	struct job_scratch scratch;
	struct job comer;
};

static uint64_t draw_bits(uint64_t *state)
{
	uint64_t z = (*state += 0x9E3779B97F4A7C15u);
	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return z ^ z >> 31;
}

static double draw_part(uint64_t *state)
{
	return (double)(draw_bits(state) >> 11) / 9007199254740992.0;
}

/* ---- what people ask for --------------------------------------------------------------------- */

static const int64_t round_s[] = {60, 120, 300, 600, 900, 1200, 1800, 2700, 3600, 5400, 7200, 10800,
	14400, 21600, 28800, 36000, 43200, 64800, 86400, 129600, 172800, 259200};
enum { ROUND = sizeof(round_s) / sizeof(*round_s) };

static int64_t rounded(double s, bool up)
{
	for (size_t i = 0; up && i < ROUND; i++)
		if ((double)round_s[i] >= s)
			return round_s[i];
	for (size_t i = ROUND; !up && i > 0; i--)
		if ((double)round_s[i - 1] <= s)
			return round_s[i - 1];
	return (int64_t)s;
}

/* 1 to 10 times what it takes, each factor as likely as its half. */
static double factor_of(uint64_t *state)
{
	return pow(10, draw_part(state));
}

static int64_t asked_s(uint64_t *state, int64_t run_s, double factor)
{
	double s = fmax(1, (double)run_s * factor);
	bool is_round = draw_part(state) < 0.8;
	return is_round ? rounded(s, factor >= 1) : (int64_t)ceil(s);
}

/* What people asked for the last Job of an application. */
struct habit {
	double factor;	 /* PEOPLE_HABIT */
	int64_t asked_s; /* PEOPLE_SAME; 0: nothing yet */
};

static struct habit *habit_of(struct habit *all, size_t n, const struct trace_job *j, int64_t seed)
{
	uint64_t state = (uint64_t)(j->user * 100003 + j->application) ^ (uint64_t)seed << 32;
	struct habit *h = &all[draw_bits(&state) % n];
	if (h->factor == 0)
		h->factor = factor_of(&state);
	return h;
}

/* One Job in ten gets half of what it takes, up to all of it. Four of five figures are round. Of the
 * others the factor is drawn for each Job; or, four times of five, is that of its user and
 * application; or the figure itself is copied from the last Job of these, nine times of ten. */
static void ask_as_people(struct trace *t, int64_t seed, enum people people)
{
	enum { HABITS = 1 << 20 };
	struct habit *habits = mem_array(HABITS, sizeof(*habits));
	uint64_t state = (uint64_t)seed;
	for (size_t i = 0; i < t->njobs; i++) {
		struct trace_job *j = &t->job[i];
		struct habit *h = habit_of(habits, HABITS, j, seed);
		bool short_of = draw_part(&state) < 0.1, again = draw_part(&state) < 0.8;
		double factor = short_of ? 0.5 + draw_part(&state) / 2 : factor_of(&state);
		bool copies = draw_part(&state) < 0.9;
		if (people == PEOPLE_HABIT && again && !short_of)
			factor = h->factor;
		j->requested_ms = 1000 * asked_s(&state, j->run_ms / 1000, factor);
		if (people == PEOPLE_SAME && copies && h->asked_s > 0)
			j->requested_ms = 1000 * h->asked_s;
		h->asked_s = j->requested_ms / 1000;
	}
	free(habits);
}

/* ---- what a play is given -------------------------------------------------------------------- */

static int64_t true_length_ms(const struct bench *b, const struct uid *uid)
{
	return b->w->sim_job[world_find(b->w, uid)].duration_ms;
}

/* As Slurm: a run lasts as long as was asked for. One that lasts longer would be killed; here it
 * is expected to end within a minute. */
static int64_t asked_length_ms(const struct job_outline *o, int64_t ran_ms)
{
	return o->expected_ms > ran_ms ? o->expected_ms : ran_ms + MINUTE_MS;
}

static int64_t length_ms(const struct job_outline *o, int64_t ran_ms, void *ctx)
{
	struct bench *b = ctx;
	struct duration_run run = duration_run_of(o);
	enum duration_basis basis;
	if (b->knows == KNOWS_LENGTHS || b->knows == KNOWS_ALL)
		return true_length_ms(b, &o->uid);
	if (b->knows == KNOWS_ASKED)
		return asked_length_ms(o, ran_ms);
	return durations_draw(b->durations, &run, &o->uid, b->draw, ran_ms, &basis);
}

static bool next_comer(int64_t *ret_at_ms, const struct job **ret_job, void *ctx)
{
	struct bench *b = ctx;
	if (b->next_comer >= b->w->narrivals)
		return false;
	size_t sim_job = b->w->arrival[b->next_comer++];
	b->comer = world_job(b->w, sim_job, &b->scratch);
	*ret_at_ms = b->w->sim_job[sim_job].arrival_ms;
	*ret_job = &b->comer;
	return true;
}

static void begin(
	size_t draw, struct play_lengths *lengths, struct play_arrivals *arrivals, void *ctx)
{
	struct bench *b = ctx;
	b->draw = draw;
	b->next_comer = b->narrived;
	*lengths = (struct play_lengths){length_ms, b};
	if (b->knows == KNOWS_COMERS || b->knows == KNOWS_ALL)
		*arrivals = (struct play_arrivals){next_comer, b};
	if (b->knows == KNOWS_PAST)
		*arrivals = (struct play_arrivals){
			arrivals_next, arrivals_draw_new(b->arrivals, draw, b->now_ms)};
}

/* ---- questions ------------------------------------------------------------------------------- */

static struct quantiles ask(struct bench *b, enum knows knows, size_t draws, const struct uid *uid)
{
	struct ask_options o = {.now_ms = b->now_ms,
		.draws = draws,
		.begin = begin,
		.ctx = b,
		.play_s = 30,
		.ask_ms = 600000};
	struct ask_answer answer;
	struct ask *a;
	struct err e;
	int rc;
	b->knows = knows;
	durations_settle(b->durations);
	if (ask_begin(b->w->queue, &o, &a, &e) < 0) {
		fprintf(stderr, "bench_eta: %s\n", e.text);
		exit(1);
	}
	while ((rc = ask_read(a, &answer, &e)) == 0) {
		struct pollfd fd = {ask_fd(a), POLLIN, 0};
		poll(&fd, 1, -1);
	}
	if (rc < 0 || answer.draws < draws) {
		fprintf(stderr, "bench_eta: %s\n", rc < 0 ? e.text : "a play failed");
		exit(1);
	}
	if (knows == KNOWS_PAST) {
		b->plays += answer.draws;
		b->cpu_us += answer.plays_cpu_us;
		if (answer.play_cpu_most_us > b->cpu_most_us)
			b->cpu_most_us = answer.play_cpu_most_us;
	}
	struct quantiles q = ask_find(&answer, uid)->start;
	ask_free(a);
	return q;
}

static long long after_start(const struct bench *b, int64_t ms)
{
	return ms == NEVER_MS ? -1 : (long long)(ms - b->w->start_ms);
}

static void ask_all(struct bench *b, size_t sim_job)
{
	struct uid uid = world_uid(b->w, sim_job);
	struct quantiles told = ask(b, KNOWS_PAST, ASK_DRAWS, &uid);
	if (b->o->quick)
		printf("%lld %lld %lld %lld %lld 0 0 0 0 0\n", after_start(b, b->now_ms),
			after_start(b, b->start_ms[sim_job]), after_start(b, told.p10_ms),
			after_start(b, told.p50_ms), after_start(b, told.p90_ms));
	else if (!b->o->once) {
		printf("%lld %lld %lld %lld %lld", after_start(b, b->now_ms),
			after_start(b, b->start_ms[sim_job]), after_start(b, told.p10_ms),
			after_start(b, told.p50_ms), after_start(b, told.p90_ms));
		printf(" %lld",
			after_start(b, ask(b, KNOWS_LENGTHS_OF_PAST, ASK_DRAWS / 2, &uid).p50_ms));
		printf(" %lld", after_start(b, ask(b, KNOWS_ASKED, 1, &uid).p50_ms));
		printf(" %lld", after_start(b, ask(b, KNOWS_LENGTHS, 1, &uid).p50_ms));
		printf(" %lld", after_start(b, ask(b, KNOWS_COMERS, ASK_DRAWS / 2, &uid).p50_ms));
		printf(" %lld\n", after_start(b, ask(b, KNOWS_ALL, 1, &uid).p50_ms));
	}
	b->nasked++;
}

/* ---- what comes ------------------------------------------------------------------------------ */

static void see_first(const struct sim_event *e, void *ctx)
{
	struct bench *b = ctx;
	if (e->kind == SIM_EVENT_ADMITTED && b->start_ms[e->sim_job] == NEVER_MS)
		b->start_ms[e->sim_job] = e->at_ms;
}

static void look_first(int64_t now_ms, void *ctx)
{
	(void)now_ms;
	(void)ctx;
}

/* A run's end is a sample. */
static void see(const struct sim_event *e, void *ctx)
{
	struct bench *b = ctx;
	struct uid uid = world_uid(b->w, e->sim_job);
	struct job_outline o;
	if (e->kind != SIM_EVENT_FINISHED || !queue_outline_job(b->w->queue, &uid, &o))
		return;
	struct duration_run run = duration_run_of(&o);
	durations_tell(b->durations, &run, e->at_ms - o.since_ms);
}

static void look(int64_t now_ms, void *ctx)
{
	struct bench *b = ctx;
	const struct world *w = b->w;
	size_t first = b->narrived;
	b->now_ms = now_ms;
	while (b->narrived < w->narrivals &&
		w->sim_job[w->arrival[b->narrived]].arrival_ms <= now_ms)
		b->narrived++;
	for (size_t i = first; i < b->narrived; i++) {
		struct job_scratch scratch;
		struct job j = world_job(w, w->arrival[i], &scratch);
		arrivals_tell(b->arrivals, &j, now_ms);
	}
	for (size_t i = first; i < b->narrived; i++)
		if (b->chosen[w->arrival[i]] && (!b->o->once || b->nasked == 0))
			ask_all(b, w->arrival[i]);
}

static void play_world(struct bench *b, void (*see_fn)(const struct sim_event *, void *),
	void (*look_fn)(int64_t, void *))
{
	struct summary summary;
	struct watcher watcher = {see_fn, look_fn, b};
	summary_init(&summary, b->w);
	engine_run(b->w, NEVER_MS, false,
		&(struct observers){.summary = &summary, .watcher = &watcher});
	summary_done(&summary);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void fail(const char *what, const struct err *e)
{
	fprintf(stderr, "bench_eta: %s: %s\n", what, e->text);
	exit(1);
}

static void world_read(struct world *w, const struct options *o)
{
	struct queue_config config;
	struct trace t;
	struct err e = {""};
	struct trace_terms terms = {.exact = o->exact, .families = true};
	queue_config_default(&config);
	world_init(w, &config);
	if (manifest_read(w, o->world, &e) < 0)
		fail(o->world, &e);
	if (trace_read(o->trace, o->compress, &t, &e) < 0)
		fail(o->trace, &e);
	ask_as_people(&t, o->seed, o->people);
	if (world_add_trace(w, &t, strcmp(o->queue, "-") == 0 ? NULL : o->queue, &terms, &e) < 0)
		fail(o->trace, &e);
	if (world_close(w, &e) < 0)
		fail(o->world, &e);
}

/* Evenly of those that will have waited more than a minute. */
static void choose(struct bench *b)
{
	size_t waited = 0, taken = 0, seen = 0;
	for (size_t i = 0; i < b->w->nsim_jobs; i++)
		waited += b->start_ms[i] != NEVER_MS &&
			  b->start_ms[i] - b->w->sim_job[i].arrival_ms > MINUTE_MS;
	for (size_t k = 0; k < b->w->narrivals; k++) {
		size_t i = b->w->arrival[k];
		if (b->start_ms[i] == NEVER_MS ||
			b->start_ms[i] - b->w->sim_job[i].arrival_ms <= MINUTE_MS)
			continue;
		if (++seen * b->o->asks > taken * waited && taken < b->o->asks) {
			b->chosen[i] = true;
			taken++;
		}
	}
	printf("# %zu Jobs, %zu waited more than a minute, %zu are asked for\n", b->w->nsim_jobs,
		waited, taken);
}

static void tell_before(struct bench *b)
{
	for (size_t i = 0; i < b->w->nsim_jobs; i++) {
		struct job_scratch scratch;
		struct job j = world_job(b->w, i, &scratch);
		struct duration_run run = {.ns = j.ns,
			.family = j.family,
			.user = "",
			.localqueue = j.queue,
			.clusterqueue = world_clusterqueue(b->w, j.ns, j.queue),
			.pods = j.parallelism,
			.asked_ms = j.durations.expected_ms};
		durations_tell(b->durations, &run, b->w->sim_job[i].duration_ms);
	}
}

static bool parse(int argc, char **argv, struct options *o)
{
	*o = (struct options){.queue = "-", .compress = 1, .asks = 200, .seed = 1};
	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";
		if (strcmp(argv[i], "--exact") == 0)
			o->exact = true;
		else if (strcmp(argv[i], "--once") == 0)
			o->once = true;
		else if (strcmp(argv[i], "--quick") == 0)
			o->quick = true;
		else if (strcmp(argv[i], "--people") == 0) {
			for (o->people = 0; o->people < PEOPLE; o->people++)
				if (strcmp(value, people_name[o->people]) == 0)
					break;
			if (o->people == PEOPLE)
				return false;
			i++;
		} else if (strcmp(argv[i], "--told") == 0)
			o->told = true;
		else if (strcmp(argv[i], "--world") == 0)
			o->world = value, i++;
		else if (strcmp(argv[i], "--trace") == 0)
			o->trace = value, i++;
		else if (strcmp(argv[i], "--queue") == 0)
			o->queue = value, i++;
		else if (strcmp(argv[i], "--compress") == 0)
			o->compress = strtod(value, NULL), i++;
		else if (strcmp(argv[i], "--asks") == 0)
			o->asks = strtoul(value, NULL, 10), i++;
		else if (strcmp(argv[i], "--seed") == 0)
			o->seed = strtoll(value, NULL, 10), i++;
		else
			return false;
	}
	return o->world && o->trace && o->compress > 0;
}

int main(int argc, char **argv)
{
	struct options o;
	struct world first, second;
	static const struct siphash_key key = {{1, 2}};
	if (!parse(argc, argv, &o)) {
		fprintf(stderr,
			"usage: bench_eta --world FILE --trace FILE [--compress X] [--queue NS/NAME|-] [--asks N] [--seed S] [--people each|habit|same] [--exact] [--told] [--once] [--quick]\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	world_read(&first, &o);
	struct bench b = {.o = &o, .w = &first};
	b.start_ms = mem_array(first.nsim_jobs + 1, sizeof(*b.start_ms));
	b.chosen = mem_array(first.nsim_jobs + 1, sizeof(*b.chosen));
	for (size_t i = 0; i < first.nsim_jobs; i++)
		b.start_ms[i] = NEVER_MS;
	play_world(&b, see_first, look_first);
	choose(&b);
	world_done(&first);

	world_read(&second, &o);
	b.w = &second;
	b.durations = durations_new(&key);
	b.arrivals = arrivals_new();
	if (o.told)
		tell_before(&b);
	play_world(&b, see, look);
	printf("# cpu_s_per_play %.6f most %.6f plays %zu\n",
		b.plays ? (double)b.cpu_us / 1e6 / (double)b.plays : 0, (double)b.cpu_most_us / 1e6,
		b.plays);
	durations_free(b.durations);
	arrivals_free(b.arrivals);
	world_done(&second);
	free(b.start_ms);
	free(b.chosen);
	return 0;
}
