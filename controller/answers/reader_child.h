/*
 * A child of the reader: a copy of this process (base/child.h) that answers questions about what was
 * known when it was made, through a pair of sockets. The kernel copies a page of memory only when one
 * of the two writes to it. It ends when we close our end, or die.
 *
 * One question at a time. A question and an answer are a length, a status and bytes. This end never
 * blocks; the child's does.
 *
 * Left to the reader: which child is asked, how long to wait, and whether there may be one more.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_READER_CHILD_H
#define SLUICE_CONTROLLER_ANSWERS_READER_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

struct ev_loop;
struct reader_child;

struct reader_child_options {
	struct ev_loop *loop;
	/* In the child: see reader.h. */
	void (*serve)(struct slice question, uint64_t moment, struct buf *out, void *ctx);
	void *serve_ctx;
	uint64_t moment;
	/* From the loop. The answer is there: the next question may be asked in here. too_large: it
	 * would have been more than answer_max, and body is empty. */
	void (*answered)(struct slice body, bool too_large, void *ctx);
	/* From the loop, once: it ended, or broke the protocol, and was killed. */
	void (*ended)(void *ctx);
	void *ctx;
	size_t answer_max; /* bytes; below 4 GiB */
};

/* Forks. ERR_BUSY: the machine gives us no process, or no socket. */
int reader_child_new(
	const struct reader_child_options *o, struct reader_child **ret, struct err *e);
/* It was reaped. */
void reader_child_free(struct reader_child *c);

/* Nothing else is asked. No event comes from in here. */
void reader_child_ask(struct reader_child *c, struct slice question);

/* Ends it; events come no more. Twice is fine. */
void reader_child_kill(struct reader_child *c);
/* After the kill, until true: no process is left. patiently: waits for that, a few milliseconds.
 * *ret_how: by what it ended, such as "signal 11". */
bool reader_child_reap(struct reader_child *c, bool patiently, struct err *ret_how);

#endif
