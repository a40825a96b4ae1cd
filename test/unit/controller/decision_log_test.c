/*
 * The chronicle: a ring of decisions that a reader follows by number.
 */
#include "controller/answers/decision_log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "test/golden/golden.h"

static void add(struct decision_log *c, int n)
{
	struct note note = {.kind = NOTE_START,
		.at_ms = 1795255200000 + n,
		.ns = "team-a",
		.name = "train",
		.clusterqueue = "batch"};
	snprintf(note.text, sizeof(note.text), "number %d, with a \" and a \n", n);
	decision_log_add(c, &note);
}

/* How many are told after `after`, and the first and last numbers of them. */
static size_t tell(const struct decision_log *c, uint64_t after, int64_t *first, int64_t *last)
{
	struct buf out;
	struct json *j = json_new(16 << 20);
	const cJSON *root;
	size_t n = 0;
	buf_init(&out, 1 << 20);
	struct json_writer w = json_writer_object(&out);
	decision_log_put(c, after, NULL, &w);
	jw_close(&w);
	buf_putc(&out, '\n');
	assert_int_equal(json_parse(j, buf_slice(&out), &root, NULL), 0);
	json_each(d, json_array(root, "decisions")) {
		int64_t seq;
		assert_int_equal(json_i64(d, "seq", &seq), 0);
		if (n > 0)
			assert_int_equal(seq, *last + 1);
		else
			*first = seq;
		*last = seq;
		assert_string_equal(json_text(d, "namespace"), "team-a");
		assert_string_equal(json_text(d, "job"), "train");
		assert_string_equal(json_text(d, "clusterQueue"), "batch");
		assert_non_null(json_text(d, "at"));
		n++;
	}
	json_free(j);
	GOLDEN_DONE(&out);
	return n;
}

static void a_reader_gets_what_came_since(void **state)
{
	(void)state;
	struct decision_log *c = decision_log_new();
	int64_t first = 0, last = 0;
	assert_int_equal(tell(c, 0, &first, &last), 0);
	for (int i = 1; i <= 10; i++)
		add(c, i);
	assert_int_equal(tell(c, 0, &first, &last), 10);
	assert_int_equal(first, 1);
	assert_int_equal(tell(c, 7, &first, &last), 3);
	assert_int_equal(first, 8);
	assert_int_equal(tell(c, 10, &first, &last), 0);
	decision_log_free(c);
}

static void the_oldest_are_forgotten(void **state)
{
	(void)state;
	struct decision_log *c = decision_log_new();
	int64_t first = 0, last = 0;
	for (int i = 1; i <= 3 * DECISION_LOG_SIZE + 5; i++)
		add(c, i);
	assert_int_equal(tell(c, 0, &first, &last), DECISION_LOG_SIZE);
	assert_int_equal(last, 3 * DECISION_LOG_SIZE + 5);
	assert_int_equal(decision_log_last(c), 3 * DECISION_LOG_SIZE + 5);
	decision_log_free(c);
}

static void a_number_of_an_earlier_process_gives_all(void **state)
{
	(void)state;
	struct decision_log *c = decision_log_new();
	int64_t first = 0, last = 0;
	add(c, 1);
	add(c, 2);
	assert_int_equal(tell(c, 9000, &first, &last), 2);
	decision_log_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reader_gets_what_came_since),
		cmocka_unit_test(the_oldest_are_forgotten),
		cmocka_unit_test(a_number_of_an_earlier_process_gives_all),
	};
	return cmocka_run_group_tests(tests, NULL, golden_close);
}
