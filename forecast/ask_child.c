#include "forecast/ask_child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/mem.h"
#include "base/monotonic.h"
#include "forecast/board.h"
#include "sluice/queue_call.h"

enum { ALARM_LATER_MS = 2000 };

static void count_job(const struct job_outline *o, void *ctx)
{
	(void)o;
	++*(size_t *)ctx;
}

size_t ask_count_jobs(const struct queue *q)
{
	size_t n = 0;
	queue_each_job(q, count_job, &n);
	return n;
}

/* ---- in a play's own process ----------------------------------------------------------------- */

static volatile sig_atomic_t time_is_over;

static void on_time_over(int signal_number)
{
	(void)signal_number;
	time_is_over = 1;
}

/* Bounds the memory of a play: beyond that it ends, not our container. */
static void bound_memory(void)
{
	unsigned long long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");
	/* size, resident, shared, text, lib, data */
	bool is_known = f && fscanf(f, "%*u %*u %*u %*u %*u %llu", &pages) == 1;
	if (f)
		fclose(f);
	if (!is_known)
		return;
	rlim_t most = pages * (rlim_t)sysconf(_SC_PAGESIZE) + ASK_PLAY_GROWS_MAX;
	struct rlimit data = {most, most};
	setrlimit(RLIMIT_DATA, &data);
}

/* Bounds the processor time of a play: a signal, and a second later the end. */
static void bound_time(unsigned play_s)
{
	struct sigaction over = {.sa_handler = on_time_over, .sa_flags = SA_RESTART};
	struct rlimit cpu = {play_s, play_s + 1};
	sigaction(SIGXCPU, &over, NULL);
	setrlimit(RLIMIT_CPU, &cpu);
}

struct noting {
	const struct ask_options *o;
	struct board *board;
	size_t variant;
};

static void note_decided(const struct queue *q, void *ctx)
{
	struct noting *n = ctx;
	struct buf text;
	buf_init(&text, ASK_NOTE_SIZE);
	n->o->decided(q, n->variant, &text, n->o->ctx);
	if (!text.failed && text.len > 0)
		board_note_text(n->board, n->variant, buf_slice(&text));
	buf_done(&text);
}

/* Plays the queue, which is this process' own, though const to the caller. */
static _Noreturn void draw_run(const struct queue *const_q, const struct ask_options *o,
	struct board *b, size_t variant, size_t draw, pid_t parent)
{
	struct queue *q = (struct queue *)(uintptr_t)const_q;
	struct play_lengths lengths = {0};
	struct play_arrivals arrivals = {0};
	struct play_result r;
	struct err e = {""};
	struct noting noting = {o, b, variant};
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	bound_time(o->play_s);
	bound_memory();
	if (variant > 0 && o->change(q, variant, o->ctx, &e) != 0) {
		board_note_refusal(b, variant, e.text);
		_exit(0);
	}
	struct play_limits limits = play_limits_for(ask_count_jobs(q));
	limits.grace_ms = o->grace_ms;
	limits.costs = o->costs;
	limits.enough = &time_is_over;
	if (o->decided && variant > 0 && !board_has_text(b, variant)) {
		limits.decided = note_decided;
		limits.ctx = &noting;
	}
	if (o->horizon_ms > 0)
		limits.horizon_ms = o->horizon_ms;
	o->begin(draw, &lengths, &arrivals, o->ctx);
	play(q, o->now_ms, &lengths, arrivals.next ? &arrivals : NULL, &limits, &r);
	board_note(b, variant, draw, &r);
	_exit(0);
}

/* ---- in the child ---------------------------------------------------------------------------- */

static int64_t cpu_us_of(const struct rusage *r)
{
	return ((int64_t)r->ru_utime.tv_sec + r->ru_stime.tv_sec) * 1000000 + r->ru_utime.tv_usec +
	       r->ru_stime.tv_usec;
}

