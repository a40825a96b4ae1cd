/*
 * Compares the ledger with the cluster. Each open hold belongs to a Job that runs or whose pods are
 * going away. Each queued Job that runs has a hold, and so has each of its pods.
 *
 * Both sides move while they are read, and no two reads are of one moment. So what happened less
 * than a minute ago is never a finding, nor is what has gone at a second reading, some seconds
 * later.
 */
#ifndef SLUICE_CLI_DOCTOR_RECONCILE_H
#define SLUICE_CLI_DOCTOR_RECONCILE_H

#include "cli/doctor/doctor_context.h"

enum discord { DISCORD_HOLD, DISCORD_JOB, DISCORD_POD, DISCORDS };

enum { RECONCILE_YOUNG_MS = 60 * 1000 };

struct discrepancy {
	enum discord about;
	char uid[40];
	char *text; /* ours */
};

struct reconciliation {
	struct discrepancy *item; /* sorted by about, then uid; each pair once */
	size_t n;
	size_t holds, jobs, pods; /* numbers that were looked at */
	size_t running;		  /* Jobs among jobs that run */
	size_t unqueued;	  /* other Jobs, which have not ended and name no queue */
	bool no_pods;		  /* pods may not be listed */
	int rc;			  /* negative: reading failed, and e says why */
	struct err e;
};

/* Compares, with a second look where it must; p remembers the result, so it is made once. */
const struct reconciliation *reconcile(struct doctor_context *p);
void reconciliation_free(struct reconciliation *r); /* NULL is fine */

#endif
