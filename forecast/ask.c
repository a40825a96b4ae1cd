#include "forecast/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/must.h"
#include "sluice/queue_call.h"

enum {
	PIPE = 3, /* in the child */
	NICER = 10,
	/* The alarm comes later than the end that the child keeps itself: it is for a child that hangs. */
	ALARM_LATER_MS = 2000,
};

/* What comes first. Both ends are the same program: no byte order. Behind it come the variants, then
 * their etas, then the text. */
struct head {
	uint64_t n, draws, cut, text_len;
	int64_t plays_cpu_us, play_cpu_most_us, cpu_us;
};

struct ask {
	pid_t pid; /* 0: reaped */
	int fd;
	size_t most; /* etas of a variant that the answer may have */
	size_t variants;
	bool text_only;
	int64_t now_ms;
	struct head head;
	char *rest;
	size_t rest_len;
	size_t has; /* bytes that have come */
};

static size_t variants_of(const struct ask_options *o)
{
	return o->variants > 1 ? o->variants : 1;
}

/* ---- in a play's own process ----------------------------------------------------------------- */

/* Memory that the child shares with its plays. A play is a cell. */
struct board {
	size_t jobs, draws, variants;
	struct ask_variant *variant;
	struct play_costs *costs; /* [cell] */
	int64_t *start_ms;	  /* [cell][job] */
	uint8_t *reason;	  /* [cell][job] */
	uint8_t *end;		  /* [cell]: 1 + enum play_end; 0: it did not come to an end */
	size_t *note_len;	  /* [variant]; 0: none came */
	char *note;		  /* [variant][ASK_NOTE_SIZE] */
};

static size_t board_cell(const struct board *b, size_t variant, size_t draw)
{
	return variant * b->draws + draw;
}

static void board_note(struct board *b, size_t cell, const struct play_result *r)
{
	must(r->n == b->jobs);
	for (size_t i = 0; i < r->n; i++) {
		b->start_ms[cell * b->jobs + i] = r->start[i].start_ms;
		b->reason[cell * b->jobs + i] = (uint8_t)r->start[i].reason;
	}
	b->costs[cell] = r->costs;
	b->end[cell] = (uint8_t)(1 + r->end);
}

static void board_note_refusal(struct board *b, size_t variant, const char *sentence)
{
	snprintf(b->variant[variant].refused, ASK_REFUSAL_SIZE, "%s",
		*sentence ? sentence : "it cannot be changed so");
}

/* The length comes last: a play that ends amidst leaves no half note. */
static void board_note_text(struct board *b, size_t variant, struct slice text)
{
	memcpy(b->note + variant * ASK_NOTE_SIZE, text.ptr, text.len);
	b->note_len[variant] = text.len;
}

/* Does it count? */
static bool board_has(const struct board *b, size_t variant, size_t draw)
{
	return b->end[board_cell(b, 0, draw)] > 0 && b->end[board_cell(b, variant, draw)] > 0;
}

static void count_job(const struct job_outline *o, void *ctx)
{
	(void)o;
	++*(size_t *)ctx;
}

static volatile sig_atomic_t time_is_over;

static void on_time_over(int signal_number)
{
	(void)signal_number;
	time_is_over = 1;
}

/* What it has, and some more. Who has it grow beyond that loses this play, not our container. */
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

/* When the time is over, a signal; a second later the end. */
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

/* The queue is this process' own: what is const to the caller is played here. */
static _Noreturn void draw_run(const struct queue *const_q, const struct ask_options *o,
	struct board *b, size_t variant, size_t draw, pid_t parent)
{
	struct queue *q = (struct queue *)(uintptr_t)const_q;
	struct play_lengths lengths = {0};
	struct play_arrivals arrivals = {0};
	struct play_result r;
	struct err e = {""};
	struct noting noting = {o, b, variant};
	size_t jobs = 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	bound_time(o->play_s);
	bound_memory();
	if (variant > 0 && o->change(q, variant, o->ctx, &e) != 0) {
		board_note_refusal(b, variant, e.text);
		_exit(0);
	}
	queue_each_job(q, count_job, &jobs);
	struct play_limits limits = play_limits_for(jobs);
	limits.grace_ms = o->grace_ms;
	limits.costs = o->costs;
	limits.enough = &time_is_over;
	if (o->decided && variant > 0 && b->note_len[variant] == 0) {
		limits.decided = note_decided;
		limits.ctx = &noting;
	}
	if (o->horizon_ms > 0)
		limits.horizon_ms = o->horizon_ms;
	o->begin(draw, &lengths, &arrivals, o->ctx);
	play(q, o->now_ms, &lengths, arrivals.next ? &arrivals : NULL, &limits, &r);
	board_note(b, board_cell(b, variant, draw), &r);
	_exit(0);
}

