#include "controller/answers/reader_child.h"

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/mem.h"
#include "base/must.h"

enum {
	READ_MAX = 256 << 10, /* bytes for one turn of the loop: others wait meanwhile */
};

enum child_status {
	CHILD_WHOLE,
	CHILD_TOO_LARGE,
};

/* What goes before the bytes, both ways. Both ends are the same program: no byte order. */
struct head {
	uint32_t len;
	uint32_t status; /* of an answer: enum child_status */
};

struct reader_child {
	struct reader_child_options o;
	pid_t pid;	/* 0: reaped */
	int fd;		/* -1: killed */
	bool is_asked;	/* its answer is not whole yet */
	ev_io reading;	/* always: that it ended shows there */
	ev_io writing;	/* while not all of the question is sent */
	struct buf out; /* what is not sent yet */
	struct head head;
	size_t has_head, has_body; /* bytes that have come */
	char *body;
};

/* ---- in the child ---------------------------------------------------------------------------- */

static bool child_read(void *to, size_t len)
{
	for (char *at = to; len > 0;) {
		ssize_t n = read(CHILD_FD, at, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static bool child_write(const void *from, size_t len)
{
	for (const char *at = from; len > 0;) {
		ssize_t n = send(CHILD_FD, at, len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

/* One question and its answer. False: nobody asks any more. */
static bool child_answer(const struct reader_child_options *o)
{
	struct head head;
	if (!child_read(&head, sizeof(head)))
		return false;
	char *question = mem_alloc((size_t)head.len + 1);
	struct buf out;
	buf_init(&out, o->answer_max);
	bool alive = child_read(question, head.len);
	if (alive) {
		o->serve((struct slice){question, head.len}, o->moment, &out, o->serve_ctx);
		head.status = out.failed ? CHILD_TOO_LARGE : CHILD_WHOLE;
		head.len = out.failed ? 0 : (uint32_t)out.len;
		alive = child_write(&head, sizeof(head)) && child_write(out.ptr, head.len);
	}
	buf_done(&out);
	free(question);
	return alive;
}

static _Noreturn void child_run(const struct reader_child_options *o, pid_t parent, int own)
{
	child_begin(parent, own, "sluice-reader");
	while (child_answer(o))
		;
	_exit(0);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void child_lost(struct reader_child *c)
{
	reader_child_kill(c);
	c->o.ended(c->o.ctx);
}

static void child_whole(struct reader_child *c)
{
	char *body = c->body;
	struct slice s = {body ? body : "", c->head.len};
	c->is_asked = false;
	c->body = NULL;
	c->has_head = c->has_body = 0;
	c->o.answered(s, c->head.status == CHILD_TOO_LARGE, c->o.ctx);
	free(body);
}

/* True: the length makes sense, and there is room for the bytes. */
static bool child_begin_body(struct reader_child *c)
{
	if (!c->is_asked || c->head.len > c->o.answer_max || c->head.status > CHILD_TOO_LARGE)
		return false;
	c->body = c->head.len ? mem_alloc(c->head.len) : NULL;
	return true;
}

static void on_readable(struct ev_loop *loop, ev_io *w, int revents)
{
	(void)loop, (void)revents;
	struct reader_child *c = w->data;
	bool in_head = c->has_head < sizeof(c->head);
	char *to = in_head ? (char *)&c->head + c->has_head : c->body + c->has_body;
	size_t left = in_head ? sizeof(c->head) - c->has_head : c->head.len - c->has_body;
	ssize_t n = recv(c->fd, to, left < READ_MAX ? left : READ_MAX, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		child_lost(c);
		return;
	}
	*(in_head ? &c->has_head : &c->has_body) += (size_t)n;
	if (c->has_head < sizeof(c->head))
		return;
	if (in_head && !child_begin_body(c))
		child_lost(c);
	else if (c->has_body == c->head.len)
		child_whole(c);
}

/* What cannot be sent because the child is gone is seen by on_readable(). */
static void child_send(struct reader_child *c)
{
	while (c->out.len > 0) {
		ssize_t n = send(c->fd, c->out.ptr, c->out.len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			ev_io_start(c->o.loop, &c->writing);
			return;
		}
		buf_consume(&c->out, n < 0 ? c->out.len : (size_t)n);
	}
	ev_io_stop(c->o.loop, &c->writing);
}

static void on_writable(struct ev_loop *loop, ev_io *w, int revents)
{
	(void)loop, (void)revents;
	child_send(w->data);
}

void reader_child_ask(struct reader_child *c, struct slice question)
{
	must(!c->is_asked && c->fd >= 0);
	struct head head = {.len = (uint32_t)question.len};
	c->is_asked = true;
	buf_reset(&c->out);
	buf_add(&c->out, &head, sizeof(head));
	buf_add(&c->out, question.ptr, question.len);
	must(!c->out.failed);
	child_send(c);
}

/* ---- life ------------------------------------------------------------------------------------ */

int reader_child_new(const struct reader_child_options *o, struct reader_child **ret, struct err *e)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_set(e, ERR_BUSY, "no socket to a process that reads could be made: %s",
			strerror(errno));
	pid_t parent = getpid(), pid = child_fork();
	if (pid == 0)
		child_run(o, parent, pair[1]);
	if (pid < 0) {
		err_set(e, ERR_BUSY, "no process that reads could be made: %s", strerror(errno));
		close(pair[0]);
		close(pair[1]);
		return ERR_BUSY;
	}
	close(pair[1]);
	fcntl(pair[0], F_SETFL, O_NONBLOCK);
	struct reader_child *c = mem_alloc(sizeof(*c));
	c->o = *o;
	c->pid = pid;
	c->fd = pair[0];
	buf_init(&c->out, SIZE_MAX / 4); /* the reader has a ceiling for questions */
	ev_io_init(&c->reading, on_readable, c->fd, EV_READ);
	ev_io_init(&c->writing, on_writable, c->fd, EV_WRITE);
	c->reading.data = c->writing.data = c;
	ev_io_start(o->loop, &c->reading);
	*ret = c;
	return 0;
}

void reader_child_kill(struct reader_child *c)
{
	if (c->fd < 0)
		return;
	ev_io_stop(c->o.loop, &c->reading);
	ev_io_stop(c->o.loop, &c->writing);
	close(c->fd);
	c->fd = -1;
	kill(c->pid, SIGKILL);
}

static void child_say_how(int status, struct err *ret_how)
{
	if (WIFSIGNALED(status))
		err_set(ret_how, 0, "signal %d (%s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else
		err_set(ret_how, 0, "exit status %d", WEXITSTATUS(status));
}

bool reader_child_reap(struct reader_child *c, bool patiently, struct err *ret_how)
{
	int status = 0;
	pid_t pid;
	must(c->fd < 0);
	if (!c->pid)
		return true;
	do
		pid = waitpid(c->pid, &status, patiently ? 0 : WNOHANG);
	while (pid < 0 && errno == EINTR);
	if (pid == 0)
		return false;
	if (pid > 0)
		child_say_how(status, ret_how);
	else
		err_set(ret_how, 0, "nobody knows what"); /* SIGCHLD is ignored */
	c->pid = 0;
	return true;
}

void reader_child_free(struct reader_child *c)
{
	if (!c)
		return;
	must(c->fd < 0 && !c->pid);
	buf_done(&c->out);
	free(c->body);
	free(c);
}
