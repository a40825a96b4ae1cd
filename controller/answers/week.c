#include "controller/answers/week.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/instant.h"
#include "sluice/quantity.h"
#include "sluice/week.h"

#define DAY_MS INT64_C(86400000)

/* ---- Lists ---- */

static int64_t step_end_ms(const struct week_steps *s, size_t i)
{
	return i + 1 < s->n ? s->step[i + 1].from_ms : s->until_ms;
}

static void put_open(struct json_writer *w, const struct week_steps *s)
{
	jw_array(w, "open");
	for (size_t i = 0; i < s->n; i++) {
		if (!s->step[i].value)
			continue;
		jw_object(w, NULL);
		instant_put(w, "from", s->step[i].from_ms);
		instant_put(w, "until", step_end_ms(s, i));
		jw_end(w);
	}
	jw_end(w);
}

typedef void put_value_fn(struct json_writer *w, const struct week_step *s, const void *of);

static void put_steps(
	struct json_writer *w, const struct week_steps *s, put_value_fn *put_value, const void *of)
{
	jw_array(w, "steps");
	for (size_t i = 0; i < s->n; i++) {
		jw_object(w, NULL);
		instant_put(w, "from", s->step[i].from_ms);
		put_value(w, &s->step[i], of);
		jw_end(w);
	}
	jw_end(w);
}

static void put_more(
	struct json_writer *w, const struct queue_week *week, const struct week_steps *s)
{
	if (s->until_ms >= week->until_ms)
		return;
	jw_bool(w, "more", true);
	instant_put(w, "until", s->until_ms);
}

/* ---- What a list is of ---- */

static void put_text(struct json_writer *w, const char *key, const char *value)
{
	jw_text(w, key, value ? value : "");
}

void week_put_windows(struct json_writer *w, const struct queue_week *week)
{
	jw_array(w, "windows");
	for (size_t i = 0; i < week->nwindows; i++) {
		const struct week_window *x = &week->window[i];
		jw_object(w, NULL);
		jw_text(w, "policy", x->policy);
		put_text(w, "calendar", x->calendar);
		put_text(w, "zone", x->zone);
		jw_bool(w, "calendarKnown", x->zone != NULL);
		put_open(w, &x->open);
		put_more(w, week, &x->open);
		jw_end(w);
	}
	jw_end(w);
}

/* Puts millionths without the zeros at the end: "0.5", "-0.25", "1". */
static void put_factor(struct json_writer *w, const struct week_step *s, const void *of)
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
	jw_text(w, "factor", text);
	put_text(w, "rate", s->label);
}

void week_put_prices(struct json_writer *w, const struct queue_week *week)
{
	jw_array(w, "prices");
	if (week->plan) {
		jw_object(w, NULL);
		jw_text(w, "plan", week->plan);
		put_text(w, "currency", week->currency);
		put_steps(w, &week->factor, put_factor, NULL);
		put_more(w, week, &week->factor);
		jw_end(w);
	}
	jw_end(w);
}

static void put_nominal(struct json_writer *w, const struct week_step *s, const void *of)
{
	const struct week_quota *quota = of;
	quantity_put(w, "nominal", s->value, quota->resource);
	jw_int(w, "nominalUnits", s->value);
}

static void put_quotas(struct json_writer *w, const struct queue_week *week)
{
	jw_array(w, "quotas");
	for (size_t i = 0; i < week->nquotas; i++) {
		const struct week_quota *x = &week->quota[i];
		jw_object(w, NULL);
		jw_text(w, "flavor", x->flavor);
		put_text(w, "resource", x->resource);
		put_steps(w, &x->nominal, put_nominal, x);
		put_more(w, week, &x->nominal);
		jw_end(w);
	}
	jw_end(w);
}

/* ---- The answer ---- */

int week_put(const struct queue *q, const char *clusterqueue, int64_t now_ms, struct json_writer *w,
	struct err *e)
{
	struct queue_week week;
	int64_t from_ms = now_ms - now_ms % DAY_MS;
	if (!queue_view_week(q, clusterqueue, from_ms, from_ms + 7 * DAY_MS, &week))
		return err_set(e, ERR_GONE, "there is no ClusterQueue %.250s", clusterqueue);
	jw_text(w, "clusterQueue", clusterqueue);
	instant_put(w, "from", week.from_ms);
	instant_put(w, "until", week.until_ms);
	instant_put(w, "now", now_ms);
	week_put_windows(w, &week);
	week_put_prices(w, &week);
	put_quotas(w, &week);
	queue_week_done(&week);
	return 0;
}
