/* What a controller that does not lead says, whoever asks it. */
#include "controller/answers/leadership.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define NOW_MS INT64_C(1795701785000) /* 2026-11-26T14:03:05Z */
#define LATER "; ask again in a moment"

static void it_says_who_leads_or_since_when_nobody_does(void **state)
{
	static const struct {
		const char *holder, *trouble;
		int64_t ends_ms;
		const char *says;
	} rows[] = {
		{"two", "", NOW_MS + 1, "this controller stands by, and two leads: CURE"},
		{"two", "no route", NOW_MS + 1, "this controller stands by, and two leads: CURE"},
		{"two", "", NOW_MS,
			"nobody is known to lead since 2026-11-26T14:03:05Z, when the lease of two ended" LATER},
		{"two", "no route", NOW_MS - 5000,
			"nobody is known to lead since 2026-11-26T14:03:00Z, when the lease of two ended; running Jobs go on, and nothing new starts until the ledger is connected: no route"},
		{"one", "", NOW_MS + 15000,
			"this controller has the lease and is about to lead: ask again in a moment"},
		{"one", "", NOW_MS - 5000,
			"nobody is known to lead since 2026-11-26T14:03:00Z, when the lease of one ended" LATER},
		{"", "", 0, "nobody is known to lead" LATER},
		{"", "no route", 0,
			"nobody is known to lead; running Jobs go on, and nothing new starts until the ledger is connected: no route"},
	};
	char text[LEADERSHIP_TEXT_SIZE];
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct leadership l = {.identity = "one",
			.lease = {rows[i].holder, rows[i].ends_ms},
			.ledger_trouble = rows[i].trouble,
			.now_ms = NOW_MS};
		assert_string_equal(leadership_why_not(&l, "CURE", text), rows[i].says);
		l.leads = true;
		assert_null(leadership_why_not(&l, "CURE", text));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_says_who_leads_or_since_when_nobody_does),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
