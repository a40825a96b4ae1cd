#include "controller/answers/whatif_verdicts.h"

#include "controller/common/view.h"
#include "controller/answers/whatif_specs.h"
#include "queue/price/money.h"
#include "sluice/queue.h"

static void put_cost(struct json_writer *w, const char *key, const void *object)
{
	const struct advance_reservation_view *v = object;
	if (v->has_cost)
		money_put(w, key, v->cost);
}

static void put_currency(struct json_writer *w, const char *key, const void *object)
{
	const struct advance_reservation_view *v = object;
	if (v->has_cost)
		jw_text(w, key, v->currency);
}

static const struct view_member whatif_verdict_rows[] = {
	{"name", VIEW_TEXT, IN(advance_reservation_view, name), "Of the AdvanceReservation."},
	{"accepted", VIEW_BOOL, IN(advance_reservation_view, accepted.ok), "Would it be accepted?"},
	{"reason", VIEW_NULLABLE, IN(advance_reservation_view, accepted.reason),
		"As its condition Accepted would have it."},
	{"message", VIEW_HERE, IN(advance_reservation_view, accepted.message),
		"The same, in a sentence."},
	{"from", VIEW_TIME, IN(advance_reservation_view, from_ms),
		"When its window begins that is open or next."},
	{"until", VIEW_TIME, IN(advance_reservation_view, until_ms), "When that ends."},
	{"possibleFrom", VIEW_TIME, IN(advance_reservation_view, possible_from_ms),
		"Of one that is refused as NotFree: from then on it could be kept for as long."},
	{"cost", VIEW_PUT, 0, 0,
		"Of that window, if all of it is used: a decimal number. Absent where nothing has a price.",
		.put = put_cost, .as = "string"},
	{"currency", VIEW_PUT, 0, 0, "Of the cost.", .put = put_currency, .as = "string"},
};
const struct view whatif_verdict_view = VIEW("WhatIfVerdict", NULL, whatif_verdict_rows);

void whatif_verdicts_put(const struct whatif_specs *s, const struct queue *q, struct buf *out)
{
	struct json_writer w = json_writer(out);
	struct advance_reservation_view v;
	for (size_t i = 0; queue_view_advance_reservation(q, i, &v); i++) {
		if (!whatif_specs_has(s, "AdvanceReservation", v.name))
			continue;
		if (w.depth == 0)
			jw_array(&w, NULL);
		view_put(&w, NULL, &whatif_verdict_view, &v);
	}
	jw_close(&w);
}
