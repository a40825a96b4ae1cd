#include "controller/net/connections.h"

#include <ev.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/must.h"

#define LOOK_SECONDS 0.25
#define KEPT_MS INT64_C(600000)

struct address {
	unsigned char bytes[16]; /* IPv4 as ::ffff:1.2.3.4 */
};

struct connection {
	struct connections *all;
	struct connection *next, *prev; /* all that were added, oldest first; leave by remove */
	int fd;
	struct address from;
	bool serves;
	bool streams; /* serves without a limit of time */
	bool reads;   /* a request was begun, and its body is awaited */
	bool kept;
	uint64_t client; /* for which it is kept */
	bool has_asked;	 /* a complete request was there once */
	bool ended;	 /* shut down; not counted any more */
	double since;
};

struct connections {
	struct ev_loop *loop;
	struct connections_limits limits;
	struct connection *first, *last;
	size_t newcomers; /* those that never had a complete request */
	ev_timer look;	  /* runs while there is a connection */
};

static struct address address_of(const struct sockaddr *from)
{
	struct address a = {{[10] = 0xFF, [11] = 0xFF}};
	if (from && from->sa_family == AF_INET) {
		struct sockaddr_in v4;
		memcpy(&v4, from, sizeof(v4));
		memcpy(a.bytes + 12, &v4.sin_addr, 4);
	} else if (from && from->sa_family == AF_INET6) {
		struct sockaddr_in6 v6;
		memcpy(&v6, from, sizeof(v6));
		memcpy(a.bytes, &v6.sin6_addr, 16);
	}
	return a;
}

static bool same_address(const struct connection *a, const struct connection *b)
{
	return memcmp(&a->from, &b->from, sizeof(a->from)) == 0;
}

void connection_end(struct connection *x)
{
	x->ended = true;
	shutdown(x->fd, SHUT_RDWR);
}

bool connection_is_gone(const struct connection *x)
{
	struct pollfd fd = {.fd = x->fd, .events = POLLRDHUP};
	return x->ended || (poll(&fd, 1, 0) == 1 && (fd.revents & (POLLRDHUP | POLLHUP | POLLERR)));
}

/* ---- time ------------------------------------------------------------------------------------ */

static bool is_late(const struct connection *x, double now)
{
	const struct connections_limits *l = &x->all->limits;
	int64_t idle_ms = x->kept && !x->reads ? KEPT_MS : l->request_ms;
	return (now - x->since) * 1000. >= (double)(x->serves ? l->answer_ms : idle_ms);
}

static void on_look(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct connections *c = w->data;
	(void)revents;
	for (struct connection *x = c->first; x; x = x->next)
		if (!x->ended && !x->streams && is_late(x, ev_now(loop)))
			connection_end(x);
}

void connection_serves(struct connection *x, bool serves)
{
	x->serves = serves;
	x->streams = x->reads = false;
	x->all->newcomers -= !x->has_asked;
	x->has_asked = true;
	x->since = ev_now(x->all->loop);
}

void connection_reads(struct connection *x)
{
	connection_serves(x, false);
	x->reads = true;
}

void connection_streams(struct connection *x)
{
	connection_serves(x, true);
	x->streams = true;
}

/* Ends the oldest connection that is kept for the client of x, where there are too many. */
static void bound_client(struct connection *x)
{
	struct connection *first = NULL;
	unsigned n = 0;
	for (struct connection *y = x->all->first; y; y = y->next) {
		if (y->ended || !y->kept || y->client != x->client)
			continue;
		first = first ? first : y;
		n++;
	}
	if (n > x->all->limits.each_client)
		connection_end(first);
}

void connection_keep(struct connection *x, uint64_t client)
{
	if (x->kept)
		return;
	x->kept = true;
	x->client = client;
	if (x->all->limits.each_client > 0)
		bound_client(x);
}

bool connection_is_kept(const struct connection *x)
{
	return x->kept;
}

/* ---- number ---------------------------------------------------------------------------------- */

/* Counts the connections beside `than`, of its address or of all. */
static unsigned count(const struct connection *than, bool of_address)
{
	unsigned n = 0;
	for (const struct connection *x = than->all->first; x; x = x->next)
		n += x != than && !x->ended && (!of_address || same_address(x, than));
	return n;
}

struct sort {
	bool kept, serves;
};

/* Finds the oldest connection of a sort, by the time without a complete request, or with one. */
static struct connection *oldest(
	const struct connection *than, bool of_address, const struct sort *sort)
{
	struct connection *found = NULL;
	for (struct connection *x = than->all->first; x; x = x->next) {
		if (x == than || x->ended || x->serves != sort->serves || x->kept != sort->kept ||
			(of_address && !same_address(x, than)))
			continue;
		if (!found || x->since < found->since)
			found = x;
	}
	return found;
}

static void make_room(const struct connection *newcomer, bool of_address)
{
	static const struct sort sorts[] = {
		{false, false}, {false, true}, {true, false}, {true, true}};
	struct connection *x = NULL;
	for (size_t i = 0; !x && i < sizeof(sorts) / sizeof(sorts[0]); i++)
		x = oldest(newcomer, of_address, &sorts[i]);
	must(x);
	connection_end(x);
}

/* ---- their life ------------------------------------------------------------------------------ */

struct connections *connections_new(struct ev_loop *loop, const struct connections_limits *limits)
{
	must(limits->all > 0 && limits->each_address > 0);
	struct connections *c = mem_alloc(sizeof(*c));
	c->loop = loop;
	c->limits = *limits;
	ev_timer_init(&c->look, on_look, LOOK_SECONDS, LOOK_SECONDS);
	c->look.data = c;
	return c;
}

void connections_free(struct connections *c)
{
	if (!c)
		return;
	must(!c->first);
	ev_timer_stop(c->loop, &c->look);
	free(c);
}

struct connection *connections_add(struct connections *c, int fd, const struct sockaddr *from)
{
	struct connection *x = mem_alloc(sizeof(*x));
	*x = (struct connection){.all = c,
		.fd = fd,
		.from = address_of(from),
		.since = ev_now(c->loop),
		.prev = c->last};
	*(c->last ? &c->last->next : &c->first) = x;
	c->last = x;
	c->newcomers++;
	if (count(x, true) >= c->limits.each_address)
		make_room(x, true);
	if (count(x, false) >= c->limits.all)
		make_room(x, false);
	ev_timer_start(c->loop, &c->look);
	return x;
}

void connections_remove(struct connections *c, struct connection *x)
{
	*(x->prev ? &x->prev->next : &c->first) = x->next;
	*(x->next ? &x->next->prev : &c->last) = x->prev;
	c->newcomers -= !x->has_asked;
	free(x);
	if (!c->first)
		ev_timer_stop(c->loop, &c->look);
}

size_t connections_newcomers(const struct connections *c)
{
	return c->newcomers;
}

uint64_t connections_address(const struct sockaddr *from)
{
	struct address a = address_of(from);
	return map_hash_bytes(&a, sizeof(a));
}

uint64_t connection_address(const struct connection *x)
{
	return map_hash_bytes(&x->from, sizeof(x->from));
}
