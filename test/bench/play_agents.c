/*
 * Plays the agents of many nodes: each has two connections to the leader, over HTTPS, as sluice-node
 * has. One asks for orders and waits for others; by the other it reports each second what its node
 * and the pods that are ordered use.
 *
 *     play_agents ADDRESS:PORT CERTIFICATE AGENTS SECONDS [PERIOD_MS]
 *
 * AGENTS has a line for each: NODE TOKEN. Towards a loopback address each agent comes from an address
 * of its own (127.1.x.y). Prints one JSON object: how many answers of which status, how soon they
 * came, how many orders.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/monotonic.h"
#include "base/must.h"
#include "node/wire.h"

#define BOOT "00000000-0000-4000-8000-000000000000"
#define RETRY_SECONDS 1.

enum { STATUS_MAX = 600, CORE = 1000 };

enum conn_state { CONN_CLOSED, CONN_HANDSHAKE, CONN_IDLE, CONN_SENDING, CONN_HEARING };

struct agent;

/* A connection of an agent: one question at a time. */
struct conn {
	struct agent *agent;
	enum conn_state state;
	int fd;
	gnutls_session_t session;
	ev_io io;
	struct buf out, in;
	size_t sent;
	int64_t asked_us;
	bool wanted; /* a question waits for the connection */
};

struct agent {
	char node[254], *token;
	struct conn orders, samples;
	ev_timer beat, retry;
	int64_t number, have;
	struct orders *newest; /* NULL: none came yet */
};

static struct {
	struct ev_loop *loop;
	struct sockaddr_storage at;
	socklen_t at_len;
	gnutls_certificate_credentials_t credentials;
	gnutls_priority_t priority;
	struct agent *agents;
	size_t n;
	double period;
	uint64_t answers[STATUS_MAX], broken, orders, pods;
	int64_t *took_us; /* of samples */
	size_t ntook, room;
	struct json *json;
} play;

/* ---- a connection ---------------------------------------------------------------------------- */

static void conn_close(struct conn *c)
{
	if (c->state == CONN_CLOSED)
		return;
	ev_io_stop(play.loop, &c->io);
	gnutls_deinit(c->session);
	close(c->fd);
	buf_done(&c->out);
	buf_done(&c->in);
	c->state = CONN_CLOSED;
}

static void conn_break(struct conn *c, const char *why)
{
	if (play.broken++ < 20)
		fprintf(stderr, "%s of %s, state %d: %s\n",
			c == &c->agent->orders ? "orders" : "samples", c->agent->node, c->state,
			why);
	conn_close(c);
	ev_timer_start(play.loop, &c->agent->retry);
}

static void conn_watch(struct conn *c, int events)
{
	ev_io_stop(play.loop, &c->io);
	ev_io_set(&c->io, c->fd, events);
	ev_io_start(play.loop, &c->io);
}

static int wanted_events(const struct conn *c)
{
	return gnutls_record_get_direction(c->session) ? EV_WRITE : EV_READ;
}

/* Binds to an address of the agent's own, where the leader is on loopback. */
static void bind_own(int fd, size_t i)
{
	const struct sockaddr_in *to = (const struct sockaddr_in *)&play.at;
	struct sockaddr_in from = {.sin_family = AF_INET};
	if (play.at.ss_family != AF_INET || ntohl(to->sin_addr.s_addr) >> 24 != 127)
		return;
	from.sin_addr.s_addr = htonl(0x7F010001u + (uint32_t)i);
	must(bind(fd, (struct sockaddr *)&from, sizeof(from)) == 0);
}

static void on_io(struct ev_loop *loop, ev_io *w, int revents);

