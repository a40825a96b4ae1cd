#include "controller/answers/week.h"

#include <inttypes.h>
#include <stdio.h>

#include "controller/common/stamp.h"
#include "controller/answers/members.h"
#include "controller/write/status.h"
#include "sluice/week.h"

#define DAY_MS INT64_C(86400000)

/* ---- Lists ---- */

static int64_t step_end_ms(const struct week_steps *s, size_t i)
{
	return i + 1 < s->n ? s->step[i + 1].from_ms : s->until_ms;
}

static void put_from(struct buf *out, int64_t ms)
{
	char at[STAMP_TEXT_SIZE];
	buf_puts(out, "{\"from\":");
	buf_json_string(out, stamp_format_seconds(ms, at));
}

static void put_open(struct buf *out, const struct week_steps *s)
{
	const char *before = "";
	buf_puts(out, ",\"open\":[");
	for (size_t i = 0; i < s->n; i++) {
		if (!s->step[i].value)
			continue;
		buf_puts(out, before);
		put_from(out, s->step[i].from_ms);
		put_member_time(out, "until", step_end_ms(s, i));
		buf_putc(out, '}');
		before = ",";
	}
	buf_putc(out, ']');
}

typedef void put_value_fn(struct buf *out, const struct week_step *s, const void *of);

static void put_steps(
	struct buf *out, const struct week_steps *s, put_value_fn *put_value, const void *of)
{
	buf_puts(out, ",\"steps\":[");
	for (size_t i = 0; i < s->n; i++) {
		if (i > 0)
			buf_putc(out, ',');
		put_from(out, s->step[i].from_ms);
		put_value(out, &s->step[i], of);
		buf_putc(out, '}');
	}
	buf_putc(out, ']');
}

static void put_more(struct buf *out, const struct queue_week *w, const struct week_steps *s)
{
	if (s->until_ms >= w->until_ms)
		return;
	put_member_bool(out, "more", true);
	put_member_time(out, "until", s->until_ms);
}

/* ---- What a list is of ---- */

static void put_windows(struct buf *out, const struct queue_week *w)
{
	buf_puts(out, ",\"windows\":[");
	for (size_t i = 0; i < w->nwindows; i++) {
		const struct week_window *x = &w->window[i];
		buf_puts(out, i > 0 ? ",{\"policy\":" : "{\"policy\":");
		buf_json_string(out, x->policy);
		put_member(out, "calendar", x->calendar);
		put_member(out, "zone", x->zone);
		put_member_bool(out, "calendarKnown", x->zone != NULL);
		put_open(out, &x->open);
		put_more(out, w, &x->open);
		buf_putc(out, '}');
	}
	buf_putc(out, ']');
}

/* Millionths, without the zeros at the end: "0.5", "-0.25", "1". */
static void put_factor(struct buf *out, const struct week_step *s, const void *of)
{
	(void)of;
	char text[32];
	uint64_t micro = s->value < 0 ? -(uint64_t)s->value : (uint64_t)s->value;
	int len = snprintf(text, sizeof(text), "%s%" PRIu64 ".%06" PRIu64, s->value < 0 ? "-" : "",
		micro / 1000000, micro % 1000000);
	while (text[len - 1] == '0')
		text[--len] = '\0';
	if (text[len - 1] == '.')
		text[--len] = '\0';
	put_member(out, "factor", text);
	put_member(out, "rate", s->label);
}

static void put_prices(struct buf *out, const struct queue_week *w)
{
	buf_puts(out, ",\"prices\":[");
	if (w->plan) {
		buf_puts(out, "{\"plan\":");
		buf_json_string(out, w->plan);
		put_member(out, "currency", w->currency);
		put_steps(out, &w->factor, put_factor, NULL);
		put_more(out, w, &w->factor);
		buf_putc(out, '}');
	}
	buf_putc(out, ']');
}

static void put_nominal(struct buf *out, const struct week_step *s, const void *of)
{
	char text[QUANTITY_TEXT_SIZE];
	const struct week_quota *quota = of;
	put_member(out, "nominal", status_quantity(s->value, quota->resource, text));
	buf_printf(out, ",\"nominalUnits\":%" PRId64, s->value);
}

static void put_quotas(struct buf *out, const struct queue_week *w)
{
	buf_puts(out, ",\"quotas\":[");
	for (size_t i = 0; i < w->nquotas; i++) {
		const struct week_quota *x = &w->quota[i];
		buf_puts(out, i > 0 ? ",{\"flavor\":" : "{\"flavor\":");
		buf_json_string(out, x->flavor);
		put_member(out, "resource", x->resource);
		put_steps(out, &x->nominal, put_nominal, x);
		put_more(out, w, &x->nominal);
		buf_putc(out, '}');
	}
	buf_putc(out, ']');
}

/* ---- The answer ---- */

static void put_week(
	struct buf *out, const struct queue_week *w, const char *clusterqueue, int64_t now_ms)
{
	buf_puts(out, "{\"clusterQueue\":");
	buf_json_string(out, clusterqueue);
	put_member_time(out, "from", w->from_ms);
	put_member_time(out, "until", w->until_ms);
	put_member_time(out, "now", now_ms);
	put_windows(out, w);
	put_prices(out, w);
	put_quotas(out, w);
	buf_puts(out, "}\n");
}

struct http_reply week_answer(
	const struct api_sources *s, const struct api_request *r, struct buf *out)
{
	struct queue_week w;
	char sentence[400];
	int64_t from_ms = s->now_ms - s->now_ms % DAY_MS;
	if (!r->clusterqueue || !r->clusterqueue[0])
		return api_complain(
			out, 400, "name a ClusterQueue, as in /api/v1/week?clusterQueue=batch");
	if (!queue_view_week(
		    s->metrics.queue, r->clusterqueue, from_ms, from_ms + 7 * DAY_MS, &w)) {
		snprintf(sentence, sizeof(sentence), "there is no ClusterQueue %.250s",
			r->clusterqueue);
		return api_complain(out, 404, sentence);
	}
	put_week(out, &w, r->clusterqueue, s->now_ms);
	queue_week_done(&w);
	return (struct http_reply){200, "application/json"};
}
