/*
 * The Jobs that had one name, as far as they are known, in the order of their creation. The last of
 * them is what the name means now. The others count for items that are older than their successors.
 *
 * Which of them counts for an item: each that was the newest at some moment since the Job that waits
 * is there. That is what a controller that was always there has seen, and what one that was started a
 * minute ago works out from the list of all of them. What is not known counts for nothing: a creation
 * (the ledger of older versions), or the order of what happened within one second.
 */
#ifndef SLUICE_QUEUE_RULES_DEPENDENCIES_KNOWN_JOBS_H
#define SLUICE_QUEUE_RULES_DEPENDENCIES_KNOWN_JOBS_H

#include <stddef.h>

#include "queue/rules/dependencies/outcome.h"

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
