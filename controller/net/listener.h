/*
 * A listener: an address on which clients are awaited, and the pace at which they are let in.
 *
 * A client costs nothing until it is accepted. Over TLS each then costs about a millisecond of our
 * loop (its handshake), whoever it is. So a listener may have a pace: `each_second` new
 * connections, and `burst` at once after a pause. Beyond that it accepts none until the next tick,
 * a tenth of a second later. The others wait in the kernel's backlog, where they cost us nothing;
 * when that is full, the kernel tells none. Accepted connections are not touched by the pace.
 *
 * In the backlog the first that came is let in first: the choice is not ours, and strangers that
 * come without end fill it. So a pace may have a room: then up to 2,000 a second are accepted, and
 * addresses have their turns (waiting_room.h). A client that finds no place there is closed before
 * its handshake, which costs a hundredth of one. Where still more come, the choice is the kernel's
 * again.
 */
#ifndef SLUICE_CONTROLLER_NET_LISTENER_H
#define SLUICE_CONTROLLER_NET_LISTENER_H

#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"

struct ev_loop;
struct listener;

struct listener_pace {
	unsigned each_second; /* 0: as many as come; else 10 at least */
	unsigned burst;
	unsigned room; /* that many wait outside the backlog, for turns of their addresses */
};

struct listener_options {
	const char *host; /* "" all addresses; borrowed for listener_new() only, as the flag */
	uint16_t port;	  /* 0: any free one */
	const char *flag; /* the flag that named the address, for sentences */
	struct listener_pace pace;
	/* Takes a connection, from the loop. fd does not block, and is the callee's. */
	void (*accepted)(int fd, const struct sockaddr *from, socklen_t len, void *ctx);
	void *ctx;
};

/* Listens. ERR_INVALID: the address cannot be had; the sentence says why. */
int listener_new(struct ev_loop *loop, const struct listener_options *o, struct listener **ret,
	struct err *e);
void listener_free(struct listener *l); /* NULL is fine */

uint16_t listener_port(const struct listener *l);

#endif
