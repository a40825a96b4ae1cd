/*
 * The report: what the controller is told, and when. A sample each second, each five where little
 * moves, each thirty without a lent pod; each second, too, in the first half minute of lending, in
 * which the controller gets to know the node. It begins where the last one ended that the controller
 * has.
 */
#ifndef SLUICE_AGENT_REPORT_H
#define SLUICE_AGENT_REPORT_H

#include "agent/usage.h"
#include "base/buf.h"

struct report {
	char boot[UID_TEXT_SIZE]; /* of this run of the agent */
	int64_t samples;	  /* how many were made */
	int64_t deed;		  /* the newest in the last of them */
	/* When a sample was last due, and what it was to tell. */
	int64_t last_ms, cpu_milli, working_bytes, orders;
	int64_t lends_ms; /* since when orders lend; 0: they do not */
};

/* Begins, with a name that is drawn for this run. */
void report_init(struct report *r);
/* Whether a sample is due, which is taken for made. */
bool report_is_due(
	struct report *r, const struct lent_pods *pods, const struct usage *u, int64_t now_ms);
/* Appends a sample of now. may_milli: of cpu_division. */
void report_put(struct report *r, struct lent_pods *pods, struct usage *u, int64_t may_milli,
	struct buf *out);
/* Tells that the controller has the newest sample: its deeds are forgotten, and the next one begins
 * where it ended. */
void report_acknowledge(const struct report *r, struct lent_pods *pods, struct usage *u);

#endif
