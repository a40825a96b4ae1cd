/*
 * The ports: what the controller answers over HTTP.
 *
 *   --listen        the page, the aggregated API for it, /metrics, and the probes
 *   --probe-listen  /healthz and /readyz alone, to all callers
 *
 * Questions to the aggregated API are answered by answers (answers.h), which may defer them. All
 * else is made of what the parts know at that moment (api.h).
 */
#ifndef SLUICE_CONTROLLER_PORTS_H
#define SLUICE_CONTROLLER_PORTS_H

#include "base/err.h"
#include "controller/parts.h"

struct ports;

struct answers;

/* Opens the ports. parts, from and answers are borrowed until ports_close(). On an error, which
 * names the flag, *ret is NULL and nothing listens. */
int ports_open(const struct parts *parts, const struct answer_sources *from,
	struct answers *answers, struct ports **ret, struct err *e);
void ports_close(struct ports *p); /* before parts_close(); NULL is fine */

#endif
