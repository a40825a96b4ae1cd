#include "controller/answers/whatif_verdicts.h"

#include "controller/answers/review_reply.h"
#include "controller/answers/whatif_specs.h"
#include "queue/price/money.h"
#include "sluice/queue.h"

static void put_text(struct buf *out, const char *key, const char *text)
{
	buf_printf(out, ",\"%s\":", key);
	buf_json_string(out, text);
}

static void put_time(struct buf *out, const char *key, int64_t at_ms)
{
	if (at_ms > 0)
		review_put_time(out, key, at_ms);
}

static void put_cost(const struct advance_reservation_view *v, struct buf *out)
{
	char cost[MONEY_TEXT_SIZE];
	if (!v->has_cost)
		return;
	money_format(v->cost, cost);
	put_text(out, "cost", cost);
	put_text(out, "currency", v->currency);
}

static void put_verdict(const struct advance_reservation_view *v, struct buf *out)
{
	buf_puts(out, "{\"name\":");
	buf_json_string(out, v->name);
	buf_printf(out, ",\"accepted\":%s", v->accepted.ok ? "true" : "false");
	put_text(out, "reason", v->accepted.reason);
	put_text(out, "message", v->accepted.message);
	put_time(out, "from", v->from_ms);
	put_time(out, "until", v->until_ms);
	put_time(out, "possibleFrom", v->possible_from_ms);
	put_cost(v, out);
	buf_putc(out, '}');
}

void whatif_verdicts_put(const struct whatif_specs *s, const struct queue *q, struct buf *out)
{
	struct advance_reservation_view v;
	const char *before = "[";
	for (size_t i = 0; queue_view_advance_reservation(q, i, &v); i++) {
		if (!whatif_specs_has(s, "AdvanceReservation", v.name))
			continue;
		buf_puts(out, before);
		before = ",";
		put_verdict(&v, out);
	}
	if (*before == ',')
		buf_putc(out, ']');
}
