/*
 * Overflow: Jobs beyond what may wait in a LocalQueue (spec.maxWaiting), kept by name alone.
 *
 * A tenant decides how many Jobs its namespace has and how large they are. Each takes memory in
 * each controller, also after a restart. So there is a limit to what is kept of one LocalQueue:
 *
 *   - of waiting Jobs, spec.maxWaiting;
 *   - of Jobs that run or ran, as many again, and MAX_WAITING_DEFAULT at least. Quota does not
 *     limit them, because a Job may ask for nothing. A Job that ran before may wait as long as
 *     both limits together have a place;
 *   - of Jobs that name LocalQueues that do not exist, OVERFLOW_UNKNOWN_MAX in a namespace.
 *
 * A Job counts once for each SHAPE_SLOT_BYTES that its shape takes in memory, an ordinary one
 * once; and for each that a long sluice.dev/after takes. So maxWaiting bounds bytes, too.
 *
 * A Job beyond the limit is deferred: a name, a uid and its time of queueing, some 180 bytes.
 * It is read again and taken in when fewer are kept, the oldest first. Its place in the order of
 * the ClusterQueue is by that time, as ever. While Jobs of a LocalQueue are deferred, each
 * new one is deferred behind them.
 *
 * The number is soft: the queue takes in every Job it is told of, and the gate asks first
 * (queue_has_place()). A Job that runs, or is to be stopped, is never deferred (gate/observe.c).
 * The bytes are a hard limit. Where the directives of a Job without a reservation (new, or grown by
 * an edit) would take its LocalQueue past both limits and twice OVERFLOW_SLACK, they are cut off
 * its shape. It cannot start so, and is deferred as soon as possible.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_OVERFLOW_H
#define SLUICE_QUEUE_CORE_MODEL_OVERFLOW_H

#include "base/map.h"
#include "base/list.h"
#include "base/siphash.h"
#include "base/tree.h"
#include "sluice/queue.h"

#define OVERFLOW_UNKNOWN_MAX 1000
/* The slack beyond maxWaiting before a waiting Job is deferred again. */
#define OVERFLOW_SLACK 64
/* The most Jobs of a namespace that are read at a time, so that a slow one keeps no others
 * waiting. */
#define OVERFLOW_TAKEN_MAX 4

struct deferred;
struct localqueue;
struct workload;

struct overflow {
	struct map map;		/* deferred, by uid; also those taken to be read and not set yet */
	struct map names;	/* the same, by namespace and name: two may have one name */
	struct siphash_key key; /* of names: queue_key_names() */
	struct link queues;	/* localqueue.overflowing */
	size_t bytes;
	size_t beside; /* the least limit of Jobs that run or ran: MAX_WAITING_DEFAULT */
};

void overflow_init(struct overflow *o);
void overflow_done(struct queue *q);
/* What queue_undefer_job() does. */
void overflow_forget(struct queue *q, const struct uid *uid);
size_t overflow_bytes(const struct queue *q);

/* Of a deferred one: where it will stand. False when it is none. */
bool overflow_place_of(const struct queue *q, const struct uid *uid, struct job_place *ret);

/* The order of localqueue.deferred. */
int overflow_order(const struct tree_node *a, const struct tree_node *b);

/* How many bytes may the shape of this Job take? w: its workload, or NULL. */
size_t overflow_shape_bytes(const struct queue *q, const struct workload *w, const struct job *j);

/* The workload names its LocalQueue from here on / no more. Counted by its shape now. */
void overflow_count_in(const struct workload *w);
void overflow_count_out(const struct workload *w);
/* The LocalQueue's object is there from here on, or is gone. */
void overflow_exists(struct localqueue *lq, bool exists);

#endif
