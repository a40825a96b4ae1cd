/*
 * A BudgetReport: what Budgets have spent in their period, and what they will have at its end.
 *
 * The forecast counts what runs have cost so far as spent: a run of a week would else be no cost until it
 * ends.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_BUDGETS_H
#define SLUICE_CONTROLLER_ANSWERS_BUDGETS_H

#include "base/json_writer.h"
#include "sluice/queue.h"

/* Puts the members. */
void budgets_put(const struct queue *q, int64_t now_ms, struct json_writer *w);

#endif
