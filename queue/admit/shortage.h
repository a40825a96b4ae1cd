/*
 * A shortage in words with numbers: which flavor comes closest, how much of it is in use, and why
 * the others do not suffice. Each function adds half a sentence about the resource group that
 * fails.
 */
#ifndef SLUICE_QUEUE_ADMIT_SHORTAGE_H
#define SLUICE_QUEUE_ADMIT_SHORTAGE_H

#include "queue/admit/assign.h"
#include "queue/job/text.h"

/* ASSIGN_EXCEEDS may end if each group that fails so has a flavor that nodes lend: they may lend
 * more later. */
bool shortage_may_end(const struct clusterqueue *cq, const struct claim *c);
/* ASSIGN_BUSY: "waiting for 12 cpu in flavor spot (28 of 40 in use)". ASSIGN_EXCEEDS that may end,
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
