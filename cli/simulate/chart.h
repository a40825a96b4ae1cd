/*
 * The chart, as SVG of 1,000 pixels width: how much of each flavor's resources was in use over
 * time, a strip for each, and a Gantt chart of the runs in each ClusterQueue. Where there are too
 * many runs to draw one by one, it shows how many ran at a time.
 *
 * Behind the runs, shaded and named, is when a RunPolicy that binds the queue was closed. Above
 * them is a line of what the queue's PricePlan multiplied prices by; behind the end of a run, what
 * it has cost.
 *
 * All stand on one time axis (time_axis.h), in the zone of the first Calendar; without one in UTC.
 */
#ifndef SLUICE_CLI_SIMULATE_CHART_H
#define SLUICE_CLI_SIMULATE_CHART_H

#include <stdbool.h>

#include "base/buf.h"
#include "cli/simulate/sim_event.h"
#include "cli/simulate/summary.h"

struct chart_run { /* one attempt of a Job */
	size_t sim_job;
	const char *clusterqueue;
	size_t column; /* column of its first line; SIZE_MAX: none */
	int64_t from_ms, to_ms;
	int32_t attempt;
	bool stopped;
	int64_t cost;
	/* The currency of the queue; NULL: the run has no price, or has not ended. */
	const char *currency;
};

struct chart_step { /* a change of a column's use */
	int64_t at_ms, by;
	size_t column;
};

struct chart_turn { /* a moment from which a rule says something else */
	int64_t at_ms;
	const struct rule *rule;
	int64_t value; /* RunPolicy: whether it is open; PricePlan: the factor */
};

struct chart {
	const struct world *w;
	const struct summary *summary;
	struct chart_run *run;
	size_t nruns;
	struct chart_step *step;
	size_t nsteps;
	struct chart_turn *turn;
	size_t nturns;
	size_t *open; /* of each sim_job: which run goes on */
	size_t nopen;
	struct zone *utc;
	const struct zone *zone; /* zone of its times, while it is drawn */
};

void chart_init(struct chart *c, const struct world *w, const struct summary *summary);
void chart_done(struct chart *c);

void chart_see(struct chart *c, const struct sim_event *e);
/* Notes what the rules say, at each instant that is played. */
void chart_look(struct chart *c, int64_t now_ms);
/* Draws the chart, after summary_close(). */
void chart_render(struct chart *c, struct buf *out);

#endif
