/*
 * Any bytes as what the API server sends back over a connection which it then closes: whatever the
 * request was, it gets exactly one answer, of a class that such a request can have, and within
 * its ceiling. The first byte chooses the request.
 */
#include <ev.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/must.h"
#include "controller/kube/client.h"

enum { CEILING = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Made once: a loop, a client, and a server which knows one answer. */
struct stage {
	struct ev_loop *loop;
	struct kube_client *client;
	ev_io accepting;
	const uint8_t *data;
	size_t size;
	enum kube_intent intent;
	unsigned answers;
	size_t streamed;
};

/* One connection: sends all when it is asked, then closes its side, and goes when the client has.
 */
struct conn {
	struct stage *stage;
	ev_io io;
	size_t sent;
	bool said_all;
};

static void conn_end(struct conn *c)
{
	ev_io_stop(c->stage->loop, &c->io);
	close(c->io.fd);
	free(c);
}

static void on_conn(struct ev_loop *loop, ev_io *w, int revents)
{
	struct conn *c = w->data;
	char asked[4096];
	ssize_t n = recv(w->fd, asked, sizeof(asked), MSG_DONTWAIT);
	(void)loop;
	(void)revents;
	if (n == 0 || (c->said_all && n < 0)) {
		conn_end(c);
		return;
	}
	if (n < 0 || c->said_all)
		return;
	/* Inputs are smaller than what the kernel buffers. */
	if (send(w->fd, c->stage->data, c->stage->size, MSG_NOSIGNAL) < 0) {
		conn_end(c);
		return;
	}
	c->said_all = true;
	shutdown(w->fd, SHUT_WR);
}

static void on_accept(struct ev_loop *loop, ev_io *w, int revents)
{
	struct stage *s = w->data;
	int fd = accept(w->fd, NULL, NULL);
	(void)revents;
	if (fd < 0)
		return;
	struct conn *c = calloc(1, sizeof(*c));
	must(c);
	c->stage = s;
	c->io.data = c;
	ev_io_init(&c->io, on_conn, fd, EV_READ);
	ev_io_start(loop, &c->io);
}

static int listen_somewhere(int *ret_port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	must(fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(fd, 16) == 0);
	must(getsockname(fd, (struct sockaddr *)&at, &len) == 0);
	*ret_port = ntohs(at.sin_port);
	return fd;
}

static struct stage *stage_get(void)
{
	static struct stage s;
	static struct kube_config *config;
	char text[512];
	int port;
	struct err e = {""};
	struct kube_config_options options = {.allow_http = true};
	if (s.loop)
		return &s;
	s.loop = ev_loop_new(EVFLAG_AUTO);
	int fd = listen_somewhere(&port);
	snprintf(text, sizeof(text),
		"current-context: k\ncontexts: [{name: k, context: {cluster: c, user: u}}]\n"
		"clusters: [{name: c, cluster: {server: \"http://127.0.0.1:%d\"}}]\n"
		"users: [{name: u, user: {}}]\n",
		port);
	must(kube_config_parse(slice_of(text), "/fuzz", &options, &config, &e) == 0);
	s.client = kube_client_new(
		s.loop, config, &(struct kube_client_options){.answer_ceiling = CEILING});
	s.accepting.data = &s;
	ev_io_init(&s.accepting, on_accept, fd, EV_READ);
	ev_io_start(s.loop, &s.accepting);
	return &s;
}

static void check(const struct stage *s, const struct kube_answer *a)
{
	bool is_write = s->intent == KUBE_WRITE;
	must(a->body.len <= CEILING && a->body.ptr[a->body.len] == '\0');
	must(a->retry_after_ms >= 0 && a->retry_after_ms <= KUBE_RETRY_AFTER_MAX_MS);
	must((a->outcome == KUBE_DONE) == (a->sentence[0] == '\0'));
	must(a->outcome != KUBE_DONE || (a->http_status >= 200 && a->http_status < 300));
	must(a->outcome != KUBE_IN_DOUBT || is_write);
	must(a->outcome != KUBE_LIMIT || !is_write);
	must(a->outcome != KUBE_RELIST || s->intent == KUBE_WATCH);
	must(*kube_outcome_name(a->outcome));
}

static void on_answer(const struct kube_answer *a, void *ctx)
{
	struct stage *s = ctx;
	s->answers++;
	check(s, a);
}

static void on_bytes(struct slice bytes, void *ctx)
{
	struct stage *s = ctx;
	s->streamed += bytes.len;
	must(s->streamed <= s->size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stage *s = stage_get();
	struct kube_request request = {.method = KUBE_GET, .path = "/apis/batch/v1/jobs"};
	if (size == 0 || size > 32768)
		return 0;
	s->data = data + 1;
	s->size = size - 1;
	s->answers = 0;
	s->streamed = 0;
	s->intent = data[0] % 3 == 0 ? KUBE_READ : data[0] % 3 == 1 ? KUBE_WRITE : KUBE_WATCH;
	if (s->intent == KUBE_WRITE) {
		request.method = KUBE_PATCH;
		request.content_type = KUBE_JSON_PATCH;
		request.body = slice_of("[]");
	}
	if (s->intent == KUBE_WATCH)
		kube_client_stream(s->client, &request, on_bytes, on_answer, s);
	else
		kube_client_send(s->client, &request, on_answer, s);
	while (s->answers == 0)
		ev_run(s->loop, EVRUN_ONCE);
	/* Whatever is still to come of it comes now. */
	for (int i = 0; i < 4; i++)
		ev_run(s->loop, EVRUN_NOWAIT);
	must(s->answers == 1);
	return 0;
}
