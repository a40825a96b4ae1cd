/*
 * Overflow: Jobs beyond what may wait in a LocalQueue (spec.maxWaiting), kept by name alone.
 *
 * A tenant decides how many Jobs there are in its namespace and how large they are, and each stands
 * in the memory of each controller, also after a restart. So what is kept of one LocalQueue has an
 * end:
 *
 *   - of Jobs that wait, as many as spec.maxWaiting says;
 *   - of Jobs that run or ran, as many again, and MAX_WAITING_DEFAULT at least: what runs does not
 *     count as waiting, but a Job that asks for nothing takes no quota. A Job that ran before may
 *     wait as long as there is a place among all these;
 *   - of Jobs that name LocalQueues that do not exist, OVERFLOW_UNKNOWN_MAX in a namespace.
 *
 * A Job counts once for each SHAPE_SLOT_BYTES that its shape takes in memory, an ordinary one
 * once. So maxWaiting bounds bytes, too.
 *
 * A Job beyond that is deferred: a name, a uid and the time of its creation, some 150 bytes. It is
 * read again and taken in when fewer are kept, the one that was created first before the others;
 * its place in the order of the ClusterQueue is that of its creation, as ever. While Jobs of a
 * LocalQueue are deferred each new one is deferred behind them.
 *
 * The number is soft: the queue takes in whatever it is told of. Who tells it asks before
 * (queue_has_place()), and a Job that runs, or whose run is to be ended, is never deferred
 * (gate/observe.c). The bytes are not: where the directives of a Job without a reservation (new, or
 * grown by an edit) would take its LocalQueue past the sum of both, and OVERFLOW_SLACK twice, they
 * are cut off its shape. It cannot start so, and is deferred as soon as it can be.
 */
#ifndef SLUICE_QUEUE_MODEL_OVERFLOW_H
#define SLUICE_QUEUE_MODEL_OVERFLOW_H

#include "base/map.h"
#include "base/list.h"
#include "base/tree.h"
#include "sluice/queue.h"

#define OVERFLOW_UNKNOWN_MAX 1000
/* So many more than maxWaiting may be kept, before one that waits is deferred again. */
#define OVERFLOW_SLACK 64
/* So many of a namespace are read at a time: others have their turn, however slow these are. */
#define OVERFLOW_TAKEN_MAX 4

struct deferred;
struct localqueue;
struct workload;

struct overflow {
	struct map map;	    /* deferred, by uid; those that were taken and not yet set, too */
	struct link queues; /* localqueue.overflowing: those with deferred Jobs */
	size_t bytes;
	size_t beside; /* at least so many run or ran, beside those that wait */
};

void overflow_init(struct overflow *o);
void overflow_done(struct queue *q);
size_t overflow_bytes(const struct queue *q);

/* The order of localqueue.deferred. */
int overflow_order(const struct tree_node *a, const struct tree_node *b);

/* How many bytes may the shape of this Job take? w: what is known of it, or NULL. */
size_t overflow_shape_bytes(const struct queue *q, const struct workload *w, const struct job *j);

/* A workload names its LocalQueue from here on / no more; by the shape that it has now. */
void overflow_count_in(const struct workload *w);
void overflow_count_out(const struct workload *w);
/* The LocalQueue's object is there from here on, or is gone. */
void overflow_exists(struct localqueue *lq, bool exists);

#endif
