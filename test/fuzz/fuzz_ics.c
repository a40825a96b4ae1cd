/* Any bytes as an iCalendar file: dates within bounds and sentences safe to print. */
#include <stdint.h>
#include <string.h>

#include "base/must.h"
#include "queue/calendar/civil.h"
#include "queue/calendar/ics.h"
#include "test/fuzz/outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct date_range horizon = {civil_days(2000, 1, 1), civil_days(2030, 12, 31)};
	struct ics *i = NULL;
	struct err e = {""};
	int rc = ics_read((struct slice){(const char *)data, size}, horizon, &i, &e);
	must((rc == 0) == (i != NULL));
	if (!i) {
		must(rc == ERR_INVALID || rc == ERR_LIMIT);
		check_text(e.text);
		return 0;
	}
	for (size_t k = 0; k < i->nholidays; k++) {
		struct date_range r = i->holiday[k].dates;
		must(r.first_day <= r.last_day && r.last_day - r.first_day < 366);
		must(r.last_day >= horizon.first_day && r.first_day <= horizon.last_day);
		must(k == 0 || i->holiday[k - 1].dates.first_day <= r.first_day);
		check_text(i->holiday[k].summary);
	}
	for (size_t k = 0; k < i->nskips && k < ICS_SKIPS_MAX; k++)
		check_text(i->skip[k].text);
	ics_free(i);
	return 0;
}
