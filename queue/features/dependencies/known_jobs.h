/*
 * The Jobs that had one name, as far as they are known, in the order of their creation. The last of
 * them is what the name means now. The others count for items that are older than their successors.
 *
 * Which of them counts for an item: each that was the newest at some moment since the Job that waits
 * is there. That is what a controller that was always there has seen, and what one that was started a
 * minute ago works out from the list of all of them. What is not known counts for nothing: a creation
 * (the ledger of older versions), or the order of what happened within one second.
 *
 * The words for what becomes of a Job are Slurm's, and so is their meaning: a Job that was deleted
 * while it ran has ended, and not well. One that was deleted before it was ever started is as if it
 * had never been: nobody could tell it from that after a restart of the controller.
 */
#ifndef SLUICE_QUEUE_FEATURES_DEPENDENCIES_KNOWN_JOBS_H
#define SLUICE_QUEUE_FEATURES_DEPENDENCIES_KNOWN_JOBS_H

#include <stddef.h>

#include "sluice/dependency.h"

/* What has become of a Job that others wait for. */
enum outcome {
	OUTCOME_WAITS,
	OUTCOME_RUNS, /* or was started before */
	OUTCOME_SUCCEEDED,
	OUTCOME_FAILED,
	OUTCOME_DELETED,  /* after it was started, and before it ended */
	OUTCOME_VANISHED, /* it was started, and is gone: how it ended was not seen */
	OUTCOME_NONE,	  /* there is no such Job */
};
#define OUTCOMES (OUTCOME_VANISHED + 1)

/* What an item of sluice.dev/after says to that. */
enum dependency_verdict {
	VERDICT_WAITS,
	VERDICT_HOLDS, /* for good */
	VERDICT_NEVER, /* not before its name is used again */
};

enum outcome outcome_of(const struct predecessor *p);
bool outcome_ended(enum outcome o); /* well or badly, and how is known */

enum dependency_verdict outcome_verdict(enum outcome o, enum dependency_kind k);

#define KNOWN_JOBS_MAX 64 /* older ones are forgotten */

/* A Job of a name, as it was last seen. */
struct known_job {
	struct uid uid;
	int64_t created_ms, ended_ms; /* 0: not known */
	enum outcome outcome;
	int32_t pods_done, pods;
	bool gone, followed;
	bool in_ledger; /* what became of it can be read there */
	bool told_end;	/* it is not followed any more, and all it became until then was told */
	uint8_t spared; /* so many answers that do not name it were asked for before that */
	char *failure;	/* NULL: none */
};

struct known_jobs {
	struct known_job *job;
	size_t n, room;
};

void known_jobs_done(struct known_jobs *all);

struct known_job *known_jobs_find(const struct known_jobs *all, const struct uid *uid);
struct known_job *known_jobs_newest(const struct known_jobs *all); /* NULL: there is none */
/* Takes over j->failure. Its place follows from created_ms, ended_ms, whether it is there, and uid. */
void known_jobs_insert(struct known_jobs *all, const struct known_job *j);
void known_jobs_remove(struct known_jobs *all, struct known_job *j);

/* For an item of a Job that was created then. There is one Job at least. */
enum dependency_verdict known_jobs_verdict(
	const struct known_jobs *all, enum dependency_kind k, int64_t follower_created_ms);

#endif
