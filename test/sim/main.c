/*
 * sim: the gate's protocol in virtual time, from seeds.
 *
 * A seed that breaks a promise is reported with the one command that replays it. --find plants a
 * fault of our own and succeeds when a promise is broken: the simulation can fail, and does.
 * --remembered runs the worlds of a list (remembered.txt), one after the other.
 */
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/sim/sim.h"

#define EVENTS 1500
#define WORDS_MAX 30 /* of a line of a list */
#define HANG_S 300   /* a world takes milliseconds; one that takes this long turns in a circle */

enum { EXIT_KEPT = 0, EXIT_BROKEN = 1, EXIT_USAGE = 2 };

static const char usage[] =
	"usage: sim [--cluster] [--failovers] [--partitions] [--restores] [--lending] [--growth]\n"
	"           [--pipelines] [--newcomers] [--users] [--bookings] [--replayed]\n"
	"           [--seeds N] [--start S] [--events N] [--twice] [--cover N]\n"
	"       sim --seed S [-v]            replay one world, -v: tell everything\n"
	"       sim --find BUG [--seeds N]   plant a fault; succeeds when it is found\n"
	"       sim --remembered FILE        the worlds of a list, the options of one a line\n"
	"\n"
	"  --seeds N    how many worlds (1000)\n"
	"  --start S    the first seed (1)\n"
	"  --seed S     the same as --start S --seeds 1\n"
	"  --events N   events with faults in each world, before it is let come to rest (1500)\n"
	"  --cluster    worlds with nodes and ResourceQuotas\n"
	"  --failovers  worlds whose ledger fails over, all of them (else a quarter)\n"
	"  --partitions worlds whose controllers are cut off from a server (else a fifth)\n"
	"  --restores   worlds whose API server goes back to a snapshot (else a fifth)\n"
	"  --pipelines  worlds with Jobs that wait for others, all of them (else a quarter)\n"
	"  --lending    worlds whose queues lend each other all they have, in one Cohort\n"
	"  --growth     worlds whose runs grow when there is room, all of them (else a third)\n"
	"  --newcomers  worlds in which Jobs that run get a queue, all of them (else none)\n"
	"  --users      worlds with limits for each user of a LocalQueue, all of them (else none)\n"
	"  --bookings   worlds whose Jobs book their cheapest start, all of them (else none)\n"
	"  --replayed   what each queue is told is recorded and replayed, at once\n"
	"  --bug BUG    plant a fault of our own\n"
	"  --twice      run each world twice: the logs must be the same to the byte\n"
	"  --cover N    go on until each path that matters was reached; fail after N worlds\n"
	"  -q           no summary\n"
	"\n"
	"exit status: 0 all promises kept (--find: the fault was found), 1 not, 2 usage\n"
	"faults to plant:";

struct options {
	struct sim_options world;
	const char *remembered; /* a list of worlds; NULL: seeds from world.seed on */
	uint64_t seeds;
	uint64_t cover; /* look for all paths in at most so many worlds; 0: in none */
	bool twice, quiet, find;
};

struct total {
	uint64_t seeds, events, broken;
	int64_t virtual_ms;
	uint64_t count[PATH_COUNT];
};

/* For what dies in the middle of a world: a must() of the gate, a sanitizer. */
static uint64_t seed_now;
static struct options options_now;

static void print_replay(FILE *out, const struct options *o, uint64_t seed)
{
	fprintf(out, "replay: sim --seed %" PRIu64 " --events %zu", seed, o->world.events);
	if (o->world.cluster)
		fprintf(out, " --cluster");
	if (o->world.failovers)
		fprintf(out, " --failovers");
	if (o->world.partitions)
		fprintf(out, " --partitions");
	if (o->world.restores)
		fprintf(out, " --restores");
	if (o->world.lending)
		fprintf(out, " --lending");
	if (o->world.growth)
		fprintf(out, " --growth");
	if (o->world.newcomers)
		fprintf(out, " --newcomers");
	if (o->world.pipelines)
		fprintf(out, " --pipelines");
	if (o->world.users)
		fprintf(out, " --users");
	if (o->world.bookings)
		fprintf(out, " --bookings");
	if (o->world.replayed)
		fprintf(out, " --replayed");
	if (o->world.bug != BUG_NONE)
		fprintf(out, " --bug %s", bug_name(o->world.bug));
	fprintf(out, " -v\n");
}

