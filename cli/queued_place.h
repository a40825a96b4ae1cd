/*
 * What became of a Job right after a change to it: its place in line, where the API server serves
 * visibility.sluice.dev. The controller takes a moment to see the change, so it is asked several
 * times, one and a half seconds at most. Where it does not answer, less is said, and nothing fails.
 */
#ifndef SLUICE_CLI_QUEUED_PLACE_H
#define SLUICE_CLI_QUEUED_PLACE_H

#include "base/buf.h"
#include "cli/job_change.h"

struct queued_place {
	bool waits, starts; /* neither: the Job does something else, or is not known */
	int64_t position;   /* 0: not in line */
	char waits_for[80]; /* "its window to open"; "" where it is not said */
	int64_t priority;   /* the priority that counts */
};

/* Asks for the place, until seen says that a QueuedJob knows of the change. False: it cannot be
 * had. */
bool queued_place_ask(const struct job_asked *a,
	bool (*seen)(const cJSON *queued_job, const void *ctx), const void *ctx,
	struct queued_place *ret);

/* ", 3 Jobs are ahead of it", "; it waits (its window to open)": a part of a sentence about a Job that waits. */
void queued_place_tell(const struct queued_place *p, struct buf *out);

#endif
