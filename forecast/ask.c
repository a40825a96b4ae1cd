#include "forecast/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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
	/* The alarm comes later than the end that the child keeps itself: it is for a play that hangs. */
	ALARM_LATER_MS = 2000,
};

/* What goes before the etas. Both ends are the same program: no byte order. */
struct head {
	uint64_t n, draws, cut;
	int64_t plays_cpu_us, play_cpu_most_us, cpu_us;
};

struct ask {
	pid_t pid; /* 0: reaped */
	int fd;
	size_t most; /* etas that the answer may have */
	struct head head;
	struct eta *eta;
	size_t has; /* bytes that have come */
};

/* ---- in a play's own process ----------------------------------------------------------------- */

/* Memory that the child shares with its plays. */
struct board {
	size_t jobs, draws;
	int64_t *start_ms; /* [draw][job] */
	uint8_t *reason;   /* [draw][job] */
	uint8_t *end;	   /* [draw]: 1 + enum play_end; 0: it did not come to an end */
	size_t bytes;
	void *memory;
};

static void board_note(struct board *b, size_t draw, const struct play_result *r)
{
	must(r->n == b->jobs);
	for (size_t i = 0; i < r->n; i++) {
		b->start_ms[draw * b->jobs + i] = r->start[i].start_ms;
		b->reason[draw * b->jobs + i] = (uint8_t)r->start[i].reason;
	}
	b->end[draw] = (uint8_t)(1 + r->end);
}

static void count_job(const struct job_outline *o, void *ctx)
{
	(void)o;
	++*(size_t *)ctx;
}

/* The queue is this process' own: what is const to the caller is played here. */
static _Noreturn void draw_run(const struct queue *q, const struct ask_options *o, struct board *b,
	size_t draw, pid_t parent)
{
	struct play_lengths lengths = {0};
	struct play_arrivals arrivals = {0};
	struct play_result r;
	size_t jobs = 0;
	struct rlimit cpu = {o->play_s, o->play_s + 1};
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	setrlimit(RLIMIT_CPU, &cpu);
	queue_each_job(q, count_job, &jobs);
	struct play_limits limits = play_limits_for(jobs);
	limits.grace_ms = o->grace_ms;
	if (o->horizon_ms > 0)
		limits.horizon_ms = o->horizon_ms;
	o->begin(draw, &lengths, &arrivals, o->ctx);
	play((struct queue *)(uintptr_t)q, o->now_ms, &lengths, arrivals.next ? &arrivals : NULL,
		&limits, &r);
	board_note(b, draw, &r);
	_exit(0);
}

/* ---- in the child ---------------------------------------------------------------------------- */

