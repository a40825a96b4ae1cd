/*
 * A question about the past, in the words of the API and of `sluice cost`, `report` and `history`.
 */
#ifndef SLUICE_CONTROLLER_PAST_PAST_QUERY_H
#define SLUICE_CONTROLLER_PAST_PAST_QUERY_H

#include <stdint.h>

#include "base/err.h"
#include "controller/ledger/ledger.h"

/* The parameters of the path, as given; NULL: not given. */
struct past_words {
	const char *by; /* queue (the default), namespace (or team), owner, user, label=KEY */
	/* "30d" (the default; for usage and spans 24h, for runs 7d, for one Job all), or a time */
	const char *since;
	const char *until;	  /* as since; by default now */
	const char *ns;		  /* one namespace alone; by default all */
	const char *job;	  /* PAST_RUNS: Jobs of this name; by default all */
	const char *submitter;	  /* PAST_RUNS: Jobs of this user; by default all */
	const char *clusterqueue; /* PAST_USAGE: what this one held; PAST_SPANS: by default all */
	enum past_kind kind;
};

#define PAST_BEGINNING "1970-01-01" /* of time */

enum { PAST_JOB_SIZE = 254, PAST_SUBMITTER_SIZE = 254, PAST_QUEUE_SIZE = 254 };

struct past_query {
	struct past_question question; /* its texts point into the rest */
	int64_t asked_ms;
	char label[320];
	char ns[64];
	char job[PAST_JOB_SIZE];
	char submitter[PAST_SUBMITTER_SIZE];
	char clusterqueue[PAST_QUEUE_SIZE];
};

/*
 * Makes a query of words. A time is
 *   "90m", "12h", "30d", "4w"         so long before now;
 *   "day", "week", "month", "year"    the beginning of this one (UTC; a week begins on Monday);
 *   others                            as wall_time.h reads them, the last one by UTC, or RFC 3339.
 * PAST_USAGE is of what was, until now at the latest, and in steps that begin at round times; PAST_SPANS
 * is until then, too, and a step is a 96th of its time.
 * ERR_INVALID with a sentence. ret must not move.
 */
int past_query_parse(
	const struct past_words *w, int64_t now_ms, struct past_query *ret, struct err *e);

const char *cost_by_name(enum cost_by by); /* "queue" ... */
/* Names the resource of the API visibility.sluice.dev that answers a kind, in rights: "costs",
 * ... */
const char *past_resource_name(enum past_kind kind);

#endif