/* ---- in the child ---------------------------------------------------------------------------- */

static int64_t monotonic_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void board_init(struct board *b, size_t jobs, size_t draws, size_t variants)
{
	size_t cells = draws * variants;
	*b = (struct board){.jobs = jobs, .draws = draws, .variants = variants};
	size_t bytes = variants * (sizeof(*b->variant) + sizeof(*b->note_len) + ASK_NOTE_SIZE) +
		       cells * (sizeof(*b->costs) + jobs * (sizeof(*b->start_ms) + 1) + 1);
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		_exit(1);
	b->variant = memory;
	b->note_len = (size_t *)(b->variant + variants);
	b->costs = (struct play_costs *)(b->note_len + variants);
	b->start_ms = (int64_t *)(b->costs + cells);
	b->reason = (uint8_t *)(b->start_ms + cells * jobs);
	b->end = b->reason + cells * jobs;
	b->note = (char *)(b->end + cells);
}

static int64_t cpu_us_of(const struct rusage *r)
{
	return ((int64_t)r->ru_utime.tv_sec + r->ru_stime.tv_sec) * 1000000 + r->ru_utime.tv_usec +
	       r->ru_stime.tv_usec;
}

/* The plays of an ask, one after the other: people who look get one core less at most. */
struct plays {
	const struct queue *q;
	const struct ask_options *o;
	struct board *board;
	struct head *head;
	pid_t parent;
	int64_t end_ms, longest_ms;
};

/* With several variants a play that comes too late would spoil its draw. */
static bool may_begin(const struct plays *p)
{
	int64_t now_ms = monotonic_ms(), all_us = (int64_t)p->o->all_s * 1000000;
	bool compares = p->board->variants > 1;
	if (now_ms + (compares ? p->longest_ms : 0) >= p->end_ms)
		return false;
	return all_us == 0 || p->head->plays_cpu_us == 0 ||
	       p->head->plays_cpu_us + p->head->play_cpu_most_us <= all_us;
}

/* Until it ends, or the time of all plays is over: one that hangs is not to cost us the others. */
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

/* Variant 1 comes first: where it is the only one and is refused, nothing needs to be played. */
static size_t variant_at(size_t turn, size_t variants)
{
	return variants > 1 && turn < 2 ? 1 - turn : turn;
}

static bool all_are_refused(const struct board *b)
{
	for (size_t v = 1; v < b->variants; v++)
		if (!b->variant[v].refused[0])
			return false;
	return b->variants > 1;
}

/* False: its time is over, or there is no process. */
static bool play_draw(struct plays *p, size_t draw)
{
	for (size_t turn = 0; turn < p->board->variants; turn++) {
		size_t variant = variant_at(turn, p->board->variants);
		if (all_are_refused(p->board))
			return true;
		if (p->board->variant[variant].refused[0])
			continue;
		if (!may_begin(p) || !play_one(p, variant, draw))
			return false;
	}
	return true;
}

/* A draw that not all variants have is left out, unless it is the only one. */
static void forget_draw(struct board *b, size_t draw)
{
	for (size_t v = 0; v < b->variants; v++)
		b->end[board_cell(b, v, draw)] = 0;
}

