/*
 * Rows of Jobs that a watcher knows, or is to know, in the order of namespace and name, each name
 * once.
 *
 * Rows are kept as the bytes in which the reader sends them. Two lists of rows are compared side by
 * side, without a tree. A watcher that was told up to some name knows the first part of the newer
 * list and the last part of the older one.
 *
 * Both ends are the same program on the same machine: no byte order, and what does not fit aborts.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_WATCH_ROWS_H
#define SLUICE_CONTROLLER_ANSWERS_WATCH_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"
#include "base/uid.h"

struct watch_row {
	struct uid uid;
	uint64_t digest; /* queued_job_digest() */
	int64_t created_ms;
	struct slice ns, name, localqueue; /* point into the bytes */
};

void watch_row_put(struct buf *out, const struct watch_row *r);
/* Takes the first row. False: there is none. */
bool watch_row_take(struct slice *rows, struct watch_row *ret);

enum watch_event {
	WATCH_ADDED,
	WATCH_MODIFIED,
	WATCH_DELETED,
};

/* Takes what is equal from both lists, and then the first difference. ret is the row as it is now,
 * or, when it is DELETED, was. A Job that has another's name: the old one is DELETED first. False:
 * there is no difference, and both are empty. */
bool watch_rows_differ(
	struct slice *known, struct slice *now, enum watch_event *ret_event, struct watch_row *ret);

/* An order to the reader, to put an event into words. */
struct watch_order {
	enum watch_event event;
	uint64_t version; /* resourceVersion of its object: watch_terms.h */
	struct watch_row row;
};

void watch_order_put(struct buf *out, const struct watch_order *o);
bool watch_order_take(struct slice *orders, struct watch_order *ret);

#endif
