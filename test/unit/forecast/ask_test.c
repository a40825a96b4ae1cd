/* Forks for real: what the child is, and what comes of it. */
#include "test/unit/forecast/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "forecast/ask.h"

/* Leaves the child at our own priority: its limits here are of real time, and a busy machine may not
 * come to it for minutes otherwise. */
int __wrap_nice(int increment);
int __wrap_nice(int increment)
{
	(void)increment;
	return 0;
}

/* The first run takes ten minutes more in each draw. */
static int64_t longer_each_time(const struct job_outline *o, int64_t ran_ms, void *ctx)
{
	(void)ran_ms;
	return o->expected_ms + (int64_t)(*(size_t *)ctx) * 10 * MINUTE_MS;
}

static size_t the_draw;

static void begin_longer(
	size_t draw, struct play_lengths *lengths, struct play_arrivals *arrivals, void *ctx)
{
	(void)arrivals;
	(void)ctx;
	the_draw = draw;
	*lengths = (struct play_lengths){longer_each_time, &the_draw};
}

static void begin_crash(
	size_t draw, struct play_lengths *lengths, struct play_arrivals *arrivals, void *ctx)
{
	if (draw % 2 == 1)
		_exit(3);
	begin_longer(draw, lengths, arrivals, ctx);
}

static void begin_hang(
	size_t draw, struct play_lengths *lengths, struct play_arrivals *arrivals, void *ctx)
{
	(void)draw;
	(void)lengths;
	(void)arrivals;
	(void)ctx;
	for (;;)
		pause();
}

/* Says that it is there. */
static void begin_hang_openly(
	size_t draw, struct play_lengths *lengths, struct play_arrivals *arrivals, void *ctx)
{
	*(volatile pid_t *)ctx = getpid();
	begin_hang(draw, lengths, arrivals, ctx);
}

static void begin_burn(
	size_t draw, struct play_lengths *lengths, struct play_arrivals *arrivals, void *ctx)
{
	for (volatile unsigned n = 0; draw == 0; n++)
		;
	begin_longer(draw, lengths, arrivals, ctx);
}

/* Is the file of the test open in there? */
static void begin_look(
	size_t draw, struct play_lengths *lengths, struct play_arrivals *arrivals, void *ctx)
{
	if (fcntl(*(int *)ctx, F_GETFD) >= 0)
		_exit(4);
	begin_longer(draw, lengths, arrivals, ctx);
}

static struct queue *two_jobs(void)
{
	struct queue *q = world_of(1, STRICT_FIFO);
	tell(q, BEGIN_MS, (struct told){1, 1, 60 * MINUTE_MS});
	decide(q, BEGIN_MS);
	tell(q, BEGIN_MS + 1, (struct told){2, 1, MINUTE_MS});
	tell(q, BEGIN_MS + 2, (struct told){3, 5, MINUTE_MS});
	return q;
}

static struct ask_options options_of(
	void (*begin)(size_t, struct play_lengths *, struct play_arrivals *, void *))
{
	return (struct ask_options){
		.now_ms = BEGIN_MS, .draws = 9, .begin = begin, .play_s = 1, .ask_ms = 600000};
}

static int read_answer(struct ask *a, struct ask_answer *ret, struct err *e)
{
	int rc;
	while ((rc = ask_read(a, ret, e)) == 0) {
		struct pollfd fd = {ask_fd(a), POLLIN, 0};
		assert_true(poll(&fd, 1, -1) == 1);
	}
	return rc;
}

