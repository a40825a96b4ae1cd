/*
 * The clock of test builds: another time of day than the machine's, set while the program runs.
 * No test waits: what our clock says is asked for times of the machine.
 */
#include "controller/common/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <fcntl.h>
#include <unistd.h>

#include <cmocka.h>

#define HOUR INT64_C(3600000)
#define TEN INT64_C(1795255200000) /* 2026-11-21T10:00:00Z, by the machine */

#ifdef SLUICE_TEST_CLOCK

static char path[] = "/tmp/sluice-clock-XXXXXX";

/* changed_s: the file's time of change; 0: now */
static void write_file(const char *text, int64_t changed_s)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	struct timespec times[2] = {{.tv_sec = changed_s}, {.tv_sec = changed_s}};
	if (changed_s)
		assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static int set_offset(const char *text)
{
	struct err e;
	return clock_set_offset(text, &e);
}

static int set_file(void)
{
	char flag[64];
	snprintf(flag, sizeof(flag), "@%s", path);
	return set_offset(flag);
}

static int reset(void **state)
{
	(void)state;
	struct err e;
	set_offset("0");
	return clock_set_rate("1", &e);
}

static void an_offset_is_added(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t ms;
	} t[] = {{"+14h30m", 14 * HOUR + HOUR / 2}, {"-2h", -2 * HOUR}, {"0", 0}, {"3d", 72 * HOUR},
		{"+90s", 90000}};
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		assert_int_equal(set_offset(t[i].text), 0);
		assert_int_equal(clock_of_machine_ms(TEN), TEN + t[i].ms);
	}
	assert_int_equal(clock_of_machine_ms(INT64_MAX), INT64_MAX);
}

static void what_is_no_offset_is_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"", "+", "14", "h", "1y", "+-1h", "1h ", "9999999999h", "@/nonexistent/clock"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct err e = {""};
		assert_int_equal(clock_set_offset(bad[i], &e), ERR_INVALID);
		assert_non_null(strstr(e.text, "--clock-offset"));
	}
}

static void the_rate_counts_from_the_files_change_on(void **state)
{
	(void)state;
	struct err e;
	write_file("+2h\n", TEN / 1000);
	assert_int_equal(clock_set_rate("60", &e), 0);
	assert_int_equal(set_file(), 0);
	assert_int_equal(clock_of_machine_ms(TEN), TEN + 2 * HOUR);
	assert_int_equal(clock_of_machine_ms(TEN + 1000), TEN + 2 * HOUR + 60000);
	assert_int_equal(clock_of_machine_ms(TEN - 1000), TEN + 2 * HOUR - 1000);
	assert_int_equal(clock_set_rate("0", &e), ERR_INVALID);
	assert_int_equal(clock_set_rate("-1", &e), ERR_INVALID);
	assert_int_equal(clock_set_rate("1.5", &e), ERR_INVALID);
}

static void it_is_set_while_the_program_runs(void **state)
{
	(void)state;
	struct err e;
	write_file("0", TEN / 1000);
	assert_int_equal(set_file(), 0);
	assert_true(clock_has_file());
	assert_false(clock_look(&e)); /* nothing has changed */
	write_file("+5h", TEN / 1000 + 60);
	assert_true(clock_look(&e));
	assert_false(clock_look(&e));
	assert_int_equal(clock_of_machine_ms(TEN + 60000), TEN + 60000 + 5 * HOUR);
	/* What the API server stamped before the step keeps its time. */
	assert_int_equal(clock_of_machine_ms(TEN + 59000), TEN + 59000);
	write_file("-1h", TEN / 1000 + 120);
	assert_true(clock_look(&e));
	assert_int_equal(clock_of_machine_ms(TEN + 120000), TEN + 120000 - HOUR);
	assert_int_equal(clock_of_machine_ms(TEN + 60000), TEN + 60000 + 5 * HOUR);
}

static void nonsense_in_the_file_is_said_once_and_changes_nothing(void **state)
{
	(void)state;
	struct err e;
	write_file("+1h", TEN / 1000);
	assert_int_equal(set_file(), 0);
	write_file("soon", TEN / 1000 + 1);
	assert_false(clock_look(&e));
	assert_non_null(strstr(e.text, "soon"));
	assert_false(clock_look(&e));
	assert_string_equal(e.text, "");
	assert_int_equal(clock_of_machine_ms(TEN + 2000), TEN + 2000 + HOUR);
	write_file("", TEN / 1000 + 3); /* somebody is writing it */
	assert_false(clock_look(&e));
	unlink(path);
	assert_false(clock_look(&e));
	assert_int_equal(clock_of_machine_ms(TEN + 4000), TEN + 4000 + HOUR);
}

