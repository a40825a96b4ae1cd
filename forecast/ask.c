#include "forecast/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/mem.h"
#include "base/must.h"
#include "forecast/ask_child.h"
#include "forecast/board.h"

struct ask {
	pid_t pid; /* 0: reaped */
	int fd;
	size_t most; /* etas of a variant that the answer may have */
	size_t variants;
	bool text_only;
	int64_t now_ms;
	struct ask_head head;
	char *rest;
	size_t rest_len;
	size_t has; /* bytes that have come */
};

int ask_begin(const struct queue *q, const struct ask_options *o, struct ask **ret, struct err *e)
{
	int pair[2];
	must(o->draws > 0 && o->play_s > 0 && ask_variants_of(o) <= ASK_VARIANTS_MAX &&
		o->draws * ask_variants_of(o) <= QUANTILES_DRAWS_MAX);
	if (pipe2(pair, O_CLOEXEC) < 0)
		return err_set(e, ERR_BUSY, "no pipe for a forecast: %s", strerror(errno));
	fcntl(pair[0], F_SETFL, O_NONBLOCK);
	struct ask *a = mem_alloc(sizeof(*a));
	a->variants = ask_variants_of(o);
	a->text_only = o->text_only;
	a->now_ms = o->now_ms;
	a->most = ask_count_jobs(q);
	pid_t parent = getpid();
	a->pid = child_fork();
	if (a->pid == 0)
		ask_child_run(q, o, a->most, parent, pair[1]);
	int error = errno;
	close(pair[1]);
	a->fd = pair[0];
	if (a->pid < 0) {
		a->pid = 0;
		ask_free(a);
		return err_set(e, ERR_BUSY, "no process for a forecast: %s", strerror(error));
	}
	setpgid(a->pid, a->pid); /* whichever of the two is first */
	*ret = a;
	return 0;
}

/* The child's play is an orphan when the child was killed. In a container we are mostly process 1, so
 * orphans become ours, and nobody else would bury them. They are of the child's group. */
static void reap_orphans(pid_t group)
{
	while (waitpid(-group, NULL, 0) > 0 || errno == EINTR)
		;
}

/* Kills what is left of it. While the child is not reaped, its number is nobody else's. */
static int reap(struct ask *a)
{
	int status = 0;
	if (a->pid == 0)
		return 0;
	kill(-a->pid, SIGKILL);
	while (waitpid(a->pid, &status, 0) < 0 && errno == EINTR)
		;
	reap_orphans(a->pid);
	a->pid = 0;
	return status;
}

void ask_free(struct ask *a)
{
	if (!a)
		return;
	if (a->pid > 0)
		kill(a->pid, SIGKILL); /* it may not be in a group of its own yet */
	reap(a);
	close(a->fd);
	free(a->rest);
	free(a);
}

int ask_fd(const struct ask *a)
{
	return a->fd;
}

/* Bytes of the answer at that offset: of the head, or of what follows. */
static void *place_for(struct ask *a, size_t *ret_room)
{
	if (a->has < sizeof(a->head)) {
		*ret_room = sizeof(a->head) - a->has;
		return (char *)&a->head + a->has;
	}
	size_t has = a->has - sizeof(a->head);
	*ret_room = a->rest_len - has;
	return *ret_room > 0 ? a->rest + has : NULL;
}

static int no_answer(struct ask *a, struct err *e)
{
	int status = reap(a);
	if (WIFSIGNALED(status))
		return err_set(e, ERR_BUSY, "the forecast was ended by signal %d (%s)",
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	return err_set(
		e, ERR_BUSY, "the forecast ended without an answer: no play came to its end");
}

static size_t etas_len(const struct ask *a)
{
	return a->text_only ? 0 : a->variants * a->head.n * sizeof(struct eta);
}

/* The head has come: it says how much follows. */
static bool head_is_sound(struct ask *a)
{
	if (a->head.n > a->most || a->head.text_len > ask_text_max(a->head.n) ||
		(a->head.draws == 0 && a->variants == 1))
		return false;
	a->rest_len = a->variants * sizeof(struct ask_variant) + etas_len(a) + a->head.text_len;
	a->rest = mem_array(a->rest_len + 1, 1);
	return true;
}

static void take_answer(const struct ask *a, struct ask_answer *ret)
{
	const char *behind = a->rest + a->variants * sizeof(struct ask_variant);
	*ret = (struct ask_answer){.n = a->head.n,
		.draws = a->head.draws,
		.cut = a->head.cut,
		.variants = a->variants,
		.variant = (const struct ask_variant *)(const void *)a->rest,
		.eta = a->text_only ? NULL : (const struct eta *)(const void *)behind,
		.text = {behind + etas_len(a), a->head.text_len},
		.now_ms = a->now_ms,
		.plays_cpu_us = a->head.plays_cpu_us,
		.play_cpu_most_us = a->head.play_cpu_most_us,
		.cpu_us = a->head.cpu_us};
}

int ask_read(struct ask *a, struct ask_answer *ret, struct err *e)
{
	size_t room;
	for (void *to; (to = place_for(a, &room));) {
		ssize_t n = read(a->fd, to, room);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n <= 0)
			return no_answer(a, e);
		a->has += (size_t)n;
		if (a->has == sizeof(a->head) && !head_is_sound(a))
			return err_set(e, ERR_BUSY, "the forecast's answer makes no sense");
	}
	take_answer(a, ret);
	return 1;
}

bool ask_reap(struct ask *a)
{
	int status;
	pid_t pid = a->pid > 0 ? waitpid(a->pid, &status, WNOHANG) : 0;
	/* ECHILD: whoever started us has SIGCHLD ignored. Its number may be another's by now. */
	if (pid > 0 || (pid < 0 && errno == ECHILD))
		a->pid = 0;
	return a->pid == 0;
}

/* In tell() uids are an array of their own; else they are the first member of each eta. */
size_t ask_index(const struct ask_answer *a, const struct uid *uid)
{
	const void *first = a->uid ? (const void *)a->uid : a->eta;
	size_t each = a->uid ? sizeof(*a->uid) : sizeof(*a->eta);
	const char *at = a->n ? bsearch(uid, first, a->n, each, ask_by_uid) : NULL;
	return at ? (size_t)(at - (const char *)first) / each : SIZE_MAX;
}

const struct eta *ask_find(const struct ask_answer *a, const struct uid *uid)
{
	size_t index = ask_index(a, uid);
	return index == SIZE_MAX ? NULL : &a->eta[index];
}

bool eta_is_unknown(const struct eta *eta)
{
	return eta->unknown > 0 && eta->start.p50_ms == PLAY_NEVER;
}

struct eta ask_eta(const struct ask_answer *a, size_t variant, size_t index)
{
	return a->board ? board_eta(a->board, &a->uid[index], variant, index)
			: a->eta[variant * a->n + index];
}

struct slice ask_note(const struct ask_answer *a, size_t variant)
{
	return board_text(a->board, variant);
}
