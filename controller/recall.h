/*
 * Recall: what LocalQueues used lately, read back by a new leader.
 *
 * Before it loads the open holds it reads the runs that have ended from the ledger, page by page,
 * as far back as they still count (queue_recall_ms()), and tells the queue of each. A ClusterQueue
 * that is told to order by use later on begins with what is seen from then.
 *
 * Each run is told once: an attempt that fails on the way goes on behind the last page that was
 * answered, and once all is read there is nothing more to ask for.
 */
#ifndef SLUICE_CONTROLLER_RECALL_H
#define SLUICE_CONTROLLER_RECALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "controller/ledger/pg.h"
#include "sluice/queue.h"

struct recall {
	bool begun, over;
	struct ledger_mark mark; /* behind what was told */
	size_t runs;
};

/* Asks for the next page, to be answered under this id. False: there is nothing (more) to read. */
bool recall_ask(struct recall *r, const struct queue *q, struct pg *pg, uint64_t id, int64_t epoch,
	int64_t now_ms);
/* A page: pg_events.recall with LEDGER_DONE. */
void recall_take(struct recall *r, struct queue *q, const struct ledger_run *runs, size_t n,
	const struct ledger_mark *next);

#endif
