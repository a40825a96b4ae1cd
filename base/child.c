#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

enum { NICER = 10, TAKE_MAX = 256 << 10 };

/* ---- its life -------------------------------------------------------------------------------- */

/* Forks, as fork(). In the child all signals wait until child_begin(). */
static pid_t child_fork(void)
{
	sigset_t all, before;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid_t pid = fork();
	if (pid == 0)
		return 0;
	int error = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return pid;
}

static void keep_own_file(int fd)
{
	if (fd != CHILD_FD && dup3(fd, CHILD_FD, O_CLOEXEC) < 0)
		_exit(1);
	closefrom(CHILD_FD + 1); /* glibc falls back to /proc where close_range() is not there */
}

static void forget_handlers(void)
{
	static const int own[] = {SIGTERM, SIGINT, SIGCHLD, SIGALRM, SIGPIPE, SIGXCPU};
	sigset_t none;
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		signal(own[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Makes the child the first to go when memory runs out. (This does not help where the kernel ends a
 * container as a whole, as Kubernetes sets it up on cgroup v2.) */
static void go_first(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	ssize_t ignored = write(fd, "1000", 4);
	(void)ignored;
	close(fd);
}

static void child_begin(pid_t parent, int fd, const char *name)
{
	struct rlimit none = {0, 0};
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	if (getppid() != parent)
		_exit(0); /* it died before that */
	keep_own_file(fd);
	forget_handlers();
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_NAME, name);
	errno = 0;
	if (nice(NICER) == -1 && errno)
		errno = 0; /* then it is no nicer */
	go_first();
}

int child_start(struct child *c, const char *name, const char *does, void (*run)(void *ctx),
	void *ctx, struct err *e)
{
	int pair[2];
	pid_t parent = getpid();
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_set(e, ERR_BUSY, "no socket to a process %s could be made: %s", does,
			strerror(errno));
	pid_t pid = child_fork();
	if (pid == 0) {
		child_begin(parent, pair[1], name);
		run(ctx);
		_exit(0);
	}
	int error = errno;
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return err_set(
			e, ERR_BUSY, "no process %s could be made: %s", does, strerror(error));
	}
	setpgid(pid, pid); /* whichever of the two is first */
	fcntl(pair[0], F_SETFL, O_NONBLOCK);
	*c = (struct child){pid, pair[0]};
	return 0;
}

void child_close(struct child *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

/* Kills by number, which no other process has while the child is not reaped. */
void child_kill(const struct child *c)
{
	if (c->pid > 0)
		kill(-c->pid, SIGKILL);
}

/* Reaps what a killed child had forked. In a container we are mostly process 1, so that its orphans
 * become ours. */
static void reap_orphans(pid_t group)
{
	while (waitpid(-group, NULL, 0) > 0 || errno == EINTR)
		;
}

bool child_reap(struct child *c, bool patiently, int *ret_status)
{
	/* Stays where SIGCHLD is ignored. Then the number of the child may be another's by now. */
	int status = -1;
	pid_t pid;
	if (c->pid == 0)
		return true;
	do
		pid = waitpid(c->pid, &status, patiently ? 0 : WNOHANG);
	while (pid < 0 && errno == EINTR);
	if (pid == 0)
		return false;
	if (patiently)
		reap_orphans(c->pid);
	c->pid = 0;
	if (ret_status)
		*ret_status = status;
	return true;
}

void child_say_end(int status, struct err *ret)
{
	if (status == -1)
		err_set(ret, 0, "nobody knows what");
	else if (WIFSIGNALED(status))
		err_set(ret, 0, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		err_set(ret, 0, "exit status %d", WEXITSTATUS(status));
}

/* ---- messages -------------------------------------------------------------------------------- */

bool child_read(void *to, size_t len)
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

bool child_write(const void *from, size_t len)
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

bool child_send(const struct child *c, const struct child_head *head, const void *body)
{
	struct iovec part[] = {
		{(void *)(uintptr_t)head, sizeof(*head)}, {(void *)(uintptr_t)body, head->len}};
	const struct msghdr message = {.msg_iov = part, .msg_iovlen = 2};
	return sendmsg(c->fd, &message, MSG_NOSIGNAL) == (ssize_t)(sizeof(*head) + head->len);
}

int child_receive(const struct child *c, struct child_message *m, size_t max)
{
	bool in_head = m->has < sizeof(m->head);
	size_t has = in_head ? m->has : m->has - sizeof(m->head);
	size_t left = (in_head ? sizeof(m->head) : m->head.len) - has;
	char *to = in_head ? (char *)&m->head : m->body;
	ssize_t n = recv(c->fd, to + has, left < TAKE_MAX ? left : TAKE_MAX, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return -1;
	m->has += (size_t)n;
	if (m->has < sizeof(m->head))
		return 0;
	if (in_head && m->head.len > max)
		return -1;
	if (in_head && m->head.len > 0)
		m->body = mem_alloc(m->head.len);
	return m->has == sizeof(m->head) + m->head.len;
}

void child_message_done(struct child_message *m)
{
	free(m->body);
	*m = (struct child_message){0};
}