static void conn_open(struct conn *c)
{
	int one = 1;
	c->fd = socket(play.at.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	must(c->fd >= 0);
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	bind_own(c->fd, (size_t)(c->agent - play.agents));
	int rc = connect(c->fd, (struct sockaddr *)&play.at, play.at_len);
	must(rc == 0 || errno == EINPROGRESS);
	gnutls_init(&c->session, GNUTLS_CLIENT | GNUTLS_NONBLOCK);
	gnutls_priority_set(c->session, play.priority);
	gnutls_credentials_set(c->session, GNUTLS_CRD_CERTIFICATE, play.credentials);
	gnutls_session_set_verify_cert(c->session, NULL, 0);
	gnutls_transport_set_int(c->session, c->fd);
	buf_init(&c->out, 1 << 20);
	buf_init(&c->in, 1 << 20);
	c->state = CONN_HANDSHAKE;
	ev_io_init(&c->io, on_io, c->fd, EV_WRITE);
	c->io.data = c;
	ev_io_start(play.loop, &c->io);
}

/* ---- questions ------------------------------------------------------------------------------- */

static void put_sample(struct agent *a, struct buf *out)
{
	static struct sampled_pod pod[SAMPLE_PODS_MAX];
	const struct orders *o = a->newest;
	struct sample s = {.number = ++a->number,
		.window_ms = (int64_t)(play.period * 1000.),
		.has_used = true,
		.used = {20 * CORE + random() % CORE, (INT64_C(60) << 30) + random()},
		.pods_used = {19 * CORE + random() % CORE, -1},
		.memory_total = o ? o->capacity.memory_bytes : -1,
		.memory_available = o ? o->capacity.memory_bytes / 2 - random() : -1,
		.pressure_us = random() % 1000,
		.may_milli = -1,
		.orders = a->have,
		.pods = pod};
	memcpy(s.boot, BOOT, sizeof(BOOT));
	for (size_t i = 0; o && i < o->npods; i++)
		pod[s.npods++] = (struct sampled_pod){.uid = o->pods[i].uid,
			.used = {o->pods[i].asked.cpu_milli * 4 / 5 + random() % 100,
				o->pods[i].asked.memory_bytes / 2},
			.quota_milli = o->pods[i].asked.cpu_milli};
	play.pods += s.npods;
	wire_put_sample(&s, out);
}

static void conn_go_on(struct conn *c);

/* Sends a question, if the connection is free. */
static void conn_ask(struct conn *c)
{
	struct agent *a = c->agent;
	struct buf body;
	if (c->state != CONN_IDLE || !c->wanted)
		return;
	c->wanted = false;
	buf_init(&body, SAMPLE_BYTES_MAX);
	buf_reset(&c->out);
	if (c == &a->samples) {
		put_sample(a, &body);
		buf_printf(&c->out, "POST /v1/node/sample HTTP/1.1\r\nContent-Length: %zu\r\n",
			body.len);
	} else {
		buf_printf(&c->out, "GET /v1/node/orders?have=%" PRId64 " HTTP/1.1\r\n", a->have);
	}
	buf_printf(&c->out, "Host: sluice\r\nAuthorization: Bearer %s\r\n\r\n", a->token);
	buf_add(&c->out, buf_text(&body), body.len);
	buf_done(&body);
	c->sent = 0;
	c->asked_us = monotonic_us();
	c->state = CONN_SENDING;
	conn_go_on(c);
}

static void take_orders(struct agent *a, struct slice text)
{
	struct orders *o;
	struct err e;
	if (wire_read_orders(play.json, text, &o, &e) != 0) {
		fprintf(stderr, "orders of %s: %s\n", a->node, e.text);
		return;
	}
	play.orders++;
	orders_free(a->newest);
	a->newest = o;
	a->have = o->generation;
}

static void note_time(int64_t us)
{
	if (play.ntook == play.room) {
		play.room = play.room ? 2 * play.room : 1024;
		play.took_us = mem_grow(play.took_us, play.room, sizeof(*play.took_us));
	}
	play.took_us[play.ntook++] = us;
}

/* Takes a whole answer. */
static void conn_take(struct conn *c, int status, struct slice body)
{
	play.answers[status > 0 && status < STATUS_MAX ? status : 0]++;
	if (c == &c->agent->samples) {
		note_time(monotonic_us() - c->asked_us);
	} else {
		if (status == 200)
			take_orders(c->agent, body);
		c->wanted = status == 200 || status == 204;
		if (!c->wanted)
			ev_timer_start(play.loop, &c->agent->retry);
	}
	buf_reset(&c->in);
	c->state = CONN_IDLE;
	conn_ask(c);
}

/* Finds a whole answer in what came. */
static void conn_look(struct conn *c)
{
	const char *text = buf_text(&c->in), *end = strstr(text, "\r\n\r\n");
	if (!end || strncmp(text, "HTTP/1.1 ", 9) != 0)
		return;
	int status = atoi(text + 9);
	const char *length = strstr(text, "Content-Length: ");
	size_t head = (size_t)(end + 4 - text);
	size_t len = length && length < end ? strtoul(length + 16, NULL, 10) : 0;
	if (c->in.len >= head + len)
		conn_take(c, status, (struct slice){text + head, len});
}

/* ---- what happens ---------------------------------------------------------------------------- */

static bool conn_waits(struct conn *c, ssize_t rc)
{
	if (rc != GNUTLS_E_AGAIN && rc != GNUTLS_E_INTERRUPTED)
		return false;
	conn_watch(c, wanted_events(c));
	return true;
}

static void conn_send(struct conn *c)
{
	while (c->sent < c->out.len) {
		ssize_t n =
			gnutls_record_send(c->session, c->out.ptr + c->sent, c->out.len - c->sent);
		if (n > 0)
			c->sent += (size_t)n;
		else if (conn_waits(c, n))
			return;
		else {
			conn_break(c, gnutls_strerror((int)n));
			return;
		}
	}
	c->state = CONN_HEARING;
	conn_watch(c, EV_READ);
}

static void conn_hear(struct conn *c)
{
	char text[16384];
	ssize_t n;
	while ((n = gnutls_record_recv(c->session, text, sizeof(text))) > 0)
		buf_add(&c->in, text, (size_t)n);
	if (c->state == CONN_HEARING)
		conn_look(c);
	if (c->state == CONN_CLOSED || (c->state == CONN_SENDING && n != 0))
		return;
	if (!conn_waits(c, n))
		conn_break(c, n ? gnutls_strerror((int)n) : "closed");
}

static void conn_go_on(struct conn *c)
{
	int rc;
	switch (c->state) {
	case CONN_CLOSED:
		return;
	case CONN_HANDSHAKE:
		rc = gnutls_handshake(c->session);
		if (rc == 0) {
			c->state = CONN_IDLE;
			conn_watch(c, EV_READ);
			conn_ask(c);
		} else if (!conn_waits(c, rc)) {
			conn_break(c, gnutls_strerror(rc));
		}
		return;
	case CONN_SENDING:
		conn_send(c);
		return;
	case CONN_IDLE:
	case CONN_HEARING:
		conn_hear(c);
		return;
	}
}

static void on_io(struct ev_loop *loop, ev_io *w, int revents)
{
	(void)loop;
	(void)revents;
	conn_go_on(w->data);
}

static void on_beat(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct agent *a = w->data;
	(void)loop;
	(void)revents;
	a->samples.wanted = true;
	conn_ask(&a->samples);
}

static void on_retry(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct agent *a = w->data;
	(void)revents;
	ev_timer_stop(loop, w);
	a->orders.wanted |= a->orders.state == CONN_CLOSED || a->orders.state == CONN_IDLE;
	if (a->orders.state == CONN_CLOSED)
		conn_open(&a->orders);
	if (a->samples.state == CONN_CLOSED)
		conn_open(&a->samples);
	conn_ask(&a->orders);
}

static void on_end(struct ev_loop *loop, ev_timer *w, int revents)
{
	(void)w;
	(void)revents;
	ev_break(loop, EVBREAK_ALL);
}

/* ---- the play -------------------------------------------------------------------------------- */

static void agent_start(struct agent *a, size_t i)
{
	a->orders.agent = a->samples.agent = a;
	a->orders.wanted = true;
	ev_timer_init(&a->retry, on_retry, RETRY_SECONDS, RETRY_SECONDS);
	ev_timer_init(&a->beat, on_beat, play.period * (double)i / (double)play.n, play.period);
	a->retry.data = a->beat.data = a;
	conn_open(&a->orders);
	conn_open(&a->samples);
	ev_timer_start(play.loop, &a->beat);
}

static void read_agents(const char *path)
{
	char node[254], token[4096];
	FILE *f = fopen(path, "r");
	must(f);
	size_t room = 0;
	while (fscanf(f, "%253s %4095s", node, token) == 2) {
		if (play.n == room) {
			room = room ? 2 * room : 256;
			play.agents = mem_grow(play.agents, room, sizeof(*play.agents));
		}
		struct agent *a = &play.agents[play.n++];
		memset(a, 0, sizeof(*a));
		memcpy(a->node, node, sizeof(node));
		a->token = mem_strdup(token);
	}
	fclose(f);
}

static bool read_address(char *text)
{
	char *colon = strrchr(text, ':');
	struct sockaddr_in v4 = {.sin_family = AF_INET};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
	if (!colon)
		return false;
	*colon = '\0';
	v4.sin_port = v6.sin6_port = htons((uint16_t)atoi(colon + 1));
	if (text[0] == '[')
		text[strlen(text) - 1] = '\0';
	if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
		memcpy(&play.at, &v4, play.at_len = sizeof(v4));
		return true;
	}
	memcpy(&play.at, &v6, play.at_len = sizeof(v6));
	return inet_pton(AF_INET6, text + 1, &((struct sockaddr_in6 *)&play.at)->sin6_addr) == 1;
}

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static double took_ms(double part)
{
	return play.ntook ? (double)play.took_us[(size_t)((double)(play.ntook - 1) * part)] / 1000.
			  : 0.;
}

