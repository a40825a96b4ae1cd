/* What stands on a Job that waits: the reason, and until when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "controller/gate/gate.h"
#include "controller/gate/waiting_note.h"

#define NOW INT64_C(1795255200000) /* 2026-11-21T10:00:00Z */
#define HOUR INT64_C(3600000)
#define MINUTE INT64_C(60000)

static const struct row {
	struct explanation x;
	const char *says;
	struct likely_start start;
} rows[] = {
	{{.reason = WAIT_QUOTA, .sentence = "waiting for 2 cpu"},
		"WaitingForQuota: waiting for 2 cpu (as of 2026-11-21T10:00:00Z)"},
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
	{{.reason = WAIT_QUOTA, .sentence = "waiting for 2 cpu"},
		"WaitingForQuota: waiting for 2 cpu; likely to start about 2026-11-21T11:25:00Z, "
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
	{{.reason = WAIT_QUOTA, .sentence = "waiting for 2 cpu"},
		"WaitingForQuota: waiting for 2 cpu (as of 2026-11-21T10:00:00Z)",
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

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_notice_says_until_when)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