static void on_abort(int number)
{
	fprintf(stderr, "sim: %s in seed %" PRIu64 "\n", number == SIGALRM ? "hangs" : "died",
		seed_now);
	print_replay(stderr, &options_now, seed_now);
	_exit(EXIT_BROKEN);
}

#if defined(__SANITIZE_ADDRESS__)
void __sanitizer_set_death_callback(void (*callback)(void));
static void on_sanitizer(void)
{
	on_abort(0);
}
#endif

static bool bug_parse(const char *name, enum bug *ret)
{
	for (enum bug b = 0; b < BUG_COUNT; b++)
		if (!strcmp(bug_name(b), name)) {
			*ret = b;
			return true;
		}
	return false;
}

static int refuse(const char *what)
{
	if (what)
		fprintf(stderr, "sim: %s\n", what);
	fputs(usage, stderr);
	for (enum bug b = 1; b < BUG_COUNT; b++)
		fprintf(stderr, " %s", bug_name(b));
	fputc('\n', stderr);
	return EXIT_USAGE;
}

static bool number(const char *text, uint64_t *ret)
{
	char *end;
	*ret = strtoull(text, &end, 10);
	return *text && *text != '-' && !*end;
}

static int parse(int argc, char **argv, struct options *o)
{
	enum {
		SEEDS = 256,
		START,
		SEED,
		EVENTS_,
		COVER,
		BUG,
		FIND,
		REMEMBERED,
		TWICE,
		CLUSTER,
		FAILOVERS,
		PARTITIONS,
		RESTORES,
		LENDING,
		GROWTH,
		PIPELINES,
		NEWCOMERS,
		USERS,
		BOOKINGS,
		REPLAYED
	};
	static const struct option longs[] = {{"seeds", 1, NULL, SEEDS}, {"start", 1, NULL, START},
		{"seed", 1, NULL, SEED}, {"events", 1, NULL, EVENTS_}, {"bug", 1, NULL, BUG},
		{"find", 1, NULL, FIND}, {"twice", 0, NULL, TWICE}, {"cover", 1, NULL, COVER},
		{"remembered", 1, NULL, REMEMBERED}, {"cluster", 0, NULL, CLUSTER},
		{"failovers", 0, NULL, FAILOVERS}, {"partitions", 0, NULL, PARTITIONS},
		{"restores", 0, NULL, RESTORES}, {"lending", 0, NULL, LENDING},
		{"growth", 0, NULL, GROWTH}, {"pipelines", 0, NULL, PIPELINES},
		{"newcomers", 0, NULL, NEWCOMERS}, {"users", 0, NULL, USERS},
		{"bookings", 0, NULL, BOOKINGS}, {"replayed", 0, NULL, REPLAYED}, {0}};
	uint64_t n = 0;
	optind = 0; /* from the start again: a list has many lines */
	for (int c; (c = getopt_long(argc, argv, "vqh", longs, NULL)) != -1;) {
		bool numeric = c >= SEEDS && c <= COVER;
		if (numeric && !number(optarg, &n))
			return refuse("that is not a number");
		if ((c == BUG || c == FIND) && !bug_parse(optarg, &o->world.bug))
			return refuse("no such fault to plant");
		o->seeds = c == SEEDS ? n : c == SEED ? 1 : o->seeds;
		o->world.seed = c == START || c == SEED ? n : o->world.seed;
		o->world.events = c == EVENTS_ ? (size_t)n : o->world.events;
		o->cover = c == COVER ? n : o->cover;
		o->find |= c == FIND;
		o->remembered = c == REMEMBERED ? optarg : o->remembered;
		o->twice |= c == TWICE;
		o->world.cluster |= c == CLUSTER;
		o->world.failovers |= c == FAILOVERS;
		o->world.partitions |= c == PARTITIONS;
		o->world.restores |= c == RESTORES;
		o->world.lending |= c == LENDING;
		o->world.growth |= c == GROWTH;
		o->world.pipelines |= c == PIPELINES;
		o->world.newcomers |= c == NEWCOMERS;
		o->world.users |= c == USERS;
		o->world.bookings |= c == BOOKINGS;
		o->world.replayed |= c == REPLAYED;
		o->world.verbose |= c == 'v';
		o->quiet |= c == 'q';
		if (c == '?' || c == 'h')
			return refuse(NULL);
	}
	return optind < argc ? refuse("no arguments, only options") : 0;
}