static void no_child_is_left(void)
{
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/* As many bytes as the test says, after it has seen the etas. */
static void tell_so_much(
	const struct ask_answer *a, const struct queue *q, struct buf *out, void *ctx)
{
	(void)q;
	if (a->n != 2 || a->eta[0].start.started != 9)
		return;
	for (size_t i = 0; i < *(size_t *)ctx; i++)
		buf_putc(out, (char)('a' + i % 26));
}

static void a_text_comes_back_beside_the_etas(void **state)
{
	static const struct {
		size_t bytes, come;
	} rows[] = {{0, 0}, {5, 5}, {100000, 100000},
		{2 * ASK_TEXT_EACH + ASK_TEXT_REST, 2 * ASK_TEXT_EACH + ASK_TEXT_REST},
		{2 * ASK_TEXT_EACH + ASK_TEXT_REST + 1, 0}};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct queue *q = two_jobs();
		struct ask_options o = options_of(begin_longer);
		struct ask_answer answer;
		struct ask *a;
		struct err e;
		size_t bytes = rows[i].bytes;
		o.tell = tell_so_much;
		o.ctx = &bytes;
		assert_int_equal(ask_begin(q, &o, &a, &e), 0);
		assert_int_equal(read_answer(a, &answer, &e), 1);
		assert_int_equal(answer.n, 2);
		assert_int_equal(answer.text.len, rows[i].come);
		for (size_t k = 0; k < answer.text.len; k++)
			assert_int_equal(answer.text.ptr[k], 'a' + k % 26);
		ask_free(a);
		queue_free(q);
	}
}

static void quantiles_come_back(void **state)
{
	(void)state;
	struct queue *q = two_jobs();
	struct ask_options o = options_of(begin_longer);
	struct ask_answer answer;
	struct ask *a;
	struct err e;
	struct uid second = uid_of(2), third = uid_of(3), none = uid_of(9);
	assert_int_equal(ask_begin(q, &o, &a, &e), 0);
	assert_int_equal(read_answer(a, &answer, &e), 1);
	assert_int_equal(answer.n, 2);
	assert_int_equal(answer.draws, 9);
	assert_int_equal(answer.cut, 0);
	const struct eta *eta = ask_find(&answer, &second);
	assert_int_equal((eta->start.p10_ms - BEGIN_MS) / MINUTE_MS, 60);
	assert_int_equal((eta->start.p50_ms - BEGIN_MS) / MINUTE_MS, 100);
	assert_int_equal((eta->start.p90_ms - BEGIN_MS) / MINUTE_MS, 140);
	assert_int_equal(eta->reason, WAIT_NOT);
	eta = ask_find(&answer, &third);
	assert_true(eta->start.p10_ms == PLAY_NEVER);
	assert_int_equal(eta->start.started, 0);
	assert_int_equal(eta->reason, WAIT_EXCEEDS_MAX);
	assert_null(ask_find(&answer, &none));
	ask_free(a);
	no_child_is_left();
	/* Of what was played nothing has happened here. */
	assert_int_equal(queue_waiting(q), 2);
	queue_free(q);
}

static void plays_that_fail_are_left_out(void **state)
{
	(void)state;
	struct queue *q = two_jobs();
	struct ask_options o = options_of(begin_crash);
	struct ask_answer answer;
	struct ask *a;
	struct err e;
	assert_int_equal(ask_begin(q, &o, &a, &e), 0);
	assert_int_equal(read_answer(a, &answer, &e), 1);
	assert_int_equal(answer.draws, 5);
	ask_free(a);
	no_child_is_left();
	queue_free(q);
}

static void a_play_that_takes_too_long_is_left_out(void **state)
{
	(void)state;
	struct queue *q = two_jobs();
	struct ask_options o = options_of(begin_burn);
	struct ask_answer answer;
	struct ask *a;
	struct err e;
	assert_int_equal(ask_begin(q, &o, &a, &e), 0);
	assert_int_equal(read_answer(a, &answer, &e), 1);
	assert_int_equal(answer.draws, 8);
	ask_free(a);
	no_child_is_left();
	queue_free(q);
}

/* It sleeps, so no limit on processor time ends it. */
static void an_ask_that_hangs_ends(void **state)
{
	(void)state;
	struct queue *q = two_jobs();
	struct ask_options o = options_of(begin_hang);
	struct ask_answer answer;
	struct ask *a;
	struct err e;
	o.ask_ms = 1;
	assert_int_equal(ask_begin(q, &o, &a, &e), 0);
	assert_int_equal(read_answer(a, &answer, &e), ERR_BUSY);
	assert_non_null(strstr(e.text, "no simulation finished"));
	ask_free(a);
	no_child_is_left();
	queue_free(q);
}

