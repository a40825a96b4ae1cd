/*
 * The plan: which Jobs of a namespace that run can be adopted, into which queue, and what follows
 * (docs/migrate.md). Asked of the API server alone.
 *
 * What each would hold is worked out by the queue itself (queue_intake()), one Job after the other,
 * beside what the ClusterQueues' status says is held. It does not know the controller's flags, nor
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

/* Of a row that takes, once it is labelled (outcome.h). */
enum adopt_outcome {
	ADOPT_WAITS,	/* nothing is known of it yet */
	ADOPT_ADOPTED,	/* it runs, and has its story */
	ADOPT_KEPT_OUT, /* it runs, and its queue cannot take it yet: why */
	ADOPT_STOPPED,	/* it runs no more, and waits in its queue */
	ADOPT_ENDED,	/* it is over, or was deleted */
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
	char over[ADOPT_WORDS];	 /* what is used beyond the quota once it is in; "": nothing */
};

struct adopt_plan {
	const char *namespace_name;
	struct adopt_row *row;
	size_t nrows;
	int64_t begun_by_ms; /* the latest start of those that are taken; 0: none is */
	char unseen
		[ADOPT_WORDS]; /* what of the cluster may not be read, and what that means; "": nothing */
};

/* ERR_GONE: no such namespace, queue or Job; ERR_INVALID: a queue must be named. */
int adopt_plan_make(struct ev_loop *loop, struct kube_client *client, const struct adopt_options *o,
	struct adopt_plan *ret, struct err *e);
void adopt_plan_done(struct adopt_plan *p);

/* The row's Job was written since it was looked at, which its own status does all the time. 0: all that the
 * plan rests on is as it was, and r has the newer version. ERR_INVALID: it is another Job now, and e says how. */
int adopt_row_look_again(struct ev_loop *loop, struct kube_client *client,
	const char *namespace_name, struct adopt_row *r, struct err *e);

#endif
