/*
 * What became of the Jobs that were labelled: the API server is asked until each is decided, or the
 * time is up. The controller writes its story on a Job that it has adopted, and an Event NotAdopted
 * on a Job that its queue cannot take yet.
 *
 * Besides: which Jobs of the namespace still need the admin's permission. That is each Job that is
 * in a queue, runs and has no story, whoever labelled it: without the permission it is stopped.
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
	size_t count; /* Jobs that still need the permission */
	char first[260];
};

/* Waits, and sets outcome and why of each row that takes. Writes to progress how many are decided,
 * when that changes (NULL: nowhere). Returns 0 when the last look succeeded, whatever it showed;
 * else why it did not, and then nothing is known of the permission's use. */
int adopt_outcome_wait(struct ev_loop *loop, struct kube_client *client, struct adopt_plan *p,
	int64_t timeout_ms, FILE *progress, struct adopt_needy *ret, struct err *e);

#endif
