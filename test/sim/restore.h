/*
 * The API server goes back: etcd is restored from an older snapshot.
 *
 * Now and then all that it keeps is put aside (Jobs, pods, what admins describe, Nodes, quotas), and
 * later put in its place. What was made since is gone, what is gone since is there again, and each
 * object has the resourceVersion that it had. There are two kinds:
 *
 *   bumped       later versions go on far beyond all that were given out, and all watches are told
 *                that their place is gone (etcdutl --bump-revision --mark-compacted): Jobs are listed
 *                anew, and each is compared with what is known of it
 *   as it was    versions go on from the snapshot's, and so are given out twice. A list that is
 *                older than what was known tells it, as does each older Job in it
 *
 * Either way the server was away, so a controller lists Jobs anew. (It took its watch up where it
 * was, once, if the server was past that version again: then it never learned of it.)
 *
 * Connections break, and requests to the old server do not land. The Job controller and the garbage
 * collector begin anew with what they read; a kubelet ends what is in no pod any more (at once
 * here), and goes on with what is. The driver does what controller/watch/following.h says: before
 * each pass it asks whether the store is known to have gone back, and then decides nothing more,
 * lets go of the lease and ends.
 *
 * What physics demands, and no more than that. A run is not Sluice's own any more (`outside`: it is
 * to be stopped, like any intruder's, and P1 to P3 say of it what they say of those)
 *   - when the snapshot shows it, and the ledger has no open reservation of that attempt, or one for
 *     fewer pods;
 *   - when a controller that began before that gives its reservation back, by what it has seen: it
 *     may not know yet, and may never learn when nothing that it still knows of has changed. It may
 *     stop that run before the ledger has heard of it;
 *   - when such a controller starts a Job of which pods had succeeded since the snapshot: it
 *     reserved for those that were left, and now all of them are to run;
 *   - when such a controller starts a Job that its owner has edited since. A generation is given out
 *     twice, so the one that was decided on may name another template now. Nothing on the Job tells
 *     that later, and it runs to its end (docs/restore.md).
 * A work queue that gave pods, and of which one had succeeded, has those again that ended since the
 * snapshot, and the Job controller keeps them. Neither its spec nor its story tells; they run to their
 * end (docs/restore.md).
 * For how long, when such a run is not of a hostile hand and nothing else keeps it from being
 * stopped: a leader that has read the store as it is now and has no write to the ledger under way
 * is about to stop it when its pass is over (P2, checked after each pass), or has adopted it. Where
 * the ledger has a later attempt than the Job tells of, the watch of a new leader may lag: it has
 * until it has read the Job (docs/protocol.md, A start). A Job without a story is left out.
 */
#ifndef SLUICE_TEST_SIM_RESTORE_H
#define SLUICE_TEST_SIM_RESTORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "test/sim/rng.h"

struct job;
struct ledger_op;
struct model_job;
struct model_run;
struct replica;
struct saved_store;
struct sim;

struct restore {
	struct rng rng; /* of its own, so that worlds without it stay what they were */
	int64_t every_ms, save_every_ms; /* 0: never */
	uint64_t store; /* times that it went back; requests to an earlier one do not land */
	bool bumped;	/* ... the last time */
	size_t from;	/* of the history: what came since */
	int64_t at_ms;
	struct saved_store *saved;
};

void restore_begin(struct sim *s);
void restore_done(struct sim *s);

/* A planted fault: its place in the watch is one of an earlier store, and is gone on from when the
 * server is past it (it is asked for that). True: it is not; else *ret_from of the history is next. */
bool restore_is_told(struct sim *s, struct replica *r, size_t *ret_from);
/* Something was given back, by a controller that began with that store. */
void restore_given_back(struct sim *s, uint64_t born, const struct ledger_op *op);
/* A start of a controller that began with that store has landed, on the Job of that generation. */
void restore_started(struct sim *s, uint64_t born, const struct model_job *j, int64_t generation);
/* A GET of a Job is answered. */
void restore_read(struct sim *s, const struct replica *r, const struct job *answer);
/* After a pass. */
void restore_check_pass(struct sim *s, struct replica *r);

#endif
