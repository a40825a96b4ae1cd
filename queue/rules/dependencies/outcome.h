/*
 * What has become of a Job that others wait for, and what an item of sluice.dev/after says to that.
 *
 * The words are Slurm's, and so is their meaning: a Job that was deleted while it ran has ended,
 * and not well. One that was deleted before it was ever started is as if it had never been: nobody
 * could tell it from that after a restart of the controller.
 */
#ifndef SLUICE_QUEUE_RULES_DEPENDENCIES_OUTCOME_H
#define SLUICE_QUEUE_RULES_DEPENDENCIES_OUTCOME_H

#include "sluice/dependency.h"

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

enum dependency_verdict {
	VERDICT_WAITS,
	VERDICT_HOLDS, /* for good */
	VERDICT_NEVER, /* not before its name is used again */
};

enum outcome outcome_of(const struct predecessor *p);
bool outcome_ended(enum outcome o); /* well or badly, and how is known */

enum dependency_verdict outcome_verdict(enum outcome o, enum dependency_kind k);

#endif
