/*
 * The reader: answers of one moment, by processes that come and go. The children are real; the
 * clock by which they come and go is the test's to move on.
 */
#include "controller/answers/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>
#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/must.h"

#define SECOND INT64_C(1000000)
#define BIG (20u << 20)

static int64_t now_us; /* goes on as the test says, and only so */
static int forks_to_fail;

int64_t __wrap_monotonic_us(void);
int64_t __wrap_monotonic_us(void)
{
	return now_us;
}

pid_t __real_fork(void);
pid_t __wrap_fork(void);
pid_t __wrap_fork(void)
{
	if (forks_to_fail-- > 0) {
		errno = EAGAIN;
		return -1;
	}
	forks_to_fail = 0;
	return __real_fork();
}

/* ---- the stage ------------------------------------------------------------------------------- */

static int value; /* what the controller knows */
static struct ev_loop *loop;
static struct reader *reader;
static int fds_before, answers;

struct heard {
	int calls, code, at; /* the how-manieth answer of all it was */
	bool too_many;
	uint64_t moment;
	char sentence[200];
	char *body; /* up to 100 bytes */
	size_t len;
	bool is_pattern;
	uint64_t ask_again; /* of this moment, from inside the answer */
	struct heard *forget;
};

static void put_pattern(struct buf *out, size_t len)
{
	for (uint32_t i = 0; i < len / sizeof(i); i++)
		buf_add(out, &i, sizeof(i));
}

static bool is_pattern(struct slice s)
{
	bool good = s.len % sizeof(uint32_t) == 0;
	for (uint32_t i = 0; good && i < s.len / sizeof(i); i++)
		good = memcmp(s.ptr + i * sizeof(i), &i, sizeof(i)) == 0;
	return good;
}

static void serve(struct slice question, uint64_t moment, struct buf *out, void *ctx)
{
	must(ctx == &value); /* no assertion of cmocka: this is another process */
	if (slice_is(question, "value"))
		buf_printf(out, "%d", value);
	else if (slice_is(question, "more"))
		buf_printf(out, "%d", ++value);
	else if (slice_is(question, "moment"))
		buf_printf(out, "%llu", (unsigned long long)moment);
	else if (slice_is(question, "pid"))
		buf_printf(out, "%d", (int)getpid());
	else if (slice_is(question, "nice"))
		buf_printf(out, "%d", getpriority(PRIO_PROCESS, 0));
	else if (slice_is(question, "big"))
		put_pattern(out, BIG);
	else if (slice_is(question, "too big"))
		put_pattern(out, READER_ANSWER_MAX + 4);
	else if (slice_is(question, "sleep"))
		for (;;)
			pause();
	else if (slice_is(question, "crash"))
		_exit(7);
	else if (!slice_is(question, ""))
		buf_printf(out, "%zu", question.len);
}

static void open_reader(int64_t timeout_ms)
{
	struct reader_options o = {
		.loop = loop, .serve = serve, .ctx = &value, .timeout_ms = timeout_ms};
	reader = reader_new(&o);
}

