/*
 * How long runs take: a distribution, drawn from the runs that ended before.
 *
 * Samples are told as plain facts: whose Job ran, what was asked, how long it took. A sample is
 * kept in groups, from the narrow to the wide:
 *
 *   twins     the same family, and the same number of pods;
 *   family    the same CronJob or generateName in a namespace;
 *   user      the same user in a LocalQueue;
 *   queue     the same ClusterQueue;
 *   all.
 *
 * A group keeps its last DURATIONS_KEPT samples. Newer ones weigh more, because people work on one
 * thing for some days. A draw takes from the narrow groups most of the time, the more so the more
 * samples they have, and now and then from the wider ones, which know what else may happen.
 *
 * Where people ask for a time, either the length of runs is learned or the share that they take of
 * what was asked: whichever has varied less in the group. So of a user with a habit of asking for
 * four times the length a quarter is believed, and of a user with the habit of asking for a day
 * nothing. Where no share is known, the owner's word counts, with the spread that such words have
 * (DURATION_ASKED_SPREAD). Runs of others that asked for nothing say nothing against it; runs of
 * the same family do.
 *
 * The fewer samples there are, the wider each is taken: one run is a hint.
 *
 * For a run that has lasted ran_ms already only longer samples count. When no sample is longer it
 * is overdue. Then it goes on for a part of what it has lasted (OVERDUE_SHAPE), as runs that
 * outlive all predictions do.
 *
 * Draws are deterministic: of (seed, Job) alone, whatever was drawn before. In one play (one seed)
 * the lengths of one group are drawn alike to a part: when the first of twenty runs of an afternoon
 * takes longer than such runs did before, the others do, too. Without that the sum of many lengths
 * would look far surer than it is.
 *
 * Memory: at most DURATIONS_GROUPS groups of a few KB. Beyond, the group that was told the longest
 * time ago is forgotten. So a tenant who invents families costs others what they knew, and nothing
 * else. Names are hashed with a key that tenants do not know; draws do not depend on it.
 */
#ifndef SLUICE_FORECAST_DURATIONS_H
#define SLUICE_FORECAST_DURATIONS_H

#include "base/siphash.h"
#include "sluice/queue.h"

#define DURATIONS_KEPT 64
#define DURATIONS_GROUPS 20000

struct durations;

struct durations *durations_new(const struct siphash_key *key);
void durations_free(struct durations *d);

size_t durations_groups(const struct durations *d); /* that are kept */

/* What is known of a run. Borrowed for the call. */
struct duration_run {
	const char *ns, *family, *user, *localqueue, *clusterqueue; /* "" where there is none */
	int32_t pods;						    /* 0: not known */
	int64_t asked_ms;					    /* 0: nothing was asked */
	bool ends;						    /* asked_ms is a deadline */
};
struct duration_run duration_run_of(const struct job_outline *o);

/* Tells of a run that ended well after ran_ms. */
void durations_tell(struct durations *d, const struct duration_run *run, int64_t ran_ms);

/* Works out what the samples mean. A draw would do that of the groups that it needs, but again in
 * each copy of this process (ask.h): so it is done before the copies are made. */
void durations_settle(struct durations *d);
/* Works out what the samples of some groups mean, at most so many; false: some are left. */
bool durations_settle_some(struct durations *d, size_t groups);

/* What a draw rested on. */
enum duration_basis {
	BASIS_ASKED,   /* nothing is known but what was asked */
	BASIS_GUESS,   /* nothing is known: DURATION_GUESS_MS */
	BASIS_SAMPLES, /* earlier runs */
	BASIS_OVERDUE, /* the run has lasted longer than all earlier ones */
};
#define DURATION_GUESS_MS (INT64_C(3600) * 1000)
/* The standard deviation of the logarithm: two of three runs take 0.6 to 1.6 times what was asked for. */
#define DURATION_ASKED_SPREAD 0.5

/* Draws how long the run takes in all: more than ran_ms. */
int64_t durations_draw(struct durations *d, const struct duration_run *run, const struct uid *uid,
	uint64_t seed, int64_t ran_ms, enum duration_basis *ret_basis);

#endif
