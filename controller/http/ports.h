/*
 * The ports: what the controller answers over HTTP.
 *
 *   --listen        the API of `sluice`, /metrics, and the probes
 *   --probe-listen  /healthz and /readyz alone, to all callers
 *
 * An answer is made of what the parts know at that moment (api.h). What takes a query of the
 * database is deferred (past/past_questions.h).
 */
#ifndef SLUICE_CONTROLLER_HTTP_PORTS_H
#define SLUICE_CONTROLLER_HTTP_PORTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "controller/http/leadership.h"

struct parts;
struct ports;

/* What only the loop knows; read at each request. */
struct ports_state {
	bool stopping;		    /* the controller was told to stop */
	const char *ledger_trouble; /* why the ledger is away; "" while it is up */
};

struct leadership ports_leadership(const struct parts *parts, const struct ports_state *state);

/* parts and state are borrowed until ports_close(). On an error, which names the flag, *ret is NULL
 * and nothing listens. */
int ports_open(const struct parts *parts, const struct ports_state *state, struct ports **ret,
	struct err *e);
/* Once a second; of a clock that only goes on. NULL is fine. */
void ports_tick(struct ports *p, int64_t tick_ms);
void ports_close(struct ports *p); /* before parts_close(); NULL is fine */

#endif