/* The third draw. */
static void begin_hang_once(
	size_t draw, struct play_lengths *lengths, struct play_arrivals *arrivals, void *ctx)
{
	if (draw == 2)
		begin_hang(draw, lengths, arrivals, ctx);
	begin_longer(draw, lengths, arrivals, ctx);
}

static void a_play_that_hangs_does_not_cost_the_others(void **state)
{
	(void)state;
	struct queue *q = two_jobs();
	struct ask_options o = options_of(begin_hang_once);
	struct ask_answer answer;
	struct ask *a;
	struct err e;
	o.ask_ms = 10000; /* is waited for, and two plays end within it on a busy machine */
	assert_int_equal(ask_begin(q, &o, &a, &e), 0);
	assert_int_equal(read_answer(a, &answer, &e), 1);
	assert_int_equal(answer.draws, 2);
	ask_free(a);
	no_child_is_left();
	queue_free(q);
}

/* The prepare of an ask: no play is there that could be killed. */
static void hang(void *ctx)
{
	(void)ctx;
	for (;;)
		pause();
}

static void a_child_that_hangs_is_ended_by_its_alarm(void **state)
{
	(void)state;
	struct queue *q = two_jobs();
	struct ask_options o = options_of(begin_longer);
	struct ask_answer answer;
	struct ask *a;
	struct err e;
	o.prepare = hang;
	o.ask_ms = 1;
	assert_int_equal(ask_begin(q, &o, &a, &e), 0);
	assert_int_equal(read_answer(a, &answer, &e), ERR_BUSY);
	assert_non_null(strstr(e.text, "signal 14"));
	ask_free(a);
	no_child_is_left();
	queue_free(q);
}

/* One each millisecond, for ever. Each takes a while, so that time is over before memory is. */
static bool comes_for_ever(int64_t *ret_at_ms, const struct job **ret_job, void *ctx)
{
	static uint32_t n = 1000;
	static struct job j;
	(void)ctx;
	for (volatile unsigned i = 0; i < 200000; i++)
		;
	j = (struct job){.uid = uid_of(++n),
		.ns = "team-a",
		.name = "comes",
		.queue = "main",
		.priority_class = "",
		.pod_priority_class = "",
		.family = "",
		.created_ms = BEGIN_MS + 100 * MINUTE_MS + n,
		.suspend = true,
		.parallelism = 1,
		.terms = {.max_price_resource = ""},
		.pod = {.runtime_class = ""}};
	*ret_at_ms = j.created_ms;
	*ret_job = &j;
	return true;
}

static void begin_endless(
	size_t draw, struct play_lengths *lengths, struct play_arrivals *arrivals, void *ctx)
{
	begin_longer(draw, lengths, arrivals, ctx);
	*arrivals = (struct play_arrivals){comes_for_ever, NULL};
}

static void of_a_play_that_is_cut_off_counts_what_started(void **state)
{
	(void)state;
	struct queue *q = two_jobs();
	struct ask_options o = options_of(begin_endless);
	struct ask_answer answer;
	struct ask *a;
	struct err e;
	struct uid second = uid_of(2), third = uid_of(3);
	o.draws = 1;
	assert_int_equal(ask_begin(q, &o, &a, &e), 0);
	if (read_answer(a, &answer, &e) != 1)
		fail_msg("%s", e.text);
	assert_int_equal(answer.draws, 1);
	assert_int_equal(answer.cut, 1);
	const struct eta *eta = ask_find(&answer, &second);
	assert_int_equal((eta->start.p50_ms - BEGIN_MS) / MINUTE_MS, 60);
	assert_int_equal(eta->unknown, 0);
	assert_false(eta_is_unknown(eta));
	/* Nobody has played so far. */
	eta = ask_find(&answer, &third);
	assert_true(eta->start.p50_ms == PLAY_NEVER);
	assert_true(eta_is_unknown(eta));
	ask_free(a);
	no_child_is_left();
	queue_free(q);
}