static void play_all(struct plays *p)
{
	for (size_t draw = 0; draw < p->o->draws && !all_are_refused(p->board); draw++) {
		if (play_draw(p, draw))
			continue;
		if (draw > 0)
			forget_draw(p->board, draw);
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

static int by_uid(const void *a, const void *b)
{
	return uid_cmp(a, b);
}

static bool write_whole(const void *from, size_t len)
{
	for (const char *at = from; len > 0;) {
		ssize_t n = write(PIPE, at, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static struct eta merge(const struct ask_answer *a, size_t variant, size_t job)
{
	const struct board *b = a->board;
	int64_t start_ms[QUANTILES_DRAWS_MAX];
	struct eta eta = {.uid = a->uid[job], .start = {PLAY_NEVER, PLAY_NEVER, PLAY_NEVER, 0}};
	size_t n = 0;
	for (size_t draw = 0; draw < b->draws; draw++) {
		size_t cell = board_cell(b, variant, draw);
		if (!board_has(b, variant, draw))
			continue;
		start_ms[n] = b->start_ms[cell * b->jobs + job];
		bool starts = start_ms[n++] != PLAY_NEVER;
		eta.unknown += !starts && b->end[cell] == 1 + PLAY_CUT;
		if (!starts && eta.reason == WAIT_NOT)
			eta.reason = (enum wait_reason)b->reason[cell * b->jobs + job];
	}
	if (n > 0)
		eta.start = quantiles_of(start_ms, n);
	return eta;
}

/* What the child used itself, as far as it has come. */
static int64_t own_cpu_us(void)
{
	struct rusage own;
	getrusage(RUSAGE_SELF, &own);
	return cpu_us_of(&own);
}

static void count_draws(struct board *b, size_t variant)
{
	struct ask_variant *v = &b->variant[variant];
	for (size_t draw = 0; draw < b->draws; draw++) {
		const struct play_costs *costs = &b->costs[board_cell(b, variant, draw)];
		if (!board_has(b, variant, draw))
			continue;
		v->draws++;
		for (size_t i = 0; i < costs->n; i++)
			play_costs_add(&v->costs, costs->item[i].currency, costs->item[i].amount);
	}
	for (size_t i = 0; i < v->costs.n; i++)
		v->costs.item[i].amount /= (int64_t)v->draws;
}

static struct ask_answer answer_of(
	const struct board *b, const struct uid *uid, struct head *head, int64_t now_ms)
{
	for (size_t draw = 0; draw < b->draws; draw++)
		head->cut += b->end[draw] == 1 + PLAY_CUT;
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
			all[v * a->n + i] = merge(a, v, i);
	return all;
}

static size_t text_max(size_t jobs)
{
	return jobs * ASK_TEXT_EACH + ASK_TEXT_REST;
}

/* False: there is no answer without it. */
static bool make_text(const struct plays *p, const struct ask_answer *a, struct buf *text)
{
	buf_init(text, text_max(a->n));
	if (p->o->tell && a->draws > 0)
		p->o->tell(a, p->q, text, p->o->ctx);
	if (text->failed && p->o->text_only)
		return false;
	if (text->failed)
		buf_reset(text);
	return true;
}

static void write_answer(const struct head *head, const struct ask_answer *a, struct slice text)
{
	if (write_whole(head, sizeof(*head)) &&
		write_whole(a->variant, a->variants * sizeof(*a->variant)) &&
		(!a->eta || write_whole(a->eta, a->variants * a->n * sizeof(*a->eta))))
		write_whole(text.ptr, text.len);
}

static void answer(const struct plays *p, const struct uid *uid)
{
	struct board *b = p->board;
	struct buf text;
	for (size_t v = 0; v < b->variants; v++)
		count_draws(b, v);
	struct ask_answer a = answer_of(b, uid, p->head, p->o->now_ms);
	if (a.draws == 0 && !all_are_refused(b))
		return;
	if (!p->o->text_only)
		a.eta = merge_all(&a);
	if (!make_text(p, &a, &text))
		return;
	p->head->text_len = text.len;
	p->head->cpu_us = p->head->plays_cpu_us + own_cpu_us();
	write_answer(p->head, &a, buf_slice(&text));
}

static void child_go_first(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	ssize_t ignored = write(fd, "1000", 4);
	(void)ignored;
	close(fd);
}

static void child_prepare(pid_t parent, int own, unsigned ask_ms)
{
	sigset_t none;
	sigemptyset(&none);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0); /* it died before that */
	setpgid(0, 0);
	if (own != PIPE && dup3(own, PIPE, O_CLOEXEC) < 0)
		_exit(1);
	closefrom(PIPE + 1);
	static const int own_signals[] = {SIGTERM, SIGINT, SIGCHLD, SIGALRM, SIGPIPE, SIGXCPU};
	for (size_t i = 0; i < sizeof(own_signals) / sizeof(*own_signals); i++)
		signal(own_signals[i], SIG_DFL);
	unsigned alarm_ms = ask_ms + ALARM_LATER_MS;
	struct itimerval late = {{0}, {alarm_ms / 1000, (suseconds_t)(alarm_ms % 1000) * 1000}};
	setitimer(ITIMER_REAL, &late, NULL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	struct rlimit none_of_it = {0, 0};
	/* A play that fails leaves no copy of our memory behind. */
	setrlimit(RLIMIT_CORE, &none_of_it);
	prctl(PR_SET_NAME, "sluice-forecast");
	errno = 0;
	if (nice(NICER) == -1 && errno)
		errno = 0; /* then it is no nicer */
	child_go_first();
}

static _Noreturn void child_run(
	const struct queue *q, const struct ask_options *o, size_t most, pid_t parent, int own)
{
	struct board b;
	struct head head = {0};
	struct plays plays = {.q = q, .o = o, .board = &b, .head = &head};
	struct gathering waiting = {.uid = NULL};
	child_prepare(parent, own, o->ask_ms);
	/* No play is recorded. */
	queue_listen((struct queue *)(uintptr_t)q, (struct queue_listener){0});
	waiting.uid = mem_array(most + 1, sizeof(*waiting.uid));
	queue_each_job(q, gather_waiting, &waiting);
	qsort(waiting.uid, waiting.n, sizeof(*waiting.uid), by_uid);
	head.n = waiting.n;
	board_init(&b, waiting.n, o->draws, variants_of(o));
	plays.parent = getpid();
	if (o->prepare)
		o->prepare(o->ctx);
	plays.end_ms = monotonic_ms() + o->ask_ms;
	play_all(&plays);
	answer(&plays, waiting.uid);
	_exit(0); /* nothing of atexit(), no buffer of stdio: those are the caller's */
}

/* ---- in the caller's process ----------------------------------------------------------------- */

/* Signals wait until the child has its own handlers. */
static pid_t child_fork(
	const struct queue *q, const struct ask_options *o, size_t most, const int pair[2])
{
	sigset_t all, before;
	pid_t parent = getpid();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid_t pid = fork();
	if (pid == 0)
		child_run(q, o, most, parent, pair[1]);
	int error = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return pid;
}

int ask_begin(const struct queue *q, const struct ask_options *o, struct ask **ret, struct err *e)
{
	int pair[2];
	must(o->draws > 0 && o->play_s > 0 && variants_of(o) <= ASK_VARIANTS_MAX &&
		o->draws * variants_of(o) <= QUANTILES_DRAWS_MAX);
	if (pipe2(pair, O_CLOEXEC) < 0)
		return err_set(e, ERR_BUSY, "no pipe for a forecast: %s", strerror(errno));
	fcntl(pair[0], F_SETFL, O_NONBLOCK);
	struct ask *a = mem_alloc(sizeof(*a));
	a->variants = variants_of(o);
	a->text_only = o->text_only;
	a->now_ms = o->now_ms;
	queue_each_job(q, count_job, &a->most);
	a->pid = child_fork(q, o, a->most, pair);
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
	if (a->head.n > a->most || a->head.text_len > text_max(a->head.n) ||
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
	const char *at = a->n ? bsearch(uid, first, a->n, each, by_uid) : NULL;
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
	return a->board ? merge(a, variant, index) : a->eta[variant * a->n + index];
}

struct slice ask_note(const struct ask_answer *a, size_t variant)
{
	const struct board *b = a->board;
	return (struct slice){b->note + variant * ASK_NOTE_SIZE, b->note_len[variant]};
}
