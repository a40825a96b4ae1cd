/*
 * Notices: what the kernel tells between two ticks, as events of the loop.
 *
 *     made       a directory was made in one that is watched: a pod, a container. 0.15 ms after it
 *     changed    a file that is watched was written, by us or by somebody else
 *     lost       there were more than the kernel keeps: look at everything
 *     pressure   tasks waited for memory for 150 ms of 2 s. (A trigger of /proc/pressure. With this
 *                window it needs no capability.)
 *
 * A watch ends with its file, or with notices_forget(). After that nothing is told of it, also
 * nothing that had happened before.
 */
#ifndef SLUICE_AGENT_NOTICES_H
#define SLUICE_AGENT_NOTICES_H

#include <stdbool.h>

#include "base/err.h"

struct ev_loop;
struct notices;

struct notices_events {
	void (*made)(void *owner, const char *name, void *ctx);
	void (*changed)(void *owner, void *ctx);
	void (*lost)(void *ctx);
	void (*pressure)(void *ctx);
	void *ctx;
};

int notices_new(struct ev_loop *loop, const struct notices_events *events,
	struct notices **ret_notices, struct err *e);
void notices_free(struct notices *n); /* NULL is fine */

/* Watch a directory for new ones in it, and a file for writes. Return the watch, or -1: it is not
 * there, the kernel gives no more, or n is NULL. */
int notices_watch_dir(struct notices *n, const char *path, void *owner);
int notices_watch_file(struct notices *n, const char *dir, const char *file, void *owner);
void notices_forget(struct notices *n, int watch); /* -1 is fine */

/* Asks for pressure to be told. False: this kernel has none. */
bool notices_watch_pressure(struct notices *n, const char *path);

#endif
