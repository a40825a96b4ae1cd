/*
 * The ports: what the controller answers over HTTP.
 *
 *   --listen        the API of `sluice`, /metrics, and the probes
 *   --probe-listen  /healthz and /readyz alone, to all callers
 *
 * An answer is made of what the parts know at that moment (api.h). What takes a query of the
 * database is deferred (past/past_questions.h).
 */
#ifndef SLUICE_CONTROLLER_PORTS_H
#define SLUICE_CONTROLLER_PORTS_H

#include <stdint.h>

#include "base/err.h"
#include "controller/parts.h"

struct ports;

/* parts and state are borrowed until ports_close(). On an error, which names the flag, *ret is NULL
 * and nothing listens. */
int ports_open(const struct parts *parts, const struct loop_state *state, struct ports **ret,
	struct err *e);
/* Once a second; of a clock that only goes on. NULL is fine. */
void ports_tick(struct ports *p, int64_t tick_ms);
void ports_close(struct ports *p); /* before parts_close(); NULL is fine */

#endif
