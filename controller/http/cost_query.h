/*
 * The question what runs cost, in the words of /api/v1/cost and of `sluice cost`.
 */
#ifndef SLUICE_CONTROLLER_HTTP_COST_QUERY_H
#define SLUICE_CONTROLLER_HTTP_COST_QUERY_H

#include <stdint.h>

#include "base/err.h"
#include "controller/ledger/ledger.h"

/* As the parameters of the path have them; NULL: not given. */
struct cost_words {
	const char *by;	   /* queue (the default), namespace, owner, user, label=KEY */
	const char *since; /* "30d" (the default), or a time */
	const char *until; /* the same; now */
	const char *ns;	   /* one namespace alone; all */
};

struct cost_query {
	struct cost_question question; /* its label and ns point to: */
	char label[320];
	char ns[64];
};

/* Times: "90m", "12h", "30d", "4w" before now, 2026-11-01 (at 00:00 UTC), or RFC 3339. ERR_INVALID
 * with a sentence. ret must not move. */
int cost_query_parse(
	const struct cost_words *w, int64_t now_ms, struct cost_query *ret, struct err *e);

const char *cost_by_name(enum cost_by by); /* "queue" ... */

#endif
