#include "controller/net/listener.h"

#include <errno.h>
#include <ev.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/must.h"
#include "controller/net/connections.h"
#include "controller/net/waiting_room.h"

#define TICK_SECONDS 0.1

enum {
	BACKLOG = 512,
	TICKS_A_SECOND = 10,
	EACH_TURN_MAX = 16, /* clients of one turn; then others in the loop have theirs */
	LOOKS_A_TICK = 200,
};

struct listener {
	struct ev_loop *loop;
	struct listener_options options;
	int fd;
	uint16_t port;
	struct waiting_room *room; /* without pace.room: for the one that is let in now */
	unsigned left;		   /* may be let in now, where there is a pace */
	unsigned looks;		   /* may be accepted now, to be let in or to wait */
	ev_io io;		   /* stopped while no client may come */
	ev_timer tick;		   /* runs while left is not all of burst, or after a fault */
};

/* ---- who is let in --------------------------------------------------------------------------- */

static bool has_pace(const struct listener *l)
{
	return l->options.pace.each_second > 0;
}

/* Lets in as many as may come now, of those that wait. */
static void let_in(struct listener *l)
{
	struct waiting_client c;
	while ((!has_pace(l) || l->left > 0) && waiting_room_take(l->room, &c)) {
		l->left -= has_pace(l);
		l->options.accepted(c.fd, (struct sockaddr *)&c.from, c.len, l->options.ctx);
	}
}

/* Closes a connection at once: nothing of it is kept, here or in the kernel. */
static void send_away(int fd)
{
	struct linger now = {.l_onoff = 1};
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
}

/* Stops accepting until the next tick, where no more may come. */
static void spend(struct listener *l)
{
	if (!has_pace(l))
		return;
	ev_timer_start(l->loop, &l->tick);
	l->looks -= l->looks > 0;
	if (l->left == 0 && (l->options.pace.room == 0 || l->looks == 0))
		ev_io_stop(l->loop, &l->io);
}

/* Whether accepting failed by a fault of ours, not by a client that has gone. */
static bool is_fault(int why)
{
	return why == EMFILE || why == ENFILE || why == ENOBUFS || why == ENOMEM;
}

/* Accepts a client. False: there is none, or none can be had now. */
static bool accept_one(struct listener *l)
{
	struct waiting_client c = {.len = sizeof(c.from)};
	c.fd = accept4(l->fd, (struct sockaddr *)&c.from, &c.len, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (c.fd >= 0) {
		c.address = connections_address((struct sockaddr *)&c.from);
		int gone = waiting_room_add(l->room, &c);
		if (gone >= 0)
			send_away(gone);
		let_in(l);
		spend(l);
		return true;
	}
	if (is_fault(errno)) { /* else the loop would call us again at once, and again */
		ev_io_stop(l->loop, &l->io);
		ev_timer_start(l->loop, &l->tick);
	}
	return false;
}

static void on_io(struct ev_loop *loop, ev_io *w, int revents)
{
	struct listener *l = w->data;
	(void)loop;
	(void)revents;
	for (int n = 0; n < EACH_TURN_MAX && ev_is_active(w) && accept_one(l); n++)
		continue;
}

static void on_tick(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct listener *l = w->data;
	const struct listener_pace *pace = &l->options.pace;
	(void)revents;
	l->left += pace->each_second / TICKS_A_SECOND;
	l->looks = LOOKS_A_TICK;
	if (l->left >= pace->burst) {
		l->left = pace->burst;
		ev_timer_stop(loop, w);
	}
	let_in(l);
	ev_io_start(loop, &l->io);
}

/* ---- its life -------------------------------------------------------------------------------- */

static int listen_on(const struct addrinfo *a)
{
	int yes = 1, no = 0;
	int fd =
		socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (a->ai_family == AF_INET6) /* [::] is all addresses, IPv4 too */
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	int why = errno;
	close(fd);
	errno = why;
	return -1;
}

static int listen_at(const struct listener_options *o, int *ret_fd, struct err *e)
{
	char port[8];
	struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
	struct addrinfo *found;
	snprintf(port, sizeof(port), "%u", o->port);
	int rc = getaddrinfo(o->host[0] ? o->host : NULL, port, &hints, &found);
	if (rc)
		return err_set(e, ERR_INVALID, "cannot listen on \"%s\" port %s: %s", o->host, port,
			gai_strerror(rc));
	int fd = -1;
	for (const struct addrinfo *a = found; a && fd < 0; a = a->ai_next)
		fd = listen_on(a);
	int why = errno;
	freeaddrinfo(found);
	if (fd < 0)
		return err_set(e, ERR_INVALID,
			"cannot listen on \"%s\" port %s: %s; choose another with --%s", o->host,
			port, strerror(why), o->flag);
	*ret_fd = fd;
	return 0;
}

static uint16_t port_of(int fd)
{
	struct sockaddr_storage s;
	socklen_t len = sizeof(s);
	memset(&s, 0, sizeof(s));
	if (getsockname(fd, (struct sockaddr *)&s, &len) != 0)
		return 0;
	in_port_t port;
	if (s.ss_family == AF_INET6)
		memcpy(&port, (char *)&s + offsetof(struct sockaddr_in6, sin6_port), sizeof(port));
	else
		memcpy(&port, (char *)&s + offsetof(struct sockaddr_in, sin_port), sizeof(port));
	return ntohs(port);
}

int listener_new(struct ev_loop *loop, const struct listener_options *o, struct listener **ret,
	struct err *e)
{
	int fd = -1;
	must(o->pace.each_second == 0 ||
		(o->pace.each_second >= TICKS_A_SECOND && o->pace.burst > 0));
	int rc = listen_at(o, &fd, e);
	if (rc)
		return rc;
	struct listener *l = mem_alloc(sizeof(*l));
	*l = (struct listener){.loop = loop,
		.options = *o,
		.fd = fd,
		.port = port_of(fd),
		.left = o->pace.burst,
		.looks = LOOKS_A_TICK};
	l->room = waiting_room_new(o->pace.room > 0 ? o->pace.room : 1);
	l->options.host = l->options.flag = NULL;
	ev_io_init(&l->io, on_io, fd, EV_READ);
	ev_timer_init(&l->tick, on_tick, TICK_SECONDS, TICK_SECONDS);
	l->io.data = l->tick.data = l;
	ev_io_start(loop, &l->io);
	*ret = l;
	return 0;
}

void listener_free(struct listener *l)
{
	if (!l)
		return;
	ev_io_stop(l->loop, &l->io);
	ev_timer_stop(l->loop, &l->tick);
	for (struct waiting_client c; waiting_room_take(l->room, &c);)
		close(c.fd);
	waiting_room_free(l->room);
	close(l->fd);
	free(l);
}

uint16_t listener_port(const struct listener *l)
{
	return l->port;
}
