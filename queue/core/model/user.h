/*
 * Users: who submitted the Jobs of a LocalQueue, and what they have there.
 *
 * A user is a name in one LocalQueue: that of the annotation sluice.dev/submitted-by, as far as it is
 * read (SUBMITTER_MAX_BYTES). Jobs without a submitter are those of one user, whose name is "". The
 * record is made for the first workload, and freed with the last reference.
 *
 * Workloads and reservations have a reference each, and one to the LocalQueue, so that the user
 * needs none. A reservation remembers the user that it began for: its Job may move to another
 * LocalQueue while it runs.
 *
 * Tenants choose names. So a user is looked up in a tree of its LocalQueue, which no choice of names
 * makes slow, and its memory counts in queue.workload_bytes.
 *
 * A user's line: so many of the user's Jobs may wait for quota at once (spec.limits.perUser.waiting
 * of a LocalQueue). The others are set aside (workload.h), and cost a pass nothing.
 *
 * In line stand those that were queued first, whatever their priority, so that the order in which a
 * new leader reads Jobs changes nothing. A Job counts while nothing but time or quota keeps it from
 * starting: not while it is held, say, nor once quota is promised to it.
 *
 * Placing a Job moves no other one. It stands in line at once if it was queued before the last that
 * stands there. What others have to do is done by user_lines_settle(), before and after starts: the
 * first of those set aside take the free places, and the last leave the line where there are too many.
 * Each move costs O(log n).
 *
 * A LocalQueue without that limit has no lines.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_USER_H
#define SLUICE_QUEUE_CORE_MODEL_USER_H

#include "base/list.h"
#include "base/tree.h"
#include "queue/core/model/workload.h"

struct localqueue;
struct queue;
struct user_line;

/* What its runs and promises hold of a resource, over all flavors. */
struct user_held {
	const char *resource; /* a symbol */
	__int128 amount;
};

struct user {
	struct tree_node by_name; /* in lq->users */
	const char *name;	  /* behind the record */
	struct localqueue *lq;
	struct link members;	     /* workload.of_user: all that it submitted, waiting or not */
	size_t nwaiting, nreserving; /* as in its LocalQueue */
	size_t npromised;	     /* of nwaiting: quota is promised to it */
	uint32_t refs;		     /* workloads and reservations */
	uint32_t nheld;
	struct user_held *held;
	struct user_line *line; /* of those that wait, where that is limited; or NULL */
	/* The order that it gives its Jobs (nice.h): how many have a record of that; in nices.users
	 * while some have; in nices.dirty when they are to be dealt anew; nice.of_user of those that
	 * stand at another's place. */
	size_t nnice;
	struct link niced, nice_dirty, displaced;
	bool counted; /* nice.before and .behind are right */
	bool beyond;  /* there are more Jobs than are dealt; behind the place of: */
	struct order_key last_dealt;
};

/* Inits localqueue.users. */
void users_init(struct tree *users);

/* Returns the user of that name (NULL: not known), made if need be, with a reference. */
struct user *user_keep(struct queue *q, struct localqueue *lq, const char *name);
/* Drops a reference, while the user's LocalQueue is still referenced. */
void user_put(struct queue *q, struct user *u);
/* Returns the user of that name; NULL: there is none with a Job or a run in the LocalQueue. */
struct user *user_find(const struct localqueue *lq, const char *name);

/* Adds so much of a resource to what the user holds, or takes it off. The name is a symbol. */
void user_hold(struct queue *q, struct user *u, const char *resource, int64_t more);
__int128 user_holds(const struct user *u, const char *resource);

static inline bool user_is_known(const struct user *u)
{
	return *u->name;
}

/* ---- The line ---- */

/* Puts a workload that would wait for quota now into its user's line, unless it is there already.
 * Returns whether it may wait. */
bool user_line_enter(struct queue *q, struct workload *w);
/* Takes a workload that stands nowhere any more, or waits for something else, out of the line. */
void user_line_leave(struct queue *q, struct workload *w);
/* Returns whether the workload is set aside because others of its user stand in line. */
bool user_line_waits(const struct workload *w);

/* Moves Jobs until the right ones stand in each line. True: some Job was moved. */
bool user_lines_settle(struct queue *q);
/* Has the lines of the LocalQueue settled, whose limit is another one. */
void user_lines_limited(struct queue *q, struct localqueue *lq);

/* How many stand in the user's line. */
size_t user_line_length(const struct user *u);

#endif