static void begin_grow(
	size_t draw, struct play_lengths *lengths, struct play_arrivals *arrivals, void *ctx)
{
	if (draw % 2 == 1)
		memset(mem_alloc(ASK_PLAY_GROWS_MAX), 1, ASK_PLAY_GROWS_MAX);
	begin_longer(draw, lengths, arrivals, ctx);
}

static void a_play_that_grows_without_end_is_left_out(void **state)
{
	(void)state;
	struct queue *q = two_jobs();
	struct ask_options o = options_of(begin_grow);
	struct ask_answer answer;
	struct ask *a;
	struct err e;
	assert_int_equal(ask_begin(q, &o, &a, &e), 0);
	assert_int_equal(read_answer(a, &answer, &e), 1);
	assert_int_equal(answer.draws, 5);
	ask_free(a);
	no_child_is_left();
	queue_free(q);
}

static void an_ask_can_be_called_off(void **state)
{
	(void)state;
	struct queue *q = two_jobs();
	struct ask_options o = options_of(begin_hang);
	struct ask_answer answer;
	struct ask *a;
	struct err e;
	assert_int_equal(ask_begin(q, &o, &a, &e), 0);
	assert_int_equal(ask_read(a, &answer, &e), 0);
	ask_free(a);
	no_child_is_left();
	queue_free(q);
}

static pid_t *shared_pid(void)
{
	pid_t *pid =
		mmap(NULL, sizeof(*pid), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(pid != MAP_FAILED);
	return pid;
}

/* In a container the controller is process 1: a play whose child is gone becomes a child of ours. */
static void process_1_buries_the_plays_of_an_ask_that_ends_early(void **state)
{
	(void)state;
	struct queue *q = two_jobs();
	struct ask_options o = options_of(begin_hang_openly);
	struct ask_answer answer;
	struct ask *a;
	struct err e;
	volatile pid_t *play = shared_pid();
	o.ctx = (pid_t *)(uintptr_t)play;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	assert_int_equal(ask_begin(q, &o, &a, &e), 0);
	while (*play == 0)
		usleep(1000);
	ask_free(a);
	no_child_is_left();
	/* The same where its time ends it, and where a play was stopped by somebody. */
	for (int stopped = 0; stopped < 2; stopped++) {
		*play = 0;
		o.ask_ms = 5000; /* by then it has begun */
		assert_int_equal(ask_begin(q, &o, &a, &e), 0);
		while (*play == 0)
			usleep(1000);
		if (stopped)
			assert_int_equal(kill(*play, SIGSTOP), 0);
		assert_int_equal(read_answer(a, &answer, &e), ERR_BUSY);
		assert_non_null(strstr(e.text, "no simulation finished"));
		no_child_is_left();
		ask_free(a);
	}
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0), 0);
	munmap((void *)(uintptr_t)play, sizeof(*play));
	queue_free(q);
}

static _Noreturn void ask_and_sleep(const struct ask_options *o)
{
	struct queue *q = two_jobs();
	struct ask *a;
	struct err e;
	if (ask_begin(q, o, &a, &e) != 0)
		_exit(1);
	for (;;)
		pause();
}

/* A leader that is killed leaves no process behind that uses a core. */
static void plays_end_with_the_one_that_asked(void **state)
{
	(void)state;
	struct ask_options o = options_of(begin_hang_openly);
	volatile pid_t *play = shared_pid();
	int status;
	o.ctx = (pid_t *)(uintptr_t)play;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	pid_t asker = fork();
	if (asker == 0)
		ask_and_sleep(&o);
	while (*play == 0)
		usleep(1000);
	assert_int_equal(kill(asker, SIGKILL), 0);
	int64_t dead = 0;
	for (pid_t pid; (pid = waitpid(-1, &status, 0)) > 0; dead++)
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_int_equal(dead, 3); /* itself, its child, and the play */
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0), 0);
	munmap((void *)(uintptr_t)play, sizeof(*play));
}

