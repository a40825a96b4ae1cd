/*
 * Growing: worlds in which runs grow (sluice.dev/grow, growByDefault).
 *
 * More Jobs than elsewhere start with fewer pods, and ClusterQueues say how often a run's size may
 * change. The promises are those of all worlds: pods never use more than the ledger holds, be a
 * growth refused, late, lost, or its leader killed in between. And one more, of P7: at rest each run
 * that may grow has all that it could have, as far as plain arithmetic can tell.
 *
 * It draws from a generator of its own: worlds without growth stay what they were.
 */
#ifndef SLUICE_TEST_SIM_GROWING_H
#define SLUICE_TEST_SIM_GROWING_H

#include <stdbool.h>

#include "sluice/spec.h"
#include "test/sim/people.h"
#include "test/sim/rng.h"

struct config;
struct intent;
struct ledger_op;
struct ledger_result;
struct model_job;
struct replica;
struct sim;
struct snap;

struct growing {
	bool on;
	bool tardy;		  /* many growths land long after their sender gave up */
	bool high[CLUSTERQUEUES]; /* it has more quota just now */
	int64_t tide_every_ms;
	struct rng rng;
};

void growing_begin(struct sim *s);
/* A new Job. Its requests have been drawn. */
void growing_draw(struct sim *s, struct snap *n);
/* What an admin says of it in a ClusterQueue. */
void growing_draw_queue(struct sim *s, struct config *clusterqueue);
void growing_describe(const struct config *clusterqueue, struct clusterqueue_spec *ret);

/* At rest: does every run have the pods that it could have? True: one does not, and may be refused by
 * the API server for a while (pauses_over: not so long). */
bool growing_check(struct sim *s, const struct replica *leader, bool pauses_over);

/* So late this one lands; 0: as others do. */
int64_t growing_late_ms(struct sim *s, const struct intent *i);
/* Its sender dies with that. */
bool growing_kills(struct sim *s, const struct intent *i);
/* A growth landed. Longer after a loss of the ledger than any request lives it is nobody's. */
void growing_landed(struct sim *s, struct model_job *j);

/* Planted faults: what a driver does wrong on the way to the ledger and back. */
void growing_plant_in_op(const struct sim *s, struct ledger_op *op);
void growing_plant_in_result(
	const struct sim *s, const struct ledger_op *op, struct ledger_result *r);
/* INTENT_RETELL landed. */
void growing_plant_in_story(const struct sim *s, const struct snap *before, struct snap *now);

#endif
