/*
 * The ledger beside the cluster: each open hold belongs to a Job that runs or whose pods are going
 * away, and each queued Job that runs, and each pod of one, has a hold.
 *
 * Both sides move while they are read, and no two reads are of one moment. So what happened less
 * than a minute ago is never a finding, and of the rest only what is still so when everything is
 * read a second time, some seconds later.
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
	struct discrepancy *item; /* sorted by about, then uid; one for each of both */
	size_t n;
	size_t holds, jobs, pods; /* how many were looked at */
	size_t running;		  /* of those Jobs */
	size_t unqueued;	  /* Jobs beside them that have not ended and name no queue */
	bool no_pods;		  /* we may not list them */
	int rc;			  /* negative: it could not be read; why is in e */
	struct err e;
};

/* Looks twice where it must; made once, then remembered in p. */
const struct reconciliation *reconcile(struct doctor_context *p);
void reconciliation_free(struct reconciliation *r); /* NULL is fine */

#endif