/* The plays of an ask, one after the other: they take at most one core. */
struct plays {
	const struct queue *q;
	const struct ask_options *o;
	struct board *board;
	struct ask_head *head;
	pid_t parent;
	int64_t end_ms, longest_ms;
};

/* Tells whether a play may begin. With several variants, one that ends too late would spoil its
 * draw. */
static bool may_begin(const struct plays *p)
{
	int64_t now_ms = monotonic_ms(), all_us = (int64_t)p->o->all_s * 1000000;
	bool compares = p->board->variants > 1;
	if (now_ms + (compares ? p->longest_ms : 0) >= p->end_ms)
		return false;
	return all_us == 0 || p->head->plays_cpu_us == 0 ||
	       p->head->plays_cpu_us + p->head->play_cpu_most_us <= all_us;
}

/* Waits for a play until the time of all is over: one that hangs is not to cost the others. */
static void wait_and_kill(pid_t pid, int64_t end_ms)
{
	struct pollfd exited = {pidfd_open(pid, 0), POLLIN, 0};
	if (exited.fd < 0)
		return; /* the alarm is left */
	int64_t left_ms;
	int n = 0;
	while (n == 0 && (left_ms = end_ms - monotonic_ms()) > 0) {
		n = poll(&exited, 1, (int)left_ms);
		if (n < 0 && errno == EINTR)
			n = 0;
	}
	if (n == 0)
		kill(pid, SIGKILL);
	close(exited.fd);
}

static bool play_one(struct plays *p, size_t variant, size_t draw)
{
	struct rusage used = {0};
	int status;
	int64_t begun_ms = monotonic_ms();
	pid_t pid = fork();
	if (pid == 0)
		draw_run(p->q, p->o, p->board, variant, draw, p->parent);
	if (pid < 0)
		return false;
	wait_and_kill(pid, p->end_ms);
	while (wait4(pid, &status, 0, &used) < 0 && errno == EINTR)
		;
	int64_t cpu_us = cpu_us_of(&used), lasted_ms = monotonic_ms() - begun_ms;
	p->head->plays_cpu_us += cpu_us;
	if (cpu_us > p->head->play_cpu_most_us)
		p->head->play_cpu_most_us = cpu_us;
	if (lasted_ms > p->longest_ms)
		p->longest_ms = lasted_ms;
	return true;
}

/* Puts variant 1 first: where it alone is there and is refused, nothing needs to be played. */
static size_t variant_at(size_t turn, size_t variants)
{
	return variants > 1 && turn < 2 ? 1 - turn : turn;
}

/* Plays a draw in all variants. False: the time is over, or there is no process. */
static bool play_draw(struct plays *p, size_t draw)
{
	for (size_t turn = 0; turn < p->board->variants; turn++) {
		size_t variant = variant_at(turn, p->board->variants);
		if (board_refused_all(p->board))
			return true;
		if (p->board->variant[variant].refused[0])
			continue;
		if (!may_begin(p) || !play_one(p, variant, draw))
			return false;
	}
	return true;
}

/* Plays all draws. A draw that not all variants have is left out, unless it is the only one. */
static void play_all(struct plays *p)
{
	for (size_t draw = 0; draw < p->o->draws && !board_refused_all(p->board); draw++) {
		if (play_draw(p, draw))
			continue;
		if (draw > 0)
			board_forget_draw(p->board, draw);
		return;
	}
}

struct gathering {
	struct uid *uid;
	size_t n;
};

static void gather_waiting(const struct job_outline *o, void *ctx)
{
	struct gathering *g = ctx;
	if (!o->holds_quota)
		g->uid[g->n++] = o->uid;
}

int ask_by_uid(const void *a, const void *b)
{
	return uid_cmp(a, b);
}

static int64_t own_cpu_us(void)
{
	struct rusage own;
	getrusage(RUSAGE_SELF, &own);
	return cpu_us_of(&own);
}

