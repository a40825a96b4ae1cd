/*
 * /api/v1/budgets: what Budgets have spent in their period, and what they will have at its end, as JSON.
 *
 * The forecast counts what runs have cost so far as spent: a run of a week would else be no cost until it
 * ends.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_BUDGETS_H
#define SLUICE_CONTROLLER_ANSWERS_BUDGETS_H

#include "controller/answers/api.h"

struct http_reply budgets_answer(const struct api_sources *s, struct buf *out);

#endif