static void no_file_of_ours_is_open_in_there(void **state)
{
	(void)state;
	struct queue *q = two_jobs();
	struct ask_options o = options_of(begin_look);
	struct ask_answer answer;
	struct ask *a;
	struct err e;
	int fd = open("/dev/null", O_RDONLY);
	assert_true(fd > 2);
	fd = dup2(fd, 57);
	o.ctx = &fd;
	assert_int_equal(ask_begin(q, &o, &a, &e), 0);
	assert_int_equal(read_answer(a, &answer, &e), 1);
	assert_int_equal(answer.draws, 9);
	ask_free(a);
	queue_free(q);
}

/* Counts its calls, and takes a moment. */
static void prepare_once(void *ctx)
{
	++*(int *)ctx;
	for (volatile unsigned n = 0; n < 50000000; n++)
		;
}

static void begin_prepared(
	size_t draw, struct play_lengths *lengths, struct play_arrivals *arrivals, void *ctx)
{
	if (*(int *)ctx != 1)
		_exit(5);
	begin_longer(draw, lengths, arrivals, ctx);
}

static void what_all_plays_need_is_made_once(void **state)
{
	(void)state;
	struct queue *q = two_jobs();
	struct ask_options o = options_of(begin_prepared);
	struct ask_answer answer;
	struct ask *a;
	struct err e;
	int calls = 0;
	o.prepare = prepare_once;
	o.ctx = &calls;
	assert_int_equal(ask_begin(q, &o, &a, &e), 0);
	assert_int_equal(read_answer(a, &answer, &e), 1);
	assert_int_equal(answer.draws, 9);
	assert_int_equal(calls, 0); /* in the copy alone */
	assert_true(answer.cpu_us > answer.plays_cpu_us);
	ask_free(a);
	queue_free(q);
}

static void its_process_goes_without_a_wait(void **state)
{
	(void)state;
	struct queue *q = two_jobs();
	struct ask_options o = options_of(begin_longer), hangs = options_of(begin_hang);
	struct ask_answer answer;
	struct ask *a;
	struct err e;
	assert_int_equal(ask_begin(q, &hangs, &a, &e), 0);
	assert_false(ask_reap(a));
	ask_free(a);
	assert_int_equal(ask_begin(q, &o, &a, &e), 0);
	assert_int_equal(read_answer(a, &answer, &e), 1);
	while (!ask_reap(a))
		usleep(1000);
	no_child_is_left();
	assert_int_equal(answer.n, 2); /* the answer is kept */
	ask_free(a);
	queue_free(q);
}

/* As some supervisors start their programs. */
static void it_goes_where_sigchld_is_ignored(void **state)
{
	(void)state;
	struct queue *q = two_jobs();
	struct ask_options o = options_of(begin_longer);
	struct ask_answer answer;
	struct ask *a;
	struct err e;
	void (*before)(int) = signal(SIGCHLD, SIG_IGN);
	assert_int_equal(ask_begin(q, &o, &a, &e), 0);
	assert_int_equal(read_answer(a, &answer, &e), 1);
	assert_int_equal(answer.draws, 9);
	while (!ask_reap(a))
		usleep(1000);
	ask_free(a);
	signal(SIGCHLD, before);
	no_child_is_left();
	queue_free(q);
}

/* ---- variants -------------------------------------------------------------------------------- */

/* Variant 1: Job 3 asks for one pod. 2: it asks for nine. */
static int change_third(struct queue *q, size_t variant, void *ctx, struct err *e)
{
	(void)ctx;
	(void)e;
	tell(q, BEGIN_MS + 2, (struct told){3, variant == 1 ? 1 : 9, MINUTE_MS});
	return 0;
}

static int refuse_first(struct queue *q, size_t variant, void *ctx, struct err *e)
{
	if (variant == 1)
		return err_set(e, ERR_INVALID, "variant 1 is refused");
	return change_third(q, 1, ctx, e);
}

static int crash_first(struct queue *q, size_t variant, void *ctx, struct err *e)
{
	if (variant == 1)
		_exit(3);
	return change_third(q, 1, ctx, e);
}