static int count_fds(void)
{
	int n = 0;
	DIR *d = opendir("/proc/self/fd");
	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static bool has_no_child(void)
{
	siginfo_t info;
	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == -1 && errno == ECHILD;
}

static int set_up(void **state)
{
	(void)state;
	now_us = SECOND;
	value = forks_to_fail = answers = 0;
	fds_before = count_fds();
	loop = ev_loop_new(EVFLAG_AUTO);
	open_reader(0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	reader_free(reader);
	bool is_alone = has_no_child();
	ev_loop_destroy(loop);
	return is_alone && count_fds() == fds_before ? 0 : -1;
}

static void on_answer(const struct reader_answer *a, void *ctx)
{
	struct heard *h = ctx;
	h->calls++;
	h->at = ++answers;
	h->code = a->code;
	h->too_many = a->too_many;
	h->moment = a->moment;
	h->len = a->body.len;
	h->is_pattern = is_pattern(a->body);
	snprintf(h->sentence, sizeof(h->sentence), "%s", a->sentence ? a->sentence : "");
	snprintf(h->body, 100, "%.*s", (int)(a->body.len < 99 ? a->body.len : 99), a->body.ptr);
	if (h->forget)
		reader_forget(reader, h->forget);
	uint64_t moment = h->ask_again;
	h->ask_again = 0;
	struct reader_question again = {slice_of("value"), moment, "", false};
	if (moment)
		assert_true(reader_ask(reader, &again, on_answer, h));
}

static bool ask_this(struct heard *h, const struct reader_question *q)
{
	int calls = h->calls;
	bool there = reader_ask(reader, q, on_answer, h);
	assert_int_equal(h->calls, calls); /* never from inside */
	return there;
}

static bool ask(struct heard *h, uint64_t moment, const char *question)
{
	return ask_this(h,
		&(struct reader_question){.text = slice_of(question), .moment = moment, .ns = ""});
}

static void ask_of(struct heard *h, const char *ns)
{
	assert_true(ask_this(h, &(struct reader_question){.text = slice_of("value"), .ns = ns}));
}

static void run_once(void)
{
	ev_run(loop, EVRUN_ONCE);
}

static void run_until(const struct heard *h, int calls)
{
	while (h->calls < calls)
		run_once();
	assert_int_equal(h->calls, calls);
}

/* Everything that is due now is done: the reader looks four times a second. */
static void look(void)
{
	for (int i = 0; i < 30; i++) {
		ev_run(loop, EVRUN_NOWAIT);
		poll(NULL, 0, 10);
	}
	ev_run(loop, EVRUN_NOWAIT);
}

static void run_until_alone(void)
{
	while (!has_no_child())
		run_once();
}

#define HEARD(name) struct heard name = {.body = (char[100]){0}}

static uint64_t moment_now(void)
{
	HEARD(h);
	assert_true(ask(&h, 0, "value"));
	run_until(&h, 1);
	assert_int_equal(h.code, 0);
	return h.moment;
}

/* ---- moments --------------------------------------------------------------------------------- */

static void two_who_ask_at_once_hear_of_one_moment(void **state)
{
	(void)state;
	HEARD(a);
	HEARD(b);
	value = 41;
	ask(&a, 0, "value");
	ask(&b, 0, "moment");
	run_until(&a, 1);
	run_until(&b, 1);
	assert_int_equal(a.code, 0);
	assert_string_equal(a.sentence, "");
	assert_string_equal(a.body, "41");
	assert_true(a.moment != 0 && a.moment == b.moment);
	char text[24];
	snprintf(text, sizeof(text), "%llu", (unsigned long long)b.moment);
	assert_string_equal(b.body, text);
}

static void what_changes_is_seen_by_the_next_child(void **state)
{
	(void)state;
	HEARD(h);
	value = 1;
	uint64_t first = moment_now();
	value = 2;
	ask(&h, 0, "value");
	run_until(&h, 1);
	assert_string_equal(h.body, "1"); /* it is not old yet */
	assert_true(h.moment == first);
	now_us += SECOND;
	ask(&h, 0, "value");
	run_until(&h, 2);
	assert_string_equal(h.body, "2");
	assert_true(h.moment > first);
	assert_true(ask(&h, first, "value")); /* as pages are read */
	run_until(&h, 3);
	assert_string_equal(h.body, "1");
	assert_true(h.moment == first);
}

static void what_a_child_changes_is_its_own(void **state)
{
	(void)state;
	HEARD(h);
	ask(&h, 0, "more");
	ask(&h, 0, "more");
	run_until(&h, 2);
	assert_string_equal(h.body, "2");
	assert_int_equal(value, 0);
}

static void a_moment_that_is_over_is_said_so(void **state)
{
	(void)state;
	HEARD(h);
	assert_false(ask(&h, 7, "value"));
	uint64_t first = moment_now();
	now_us += 29 * SECOND;
	look();
	assert_true(ask(&h, first, "value"));
	run_until(&h, 1);
	now_us += 30 * SECOND;
	run_until_alone();
	assert_false(ask(&h, first, "value"));
	assert_true(moment_now() > first);
}

static void a_slow_first_answer_makes_the_next_child_late(void **state)
{
	(void)state;
	HEARD(h);
	ask(&h, 0, "sleep");
	ev_run(loop, EVRUN_NOWAIT);
	reader_forget(reader, &h);
	now_us += SECOND;
	ask(&h, 0, "value");
	look();
	assert_int_equal(h.calls, 0); /* the one that has not answered yet is to do it */
	now_us += SECOND;
	uint64_t second = moment_now();
	now_us += SECOND / 10 - 1;
	assert_true(moment_now() == second);
}

static void ten_times_what_the_first_answer_took(void **state)
{
	(void)state;
	HEARD(h);
	ask(&h, 0, "value");
	ev_run(loop, EVRUN_NOWAIT); /* it is made, and asked */
	assert_int_equal(h.calls, 0);
	now_us += SECOND / 10;
	run_until(&h, 1);
	now_us += SECOND * 8 / 10;
	assert_true(moment_now() == h.moment);
	now_us += SECOND / 10;
	assert_true(moment_now() > h.moment);
}

static void a_third_waits_for_whoever_reads_pages(void **state)
{
	(void)state;
	HEARD(pages);
	uint64_t first = moment_now();
	now_us += SECOND;
	uint64_t second = moment_now();
	assert_true(second > first);
	for (int i = 1; i < 19; i++) {
		now_us += SECOND;
		assert_true(ask(&pages, first, "value"));
		run_until(&pages, i);
		assert_true(moment_now() == second);
	}
	assert_true(ask(&pages, first, "value"));
	run_until(&pages, 19);
	now_us += 2 * SECOND; /* 20 s after the second */
	assert_false(ask(&pages, first, "value"));
	uint64_t third = moment_now();
	assert_true(third > second);
	assert_true(ask(&pages, second, "value"));
	run_until(&pages, 20);
	now_us += SECOND;
	assert_true(moment_now() == third); /* the second is read in pages yet */
	now_us += SECOND;
	assert_true(moment_now() > third);
	assert_false(ask(&pages, second, "value"));
	assert_true(ask(&pages, third, "value"));
	run_until(&pages, 21);
}

/* ---- what goes wrong ------------------------------------------------------------------------- */

static void one_that_is_stuck_is_killed(void **state)
{
	(void)state;
	HEARD(a);
	HEARD(b);
	reader_free(reader);
	open_reader(100);
	ask(&a, 0, "sleep");
	ask(&b, 0, "value"); /* waits behind it */
	ev_run(loop, EVRUN_NOWAIT);
	now_us += 99999;
	look();
	assert_int_equal(a.calls, 0);
	now_us += 1;
	run_until(&a, 1);
	run_until(&b, 1);
	assert_int_equal(a.code, ERR_BUSY);
	assert_non_null(strstr(a.sentence, "took too long"));
	assert_int_equal(b.code, ERR_BUSY);
	assert_false(ask(&a, a.moment, "value"));
	run_until_alone();
	now_us += 10 * SECOND;
	moment_now();
}

static void one_that_crashes_is_said_so(void **state)
{
	(void)state;
	HEARD(a);
	HEARD(b);
	ask(&a, 0, "crash");
	ask(&b, 0, "value");
	run_until(&a, 1);
	run_until(&b, 1);
	assert_int_equal(a.code, ERR_BUSY);
	assert_string_equal(
		a.sentence, "the process that reads ended before it gave an answer; ask again");
	assert_string_equal(b.sentence, a.sentence);
	ask(&b, 0, "value"); /* not at once: crashes have their pace, too */
	look();
	run_until_alone();
	assert_int_equal(b.calls, 1);
	now_us += SECOND;
	run_until(&b, 2);
	assert_string_equal(b.body, "0");
}

/* Its handler of the loop is not the child's. */
static void a_signal_ends_a_child_alone(void **state)
{
	(void)state;
	HEARD(h);
	ask(&h, 0, "pid");
	run_until(&h, 1);
	siginfo_t info;
	pid_t pid = (pid_t)atoi(h.body);
	assert_int_equal(kill(pid, SIGTERM), 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(info.si_status, SIGTERM);
	look();
	assert_false(ask(&h, h.moment, "value"));
}

static void on_term(struct ev_loop *l, ev_signal *w, int revents)
{
	(void)l, (void)revents;
	*(int *)w->data += 1;
}

static void signals_stay_the_controllers(void **state)
{
	int terms = 0;
	ev_signal term;
	ev_signal_init(&term, on_term, SIGTERM);
	term.data = &terms;
	ev_signal_start(loop, &term);
	a_signal_ends_a_child_alone(state);
	assert_int_equal(terms, 0);
	raise(SIGTERM);
	look();
	assert_int_equal(terms, 1);
	ev_signal_stop(loop, &term);
}

static void no_process_is_said_so(void **state)
{
	(void)state;
	HEARD(a);
	HEARD(b);
	uint64_t first = moment_now();
	now_us += SECOND;
	forks_to_fail = 1;
	ask(&a, 0, "value");
	assert_true(ask(&b, first, "value"));
	run_until(&a, 1);
	run_until(&b, 1);
	assert_int_equal(a.code, ERR_BUSY);
	assert_string_equal(a.sentence,
		"no process that reads could be made: Resource temporarily unavailable");
	assert_int_equal(b.code, 0);
	assert_true(moment_now() > first);
}

static void too_many_are_told_so(void **state)
{
	(void)state;
	HEARD(h);
	HEARD(last);
	for (int i = 0; i < 256; i++) {
		char ns[16];
		snprintf(ns, sizeof(ns), "team-%d", i / READER_EACH_MAX);
		ask_of(&h, ns);
	}
	ask(&last, 0, "value");
	run_until(&last, 1);
	assert_int_equal(last.code, ERR_BUSY);
	assert_true(last.too_many);
	assert_string_equal(
		last.sentence, "too many questions wait for an answer; ask again in a while");
	run_until(&h, 256);
	assert_int_equal(h.code, 0);
	ask(&last, 0, "value");
	run_until(&last, 2);
	assert_int_equal(last.code, 0);
}

/* ---- turns ----------------------------------------------------------------------------------- */

static void a_flood_of_one_namespace_keeps_no_other_waiting(void **state)
{
	(void)state;
	struct heard loud[READER_EACH_MAX], calm[2];
	char text[READER_EACH_MAX + 2][100];
	for (int i = 0; i < READER_EACH_MAX; i++) {
		loud[i] = (struct heard){.body = text[i]};
		ask_of(&loud[i], "loud");
	}
	for (int i = 0; i < 2; i++) {
		calm[i] = (struct heard){.body = text[READER_EACH_MAX + i]};
		ask_of(&calm[i], i == 0 ? "calm" : ""); /* all namespaces have a turn, too */
	}
	run_until(&loud[READER_EACH_MAX - 1], 1);
	assert_int_equal(loud[0].at, 1); /* it is under way when the others come */
	assert_int_equal(loud[1].at, 2);
	assert_int_equal(calm[0].at, 3);
	assert_int_equal(calm[1].at, 4);
	for (int i = 2; i < READER_EACH_MAX; i++)
		assert_int_equal(loud[i].at, 3 + i);
}

struct asker {
	struct heard heard;
	const char *ns;
	int left;
};

static void on_answer_ask_again(const struct reader_answer *a, void *ctx)
{
	struct asker *x = ctx;
	(void)a;
	answers++;
	if (x->left-- > 0) {
		struct reader_question again = {slice_of("value"), 0, x->ns, false};
		assert_true(reader_ask(reader, &again, on_answer_ask_again, x));
	}
}

/* Two that always have one question under way or waiting. */
static void two_that_ask_in_turns_keep_no_third_waiting(void **state)
{
	(void)state;
	struct asker one = {.ns = "one", .left = 20}, two = {.ns = "two", .left = 20};
	HEARD(a);
	HEARD(b);
	struct reader_question q = {slice_of("value"), 0, "one", false};
	assert_true(reader_ask(reader, &q, on_answer_ask_again, &one));
	q.ns = "two";
	assert_true(reader_ask(reader, &q, on_answer_ask_again, &two));
	ask_of(&a, "third");
	ask_of(&b, "third");
	run_until(&b, 1);
	assert_in_range(a.at, 1, 3);
	assert_in_range(b.at, 4, 8);
	while (one.left >= 0 || two.left >= 0)
		run_once();
}

static void a_namespace_has_so_many_waiting(void **state)
{
	(void)state;
	HEARD(h);
	HEARD(last);
	HEARD(other);
	HEARD(watch);
	for (int i = 0; i < READER_EACH_MAX; i++)
		ask_of(&h, "loud");
	ask_of(&last, "loud");
	ask_of(&other, "calm");
	struct reader_question q = {slice_of("value"), 0, "loud", true};
	for (int i = 0; i < 2 * READER_EACH_MAX; i++)
		ask_this(&watch, &q);
	run_until(&last, 1);
	assert_int_equal(last.code, ERR_BUSY);
	assert_true(last.too_many);
	assert_string_equal(last.sentence,
		"8 questions about namespace loud wait for an answer already; ask again in a second, or watch instead of asking often");
	run_until(&h, READER_EACH_MAX);
	run_until(&other, 1);
	run_until(&watch, 2 * READER_EACH_MAX);
	assert_int_equal(h.code, 0);
	assert_int_equal(other.code, 0);
	assert_int_equal(watch.code, 0);
	ask_of(&last, "loud"); /* when they have their answers */
	run_until(&last, 2);
	assert_int_equal(last.code, 0);
	assert_false(last.too_many);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static void a_big_answer_arrives_whole(void **state)
{
	(void)state;
	HEARD(h);
	ask(&h, 0, "big");
	run_until(&h, 1);
	assert_int_equal(h.len, BIG);
	assert_true(h.is_pattern);
	ask(&h, h.moment, "");
	run_until(&h, 2);
	assert_int_equal(h.code, 0);
	assert_int_equal(h.len, 0);
}

static void one_that_is_too_big_is_said_so(void **state)
{
	(void)state;
	HEARD(h);
	ask(&h, 0, "too big");
	ask(&h, 0, "value");
	run_until(&h, 1);
	assert_int_equal(h.code, ERR_LIMIT);
	assert_non_null(strstr(h.sentence, "64 MiB"));
	assert_int_equal(h.len, 0);
	run_until(&h, 2);
	assert_int_equal(h.code, 0);
}

static void a_long_question_arrives_whole(void **state)
{
	(void)state;
	HEARD(h);
	char *text = calloc(1, READER_QUESTION_MAX);
	struct reader_question question = {.text = {text, READER_QUESTION_MAX}, .ns = ""};
	assert_true(ask_this(&h, &question));
	free(text); /* it was copied */
	run_until(&h, 1);
	assert_int_equal(atoi(h.body), READER_QUESTION_MAX);
}

/* ---- who asks -------------------------------------------------------------------------------- */

static void what_was_forgotten_is_not_heard_of(void **state)
{
	(void)state;
	HEARD(gone);
	HEARD(h);
	ask(&gone, 0, "value"); /* before there is a child */
	reader_forget(reader, &gone);
	ask(&gone, 0, "big");	/* under way */
	ask(&gone, 0, "value"); /* behind it */
	ask(&h, 0, "value");
	ev_run(loop, EVRUN_NOWAIT);
	reader_forget(reader, &gone);
	reader_forget(reader, &gone);
	run_until(&h, 1);
	assert_string_equal(h.body, "0");
	assert_int_equal(gone.calls, 0);
	forks_to_fail = 1; /* one that failed, from inside another one's answer */
	now_us += SECOND;
	h.forget = &gone;
	ask(&h, 0, "value");
	ask(&gone, 0, "value");
	run_until(&h, 2);
	look();
	assert_int_equal(gone.calls, 0);
}

static void one_may_ask_from_inside_an_answer(void **state)
{
	(void)state;
	HEARD(h);
	h.ask_again = moment_now();
	ask(&h, h.ask_again, "value");
	run_until(&h, 2);
	assert_int_equal(h.code, 0);
}

static void it_may_end_with_questions_under_way(void **state)
{
	(void)state;
	HEARD(h);
	ev_run(loop, EVRUN_NOWAIT);
	int fds = count_fds();
	uint64_t first = moment_now();
	now_us += SECOND;
	ask(&h, 0, "sleep");
	ask(&h, 0, "value");
	ask(&h, first, "big");
	ev_run(loop, EVRUN_NOWAIT);
	ask(&h, 0, "value");
	int calls = h.calls;
	reader_free(reader);
	assert_true(has_no_child());
	assert_int_equal(count_fds(), fds);
	open_reader(0);
	look();
	assert_int_equal(h.calls, calls);
	reader_free(NULL);
}

/* ---- the process ----------------------------------------------------------------------------- */

static void a_child_keeps_no_file_open(void **state)
{
	(void)state;
	int ends[2];
	HEARD(h);
	char c;
	assert_int_equal(pipe(ends), 0);
	ask(&h, 0, "value");
	run_until(&h, 1);
	close(ends[1]);
	assert_int_equal(read(ends[0], &c, 1), 0);
	close(ends[0]);
	assert_true(ask(&h, h.moment, "value")); /* it lives */
	run_until(&h, 2);
	assert_int_equal(h.code, 0);
}

static void a_child_yields(void **state)
{
	(void)state;
	HEARD(h);
	int ours = getpriority(PRIO_PROCESS, 0);
	ask(&h, 0, "nice");
	run_until(&h, 1);
	assert_int_equal(atoi(h.body), ours + 10 < 19 ? ours + 10 : 19);
}

/* In a process of its own: says which its child is, which then sleeps, and dies. */
static _Noreturn void die_with_a_child(int to)
{
	HEARD(h);
	ask(&h, 0, "pid");
	run_until(&h, 1);
	ask(&h, h.moment, "sleep");
	ev_run(loop, EVRUN_NOWAIT);
	ssize_t n = write(to, h.body, 100);
	_exit(n == 100 ? 0 : 1);
}

static void a_child_dies_with_the_controller(void **state)
{
	(void)state;
	int ends[2], status;
	char text[100] = "";
	prctl(PR_SET_CHILD_SUBREAPER, 1); /* its orphan becomes ours */
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		ev_loop_fork(loop);
		die_with_a_child(ends[1]);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(read(ends[0], text, sizeof(text)), sizeof(text));
	pid_t orphan = (pid_t)atoi(text);
	assert_int_equal(waitpid(orphan, &status, 0), orphan);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	close(ends[0]);
	close(ends[1]);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(two_who_ask_at_once_hear_of_one_moment),
		CASE(what_changes_is_seen_by_the_next_child),
		CASE(what_a_child_changes_is_its_own),
		CASE(a_moment_that_is_over_is_said_so),
		CASE(a_slow_first_answer_makes_the_next_child_late),
		CASE(ten_times_what_the_first_answer_took),
		CASE(a_third_waits_for_whoever_reads_pages),
		CASE(one_that_is_stuck_is_killed),
		CASE(one_that_crashes_is_said_so),
		CASE(a_signal_ends_a_child_alone),
		CASE(signals_stay_the_controllers),
		CASE(no_process_is_said_so),
		CASE(too_many_are_told_so),
		CASE(a_flood_of_one_namespace_keeps_no_other_waiting),
		CASE(two_that_ask_in_turns_keep_no_third_waiting),
		CASE(a_namespace_has_so_many_waiting),
		CASE(a_big_answer_arrives_whole),
		CASE(one_that_is_too_big_is_said_so),
		CASE(a_long_question_arrives_whole),
		CASE(what_was_forgotten_is_not_heard_of),
		CASE(one_may_ask_from_inside_an_answer),
		CASE(it_may_end_with_questions_under_way),
		CASE(a_child_keeps_no_file_open),
		CASE(a_child_yields),
		CASE(a_child_dies_with_the_controller),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
