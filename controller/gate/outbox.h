/*
 * The outbox: operations on their way to the ledger, in the order they were made.
 *
 * At most one batch is under way. Operations made meanwhile wait and go in the next, so batches
 * grow by themselves when the ledger is slow. A batch whose answer was lost is sent again exactly
 * as it was: the ledger's keys make that harmless, and nothing later overtakes it.
 */
#ifndef SLUICE_CONTROLLER_GATE_OUTBOX_H
#define SLUICE_CONTROLLER_GATE_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "controller/ledger/ledger.h"

#define OUTBOX_BATCH_MAX 500 /* operations; keeps a statement's answer within milliseconds */

struct outbox_item;

struct outbox {
	struct outbox_item *head, **tail; /* not yet in a batch */
	size_t waiting;
	struct ledger_op *ops;	    /* of the batch under way */
	struct outbox_item **items; /* of ops, which borrow their lines */
	size_t nops;
};

void outbox_init(struct outbox *b);
void outbox_done(struct outbox *b);

/* Adds an operation. Copies op, its lines, ns, name, localqueue, owner, labels, submitted_by, price
 * and preemptor; the other strings (of lines, too) must live until the batch is answered. */
void outbox_add(struct outbox *b, const struct ledger_op *op);

/* Moves waiting operations into a batch. False when one is under way or nothing waits. */
bool outbox_form_batch(struct outbox *b);

/* Forgets the batch: it is durable. */
void outbox_drop_batch(struct outbox *b);

#endif