static struct ask_options comparing(
	size_t variants, int (*change)(struct queue *, size_t, void *, struct err *))
{
	struct ask_options o = options_of(begin_longer);
	o.variants = variants;
	o.change = change;
	return o;
}

static int64_t minutes(int64_t start_ms)
{
	return start_ms == PLAY_NEVER ? -1 : (start_ms - BEGIN_MS) / MINUTE_MS;
}

static void variants_are_compared_draw_by_draw(void **state)
{
	(void)state;
	struct queue *q = two_jobs();
	struct ask_options o = comparing(3, change_third);
	struct ask_answer answer;
	struct ask *a;
	struct err e;
	struct uid second = uid_of(2), third = uid_of(3);
	assert_int_equal(ask_begin(q, &o, &a, &e), 0);
	assert_int_equal(read_answer(a, &answer, &e), 1);
	assert_int_equal(answer.variants, 3);
	assert_int_equal(answer.n, 2);
	for (size_t v = 0; v < 3; v++) {
		assert_int_equal(answer.variant[v].draws, 9);
		assert_string_equal(answer.variant[v].refused, "");
		struct eta eta = ask_eta(&answer, v, ask_index(&answer, &second));
		assert_int_equal(minutes(eta.start.p50_ms), 100);
	}
	size_t index = ask_index(&answer, &third);
	assert_int_equal(minutes(ask_eta(&answer, 0, index).start.p50_ms), -1);
	/* Behind the second, which takes as much longer as the first: 60 + 40 and 1 + 40. */
	assert_int_equal(minutes(ask_eta(&answer, 1, index).start.p50_ms), 141);
	assert_int_equal(minutes(ask_eta(&answer, 2, index).start.p50_ms), -1);
	assert_int_equal(ask_eta(&answer, 2, index).reason, WAIT_EXCEEDS_MAX);
	ask_free(a);
	no_child_is_left();
	struct job_outline o3;
	assert_true(queue_outline_job(q, &third, &o3));
	assert_int_equal(o3.pods, 5); /* nothing of it was changed here */
	queue_free(q);
}

/* How many pods Job 3 asks for there, with a note of variant 2 that is larger than may be. */
static void note_third(const struct queue *q, size_t variant, struct buf *out, void *ctx)
{
	struct uid third = uid_of(3);
	struct job_outline o = {.pods = 0};
	(void)ctx;
	queue_outline_job(q, &third, &o);
	buf_printf(out, "%zu: %d", variant, (int)o.pods);
	for (size_t i = 0; variant == 2 && i < ASK_NOTE_SIZE; i++)
		buf_putc(out, '.');
}

static void tell_notes(
	const struct ask_answer *a, const struct queue *q, struct buf *out, void *ctx)
{
	(void)q;
	(void)ctx;
	for (size_t v = 0; v < a->variants; v++) {
		struct slice note = ask_note(a, v);
		buf_putc(out, '[');
		buf_add(out, note.ptr, note.len);
		buf_putc(out, ']');
	}
}

static int change_nothing(struct queue *q, size_t variant, void *ctx, struct err *e)
{
	(void)q;
	(void)variant;
	(void)ctx;
	(void)e;
	return 0;
}

/* Also where no Job waits, so that nothing is to be played. */
static void a_variant_leaves_a_note(void **state)
{
	(void)state;
	static const char *const notes[] = {"[][1: 0][][3: 0]", "[][1: 1][][3: 9]"};
	for (int waiting = 1; waiting >= 0; waiting--) {
		struct queue *q = waiting ? two_jobs() : world_of(1, STRICT_FIFO);
		struct ask_options o = comparing(4, waiting ? change_third : change_nothing);
		struct ask_answer answer;
		struct ask *a;
		struct err e;
		o.decided = note_third;
		o.tell = tell_notes;
		assert_int_equal(ask_begin(q, &o, &a, &e), 0);
		assert_int_equal(read_answer(a, &answer, &e), 1);
		assert_int_equal(answer.variant[1].draws, 9);
		assert_int_equal(answer.text.len, strlen(notes[waiting]));
		assert_memory_equal(answer.text.ptr, notes[waiting], answer.text.len);
		ask_free(a);
		no_child_is_left();
		queue_free(q);
	}
}