static void print_result(void)
{
	struct buf out;
	qsort(play.took_us, play.ntook, sizeof(*play.took_us), by_time);
	buf_init(&out, 1 << 16);
	struct json_writer w = json_writer_object(&out);
	jw_int(&w, "agents", (int64_t)play.n);
	jw_object(&w, "answers");
	for (int i = 0; i < STATUS_MAX; i++) {
		char status[16];
		snprintf(status, sizeof(status), "%d", i);
		if (play.answers[i])
			jw_int(&w, status, (int64_t)play.answers[i]);
	}
	jw_end(&w);
	jw_int(&w, "samples", (int64_t)play.ntook);
	jw_int(&w, "pods", (int64_t)play.pods);
	jw_int(&w, "orders", (int64_t)play.orders);
	jw_int(&w, "broken", (int64_t)play.broken);
	jw_number(&w, "sample_p50_ms", "%.2f", took_ms(0.5));
	jw_number(&w, "sample_p99_ms", "%.2f", took_ms(0.99));
	jw_number(&w, "sample_max_ms", "%.2f", took_ms(1));
	jw_close(&w);
	puts(buf_text(&out));
	buf_done(&out);
}

int main(int argc, char **argv)
{
	struct rlimit files;
	ev_timer end;
	if (argc < 5 || !read_address(argv[1])) {
		fprintf(stderr,
			"play_agents ADDRESS:PORT CERTIFICATE AGENTS SECONDS [PERIOD_MS]\n");
		return 2;
	}
	must(getrlimit(RLIMIT_NOFILE, &files) == 0);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	play.loop = ev_loop_new(EVFLAG_AUTO);
	play.json = json_new(64 << 20);
	play.period = argc > 5 ? atof(argv[5]) / 1000. : 1.;
	gnutls_certificate_allocate_credentials(&play.credentials);
	must(gnutls_certificate_set_x509_trust_file(
		     play.credentials, argv[2], GNUTLS_X509_FMT_PEM) == 1);
	gnutls_priority_init(&play.priority, "NORMAL", NULL);
	read_agents(argv[3]);
	for (size_t i = 0; i < play.n; i++)
		agent_start(&play.agents[i], i);
	ev_timer_init(&end, on_end, atof(argv[4]), 0.);
	ev_timer_start(play.loop, &end);
	ev_run(play.loop, 0);
	print_result();
	return 0;
}
