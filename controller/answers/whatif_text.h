/*
 * The text of a WhatIf, by two variants of an ask: the queue as it is and as it would be.
 *
 * Each Job that waits is in one of five counts. It starts earlier, later, at the same time (less
 * than a minute apart), newly (as it is it does not start), or never any more. Starts are medians
 * of the draws.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_WHATIF_TEXT_H
#define SLUICE_CONTROLLER_ANSWERS_WHATIF_TEXT_H

#include "controller/common/view.h"
#include "controller/forecast/reviews.h"

extern const struct view whatif_view;

enum {
	WHATIF_SAME_MS = 60000,
	WHATIF_ITEMS_TOLD_MAX = 500, /* Jobs that are told, those that move most */
	/* ClusterQueues that are told, those with most Jobs that move. */
	WHATIF_QUEUES_TOLD_MAX = 300,
};

/* Appends the WhatIf. It is made in the process of the ask, for 100,000 Jobs take a while. */
void whatif_put(const struct ask_answer *a, const struct queue *q, const struct review_basis *basis,
	struct buf *out);

#endif
