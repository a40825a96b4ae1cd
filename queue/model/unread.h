/*
 * Unread: Jobs of which the API server says something that cannot be read. Each stays as it was
 * known; its LocalQueue says so, for the one who reads the log is not the one who wrote the Job.
 *
 * A tenant can write as many as he likes: UNREAD_MAX of a namespace are remembered. One is
 * forgotten when it can be read, is deleted, or is not in a list any more.
 */
#ifndef SLUICE_QUEUE_MODEL_UNREAD_H
#define SLUICE_QUEUE_MODEL_UNREAD_H

#include "base/list.h"
#include "sluice/queue.h"

#define UNREAD_MAX 64

struct text;

struct unread {
	struct link jobs; /* in the order in which they were met */
	uint64_t list;
};

void unread_init(struct unread *u);
void unread_done(struct unread *u);
/* Appends what is to be said of a LocalQueue: nothing, or the first one and how many there are. */
void unread_tell(const struct unread *u, const char *ns, const char *localqueue, struct text *t);

#endif
