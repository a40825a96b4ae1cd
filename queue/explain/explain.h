/*
 * The parts that explain.c puts together. Each adds half a sentence, or a part of one.
 *
 *   explain_cluster.c  why the cluster itself keeps a Job from starting: its nodes
 *   explain_others.c   what runs of other Jobs have to do with why a Job waits
 *   explain_run.c      what a Job holds that runs, is being started or is being stopped; and why it has as
 *                      many pods as it has: it gives some, it grows, or why it does not (yet)
 *   shortage.c         a shortage of quota in words with numbers: which flavor comes closest, how much of it
 *                      is in use, and why the others do not suffice; of the resource group that fails
 *
 * Time, money and dependencies have headers of their own, because rules and decisions ask them, too.
 */
#ifndef SLUICE_QUEUE_EXPLAIN_EXPLAIN_H
#define SLUICE_QUEUE_EXPLAIN_EXPLAIN_H

#include "queue/core/model/plain_fit.h"
#include "queue/core/model/state.h"
#include "queue/job/text.h"

struct question; /* feature.h */

/* ---- explain.c ---- */

/* Adds what keeps a Job that runs out of its queue (intake.c), but for how much is free and what
 * was asked of nodes. claim: on its ClusterQueue, empty without one. False: nothing does. */
bool explain_intake(const struct queue *q, const struct workload *w, const struct claim *claim,
	int64_t now_ms, struct text *t);

/* Explains to an admin or a user why the namespace of a LocalQueue whose gate is GATE_NOT_SELECTED is not selected,
 * and what to do. */
void explain_not_selected(const struct localqueue *lq, struct text *t);

/* ---- explain_cluster.c ---- */

/* Explains WAIT_NEVER_FITS, of a claim that leaves nowhere (claim.nowhere). */
void explain_nowhere(const struct queue *q, const struct clusterqueue *cq,
	const struct shape *shape, const struct claim *claim, struct text *t);

/* Adds, of a run that holds quota in the flavor, that no node of it is up. Nothing, if some are. */
void explain_pool(const struct flavor *f, struct text *t);

/* Adds that the first flavors with quota left go with others, but not with each other: the Job
 * waits for quota in some that do. False: they go together. */
bool explain_parted(const struct queue *q, const struct clusterqueue *cq, const struct shape *shape,
	const struct claim *claim, struct text *t);

/* Explains WAIT_NODES_FULL: quota is free, but the nodes have no room for all of the pods. False: they
 * have, or room is not asked for. */
bool explain_full(const struct queue *q, struct clusterqueue *cq, const struct workload *w,
	const struct claim *claim, struct text *t);

/* ---- explain_others.c ---- */

/* Names another Job to the owner of w, or says that it is of another namespace. */
struct words other_words(const struct workload *w, const struct workload *other);

/* Adds that w fills gaps, and displaces no Job. Nothing, if it does not. */
void explain_fills_gaps(const struct clusterqueue *cq, const struct workload *w, struct text *t);

/* Adds until when preemption.minRun spares those that w would preempt. Nothing, if it does not. */
void explain_spared(struct queue *q, struct clusterqueue *cq, const struct workload *w,
	const struct claim *claim, int64_t now_ms, struct text *t);

/* Adds when a head of Backfill is expected to start. Nothing, if the Job is none. */
void explain_expected_start(const struct question *a);
/* Explains that the Job fits, but would delay a head of Backfill. False: it would not. */
bool explain_delay(const struct question *a);

/* ---- explain_run.c ---- */

/* Adds "runs since ..: holds 12 cpu in flavor spot", and what concerns its owner beside that. */
void explain_run(const struct queue *q, const struct reservation *r, struct text *t);

/* ---- shortage.c ---- */

/* ASSIGN_EXCEEDS may end if each group that fails so has a flavor that nodes lend: they may lend
 * more later. */
bool shortage_may_end(const struct clusterqueue *cq, const struct claim *c);
/* ASSIGN_BUSY: "needs 12 cpu in flavor spot (36 of 40 in use)". ASSIGN_EXCEEDS that may end,
 * in the scheduler's words: "Insufficient kubernetes.io/batch-cpu: asks for 12 cpu, 4 of 20 idle
 * ones in flavor idle are free". */
void shortage_add_busy(struct text *t, const struct clusterqueue *cq, const struct claim *c,
	enum assign_verdict verdict);
/* ASSIGN_EXCEEDS that does not end: "asks for 64 cpu, more than the 40 cpu that flavor spot has in
 * ...". */
void shortage_add_excess(struct text *t, const struct clusterqueue *cq, const struct claim *c);
/* ASSIGN_NO_FLAVOR: "no flavor of ... suits its pods: untolerated taint ...". */
void shortage_add_mismatch(struct text *t, const struct clusterqueue *cq, const struct claim *c,
	const struct directives *d);

#endif
