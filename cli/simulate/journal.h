/*
 * The journal: what happened, a line for each episode. For programs a JSON object a line; for
 * people a table, which is kept only as long as it is short enough to be read.
 */
#ifndef SLUICE_CLI_SIMULATE_JOURNAL_H
#define SLUICE_CLI_SIMULATE_JOURNAL_H

#include <stdio.h>

#include "base/buf.h"
#include "cli/simulate/sim_event.h"
#include "cli/table.h"

struct journal {
	const struct world *w;
	FILE *out;	     /* for JSON, as it happens; NULL: a table is kept */
	struct buf line;     /* text that is not written yet */
	struct table *table; /* NULL: there is none, or it became too long */
	size_t nrows;
	int64_t us; /* real time that writing took, in microseconds */
};

enum { JOURNAL_ROWS_MAX = 200 };

void journal_init_json(struct journal *j, const struct world *w, FILE *out);
void journal_init_table(struct journal *j, const struct world *w, const struct style *style);
void journal_done(struct journal *j); /* writes what is left */

void journal_see(struct journal *j, const struct sim_event *e);
/* Appends the table, or one line that says how many rows it would have. */
void journal_render_table(const struct journal *j, struct buf *out);

const char *sim_event_name(enum sim_event_kind kind); /* "Admitted" */

#endif