static void a_refusal_comes_back(void **state)
{
	(void)state;
	struct queue *q = two_jobs();
	struct ask_options alone = comparing(2, refuse_first), beside = comparing(3, refuse_first);
	struct ask_answer answer;
	struct ask *a;
	struct err e;
	assert_int_equal(ask_begin(q, &alone, &a, &e), 0);
	assert_int_equal(read_answer(a, &answer, &e), 1);
	assert_int_equal(
		answer.draws, 0); /* there is nothing to compare: not even that is played */
	assert_string_equal(answer.variant[1].refused, "variant 1 is refused");
	ask_free(a);
	assert_int_equal(ask_begin(q, &beside, &a, &e), 0);
	assert_int_equal(read_answer(a, &answer, &e), 1);
	assert_int_equal(answer.draws, 9);
	assert_int_equal(answer.variant[1].draws, 0);
	assert_string_equal(answer.variant[1].refused, "variant 1 is refused");
	assert_int_equal(answer.variant[2].draws, 9);
	ask_free(a);
	no_child_is_left();
	queue_free(q);
}

static void a_variant_whose_plays_fail_is_without_draws(void **state)
{
	(void)state;
	struct queue *q = two_jobs();
	struct ask_options o = comparing(3, crash_first);
	struct ask_answer answer;
	struct ask *a;
	struct err e;
	assert_int_equal(ask_begin(q, &o, &a, &e), 0);
	assert_int_equal(read_answer(a, &answer, &e), 1);
	assert_int_equal(answer.draws, 9);
	assert_int_equal(answer.variant[1].draws, 0);
	assert_string_equal(answer.variant[1].refused, "");
	assert_int_equal(answer.variant[2].draws, 9);
	struct eta eta = ask_eta(&answer, 1, 0);
	assert_true(eta.start.p50_ms == PLAY_NEVER);
	assert_int_equal(eta.start.started, 0);
	ask_free(a);
	queue_free(q);
}

static void tell_third(
	const struct ask_answer *a, const struct queue *q, struct buf *out, void *ctx)
{
	struct uid third = uid_of(3), none = uid_of(9);
	struct job_outline o;
	(void)ctx;
	assert_true(ask_index(a, &none) == SIZE_MAX);
	assert_true(queue_outline_job(q, &third, &o));
	struct eta eta = ask_eta(a, 1, ask_index(a, &third));
	buf_printf(out, "%s has %d pods, with 1 it starts after %d min; %zu draws", o.name,
		(int)o.pods, (int)minutes(eta.start.p50_ms), a->draws);
}

static void tell_too_much(
	const struct ask_answer *a, const struct queue *q, struct buf *out, void *ctx)
{
	(void)q;
	(void)ctx;
	for (size_t i = 0; i <= (a->n * ASK_TEXT_EACH + ASK_TEXT_REST) / 8; i++)
		buf_puts(out, "too much");
}

static void the_answer_is_told_in_the_copy(void **state)
{
	(void)state;
	struct queue *q = two_jobs();
	struct ask_options o = comparing(2, change_third);
	struct ask_answer answer;
	struct ask *a;
	struct err e;
	o.tell = tell_third;
	o.text_only = true;
	assert_int_equal(ask_begin(q, &o, &a, &e), 0);
	assert_int_equal(read_answer(a, &answer, &e), 1);
	static const char text[] = "job-3 has 5 pods, with 1 it starts after 141 min; 9 draws";
	assert_int_equal(answer.text.len, strlen(text));
	assert_memory_equal(answer.text.ptr, text, strlen(text));
	ask_free(a);
	o.tell = tell_too_much;
	assert_int_equal(ask_begin(q, &o, &a, &e), 0);
	assert_int_equal(read_answer(a, &answer, &e), ERR_BUSY);
	ask_free(a);
	no_child_is_left();
	queue_free(q);
}

