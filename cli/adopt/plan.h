/*
 * The plan: which running Jobs of a namespace can be adopted, into which queue, and what follows
 * (docs/migrate.md). Only the API server is asked.
 *
 * The queue itself works out what each Job would hold (queue_intake()), one after the other, beside
 * what the ClusterQueues' status says is held. The plan knows neither the controller's flags nor
 * windows: the controller has the last word on each Job.
 */
#ifndef SLUICE_CLI_ADOPT_PLAN_H
#define SLUICE_CLI_ADOPT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/adopt/options.h"
#include "controller/kube/client.h"

struct ev_loop;

enum { ADOPT_WORDS = 600 };

/* What became of a row that takes, once it is labelled (outcome.h). */
enum adopt_outcome {
	ADOPT_WAITS,	/* nothing is known yet */
	ADOPT_ADOPTED,	/* the Job runs, and has its story */
	ADOPT_KEPT_OUT, /* the Job runs, and its queue cannot take it yet: why */
	ADOPT_STOPPED,	/* the Job runs no more, and waits in its queue */
	ADOPT_ENDED,	/* the Job is over, or was deleted */
};

struct adopt_row {
	char *name;
	char *uid;
	char *version;	      /* resourceVersion that was looked at */
	int64_t generation;   /* the spec that was looked at */
	char *queue;	      /* LocalQueue; NULL while none is chosen */
	bool has_kueue_label; /* to be taken off */
	int64_t start_ms;
	bool takes;	       /* false: why */
	char why[ADOPT_WORDS]; /* what keeps it out */
	enum adopt_outcome outcome;
	char holds[ADOPT_WORDS]; /* "4 cpu in flavor spot" */
	char over[ADOPT_WORDS];	 /* use beyond the quota once the Job is in; "": none */
};

struct adopt_plan {
	const char *namespace_name;
	struct adopt_row *row;
	size_t nrows;
	int64_t begun_by_ms; /* the latest start of the Jobs that are taken; 0: none is */
	char unseen
		[ADOPT_WORDS]; /* what of the cluster may not be read, and what that means; "": nothing */
};

/* Makes the plan. ERR_GONE: no such namespace, queue or Job; ERR_INVALID: a queue must be named. */
int adopt_plan_make(struct ev_loop *loop, struct kube_client *client, const struct adopt_options *o,
	struct adopt_plan *ret, struct err *e);
void adopt_plan_done(struct adopt_plan *p);

/* Looks again at a row's Job, which was written since (its own status does that all the time). 0:
 * all that the plan rests on is as it was, and r has the newer version. ERR_INVALID: it is another
 * Job now, and e says how. */
int adopt_row_look_again(struct ev_loop *loop, struct kube_client *client,
	const char *namespace_name, struct adopt_row *r, struct err *e);

#endif
