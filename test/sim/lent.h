/*
 * Idle room: worlds in which one flavor is what nodes lend just now, and Jobs that may run on it.
 *
 * What is lent moves all the time, to nothing and back, and what runs on more than that is taken
 * back, by a stop or by fewer pods, as a lender in each leader would have it. Jobs that opted in
 * have a Pod template as on the wire: each start of theirs is rendered as for a real API server,
 * and applied to it (controller/wire/patch.h). What their owner wrote is remembered beside it, by
 * us, and so can be compared:
 *
 *   - a start in the idle flavor asks for batch resources and nothing else, one in another flavor
 *     for exactly what the owner wrote;
 *   - what is read back of a template and its annotation is what the owner wrote, at any time.
 *
 * When faults stop, as much is lent as all nominal quota: the flavor is like any other then.
 */
#ifndef SLUICE_TEST_SIM_LENT_H
#define SLUICE_TEST_SIM_LENT_H

#include "test/sim/model_api.h"
#include "test/sim/people.h"
#include "test/sim/replica.h"

#define IDLE_FLAVOR 0

struct lent_world {
	bool on;
	bool old_server;  /* it does not let resources be rewritten (Kubernetes 1.35) */
	int64_t permille; /* of all nominal quota is lent now */
};

void lent_begin(struct sim *s);
void lent_calm(struct sim *s);
/* A new Job: it may opt in. Its requests have been drawn. */
void lent_draw(struct sim *s, struct snap *n);
/* Its owner wants other requests, which have been drawn. */
void lent_edit(struct sim *s, struct snap *n);
/* The body of a start, as it is sent. */
const char *lent_render(struct sim *s, const struct intent *i);
/* Does the server take it? */
bool lent_takes(const struct sim *s, const struct model_job *j, const char *patch);
/* It landed: what becomes of the template. */
void lent_apply(struct sim *s, struct snap *n, const char *patch);
/* May it be in this flavor at all? */
bool lent_suits(const struct sim *s, const struct model_job *j, size_t flavor);

#endif
