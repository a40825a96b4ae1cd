/*
 * How long runs take: a distribution, drawn from the runs that ended before.
 *
 * Samples are told as plain facts: who ran, what was asked, how long it took. They are kept by group,
 * from the narrow to the wide:
 *
 *   twins     the same family, the same pods and the same time asked for
 *   family    the same CronJob or generateName in a namespace
 *   user      the same user in a LocalQueue
 *   queue     the same ClusterQueue
 *   all
 *
 * A group keeps its last DURATIONS_KEPT samples. Newer ones weigh more, because people work on one
 * thing for some days. A draw takes from the narrow groups most of the time, the more so the more
 * samples they have, and now and then from the wider ones, which know what else may happen.
 *
 * Where people ask for a time, what is learned is either how long runs take or which share of what
 * was asked they take: whichever has varied less in the group. So one who asks for four times what
 * it takes is believed a quarter, and one who always asks for a day is not asked. Where no share is
 * known, the owner's word counts, with the spread that such words have (DURATION_ASKED_SPREAD): runs
 * of others that asked for nothing say nothing against it, those of the same family do.
 *
 * The fewer samples there are, the wider each is taken: one run is a hint.
 *
 * A run that goes on already has lasted ran_ms: only longer samples count for it. When no sample is
 * longer it is overdue. Then it goes on for a part of what it has lasted (DURATION_OVERDUE), which is
 * what runs that outlive all predictions do as a rule.
 *
 * Draws are deterministic: of (seed, Job) alone, whatever was drawn before. In one play (one seed)
 * the lengths of one group are drawn alike to a part: when the first of twenty runs of an afternoon
 * takes longer than such runs did before, the others do, too. Without that the sum of many lengths
 * would look far surer than it is.
 *
 * Memory: DURATIONS_GROUPS groups of a few KB at most. Beyond, the group that was told the longest
 * time ago is forgotten, so a tenant who invents families costs others what they knew, and nothing
 * else. Names are hashed with a key that tenants do not know. It reaches no draw.
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

/* Borrowed for the call. */
struct duration_run {
	const char *ns, *family, *user, *localqueue, *clusterqueue; /* "" where there is none */
	int32_t pods;						    /* 0: not known */
	int64_t asked_ms;					    /* 0: nothing was asked */
	bool ends;						    /* at asked_ms: a deadline */
};
struct duration_run duration_run_of(const struct job_outline *o);

/* It ended well after ran_ms. */
void durations_tell(struct durations *d, const struct duration_run *run, int64_t ran_ms);

/* Works out what the samples mean. A draw does that of the groups that it needs; but in a copy of
 * this process it would be done again in each (ask.h), so it is done before the copy is made. */
void durations_settle(struct durations *d);
/* The same of so many groups at most; false: some are left. */
bool durations_settle_some(struct durations *d, size_t groups);

/* What a draw rested on. */
enum duration_basis {
	BASIS_ASKED,   /* nothing is known but what was asked */
	BASIS_GUESS,   /* not even that: DURATION_GUESS_MS */
	BASIS_SAMPLES, /* earlier runs */
	BASIS_OVERDUE, /* it has lasted longer than all of them */
};
#define DURATION_GUESS_MS (INT64_C(3600) * 1000)
/* The standard deviation of the logarithm: two of three runs take 0.6 to 1.6 times what was asked for. */
#define DURATION_ASKED_SPREAD 0.5

/* How long the run takes in all: more than ran_ms. */
int64_t durations_draw(struct durations *d, const struct duration_run *run, const struct uid *uid,
	uint64_t seed, int64_t ran_ms, enum duration_basis *ret_basis);

#endif
