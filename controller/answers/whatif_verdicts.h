/*
 * The verdicts of the queue on the AdvanceReservations of a what-if: would each be accepted, why
 * not, from when on it could be kept, and what it costs. They are asked in a play's own process,
 * after its queue has decided once (forecast/ask.h).
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_WHATIF_VERDICTS_H
#define SLUICE_CONTROLLER_ANSWERS_WHATIF_VERDICTS_H

#include "base/buf.h"

struct queue;
struct view;
struct whatif_specs;

extern const struct view whatif_verdict_view; /* view of one verdict */

/* Appends a JSON array, or nothing where no object is an AdvanceReservation. Ten thousand others
 * that the queue has cost a look each. */
void whatif_verdicts_put(const struct whatif_specs *s, const struct queue *q, struct buf *out);

#endif
