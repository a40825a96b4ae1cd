/*
 * `sluice move`: another LocalQueue for a Job that waits (label sluice.dev/queue-name). The changes
 * that the policies refuse (deploy/policies/validating) are refused here, with the commands that
 * cure it: a Job that holds quota is stopped first.
 */
#ifndef SLUICE_CLI_MOVE_H
#define SLUICE_CLI_MOVE_H

#include "cli/job_change.h"

struct move {
	struct job_options of; /* value: the queue */
	char inactive[256];    /* why nothing starts in that queue now; "": no reason is known */
};

extern const struct flag_table move_flags;
extern const struct job_change move_change;

#endif