static void tell_broken(const struct options *o, uint64_t seed, const struct sim_report *r)
{
	printf("seed %" PRIu64 ": %s broken at %.3f s: %s\n", seed, r->broken,
		(double)r->at_ms / 1000.0, r->seen);
	print_replay(stdout, o, seed);
	fflush(stdout);
}

/* A world that breaks without the fault, too, has not found it. */
static bool is_found(const struct options *o, uint64_t seed)
{
	struct sim_options w = o->world;
	struct sim_report r;
	w.seed = seed;
	w.bug = BUG_NONE;
	sim_run(&w, &r);
	if (!r.ok)
		printf("seed %" PRIu64 ": breaks without the fault as well\n", seed);
	return r.ok;
}

static void run_seed(const struct options *o, uint64_t seed, struct total *t)
{
	struct sim_options w = o->world;
	struct sim_report r;
	w.seed = seed_now = seed;
	alarm(HANG_S);
	sim_run(&w, &r);
	if (r.ok && o->twice) {
		struct sim_report again;
		sim_run(&w, &again);
		if (again.hash != r.hash) {
			r.ok = false;
			snprintf(r.broken, sizeof(r.broken), "P8");
			snprintf(r.seen, sizeof(r.seen),
				"the same seed gave two logs: %016" PRIx64 " and %016" PRIx64,
				r.hash, again.hash);
		}
	}
	t->seeds++;
	t->events += r.events;
	t->virtual_ms += r.at_ms;
	for (enum path p = 0; p < PATH_COUNT; p++)
		t->count[p] += r.count[p];
	if (r.ok || (o->find && !is_found(o, seed)))
		return;
	t->broken++;
	tell_broken(o, seed, &r);
}

static void tell_total(const struct total *t)
{
	printf("%" PRIu64 " worlds, %" PRIu64 " events, %.1f days of virtual time, %" PRIu64
	       " broken\n",
		t->seeds, t->events, (double)t->virtual_ms / 86400000.0, t->broken);
	for (enum path p = 0; p < PATH_COUNT; p++)
		printf("%12" PRIu64 "  %s\n", t->count[p], path_text(p));
}

static bool is_of_growth(enum path p)
{
	return p >= PATH_GROWN && p <= PATH_GROWN_AT_REST;
}

static bool is_of_newcomers(enum path p)
{
	return p >= PATH_NEWCOMER_ADOPTED && p <= PATH_NEWCOMER_CHEATS;
}

static bool is_of_bookings(enum path p)
{
	return p >= PATH_BOOKED && p <= PATH_ADVANCE_GIVEN_BACK;
}

/* Of worlds with a cluster, and of those with growth alone: what is only in them. */
static bool is_expected(enum path p, const struct sim_options *o)
{
	if (o->cluster)
		return p >= PATH_POD_REFUSED;
	if (is_of_bookings(p) || o->bookings)
		return is_of_bookings(p) && o->bookings;
	if (is_of_newcomers(p) || o->newcomers)
		return is_of_newcomers(p) && o->newcomers;
	if (is_of_growth(p) || o->growth)
		return is_of_growth(p) && o->growth;
	return p < PATH_POD_REFUSED && p != PATH_OWN_LENT; /* of --lending alone */
}

