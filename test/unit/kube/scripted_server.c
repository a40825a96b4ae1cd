#include "scripted_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/must.h"

enum step_kind { STEP_SEND, STEP_CUT, STEP_HOLD };

struct step {
	enum step_kind kind;
	char *ptr;
	size_t len;
};

struct script {
	char *line_part;
	struct step *step;
	size_t steps;
	bool used;
	struct script *next;
	struct scripted_server *server;
};

struct conn {
	struct scripted_server *server;
	struct conn *next;
	int fd; /* -1: closed */
	ev_io in, out;
	struct buf input;
	struct script *script; /* being played */
	size_t at, sent;       /* step, and bytes of it */
};

struct scripted_server {
	struct ev_loop *loop;
	int fd;
	ev_io accept;
	char url[64];
	struct script *script;
	struct conn *conn;
	struct scripted_request *request;
	size_t requests, unexpected, connections;
	struct script *refusal; /* what an unexpected request gets */
};

static void conn_close(struct conn *c)
{
	if (c->fd < 0)
		return;
	ev_io_stop(c->server->loop, &c->in);
	ev_io_stop(c->server->loop, &c->out);
	close(c->fd);
	c->fd = -1;
}

static struct script *find_script(struct scripted_server *s, const char *line)
{
	for (struct script *p = s->script; p; p = p->next)
		if (!p->used && strstr(line, p->line_part)) {
			p->used = true;
			return p;
		}
	s->unexpected++;
	fprintf(stderr, "scripted server: unexpected %s\n", line);
	return s->refusal;
}

/* A whole request at the front of the input: its size, or 0. */
static size_t request_size(const struct conn *c, size_t *ret_head)
{
	const char *text = buf_text(&c->input), *end = strstr(text, "\r\n\r\n");
	if (!end)
		return 0;
	*ret_head = (size_t)(end - text) + 4;
	const char *length = strcasestr(text, "\r\nContent-Length:");
	size_t body = length && length < end ? strtoul(length + 17, NULL, 10) : 0;
	return c->input.len >= *ret_head + body ? *ret_head + body : 0;
}

static void take_request(struct conn *c)
{
	struct scripted_server *s = c->server;
	size_t head, size = c->script ? 0 : request_size(c, &head);
	if (size == 0)
		return;
	const char *text = buf_text(&c->input);
	s->request = mem_grow(s->request, s->requests + 1, sizeof(*s->request));
	struct scripted_request *r = &s->request[s->requests++];
	r->line = mem_strndup(text, strcspn(text, "\r\n"));
	r->head = mem_strndup(text, head);
	r->body = mem_strndup(text + head, size - head);
	buf_consume(&c->input, size);
	c->script = find_script(s, r->line);
	c->at = c->sent = 0;
	ev_io_start(s->loop, &c->out);
}

static void on_input(struct ev_loop *loop, ev_io *io, int revents)
{
	struct conn *c = io->data;
	char chunk[65536];
	(void)loop;
	(void)revents;
	ssize_t n = read(c->fd, chunk, sizeof(chunk));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		conn_close(c);
		return;
	}
	buf_add(&c->input, chunk, (size_t)n);
	take_request(c);
}

static void send_some(struct conn *c, const struct step *step)
{
	ssize_t n = send(c->fd, step->ptr + c->sent, step->len - c->sent, MSG_NOSIGNAL);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		conn_close(c);
		return;
	}
	c->sent += (size_t)n;
	if (c->sent == step->len) {
		c->at++;
		c->sent = 0;
	}
}

static void on_output(struct ev_loop *loop, ev_io *io, int revents)
{
	struct conn *c = io->data;
	(void)revents;
	if (c->at == c->script->steps) {
		ev_io_stop(loop, &c->out);
		c->script = NULL;
		take_request(c);
		return;
	}
	const struct step *step = &c->script->step[c->at];
	switch (step->kind) {
	case STEP_SEND:
		send_some(c, step);
		break;
	case STEP_CUT:
		conn_close(c);
		break;
	case STEP_HOLD:
		ev_io_stop(loop, &c->out);
		break;
	}
}

static void on_accept(struct ev_loop *loop, ev_io *io, int revents)
{
	struct scripted_server *s = io->data;
	int on = 1, fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	(void)revents;
	if (fd < 0)
		return;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	struct conn *c = mem_alloc(sizeof(*c));
	*c = (struct conn){.server = s, .next = s->conn, .fd = fd};
	buf_init(&c->input, 64 * 1024 * 1024);
	s->conn = c;
	s->connections++;
	ev_io_init(&c->in, on_input, fd, EV_READ);
	ev_io_init(&c->out, on_output, fd, EV_WRITE);
	c->in.data = c->out.data = c;
	ev_io_start(loop, &c->in);
}

static struct script *script_new(struct scripted_server *s, const char *line_part)
{
	struct script *p = mem_alloc(sizeof(*p));
	p->server = s;
	p->line_part = mem_strdup(line_part);
	return p;
}