/* 0.3 s of processor time in each play. */
static void begin_slow(
	size_t draw, struct play_lengths *lengths, struct play_arrivals *arrivals, void *ctx)
{
	struct timespec t;
	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	while (t.tv_sec == 0 && t.tv_nsec < 300000000);
	begin_longer(draw, lengths, arrivals, ctx);
}

/* Two variants a draw: the second draw would end behind 1 s. */
static void what_does_not_fit_into_its_time_is_not_played(void **state)
{
	(void)state;
	struct queue *q = two_jobs();
	struct ask_options o = comparing(2, change_third);
	struct ask_answer answer;
	struct ask *a;
	struct err e;
	o.begin = begin_slow;
	o.all_s = 1;
	assert_int_equal(ask_begin(q, &o, &a, &e), 0);
	assert_int_equal(read_answer(a, &answer, &e), 1);
	assert_int_equal(answer.draws, 1);
	assert_int_equal(answer.variant[1].draws, 1);
	assert_true(answer.plays_cpu_us < 1000000);
	ask_free(a);
	queue_free(q);
}

static void plays_can_count_what_runs_cost(void **state)
{
	(void)state;
	struct queue *q = two_jobs();
	struct ask_options o = comparing(2, change_third);
	struct price_base cpu = {.resource = "cpu", .per_hour = 60 * 1000000};
	struct priceplan_spec plan = {.name = "p", .currency = "EUR", .base = &cpu, .nbases = 1};
	struct ask_answer answer;
	struct ask *a;
	struct err e;
	assert_int_equal(queue_set_priceplan(q, &plan, &e), 0);
	o.costs = true;
	assert_int_equal(ask_begin(q, &o, &a, &e), 0);
	assert_int_equal(read_answer(a, &answer, &e), 1);
	/* The second alone starts, and takes 1 + 40 minutes on average; a minute costs one. */
	assert_int_equal(answer.variant[0].costs.n, 1);
	assert_string_equal(answer.variant[0].costs.item[0].currency, "EUR");
	assert_int_equal(answer.variant[0].costs.item[0].amount, 41 * 1000000);
	/* And the third. */
	assert_int_equal(answer.variant[1].costs.item[0].amount, 82 * 1000000);
	ask_free(a);
	o.costs = false;
	assert_int_equal(ask_begin(q, &o, &a, &e), 0);
	assert_int_equal(read_answer(a, &answer, &e), 1);
	assert_int_equal(answer.variant[0].costs.n, 0);
	ask_free(a);
	queue_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_come_back),
		cmocka_unit_test(a_text_comes_back_beside_the_etas),
		cmocka_unit_test(plays_that_fail_are_left_out),
		cmocka_unit_test(a_play_that_takes_too_long_is_left_out),
		cmocka_unit_test(an_ask_that_hangs_ends),
		cmocka_unit_test(a_play_that_hangs_does_not_cost_the_others),
		cmocka_unit_test(a_child_that_hangs_is_ended_by_its_alarm),
		cmocka_unit_test(of_a_play_that_is_cut_off_counts_what_started),
		cmocka_unit_test(a_play_that_grows_without_end_is_left_out),
		cmocka_unit_test(an_ask_can_be_called_off),
		cmocka_unit_test(process_1_buries_the_plays_of_an_ask_that_ends_early),
		cmocka_unit_test(plays_end_with_the_one_that_asked),
		cmocka_unit_test(no_file_of_ours_is_open_in_there),
		cmocka_unit_test(what_all_plays_need_is_made_once),
		cmocka_unit_test(its_process_goes_without_a_wait),
		cmocka_unit_test(it_goes_where_sigchld_is_ignored),
		cmocka_unit_test(variants_are_compared_draw_by_draw),
		cmocka_unit_test(a_variant_leaves_a_note),
		cmocka_unit_test(a_refusal_comes_back),
		cmocka_unit_test(a_variant_whose_plays_fail_is_without_draws),
		cmocka_unit_test(the_answer_is_told_in_the_copy),
		cmocka_unit_test(what_does_not_fit_into_its_time_is_not_played),
		cmocka_unit_test(plays_can_count_what_runs_cost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
