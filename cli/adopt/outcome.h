/*
 * What became of the Jobs that were labelled: asked of the API server until each is decided, or the
 * time is up. The controller writes its story on a Job that it has adopted, and an Event NotAdopted
 * on one that its queue cannot take yet.
 *
 * Besides: which Jobs of the namespace need the admin's permission still. That is each that is in a
 * queue, runs and has no story, whoever labelled it: without the permission it is stopped.
 */
#ifndef SLUICE_CLI_ADOPT_OUTCOME_H
#define SLUICE_CLI_ADOPT_OUTCOME_H

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "cli/adopt/plan.h"
#include "controller/kube/client.h"

struct ev_loop;

struct adopt_needy {
	size_t count; /* Jobs that need the permission still */
	char first[260];
};

/* Sets outcome and why of each row that takes. How many are decided goes to progress when it changes
 * (NULL: nowhere). 0 when the last look succeeded, whatever it showed; else why it did not: then
 * nothing is known of the permission's use. */
int adopt_outcome_wait(struct ev_loop *loop, struct kube_client *client, struct adopt_plan *p,
	int64_t timeout_ms, FILE *progress, struct adopt_needy *ret, struct err *e);

#endif
