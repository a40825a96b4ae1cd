/*
 * The table of calls against the sources: a public function that changes a queue is in it, or among
 * those that only ask; it tells its call; and no function of the queue calls one that tells.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ctype.h>
#include <glob.h>
#include <strings.h>

#include "base/buf.h"
#include "record/facts.h"
#include "sluice/queue_call.h"

/* They take a queue that is not const, and change nothing that a decision rests on. */
static const char *const questions[] = {
	"queue_free",	   /* its end */
	"queue_intake",	   /* "nothing is changed" */
	"queue_job_bill",  /* keeps its text */
	"queue_job_cost",  /* likewise */
	"queue_view_week", /* sluice/week.h */
};

static char *read_file(const char *path)
{
	FILE *f = fopen(path, "r");
	struct buf text;
	char chunk[4096];
	if (!f)
		fail_msg("%s cannot be opened", path);
	buf_init(&text, 8 << 20);
	for (size_t n; (n = fread(chunk, 1, sizeof(chunk), f)) > 0;)
		buf_add(&text, chunk, n);
	fclose(f);
	return buf_take(&text);
}

/* Blanks instead of comments, so that what is found is code. */
static void blank_comments(char *text)
{
	for (char *at = text; (at = strstr(at, "/*"));) {
		char *end = strstr(at, "*/");
		assert_non_null(end);
		for (; at < end + 2; at++)
			if (*at != '\n')
				*at = ' ';
	}
}

static bool is_called(const char *name)
{
	for (unsigned i = 0; queue_call_named(i); i++)
		if (strcmp(queue_call_named(i), name + strlen("queue_")) == 0)
			return true;
	return false;
}

static bool only_asks(const char *name)
{
	for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++)
		if (strcmp(questions[i], name) == 0)
			return true;
	return false;
}

/* The next queue_NAME( in the text, from *at on; false when there is none. */
static bool next_name(const char **at, char ret_name[100], const char **ret_behind)
{
	for (const char *p = *at; (p = strstr(p, "queue_")); p++) {
		size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyz_");
		bool begins = !isalnum((unsigned char)p[-1]) && p[-1] != '_';
		if (!begins || p[n] != '(' || n >= 100)
			continue;
		snprintf(ret_name, 100, "%.*s", (int)n, p);
		*ret_behind = p + n + 1;
		*at = p + n;
		return true;
	}
	return false;
}

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t\n");
}

static void each_function_that_changes_is_in_the_table(void **state)
{
	(void)state;
	char *text = read_file(SOURCE_DIR "/include/sluice/queue.h");
	const char *at = text, *behind;
	char name[100];
	size_t found = 0;
	blank_comments(text);
	while (next_name(&at, name, &behind)) {
		bool changes = strncmp(skip_blanks(behind), "struct queue *q", 15) == 0;
		if (changes && !is_called(name) && !only_asks(name))
			fail_msg(
				"%s() is in no row of QUEUE_CALLS (include/sluice/queue_call.h), nor among the questions here",
				name);
		found += changes && is_called(name);
	}
	assert_int_equal(found, QUEUE_CALL_KINDS);
	free(text);
}

/* Is this place in the file the head of a function? A definition begins its line with a type. */
static bool is_definition(const char *text, const char *at)
{
	while (at > text && at[-1] != '\n')
		at--;
	return isalpha((unsigned char)*at);
}

/* queue_tell(q, KIND ... somewhere in it, however its lines are broken. */
static bool tells(const char *text, const char *function)
{
	size_t n = strlen(function);
	for (const char *p = text; (p = strstr(p, "queue_tell("));) {
		p = skip_blanks(p + strlen("queue_tell("));
		if (strncmp(p, "q,", 2) != 0)
			continue;
		p = skip_blanks(p + 2);
		if (strncasecmp(p, function, n) == 0 && p[n] != '_' &&
			!isalnum((unsigned char)p[n]))
			return true;
	}
	return false;
}

static void look_at(const char *path, bool told[QUEUE_CALL_KINDS])
{
	char *text = read_file(path), name[100];
	const char *at = text, *behind;
	blank_comments(text);
	while (next_name(&at, name, &behind)) {
		if (!is_called(name) || is_definition(text, at))
			continue;
		fail_msg(
			"%s calls %s(), which tells that it was called: split what it does from what it tells",
			path, name);
	}
	for (unsigned i = 0; queue_call_named(i); i++)
		told[i] = told[i] || tells(text, queue_call_named(i));
	free(text);
}

static void each_tells_and_none_calls_another(void **state)
{
	(void)state;
	bool told[QUEUE_CALL_KINDS] = {false};
	glob_t files;
	assert_int_equal(glob(SOURCE_DIR "/queue/*.c", 0, NULL, &files), 0);
	assert_int_equal(glob(SOURCE_DIR "/queue/*/*.c", GLOB_APPEND, NULL, &files), 0);
	assert_int_equal(glob(SOURCE_DIR "/queue/*/*/*.c", GLOB_APPEND, NULL, &files), 0);
	assert_true(files.gl_pathc > 60);
	for (size_t i = 0; i < files.gl_pathc; i++)
		look_at(files.gl_pathv[i], told);
	globfree(&files);
	for (unsigned i = 0; queue_call_named(i); i++)
		if (!told[i])
			fail_msg(
				"queue_%s() does not tell that it was called", queue_call_named(i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_function_that_changes_is_in_the_table),
		cmocka_unit_test(each_tells_and_none_calls_another),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
