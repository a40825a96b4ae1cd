/*
 * A controller that reaches only one of the two: the API server but not Postgres, or Postgres but
 * not the API server; now and then beside another one that reaches only the other.
 *
 * What is cut off is refused at once, or swallowed in silence. To the API server: a request that is
 * refused did not happen, one that is swallowed is in doubt; answers under way are lost; watches
 * end, and Jobs are listed anew afterwards, for the store may have gone back. To the ledger: the connection breaks, and none is made.
 *
 * The driver does what controller/watch/following.h says. A standby that has followed no Jobs for
 * 10 s does not ask to lead. A leader that has followed none for 60 s decides nothing more, gives
 * its lease back and ends. So
 *
 *   P7   no controller leads for longer than BLIND_MAX_MS after it was cut off from the API server
 *        (but while it sleeps); a silent cut is found out when nothing came for SILENCE_MS
 */
#ifndef SLUICE_TEST_SIM_PARTITION_H
#define SLUICE_TEST_SIM_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

#include "test/sim/rng.h"

#define SILENCE_MS 90000
/* 60 s, the grace for writes under way, the next look, and a request in its course. */
#define BLIND_MAX_MS 75000

struct replica;
struct sim;

/* The way of one controller to one server; it outlives the process. */
struct way {
	int64_t since_ms, until_ms; /* cut off, the last time */
	bool silent;
	uint64_t number; /* of the cut */
};

struct partition {
	bool on;
	struct rng rng; /* of its own, so that worlds without it stay what they were */
	int64_t every_ms;
};

void partition_begin(struct sim *s);
void partition_calm(struct sim *s);
/* A process has started. */
void partition_look(struct sim *s, struct replica *r);

bool way_is_open(const struct sim *s, const struct way *w);
/* fn asks the API server for a list: it is put off until that is reached. False: nothing is in its
 * way. */
bool partition_waits(struct sim *s, struct replica *r,
	void (*fn)(struct sim *s, struct replica *r, void *arg), void *arg);

#endif
