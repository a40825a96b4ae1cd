#include "controller/kube/multi.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"

/* A descriptor that curl wants watched. It stays in the list as long as the multi lives: its own
 * callback may be running when curl is done with it. With fd < 0 it is free to be used again. */
struct multi_socket {
	ev_io io;
	struct multi *multi;
	struct multi_socket *next;
	int fd;
};

struct multi {
	struct ev_loop *loop;
	CURLM *curl;
	ev_timer timer;
	struct multi_socket *socket; /* the sockets, used or free */
	multi_done_fn *done;
	void *ctx;
	int depth; /* of calls into libcurl that are on the stack */
};

static void reap(struct multi *m)
{
	CURLMsg *msg;
	int left;
	while ((msg = curl_multi_info_read(m->curl, &left))) {
		if (msg->msg != CURLMSG_DONE)
			continue;
		CURL *easy = msg->easy_handle;
		CURLcode result = msg->data.result;
		multi_remove(m, easy); /* msg is gone after this */
		m->done(easy, result, m->ctx);
	}
}

static void act(struct multi *m, curl_socket_t fd, int events)
{
	int running;
	must(m->depth == 0);
	m->depth++;
	CURLMcode rc = curl_multi_socket_action(m->curl, fd, events, &running);
	m->depth--;
	must(rc == CURLM_OK);
	reap(m);
}

static void on_ready(struct ev_loop *loop, ev_io *io, int revents)
{
	struct multi_socket *s = io->data;
	(void)loop;
	act(s->multi, s->fd,
		(revents & EV_READ ? CURL_CSELECT_IN : 0) |
			(revents & EV_WRITE ? CURL_CSELECT_OUT : 0));
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int revents)
{
	(void)loop;
	(void)revents;
	multi_drive(timer->data);
}

/* Arms curl's one timer. Never acts here: curl is on the stack. */
static int set_timer(CURLM *curl, long timeout_ms, void *ctx)
{
	struct multi *m = ctx;
	(void)curl;
	ev_timer_stop(m->loop, &m->timer);
	if (timeout_ms < 0)
		return 0;
	ev_now_update(m->loop);
	ev_timer_set(&m->timer, (double)timeout_ms / 1000.0, 0.);
	ev_timer_start(m->loop, &m->timer);
	return 0;
}

static struct multi_socket *socket_new(struct multi *m, int fd)
{
	struct multi_socket *s = m->socket;
	while (s && s->fd >= 0)
		s = s->next;
	if (!s) {
		s = mem_alloc(sizeof(*s));
		s->multi = m;
		s->next = m->socket;
		m->socket = s;
	}
	s->fd = fd;
	return s;
}

static void socket_stop(struct multi_socket *s)
{
	ev_io_stop(s->multi->loop, &s->io); /* also forgets an event that is pending */
	s->fd = -1;
}

static int watch_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *socketp)
{
	struct multi *m = ctx;
	struct multi_socket *s = socketp;
	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (s)
			socket_stop(s);
		curl_multi_assign(m->curl, fd, NULL);
		return 0;
	}
	if (s)
		ev_io_stop(m->loop, &s->io);
	else
		s = socket_new(m, fd);
	ev_io_init(&s->io, on_ready, fd,
		(what & CURL_POLL_IN ? EV_READ : 0) | (what & CURL_POLL_OUT ? EV_WRITE : 0));
	s->io.data = s;
	ev_io_start(m->loop, &s->io);
	curl_multi_assign(m->curl, fd, s);
	return 0;
}

struct multi *multi_new(struct ev_loop *loop, unsigned keep, multi_done_fn *done, void *ctx)
{
	struct multi *m = mem_alloc(sizeof(*m));
	*m = (struct multi){.loop = loop, .done = done, .ctx = ctx, .curl = curl_multi_init()};
	must(m->curl);
	ev_timer_init(&m->timer, on_timer, 0., 0.);
	m->timer.data = m;
	curl_multi_setopt(m->curl, CURLMOPT_SOCKETFUNCTION, watch_socket);
	curl_multi_setopt(m->curl, CURLMOPT_SOCKETDATA, m);
	curl_multi_setopt(m->curl, CURLMOPT_TIMERFUNCTION, set_timer);
	curl_multi_setopt(m->curl, CURLMOPT_TIMERDATA, m);
	curl_multi_setopt(m->curl, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
	curl_multi_setopt(m->curl, CURLMOPT_MAXCONNECTS, (long)keep);
	return m;
}

void multi_free(struct multi *m)
{
	if (!m)
		return;
	curl_multi_cleanup(m->curl); /* closes connections: may still call back */
	ev_timer_stop(m->loop, &m->timer);
	while (m->socket) {
		struct multi_socket *s = m->socket;
		m->socket = s->next;
		ev_io_stop(m->loop, &s->io);
		free(s);
	}
	free(m);
}

void multi_add(struct multi *m, CURL *easy)
{
	must(m->depth == 0);
	m->depth++;
	must(curl_multi_add_handle(m->curl, easy) == CURLM_OK);
	m->depth--;
}

void multi_remove(struct multi *m, CURL *easy)
{
	must(m->depth == 0);
	m->depth++;
	must(curl_multi_remove_handle(m->curl, easy) == CURLM_OK);
	m->depth--;
}

void multi_drive(struct multi *m)
{
	act(m, CURL_SOCKET_TIMEOUT, 0);
}