static int64_t monotonic_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void board_init(struct board *b, size_t jobs, size_t draws)
{
	*b = (struct board){.jobs = jobs, .draws = draws};
	b->bytes = draws * (jobs * (sizeof(*b->start_ms) + 1) + 1) + 1;
	b->memory = mmap(NULL, b->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (b->memory == MAP_FAILED)
		_exit(1);
	b->start_ms = b->memory;
	b->reason = (uint8_t *)(b->start_ms + draws * jobs);
	b->end = b->reason + draws * jobs;
}

static int64_t cpu_us_of(const struct rusage *r)
{
	return ((int64_t)r->ru_utime.tv_sec + r->ru_stime.tv_sec) * 1000000 + r->ru_utime.tv_usec +
	       r->ru_stime.tv_usec;
}

/* One after the other: people who look get one core less at most. */
static void draw_all(
	const struct queue *q, const struct ask_options *o, struct board *b, struct head *head)
{
	int64_t end_ms = monotonic_ms() + o->ask_ms;
	pid_t parent = getpid();
	for (size_t draw = 0; draw < o->draws && monotonic_ms() < end_ms; draw++) {
		struct rusage used;
		int status;
		pid_t pid = fork();
		if (pid == 0)
			draw_run(q, o, b, draw, parent);
		if (pid < 0)
			return;
		while (wait4(pid, &status, 0, &used) < 0 && errno == EINTR)
			;
		int64_t cpu_us = cpu_us_of(&used);
		head->plays_cpu_us += cpu_us;
		if (cpu_us > head->play_cpu_most_us)
			head->play_cpu_most_us = cpu_us;
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

static struct eta merge(const struct board *b, const struct uid *uid, size_t job)
{
	int64_t start_ms[QUANTILES_DRAWS_MAX];
	struct eta eta = {.uid = *uid};
	size_t n = 0;
	for (size_t draw = 0; draw < b->draws; draw++) {
		if (b->end[draw] == 0)
			continue;
		start_ms[n] = b->start_ms[draw * b->jobs + job];
		if (start_ms[n++] == PLAY_NEVER && eta.reason == WAIT_NOT)
			eta.reason = (enum wait_reason)b->reason[draw * b->jobs + job];
	}
	eta.start = quantiles_of(start_ms, n);
	return eta;
}

/* What the child used itself, as far as it has come: not the merging, which is little. */
static int64_t own_cpu_us(void)
{
	struct rusage own;
	getrusage(RUSAGE_SELF, &own);
	return cpu_us_of(&own);
}

static void tell(const struct board *b, const struct uid *uid, struct head *head)
{
	for (size_t draw = 0; draw < b->draws; draw++) {
		head->draws += b->end[draw] > 0;
		head->cut += b->end[draw] == 1 + PLAY_CUT;
	}
	head->cpu_us = head->plays_cpu_us + own_cpu_us();
	if (head->draws == 0 || !write_whole(head, sizeof(*head)))
		return;
	for (size_t i = 0; i < b->jobs; i++) {
		struct eta eta = merge(b, &uid[i], i);
		if (!write_whole(&eta, sizeof(eta)))
			return;
	}
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
	setrlimit(RLIMIT_CORE,
		&none_of_it); /* a play that fails leaves no copy of our memory behind */
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
	struct gathering waiting = {.uid = NULL};
	child_prepare(parent, own, o->ask_ms);
	/* No play is recorded. */
	queue_listen((struct queue *)(uintptr_t)q, (struct queue_listener){0});
	waiting.uid = mem_array(most + 1, sizeof(*waiting.uid));
	queue_each_job(q, gather_waiting, &waiting);
	qsort(waiting.uid, waiting.n, sizeof(*waiting.uid), by_uid);
	head.n = waiting.n;
	board_init(&b, waiting.n, o->draws);
	if (o->prepare)
		o->prepare(o->ctx);
	draw_all(q, o, &b, &head);
	tell(&b, waiting.uid, &head);
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
	must(o->draws > 0 && o->draws <= QUANTILES_DRAWS_MAX && o->play_s > 0);
	if (pipe2(pair, O_CLOEXEC) < 0)
		return err_set(e, ERR_BUSY, "no pipe for a forecast: %s", strerror(errno));
	fcntl(pair[0], F_SETFL, O_NONBLOCK);
	struct ask *a = mem_alloc(sizeof(*a));
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

static int reap(struct ask *a)
{
	int status = 0;
	while (a->pid > 0 && waitpid(a->pid, &status, 0) < 0 && errno == EINTR)
		;
	a->pid = 0;
	return status;
}

void ask_free(struct ask *a)
{
	if (!a)
		return;
	if (a->pid > 0) {
		kill(-a->pid, SIGKILL);
		kill(a->pid, SIGKILL); /* it may not be in a group of its own yet */
		reap(a);
	}
	close(a->fd);
	free(a->eta);
	free(a);
}

int ask_fd(const struct ask *a)
{
	return a->fd;
}

/* Bytes of the answer at that offset: of the head, or of the etas. */
static void *place_for(struct ask *a, size_t *ret_room)
{
	if (a->has < sizeof(a->head)) {
		*ret_room = sizeof(a->head) - a->has;
		return (char *)&a->head + a->has;
	}
	size_t has = a->has - sizeof(a->head);
	*ret_room = a->head.n * sizeof(*a->eta) - has;
	return *ret_room > 0 ? (char *)a->eta + has : NULL;
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

/* The head has come: it says how many etas follow. */
static bool head_is_sound(struct ask *a)
{
	if (a->head.n > a->most || a->head.draws == 0)
		return false;
	a->eta = mem_array(a->head.n + 1, sizeof(*a->eta));
	return true;
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
	*ret = (struct ask_answer){.eta = a->eta,
		.n = a->head.n,
		.draws = a->head.draws,
		.cut = a->head.cut,
		.plays_cpu_us = a->head.plays_cpu_us,
		.play_cpu_most_us = a->head.play_cpu_most_us,
		.cpu_us = a->head.cpu_us};
	return 1;
}

bool ask_reap(struct ask *a)
{
	int status;
	if (a->pid > 0 && waitpid(a->pid, &status, WNOHANG) == a->pid)
		a->pid = 0;
	return a->pid == 0;
}

const struct eta *ask_find(const struct ask_answer *a, const struct uid *uid)
{
	size_t low = 0, high = a->n;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (uid_cmp(&a->eta[mid].uid, uid) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low < a->n && uid_cmp(&a->eta[low].uid, uid) == 0 ? &a->eta[low] : NULL;
}