static bool is_missing(enum path p, const struct total *t, const struct options *o)
{
	return !t->count[p] && is_expected(p, &o->world);
}

static bool all_reached(const struct total *t, const struct options *o)
{
	for (enum path p = 0; p < PATH_COUNT; p++)
		if (is_missing(p, t, o))
			return false;
	return true;
}

static void tell_unreached(const struct total *t, const struct options *o)
{
	for (enum path p = 0; p < PATH_COUNT; p++)
		if (is_missing(p, t, o))
			printf("never reached: %s\n", path_text(p));
}

static void run_seeds(const struct options *o, struct total *t)
{
	options_now = *o;
	for (uint64_t i = 0; i < o->seeds && !(o->find && t->broken); i++)
		run_seed(o, o->world.seed + i, t);
	/* Worlds are drawn otherwise some day: then what is rare comes later. */
	for (uint64_t i = o->seeds; i < o->cover && !all_reached(t, o); i++)
		run_seed(o, o->world.seed + i, t);
}

/* Returns the exit status. Names the seed that found the fault: tests begin there. */
static int find(const struct options *o)
{
	struct total t = {0};
	run_seeds(o, &t);
	printf("%s: %s after %" PRIu64 " worlds", bug_name(o->world.bug),
		t.broken ? "found" : "NOT found", t.seeds);
	if (t.broken)
		printf(", in seed %" PRIu64, seed_now);
	printf("\n");
	return t.broken ? EXIT_KEPT : EXIT_BROKEN;
}

/* Splits a line of a list into words, without what follows a #. Returns how many, at most `most`. */
static int split(char *line, char **word, int most)
{
	int n = 0;
	line[strcspn(line, "#\n")] = '\0';
	for (char *rest = line, *w; n < most && (w = strtok_r(rest, " \t", &rest));)
		word[n++] = w;
	return n;
}

/* Runs the worlds of a list. A line has the options of a world as on the command line, over those of
 * `base`. A broken one stops none of the others. Returns the exit status. */
static int run_remembered(const struct options *base)
{
	FILE *f = fopen(base->remembered, "r");
	if (!f) {
		perror(base->remembered);
		return EXIT_USAGE;
	}
	struct total t = {0};
	char program[] = "sim", line[256];
	int refused = 0;
	for (size_t at = 1; !refused && fgets(line, sizeof(line), f); at++) {
		char *word[WORDS_MAX + 2] = {program};
		int nwords = split(line, word + 1, WORDS_MAX);
		if (!nwords)
			continue;
		struct options o = *base;
		o.remembered = NULL;
		uint64_t broken = t.broken;
		refused = parse(nwords + 1, word, &o);
		if (!refused && (o.remembered || o.find))
			refused = refuse("a line of a list is a world that keeps all promises");
		if (!refused)
			run_seeds(&o, &t);
		if (refused || t.broken > broken)
			printf("%s:%zu: %s\n", base->remembered, at,
				refused ? "cannot be read" : "broken");
	}
	fclose(f);
	if (refused)
		return refused;
	printf("%" PRIu64 " worlds remembered, %" PRIu64 " broken\n", t.seeds, t.broken);
	return t.seeds && !t.broken ? EXIT_KEPT : EXIT_BROKEN;
}

int main(int argc, char **argv)
{
	struct options o = {.world = {.seed = 1, .events = EVENTS}, .seeds = 1000};
	int refused = parse(argc, argv, &o);
	if (refused)
		return refused;
	signal(SIGABRT, on_abort);
	signal(SIGALRM, on_abort);
#if defined(__SANITIZE_ADDRESS__)
	__sanitizer_set_death_callback(on_sanitizer);
#endif
	if (o.remembered)
		return run_remembered(&o);
	if (o.find)
		return find(&o);
	struct total t = {0};
	run_seeds(&o, &t);
	if (!o.quiet)
		tell_total(&t);
	bool covered = !o.cover || all_reached(&t, &o);
	if (!covered)
		tell_unreached(&t, &o);
	return t.broken || !covered ? EXIT_BROKEN : EXIT_KEPT;
}
