/*
 * The dispatcher: carries the gate's intents out and brings the answers back.
 *
 * Lease, load (after what there is to recall) and batch go to the ledger's driver; all others to
 * the API server. Each intent gets exactly one answer, unless the dispatcher is freed first. What
 * an answer means for the gate is decided here, in one table (dispatcher_judge).
 */
#ifndef SLUICE_CONTROLLER_WRITE_DISPATCHER_H
#define SLUICE_CONTROLLER_WRITE_DISPATCHER_H

#include <stdbool.h>
#include <stddef.h>

#include "controller/gate/gate.h"
#include "controller/kube/client.h"
#include "controller/common/log.h"
#include "controller/wire/decode.h"

struct dispatcher;
struct pg;

struct dispatcher_options {
	struct kube_client *client;
	struct gate *gate;
	struct pg *pg;			/* of decisions */
	struct queue *queue;		/* to recall what was used */
	struct forecasts *forecasts;	/* to recall how long runs took; NULL: none */
	struct job_context job_context; /* for decode_job() */
	struct log *log;
	void (*changed)(void *ctx); /* an answer was given to the gate: a pass is due */
	void *ctx;
};

struct dispatcher *dispatcher_new(const struct dispatcher_options *o);
/* Cancels what is under way at the API server. Free pg first, the client after. */
void dispatcher_free(struct dispatcher *c);

/* Takes all intents that the gate has, and sends them off. */
void dispatcher_carry(struct dispatcher *c);

/* Counts the Job writes and ledger batches that have no answer yet. */
size_t dispatcher_writes_under_way(const struct dispatcher *c);

/* The lease as of the last request for it. */
struct lease_heard {
	const char *holder; /* "": not known, nor when it ends */
	int64_t ends_ms;    /* by our own clock, unless it is renewed */
};
struct lease_heard dispatcher_lease(const struct dispatcher *c);

/* Judges what an answer of the API server means for the gate. is_invalid: a 422 that speaks of an
 * object's fields, not of a failed test of the patch. is_rights: a 403 that speaks of our rights,
 * not of this request. */
enum job_outcome dispatcher_judge(
	const struct kube_answer *a, bool is_write, bool is_invalid, bool is_rights);

#endif
