/* The placement of pods: their owner's directives, joined with those of flavors at a start. */
#ifndef SLUICE_QUEUE_REQUESTS_DIRECTIVES_H
#define SLUICE_QUEUE_REQUESTS_DIRECTIVES_H

#include "base/arena.h"
#include "queue/model/flavor.h"
#include "sluice/placement.h"

struct queue;
struct reservation;

/* Node selector and tolerations of both: where two set a node label the flavor wins, and of two
 * flavors the later one; a toleration twice is there once. Terms are its owner's. Borrows. */
void directives_join(struct arena *a, const struct placement *own,
	const struct flavor *const *flavors, size_t n, struct placement *ret);

/* The flavors of a reservation, each once, in the order of its lines; ret has room for as many as
 * lines. */
size_t directives_flavors(
	const struct queue *q, const struct reservation *r, const struct flavor **ret);

#endif
