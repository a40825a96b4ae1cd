/*
 * A play: the queue as it is at one instant, played forward in virtual time, until each Job that
 * waits now has started or nothing will start it.
 *
 * The decisions are the core's own: queue_decide() is asked at each instant at which something
 * happens, and at those that it names itself (a window opens, a price falls, a budget's period
 * begins). What the cluster adds is assumed to go well:
 *
 *   a start    is confirmed at once, and its pods are ready;
 *   a run      ends when it is expected to: lengths (below) says when, also of those that run now;
 *   a stop     gives its quota back after the grace of its pods; the work is lost, and the Job waits
 *              again at its old place;
 *   growth     is confirmed at once; a run that gives pods has them until their grace is over. With
 *              fewer pods the rest of the work takes longer;
 *   a failure  does not happen: each run that ends has ended well.
 *
 * The play spends the queue: the caller gives a copy, as a forked child has one (ask.h), and frees
 * or forgets it afterwards. Nothing else is touched: no clock, no file, no randomness. The same
 * queue and the same lengths give the same starts.
 *
 * The play has an end. Nothing is played that is later than the horizon. A play that takes more
 * instants or decisions than its limits is cut off, and says so. Jobs that have not started by then
 * have no start time, but the reason for which they waited last.
 *
 * Known limits. Jobs that come later count only if the caller tells of them. To the nodes, pods
 * that are bound now stay (only clusterFit: Now asks), and a ResourceQuota's status stays as it
 * was. A Job that waits for a selector of Jobs (sluice.dev/after) does not start, since the queue
 * wants an answer from the API server first. Jobs beyond maxWaiting, which are kept by name alone,
 * are not played.
 *
 * `sluice simulate` has an engine of its own (cli/simulate/engine.h), which plays a world: its Jobs
 * come from files, fail, are deleted and follow each other, and journals are told. A play knows of
 * a Job only its uid and what the queue says. Both share the agenda (base/agenda.h).
 */
#ifndef SLUICE_FORECAST_PLAY_H
#define SLUICE_FORECAST_PLAY_H

#include <signal.h>

#include "sluice/queue.h"

#define PLAY_HORIZON_MS (INT64_C(30) * 86400 * 1000)
#define PLAY_NEVER INT64_MAX

/* How long runs take. */
struct play_lengths {
	/* Says how long a run that has lasted ran_ms (0: it begins) takes in all, in ms, with all
	 * its pods. ran_ms or less: it ends at once. PLAY_NEVER: it does not end. */
	int64_t (*length_ms)(const struct job_outline *job, int64_t ran_ms, void *ctx);
	void *ctx;
};

/* Jobs that are to come. */
struct play_arrivals {
	/* Gives the next Job, by time; false: there is none any more. *ret_job and what it points
	 * to stays valid until the next call. NULL: none comes. */
	bool (*next)(int64_t *ret_at_ms, const struct job **ret_job, void *ctx);
	void *ctx;
};

struct play_limits {
	int64_t horizon_ms; /* after the beginning */
	uint64_t decisions; /* the most that are made */
	uint64_t instants;  /* the most at which queue_decide() is asked */
	/* The grace of pods of runs that begin in the play: the queue knows it only of runs of
	 * now. */
	int64_t grace_ms;
	bool costs; /* struct play_costs is wanted */
	/* Called once, when the queue has decided at the first instant; also where no Job waits. NULL: not. */
	void (*decided)(const struct queue *q, void *ctx);
	void *ctx;
	/* Set to 1 by a signal: the play is cut off as soon as may be. NULL: nothing does. */
	const volatile sig_atomic_t *enough;
};
#define PLAY_GRACE_MS 30000 /* Kubernetes' default */
/* Returns limits for `jobs` Jobs, waiting or running: a hundred decisions and a hundred instants
 * for each. Each Job that comes brings as many of its own. */
struct play_limits play_limits_for(size_t jobs);

/* What became of a Job that waited at the beginning. */
struct play_start {
	struct uid uid;
	int64_t start_ms; /* when it first starts; PLAY_NEVER: not in this play, for: */
	enum wait_reason reason;
};

enum play_end {
	PLAY_ALL_STARTED, /* each Job that waited has started */
	PLAY_STANDS,	  /* nothing would happen any more; the rest never starts */
	PLAY_AT_HORIZON,
	PLAY_CUT, /* more instants or decisions than its limits */
};

#define PLAY_CURRENCIES_MAX 4
#define PLAY_CURRENCY_SIZE 24

/* The costs of the first runs of the Jobs that waited at the beginning, each to its end by its
 * length, even if that is after the end of the play. Only with play_limits.costs. Left out are runs
 * without a price, runs that do not end, and a fifth currency. */
struct play_costs {
	struct play_cost {
		char currency[PLAY_CURRENCY_SIZE];
		int64_t amount; /* millionths */
	} item[PLAY_CURRENCIES_MAX];
	size_t n;
};
void play_costs_add(struct play_costs *c, const char *currency, int64_t amount);
/* Finds the costs in a currency; NULL: there are none. */
const struct play_cost *play_costs_find(const struct play_costs *c, const char *currency);

struct play_result {
	struct play_start *start; /* by uid; those that waited at the beginning */
	size_t n;
	enum play_end end;
	uint64_t decisions, instants;
	int64_t last_ms; /* of the last instant */
	struct play_costs costs;
};

/* The most Jobs of which the reason is asked in the end, since each costs microseconds. The others
 * have WAIT_PENDING_EVALUATION. */
#define PLAY_REASONS_MAX 20000

/* Plays q from now_ms on. arrivals may be NULL. */
void play(struct queue *q, int64_t now_ms, const struct play_lengths *lengths,
	const struct play_arrivals *arrivals, const struct play_limits *limits,
	struct play_result *ret);
void play_result_done(struct play_result *r);
/* Finds the start of a Job; NULL: the Job did not wait at the beginning. */
const struct play_start *play_find(const struct play_result *r, const struct uid *uid);

#endif
