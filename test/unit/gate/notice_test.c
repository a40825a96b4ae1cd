/* What stands on a Job that waits: the reason, and until when. And how often its owner is warned. */
#include "controller/gate/waiting_note.h"
#include "world.h"

#define NOW INT64_C(1795255200000) /* 2026-11-21T10:00:00Z */
#define HOUR INT64_C(3600000)
#define MINUTE INT64_C(60000)

static const struct row {
	struct explanation x;
	const char *says;
	struct likely_start start;
} rows[] = {
	{{.reason = WAIT_QUOTA, .sentence = "needs 2 cpu"},
		"WaitingForQuota: needs 2 cpu (as of 2026-11-21T10:00:00Z)"},
	{{.reason = WAIT_WINDOW, .sentence = "its queue is closed", .not_before_ms = NOW + HOUR},
		"OutsideWindow: its queue is closed; not before 2026-11-21T11:00:00Z "
		"(as of 2026-11-21T10:00:00Z)"},
	/* Not twice. */
	{{.reason = WAIT_WINDOW,
		 .sentence = "it opens at 2026-11-21T11:00:00Z",
		 .not_before_ms = NOW + HOUR},
		"OutsideWindow: it opens at 2026-11-21T11:00:00Z (as of 2026-11-21T10:00:00Z)"},
	/* Nobody can say, or it is over. */
	{{.reason = WAIT_WINDOW, .sentence = "closed", .not_before_ms = INT64_MAX},
		"OutsideWindow: closed (as of 2026-11-21T10:00:00Z)"},
	{{.reason = WAIT_WINDOW, .sentence = "closed", .not_before_ms = NOW},
		"OutsideWindow: closed (as of 2026-11-21T10:00:00Z)"},
	{{.reason = WAIT_PRICE,
		 .sentence = "cheaper later",
		 .not_before_ms = NOW + HOUR,
		 .deadline_ms = NOW + HOUR / 2,
		 .unreachable = true},
		"WaitingForPrice: cheaper later; not before 2026-11-21T11:00:00Z; it cannot end by "
		"its deadline, 2026-11-21T10:30:00Z (as of 2026-11-21T10:00:00Z)"},
	{{.reason = WAIT_PRICE, .sentence = "cheaper later", .deadline_ms = NOW + HOUR},
		"WaitingForPrice: cheaper later (as of 2026-11-21T10:00:00Z)"},
	/* A forecast: to five minutes, and with the moment that it is of. */
	{{.reason = WAIT_QUOTA, .sentence = "needs 2 cpu"},
		"WaitingForQuota: needs 2 cpu; likely to start about 2026-11-21T11:25:00Z, "
		"by a forecast of 2026-11-21T09:59:00Z (as of 2026-11-21T10:00:00Z)",
		{NOW + HOUR + 23 * MINUTE, NOW - MINUTE}},
	{{.reason = WAIT_WINDOW, .sentence = "its queue is closed", .not_before_ms = NOW + HOUR},
		"OutsideWindow: its queue is closed; not before 2026-11-21T11:00:00Z; likely to "
		"start about 2026-11-21T13:00:00Z, by a forecast of 2026-11-21T10:00:00Z "
		"(as of 2026-11-21T10:00:00Z)",
		{NOW + 3 * HOUR, NOW}},
	/* Said already, by time alone. */
	{{.reason = WAIT_WINDOW, .sentence = "its queue is closed", .not_before_ms = NOW + HOUR},
		"OutsideWindow: its queue is closed; not before 2026-11-21T11:00:00Z "
		"(as of 2026-11-21T10:00:00Z)",
		{NOW + HOUR + 2 * MINUTE, NOW}},
	/* It was to have started by now. */
	{{.reason = WAIT_QUOTA, .sentence = "needs 2 cpu"},
		"WaitingForQuota: needs 2 cpu (as of 2026-11-21T10:00:00Z)",
		{NOW - HOUR, NOW - HOUR}},
};

static void a_notice_says_until_when(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct buf out;
		buf_init(&out, 4096);
		notice_words(&rows[i].x, &rows[i].start, NOW, &out);
		assert_string_equal(buf_text(&out), rows[i].says);
		assert_true(notice_kind(buf_text(&out)) == rows[i].x.reason);
		buf_done(&out);
	}
}

/* ---- An Event of what needs a correction: each note that has the reason makes one ------------- */

static int a_queue_is_missing(void **state)
{
	struct snap n = {0};
	open_world(state);
	struct world *w = *state;
	w->note_after_ms = MINUTE;
	world_restart(w);
	queue_drop_localqueue(w->queue, "team-a", "main");
	at(w, w->now_ms + 1000); /* it leads, and sees the Job come */
	submit(w, &n);
	return 0;
}

static size_t warnings_in(struct world *w, int64_t ms)
{
	size_t n = 0;
	for (int64_t end_ms = w->now_ms + ms; w->now_ms < end_ms;) {
		w->last[NOTE_WAIT] = (struct note){.reason = ""};
		at(w, w->now_ms + 1000);
		n += strcmp(w->last[NOTE_WAIT].reason, "Misconfigured") == 0;
	}
	return n;
}

static void a_queue_that_is_not_there_is_told_once(void **state)
{
	struct world *w = *state;
	assert_int_equal(warnings_in(w, MINUTE - 5000), 0); /* it may come in the same breath */
	assert_int_equal(warnings_in(w, HOUR), 1);
	assert_non_null(strstr(w->notes, "Wait: Misconfigured: "));
	assert_int_equal(w->sent[INTENT_NOTICE], 1);
}

static void the_next_leader_does_not_tell_it_again(void **state)
{
	struct world *w = *state;
	assert_int_equal(warnings_in(w, HOUR), 1);
	world_restart(w);
	queue_drop_localqueue(w->queue, "team-a", "main");
	assert_int_equal(warnings_in(w, HOUR), 0);
}

static void nor_is_it_told_again_where_no_annotation_can_be_written(void **state)
{
	struct world *w = *state;
	w->denied = SIZE_MAX;
	assert_int_equal(warnings_in(w, 4 * HOUR), 1);
	assert_true(w->sent[INTENT_NOTICE] > 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_notice_says_until_when),
		cmocka_unit_test_setup_teardown(
			a_queue_that_is_not_there_is_told_once, a_queue_is_missing, close_world),
		cmocka_unit_test_setup_teardown(
			the_next_leader_does_not_tell_it_again, a_queue_is_missing, close_world),
		cmocka_unit_test_setup_teardown(
			nor_is_it_told_again_where_no_annotation_can_be_written, a_queue_is_missing,
			close_world),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