static struct ask_answer answer_of(
	const struct board *b, const struct uid *uid, struct ask_head *head, int64_t now_ms)
{
	head->cut = board_cut(b);
	head->draws = b->variant[0].draws;
	return (struct ask_answer){.n = b->jobs,
		.draws = head->draws,
		.cut = head->cut,
		.variants = b->variants,
		.variant = b->variant,
		.now_ms = now_ms,
		.board = b,
		.uid = uid,
		.plays_cpu_us = head->plays_cpu_us,
		.play_cpu_most_us = head->play_cpu_most_us};
}

static const struct eta *merge_all(const struct ask_answer *a)
{
	struct eta *all = mem_array(a->variants * a->n + 1, sizeof(*all));
	for (size_t v = 0; v < a->variants; v++)
		for (size_t i = 0; i < a->n; i++)
			all[v * a->n + i] = board_eta(a->board, &a->uid[i], v, i);
	return all;
}

/* Makes the answer's text. False: it is too long, and the answer. */
static bool make_text(const struct plays *p, const struct ask_answer *a, struct buf *text)
{
	buf_init(text, ask_text_max(a->n));
	if (p->o->tell && a->draws > 0)
		p->o->tell(a, p->q, text, p->o->ctx);
	if (text->failed && p->o->text_only)
		return false;
	if (text->failed)
		buf_reset(text);
	return true;
}

static void write_answer(const struct ask_head *head, const struct ask_answer *a, struct slice text)
{
	size_t variants = a->variants * sizeof(*a->variant);
	size_t etas = a->eta ? a->variants * a->n * sizeof(*a->eta) : 0;
	struct child_head message = {.len = sizeof(*head) + variants + etas + text.len};
	if (child_write(&message, sizeof(message)) && child_write(head, sizeof(*head)) &&
		child_write(a->variant, variants) && child_write(a->eta, etas))
		child_write(text.ptr, text.len);
}

static void answer(const struct plays *p, const struct uid *uid)
{
	struct board *b = p->board;
	struct buf text;
	for (size_t v = 0; v < b->variants; v++)
		board_count(b, v);
	struct ask_answer a = answer_of(b, uid, p->head, p->o->now_ms);
	if (a.draws == 0 && !board_refused_all(b))
		return;
	if (!p->o->text_only)
		a.eta = merge_all(&a);
	if (!make_text(p, &a, &text))
		return;
	p->head->text_len = text.len;
	p->head->cpu_us = p->head->plays_cpu_us + own_cpu_us();
	write_answer(p->head, &a, buf_slice(&text));
}

/* Bounds the child's own life, in case it hangs. */
static void bound_real_time(unsigned ask_ms)
{
	unsigned alarm_ms = ask_ms + ALARM_LATER_MS;
	struct itimerval late = {{0}, {alarm_ms / 1000, (suseconds_t)(alarm_ms % 1000) * 1000}};
	setitimer(ITIMER_REAL, &late, NULL);
}

void ask_child_run(void *ctx)
{
	const struct ask_child *c = ctx;
	const struct ask_options *o = c->o;
	struct queue *q = (struct queue *)(uintptr_t)c->q; /* the copy is ours */
	struct board b;
	struct ask_head head = {0};
	struct plays plays = {.q = q, .o = o, .board = &b, .head = &head};
	struct gathering waiting = {.uid = NULL};
	bound_real_time(o->ask_ms);
	/* No play is recorded, and none writes a status. */
	queue_listen(q, (struct queue_listener){0});
	queue_await_statuses(q, false);
	waiting.uid = mem_array(c->most + 1, sizeof(*waiting.uid));
	queue_each_job(q, gather_waiting, &waiting);
	qsort(waiting.uid, waiting.n, sizeof(*waiting.uid), ask_by_uid);
	head.n = waiting.n;
	if (!board_init(&b, waiting.n, o->draws, ask_variants_of(o)))
		_exit(1);
	plays.parent = getpid();
	if (o->prepare)
		o->prepare(o->ctx);
	plays.end_ms = monotonic_ms() + o->ask_ms;
	play_all(&plays);
	answer(&plays, waiting.uid);
}
