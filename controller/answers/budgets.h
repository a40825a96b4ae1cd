/*
 * A BudgetReport: what Budgets have spent in their period, and what they will have spent at its
 * end.
 *
 * The forecast counts what runs have cost so far as spent: else a run of a week would be no cost
 * until it ends.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_BUDGETS_H
#define SLUICE_CONTROLLER_ANSWERS_BUDGETS_H

#include "base/json_writer.h"
#include "sluice/queue.h"

/* Puts the members of the report. */
void budgets_put(const struct queue *q, int64_t now_ms, struct json_writer *w);

#endif
