#include "controller/gate/story.h"

#include <string.h>
#include <time.h>

/* 9999-12-31T23:59:59Z: RFC 3339 has four digits for the year. */
#define LAST_SECOND INT64_C(253402300799)

/* What the fields around the flavors may take; the rest of STORY_TEXT_MAX is theirs. */
#define STORY_TAIL_MAX 2048

const char *story_state_name(enum story_state s)
{
	switch (s) {
	case STORY_NONE:
		return "";
	case STORY_STARTED:
		return "Started";
	case STORY_STOPPED:
		return "Stopped";
	case STORY_FENCED:
		return "Fenced";
	}
	return "";
}

void story_time(int64_t ms, struct buf *out)
{
	int64_t seconds = ms / 1000 - (ms % 1000 < 0);
	time_t t = seconds < 0 ? 0 : seconds > LAST_SECOND ? LAST_SECOND : seconds;
	struct tm tm;
	gmtime_r(&t, &tm);
	buf_printf(out, "%04d-%02d-%02dT%02d:%02d:%02dZ", tm.tm_year + 1900, tm.tm_mon + 1,
		tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

/* The same resource may have a line at each level of the quota tree. */
static bool told_before(const struct story *s, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(s->lines[k].resource, s->lines[i].resource) == 0)
			return true;
	return false;
}

/* A start with many long names must not outgrow STORY_TEXT_MAX: what does not fit is counted. */
static void format_flavors(const struct story *s, size_t start, struct buf *out)
{
	size_t told = 0, left_out = 0;
	buf_puts(out, ",\"flavors\":{");
	for (size_t i = 0; i < s->nlines; i++) {
		const struct quota_line *l = &s->lines[i];
		if (told_before(s, i))
			continue;
		size_t more = strlen(l->resource) + strlen(l->flavor) + 6;
		if (out->len - start + more > STORY_TEXT_MAX - STORY_TAIL_MAX) {
			left_out++;
			continue;
		}
		buf_puts(out, told++ ? "," : "");
		buf_json_string(out, l->resource);
		buf_putc(out, ':');
		buf_json_string(out, l->flavor);
	}
	buf_putc(out, '}');
	if (left_out > 0)
		buf_printf(out, ",\"flavorsLeftOut\":%zu", left_out);
}

/* What a start took down for the time of its run. */
static void format_owner(const struct story *s, struct buf *out)
{
	if (s->pods <= 0)
		return;
	buf_printf(out, ",\"pods\":%d,\"parallelism\":%d", (int)s->pods, (int)s->owner_parallelism);
	if (s->owner_completions > 0)
		buf_printf(out, ",\"completions\":%d", (int)s->owner_completions);
}

static bool has_history(const struct job_history *h)
{
	return h->requeues || h->ran_ms || h->not_before_ms || h->evicted_ms || h->suspensions;
}

/* Milliseconds: read back by a program, and a time of queueing that lost its fraction would change
 * the order. */
static void format_history(const struct job_history *h, struct buf *out)
{
	if (!has_history(h))
		return;
	buf_printf(out,
		",\"history\":{\"requeues\":%d,\"ranMs\":%lld,\"notBeforeMs\":%lld,"
		"\"evictedMs\":%lld",
		(int)h->requeues, (long long)h->ran_ms, (long long)h->not_before_ms,
		(long long)h->evicted_ms);
	if (h->suspensions > 0)
		buf_printf(out, ",\"suspensions\":%d", (int)h->suspensions);
	buf_putc(out, '}');
}

/* What is not 0 of what counts against limits: a back-off and a place in the order can be lost. */
static void format_counts(const struct job_history *h, struct buf *out)
{
	struct buf b;
	buf_init(&b, 256);
	if (h->requeues > 0)
		buf_printf(&b, ",\"requeues\":%d", (int)h->requeues);
	if (h->ran_ms > 0)
		buf_printf(&b, ",\"ranMs\":%lld", (long long)h->ran_ms);
	if (h->suspensions > 0)
		buf_printf(&b, ",\"suspensions\":%d", (int)h->suspensions);
	if (b.len > 0)
		buf_printf(out, ",\"history\":{%s}", buf_text(&b) + 1);
	buf_done(&b);
}

static void format_text(const char *key, const char *text, struct buf *out)
{
	if (!text || !*text)
		return;
	buf_printf(out, ",\"%s\":", key);
	buf_json_string(out, text);
}

enum detail {
	WHOLE,
	PLAIN,	  /* without sentences */
	SHORT,	  /* without what the ledger knows as well */
	COUNTS,	  /* of the history only the counts */
	SHORTEST, /* no history */
};

static void format_head(const struct story *s, struct buf *out)
{
	buf_printf(out, "{\"attempt\":%d,\"state\":", (int)s->attempt);
	buf_json_string(out, story_state_name(s->state));
	buf_printf(out, ",\"epoch\":%lld,\"at\":\"", (long long)s->epoch);
	story_time(s->at_ms, out);
	buf_putc(out, '"');
}

static void format_body(const struct story *s, size_t start, struct buf *out)
{
	buf_puts(out, ",\"clusterQueue\":");
	buf_json_string(out, s->clusterqueue ? s->clusterqueue : "");
	format_flavors(s, start, out);
	buf_puts(out, ",\"reason\":");
	buf_json_string(out, s->reason ? s->reason : "");
	buf_puts(out, ",\"by\":");
	buf_json_string(out, s->by ? s->by : "");
}

static void format_in(const struct story *s, enum detail d, struct buf *out)
{
	size_t start = out->len;
	format_head(s, out);
	if (d <= PLAIN)
		format_body(s, start, out);
	else if (d == SHORT)
		format_text("reason", s->reason, out);
	if (d == WHOLE) {
		format_text("preemptor", s->preemptor, out);
		format_text("message", s->message, out);
		format_text("trouble", s->trouble, out);
	}
	format_owner(s, out);
	if (d < COUNTS)
		format_history(&s->history, out);
	else if (d == COUNTS)
		format_counts(&s->history, out);
	buf_putc(out, '}');
}

void story_fit(const struct story *s, size_t max, struct buf *out)
{
	struct buf b;
	buf_init(&b, STORY_TEXT_MAX);
	for (enum detail d = WHOLE; d <= SHORTEST; d++) {
		buf_reset(&b);
		format_in(s, d, &b);
		if (!b.failed && (max == 0 || b.len <= max))
			break;
	}
	buf_puts(out, buf_text(&b));
	out->failed = out->failed || b.failed;
	buf_done(&b);
}
