/*
 * What runs cost, as people ask for it (past_query.h): what the ledger says of runs that have
 * ended, and the gate of those that go on.
 *
 * A run counts in the time in which it started, whole, as for Budgets. Currencies are never added
 * up: each has rows of its own. Pure: no sockets, no clock.
 */
#ifndef SLUICE_CONTROLLER_PAST_COST_H
#define SLUICE_CONTROLLER_PAST_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "controller/gate/gate.h"
#include "controller/past/past_query.h"

struct cost_report;
struct view;

extern const struct view cost_report_view;

/* Makes an empty report. The query must outlive it. */
struct cost_report *cost_report_new(const struct past_query *q);
void cost_report_free(struct cost_report *r);
void cost_report_row(struct cost_report *r, const struct ledger_cost *row);
/* Tells until when the ledger has at best sums of runs that ended; 0: it has everything. The answer
 * says what is missing. */
void cost_report_forgotten(struct cost_report *r, int64_t until_ms);
/* Adds a run that goes on, from gate_each_run(), with the report as ctx. Runs outside the query's
 * time, or of another namespace than its own, are left out. */
void cost_report_run(const struct gate_run *run, void *ctx);
/* Writes {"by":"queue","since":...,"until":...,"leading":true,"more":false,"rows":[...],
 * "totals":[...]}, the dearest first, each with what of it is estimated. "forgottenUntil" and
 * "note": something old is missing; "namespace": the report is of one alone. leading: runs that go
 * on are in it. */
void cost_report_render(struct cost_report *r, bool leading, struct buf *out);

#endif
