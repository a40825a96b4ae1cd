/*
 * A controller: one queue, one gate, and a driver in place of the loop, the HTTP client and libpq.
 *
 * The driver does what the real ones do, no more: it feeds watches to queue and gate, steps the
 * gate when something was fed or its time has come, carries its intents out and brings answers.
 * Requests take their time and may be lost, land late, or land without an answer; the process may
 * die between any two of these things, or sleep through its lease and go on as if nothing was.
 */
#ifndef SLUICE_TEST_SIM_REPLICA_H
#define SLUICE_TEST_SIM_REPLICA_H

#include "controller/gate/gate.h"
#include "sluice/queue.h"
#include "test/sim/partition.h"
#include "test/sim/advance.h"
#include "test/sim/people.h"

struct sim;
struct shadow;

#define LEDGER_FLIGHT 8

struct replica {
	size_t index;
	char identity[16];
	bool up;
	uint64_t life; /* which process this is; what belongs to an earlier one is dropped */
	struct queue *queue;
	struct gate *gate;
	struct shadow *shadow; /* of the queue: sim --replayed */
	int64_t lease_ms;
	int64_t paused_until_ms;
	struct call *inbox, **inbox_tail; /* came during a pause, in order */
	int64_t skew_ms;		  /* wall clock less virtual time */
	bool stepping;			  /* a step is scheduled */
	uint64_t wake;			  /* number of the wake-up that counts */
	bool synced, deposed_seen, led;
	bool leaving; /* it decides nothing more, and is about to end */
	struct way to_api, to_ledger;

	/* Watches of what admins describe, a connection for each kind. */
	bool config_listed[CONFIG_KINDS];
	int64_t config_heard_ms[CONFIG_KINDS];
	struct config known[CONFIG_KINDS][LOCALQUEUES]; /* what it was told of time and money */

	int64_t began_ms;
	struct advance_written advance[ADVANCES];
	int64_t advance_from_ms[ADVANCES]; /* since when it has that one booked; 0: it has not */

	/* The watches of Nodes, Pods and ResourceQuotas (cluster.h). */
	struct {
		bool nodes_listed, pods_listed, quotas_listed, quotas_asked;
		int64_t nodes_ms, pods_ms, quotas_ms; /* when the last news come */
	} cluster;

	/* The watch of Jobs. */
	bool jobs_listed, watching;
	uint64_t watch;	     /* number of the connection; news of earlier ones are dropped */
	size_t cursor, sent; /* history up to here was delivered; is on its way */
	int64_t watch_heard_ms;
	uint64_t born;	 /* the store when it began (restore.h) */
	uint64_t store;	 /* where that place is of */
	int64_t reached; /* the last resourceVersion there */
	bool went_back;
	int64_t deaf_ms;    /* when the driver found out that the watch is not up (partition.h) */
	bool looking, lost; /* it looks once a second; what the gate was told last */

	/* The connection to the ledger, and the last batch that it acknowledged. */
	int64_t acked_epoch, acked_batch;
	uint64_t led_on; /* the server that gave it the lease (failover.h) */
	uint64_t connection;
	int64_t land_ms, answer_ms;
	struct ledger_request *flight[LEDGER_FLIGHT]; /* not answered, oldest first */
	size_t nflight;
};

void replica_init(struct sim *s, struct replica *r, size_t index);
void replica_done(struct replica *r);
/* Starts its process, and what happens to it. */
void replica_begin(struct sim *s, struct replica *r);
void replica_hear_config(struct sim *s, struct replica *r, const struct config *c);
void replica_hear_jobs(struct sim *s, struct replica *r); /* the history has grown */
/* Faults stop: it is up, awake and connected. */
void replica_calm(struct sim *s, struct replica *r);
void replica_break_ledger(struct sim *s, struct replica *r);
/* Its driver lets no pass come any more, gives the lease back and ends. */
void replica_leave(struct sim *s, struct replica *r, const char *why);
/* The watch of Jobs is not up any more, which the driver finds out at deaf_ms. */
void replica_lose_watch(struct replica *r, int64_t deaf_ms);
/* The API server was away: Jobs are listed anew, and all else is told again. */
void replica_take_up(struct sim *s, struct replica *r, int64_t after_ms);

/* ---- Between the files of the replica ----------------------------------------------------------
 */

/* Runs fn for this process, unless it has died until then; later, when it is paused. */
void replica_at(struct sim *s, struct replica *r, int64_t at_ms,
	void (*fn)(struct sim *s, struct replica *r, void *arg), void *arg);
void replica_sleep(struct sim *s, struct replica *r); /* through its lease */
void replica_step_soon(struct sim *s, struct replica *r);
void replica_list_jobs(struct sim *s, struct replica *r, int64_t after_ms);
void replica_begin_watches(struct sim *s, struct replica *r);
void replica_begin_cuts(struct sim *s, struct replica *r);
void replica_set_config(struct sim *s, struct replica *r, const struct config *c);
void replica_send_api(struct sim *s, struct replica *r, const struct intent *i);
void replica_send_ledger(struct sim *s, struct replica *r, const struct intent *i);
void replica_sever(struct sim *s, struct replica *r); /* the process died */
void replica_check_synced(struct sim *s, struct replica *r);

#endif