static void script_free(struct script *p)
{
	for (size_t i = 0; i < p->steps; i++)
		free(p->step[i].ptr);
	free(p->step);
	free(p->line_part);
	free(p);
}

struct scripted_server *scripted_server_new(struct ev_loop *loop)
{
	struct scripted_server *s = mem_alloc(sizeof(*s));
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	s->loop = loop;
	s->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	must(s->fd >= 0 && bind(s->fd, (struct sockaddr *)&a, len) == 0);
	must(listen(s->fd, 128) == 0 && getsockname(s->fd, (struct sockaddr *)&a, &len) == 0);
	snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%d", ntohs(a.sin_port));
	s->refusal = script_new(s, "");
	script_answer(s->refusal, 599, "", "no script for this");
	ev_io_init(&s->accept, on_accept, s->fd, EV_READ);
	s->accept.data = s;
	ev_io_start(loop, &s->accept);
	return s;
}

void scripted_server_free(struct scripted_server *s)
{
	if (!s)
		return;
	while (s->conn) {
		struct conn *c = s->conn;
		s->conn = c->next;
		conn_close(c);
		buf_done(&c->input);
		free(c);
	}
	while (s->script) {
		struct script *p = s->script;
		s->script = p->next;
		script_free(p);
	}
	for (size_t i = 0; i < s->requests; i++) {
		free(s->request[i].line);
		free(s->request[i].head);
		free(s->request[i].body);
	}
	script_free(s->refusal);
	free(s->request);
	ev_io_stop(s->loop, &s->accept);
	close(s->fd);
	free(s);
}

const char *scripted_server_url(const struct scripted_server *s)
{
	return s->url;
}

size_t scripted_server_count(const struct scripted_server *s)
{
	return s->requests;
}

const struct scripted_request *scripted_server_request(const struct scripted_server *s, size_t i)
{
	must(i < s->requests);
	return &s->request[i];
}

size_t scripted_server_unexpected(const struct scripted_server *s)
{
	return s->unexpected;
}

size_t scripted_server_unused(const struct scripted_server *s)
{
	size_t n = 0;
	for (const struct script *p = s->script; p; p = p->next)
		n += !p->used;
	return n;
}

size_t scripted_server_connections(const struct scripted_server *s)
{
	return s->connections;
}

size_t scripted_server_open(const struct scripted_server *s)
{
	size_t n = 0;
	for (const struct conn *c = s->conn; c; c = c->next)
		n += c->fd >= 0;
	return n;
}

struct script *scripted_server_expect(struct scripted_server *s, const char *line_part)
{
	struct script *p = script_new(s, line_part), **end = &s->script;
	while (*end)
		end = &(*end)->next;
	*end = p;
	return p;
}

static void add_step(struct script *p, enum step_kind kind, char *ptr, size_t len)
{
	p->step = mem_grow(p->step, p->steps + 1, sizeof(*p->step));
	p->step[p->steps++] = (struct step){kind, ptr, len};
}

static void add_text(struct script *p, struct buf *b)
{
	size_t len = b->len;
	must(!b->failed);
	add_step(p, STEP_SEND, buf_take(b), len);
}

void script_answer(struct script *p, int status, const char *headers, const char *body)
{
	struct buf b;
	buf_init(&b, SIZE_MAX / 2);
	buf_printf(&b, "HTTP/1.1 %d Said\r\nContent-Type: application/json\r\n", status);
	buf_printf(&b, "Content-Length: %zu\r\n%s\r\n%s", strlen(body), headers, body);
	add_text(p, &b);
}

void script_raw(struct script *p, const char *text)
{
	add_step(p, STEP_SEND, mem_strdup(text), strlen(text));
}

void script_stream(struct script *p)
{
	script_raw(p, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
		      "Transfer-Encoding: chunked\r\n\r\n");
}

void script_bytes(struct script *p, const void *ptr, size_t len)
{
	struct buf b;
	buf_init(&b, SIZE_MAX / 2);
	buf_printf(&b, "%zx\r\n", len);
	buf_add(&b, ptr, len);
	buf_puts(&b, "\r\n");
	add_text(p, &b);
}

void script_chunk(struct script *p, const char *text)
{
	script_bytes(p, text, strlen(text));
}

void script_end(struct script *p)
{
	script_raw(p, "0\r\n\r\n");
}

void script_cut(struct script *p)
{
	add_step(p, STEP_CUT, NULL, 0);
}

void script_hold(struct script *p)
{
	add_step(p, STEP_HOLD, NULL, 0);
}

void script_release(struct script *p)
{
	for (struct conn *c = p->server->conn; c; c = c->next)
		if (c->script == p && c->fd >= 0 && c->at < p->steps &&
			p->step[c->at].kind == STEP_HOLD) {
			c->at++;
			ev_io_start(p->server->loop, &c->out);
		}
}