static void a_file_may_tell_the_whole_story(void **state)
{
	(void)state;
	struct err e;
	write_file("2026-11-21T10:00:00Z +1h\n\n2026-11-21T10:00:30Z -3h\n", 0);
	assert_int_equal(set_file(), 0);
	assert_int_equal(clock_of_machine_ms(TEN - HOUR), TEN);
	assert_int_equal(clock_of_machine_ms(TEN + 29999), TEN + 29999 + HOUR);
	assert_int_equal(clock_of_machine_ms(TEN + 30000), TEN + 30000 - 3 * HOUR);
	write_file("2026-11-21T10:00:30Z +1h\n2026-11-21T10:00:00Z -3h\n", 0); /* not in order */
	assert_false(clock_look(&e));
	assert_true(e.text[0] != '\0');
}

static void a_jobs_times_are_brought_over(void **state)
{
	(void)state;
	struct job j = {.created_ms = TEN, .status = {.start_ms = TEN + 1000}};
	assert_int_equal(set_offset("+14h30m"), 0);
	clock_bring_job(&j);
	assert_int_equal(j.created_ms, TEN + 14 * HOUR + HOUR / 2);
	assert_int_equal(j.status.start_ms, TEN + 1000 + 14 * HOUR + HOUR / 2);
	assert_int_equal(j.status.finished_ms, 0); /* none stays none */
}

static void what_happened_in_the_second_of_a_step_came_after_it(void **state)
{
	(void)state;
	struct err e;
	struct job j = {.created_ms = TEN + 60000};
	write_file("0", TEN / 1000);
	assert_int_equal(set_file(), 0);
	FILE *f = fopen(path, "w");
	fputs("+5h", f);
	fclose(f);
	struct timespec times[2] = {{TEN / 1000 + 60, 300000000}, {TEN / 1000 + 60, 300000000}};
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	assert_true(clock_look(&e));
	clock_bring_job(&j); /* created at .5, say, and written as .0 */
	assert_int_equal(j.created_ms, TEN + 60000 + 5 * HOUR);
	j.created_ms = TEN + 59000;
	clock_bring_job(&j);
	assert_int_equal(j.created_ms, TEN + 59000);
}

static void who_waits_for_our_clock_waits_less_when_it_runs_fast(void **state)
{
	(void)state;
	struct err e;
	assert_int_equal(set_offset("+1000h"), 0);
	assert_int_equal(clock_set_rate("60", &e), 0);
	int64_t wait = clock_machine_wait_ms(clock_now_ms() + HOUR);
	assert_in_range(wait, 58000, 60000);
	assert_int_equal(clock_machine_wait_ms(clock_now_ms() - 1), 0);
	assert_int_equal(clock_machine_wait_ms(INT64_MAX), INT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(an_offset_is_added, reset),
		cmocka_unit_test_teardown(what_is_no_offset_is_refused, reset),
		cmocka_unit_test_teardown(the_rate_counts_from_the_files_change_on, reset),
		cmocka_unit_test_teardown(it_is_set_while_the_program_runs, reset),
		cmocka_unit_test_teardown(
			nonsense_in_the_file_is_said_once_and_changes_nothing, reset),
		cmocka_unit_test_teardown(a_file_may_tell_the_whole_story, reset),
		cmocka_unit_test_teardown(a_jobs_times_are_brought_over, reset),
		cmocka_unit_test_teardown(
			what_happened_in_the_second_of_a_step_came_after_it, reset),
		cmocka_unit_test_teardown(
			who_waits_for_our_clock_waits_less_when_it_runs_fast, reset),
	};
	int fd = mkstemp(path);
	if (fd < 0)
		return 1;
	close(fd);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}

#else

static void a_build_for_users_goes_by_the_machine(void **state)
{
	(void)state;
	struct err e = {""};
	assert_int_equal(clock_set_offset("+1h", &e), ERR_INVALID);
	assert_non_null(strstr(e.text, "SLUICE_TEST_CLOCK"));
	assert_int_equal(clock_set_rate("2", &e), ERR_INVALID);
	assert_int_equal(clock_of_machine_ms(TEN), TEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_build_for_users_goes_by_the_machine)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
