/*
 * A child: a copy of this process, made by fork(), that works on what was in memory at that instant
 * while we go on, and talks with us through a pair of sockets. The kernel copies a page of memory only
 * when one of the two writes to it.
 *
 * What is true of each child:
 *
 *   - it has one file beside stdin, stdout and stderr: its end of the pair, CHILD_FD. So it keeps no
 *     connection of ours open: when we die, the API server, Postgres and our clients see it at
 *     once.
 *   - it ends when we do, and by _exit(): what is in atexit() and in buffers of stdio is ours.
 *   - the handlers of our loop do not run in it, and it leaves no copy of our memory behind (no
 *     core).
 *   - it yields the processor to us, and is the first to go when memory runs out.
 *   - it leads a process group of its own, so what it forks can be killed and reaped with it.
 *
 * The two exchange messages: a head, then as many bytes as it says. Both ends are the same program,
 * so byte order does not matter. Our end never blocks; the child's does.
 *
 * Left to the users: what the bytes mean, how long to wait, and how many children there may be.
 */
#ifndef SLUICE_BASE_CHILD_H
#define SLUICE_BASE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

enum { CHILD_FD = 3 };

struct child {
	pid_t pid; /* 0: reaped */
	int fd;	   /* our end; -1: closed */
};

/* Forks a child that calls run(ctx) and ends when run returns. name is what ps shows, up to 15
 * characters; does is what people read of the child: "that reads". ERR_BUSY: the machine gives us
 * no process, or no socket. */
int child_start(struct child *c, const char *name, const char *does, void (*run)(void *ctx),
	void *ctx, struct err *e);
/* Closes our end. Twice is fine. */
void child_close(struct child *c);
/* Kills the child and all that it has forked. */
void child_kill(const struct child *c);
/* Reaps the child, if it has ended; true: no process is left. *ret_status (may be NULL) gets the
 * status of waitpid(), -1 if nobody knows it; nothing for a child that was reaped before.
 * patiently: waits for the end of the child and of what it has forked; after child_kill() some
 * milliseconds. */
bool child_reap(struct child *c, bool patiently, int *ret_status);
/* Says by what a child ended: "signal 11 (Segmentation fault)". */
void child_say_end(int status, struct err *ret);

/* ---- messages -------------------------------------------------------------------------------- */

struct child_head {
	uint64_t len;	 /* of the bytes behind it */
	uint64_t status; /* the users' own */
};

/* Read and write all of these bytes, in the child. False: nobody is there any more. */
bool child_read(void *to, size_t len);
bool child_write(const void *from, size_t len);

/* Sends a message to the child. False: the child does not take all of it at once, and gets no
 * other. The buffer of a socket holds 64 KiB once the child has read what was sent before. */
bool child_send(const struct child *c, const struct child_head *head, const void *body);

/* A message on its way to us. {0}: nothing of it has come. */
struct child_message {
	struct child_head head;
	char *body; /* head.len bytes; NULL: none */
	size_t has; /* bytes that have come, with those of the head */
};

/* Takes some of what has come: at most 256 KiB, for others wait meanwhile. Returns 1 when the
 * message is whole, 0 when it is not yet, -1 when its body would be larger than max or the child
 * has ended. */
int child_receive(const struct child *c, struct child_message *m, size_t max);
/* Frees the body; the next message may come. */
void child_message_done(struct child_message *m);

#endif
