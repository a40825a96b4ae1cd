#include "controller/past/answer.h"

#include <inttypes.h>

#include "controller/common/stamp.h"

static void put_text(struct buf *out, const char *key, const char *text)
{
	if (!text)
		return;
	buf_printf(out, "\"%s\":", key);
	buf_json_string(out, text);
	buf_putc(out, ',');
}

void past_answer_put_head(const struct past_query *q, bool more, struct buf *out)
{
	const struct past_question *p = &q->question;
	char from[STAMP_TEXT_SIZE], to[STAMP_TEXT_SIZE];
	if (p->kind != PAST_RUNS) {
		put_text(out, "by", cost_by_name(p->by));
		put_text(out, "label", p->by == COST_BY_LABEL ? q->label : NULL);
	}
	put_text(out, "namespace", p->ns);
	put_text(out, "job", p->job);
	put_text(out, "user", p->submitter);
	buf_printf(out, "\"since\":\"%s\",\"until\":\"%s\",\"more\":%s",
		stamp_format(p->from_ms, from), stamp_format(p->to_ms, to),
		more ? "true" : "false");
}

void past_answer_put_forgotten(
	const struct past_query *q, int64_t forgotten_until_ms, struct buf *out)
{
	const struct past_question *p = &q->question;
	char until[STAMP_TEXT_SIZE];
	if (forgotten_until_ms == 0 || p->from_ms > forgotten_until_ms)
		return;
	stamp_format(forgotten_until_ms, until);
	buf_printf(out, ",\"forgottenUntil\":\"%s\",\"note\":\"", until);
	if (p->kind != PAST_COST)
		buf_printf(out,
			"Runs that ended by %s are not in this answer: the ledger has forgotten them (--keep-history).",
			until);
	else if (p->by == COST_BY_QUEUE || p->by == COST_BY_NAMESPACE)
		buf_printf(out,
			"Of runs that ended by %s the ledger keeps sums by month (UTC): in this answer are the months that lie whole between since and until.",
			until);
	else
		buf_printf(out,
			"Runs that ended by %s are not in this answer: of these the ledger keeps sums by month, queue and namespace only (--keep-history). Ask by queue or namespace.",
			until);
	buf_putc(out, '"');
}

static void put_rows(const struct ledger_row *rows, size_t n, bool totals, struct buf *out)
{
	size_t put = 0;
	for (size_t i = 0; i < n; i++) {
		if (rows[i].is_total != totals)
			continue;
		buf_puts(out, put++ > 0 ? "," : "");
		buf_puts(out, rows[i].json);
	}
}

void past_answer_rows(const struct past_query *q, const struct ledger_row *rows, size_t n,
	int64_t forgotten_until_ms, struct buf *out)
{
	bool is_report = q->question.kind == PAST_REPORT;
	bool more = n > PAST_ROWS_MAX;
	n = more ? PAST_ROWS_MAX : n;
	buf_putc(out, '{');
	past_answer_put_head(q, more, out);
	buf_puts(out, is_report ? ",\"rows\":[" : ",\"runs\":[");
	put_rows(rows, n, false, out);
	if (is_report) {
		buf_puts(out, "],\"totals\":[");
		put_rows(rows, n, true, out);
	}
	buf_putc(out, ']');
	past_answer_put_forgotten(q, forgotten_until_ms, out);
	buf_puts(out, "}\n");
}

void past_answer_usage(const struct past_query *q, const struct ledger_row *rows, size_t n,
	int64_t forgotten_until_ms, struct buf *out)
{
	const struct past_question *p = &q->question;
	bool more = n > PAST_ROWS_MAX;
	char from[STAMP_TEXT_SIZE], to[STAMP_TEXT_SIZE];
	buf_putc(out, '{');
	put_text(out, "clusterQueue", p->clusterqueue);
	buf_printf(out,
		"\"from\":\"%s\",\"until\":\"%s\",\"stepSeconds\":%" PRId64
		",\"more\":%s,\"flavors\":[",
		stamp_format_seconds(p->from_ms, from), stamp_format_seconds(p->to_ms, to),
		p->step_ms / 1000, more ? "true" : "false");
	put_rows(rows, more ? PAST_ROWS_MAX : n, false, out);
	buf_putc(out, ']');
	past_answer_put_forgotten(q, forgotten_until_ms, out);
	buf_puts(out, "}\n");
}
