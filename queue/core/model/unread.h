/*
 * Unread: Jobs that cannot be decoded. Each stays as it was known. Its LocalQueue's status says so,
 * because the tenant that wrote the Job does not read the controller's log.
 *
 * UNREAD_MAX of a namespace are remembered. One is forgotten when it can be read, is deleted, or is
 * missing from a list.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_UNREAD_H
#define SLUICE_QUEUE_CORE_MODEL_UNREAD_H

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
/* Appends the sentence for a LocalQueue: its first unread Job and their number, or nothing. */
void unread_tell(const struct unread *u, const char *ns, const char *localqueue, struct text *t);

#endif
