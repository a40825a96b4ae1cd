#include "controller/past/answer.h"

#include "controller/common/stamp.h"

static void put_maybe(struct json_writer *w, const char *key, const char *text)
{
	if (text)
		jw_text(w, key, text);
}

void past_answer_put_head(const struct past_query *q, bool more, struct json_writer *w)
{
	const struct past_question *p = &q->question;
	char at[STAMP_TEXT_SIZE];
	if (p->kind != PAST_RUNS) {
		jw_text(w, "by", cost_by_name(p->by));
		put_maybe(w, "label", p->by == COST_BY_LABEL ? q->label : NULL);
	}
	put_maybe(w, "namespace", p->ns);
	put_maybe(w, "job", p->job);
	put_maybe(w, "user", p->submitter);
	jw_text(w, "since", stamp_format(p->from_ms, at)); /* 1970 too */
	jw_text(w, "until", stamp_format(p->to_ms, at));
	jw_bool(w, "more", more);
}

void past_answer_put_forgotten(
	const struct past_query *q, int64_t forgotten_until_ms, struct json_writer *w)
{
	const struct past_question *p = &q->question;
	char until[STAMP_TEXT_SIZE];
	if (forgotten_until_ms == 0 || p->from_ms > forgotten_until_ms)
		return;
	stamp_format(forgotten_until_ms, until);
	jw_text(w, "forgottenUntil", until);
	if (p->kind != PAST_COST)
		jw_textf(w, "note",
			"Runs that ended by %s are not in this answer: the ledger has forgotten them (--keep-history).",
			until);
	else if (p->by == COST_BY_QUEUE || p->by == COST_BY_NAMESPACE)
		jw_textf(w, "note",
			"Of runs that ended by %s the ledger keeps sums by month (UTC): in this answer are the months that lie whole between since and until.",
			until);
	else
		jw_textf(w, "note",
			"Runs that ended by %s are not in this answer: of these the ledger keeps sums by month, queue and namespace only (--keep-history). Ask by queue or namespace.",
			until);
}

/* Puts the first PAST_ROWS_MAX of them, totals included, as the ledger has written them. */
static void put_rows(struct json_writer *w, const char *key, const struct ledger_row *rows,
	size_t n, bool totals)
{
	jw_array(w, key);
	for (size_t i = 0; i < n && i < PAST_ROWS_MAX; i++)
		if (rows[i].is_total == totals)
			jw_raw(w, NULL, slice_of(rows[i].json));
	jw_end(w);
}

void past_answer_rows(const struct past_query *q, const struct ledger_row *rows, size_t n,
	int64_t forgotten_until_ms, struct buf *out)
{
	struct json_writer w = json_writer_object(out);
	bool is_report = q->question.kind == PAST_REPORT;
	past_answer_put_head(q, n > PAST_ROWS_MAX, &w);
	put_rows(&w, is_report ? "rows" : "runs", rows, n, false);
	if (is_report)
		put_rows(&w, "totals", rows, n, true);
	past_answer_put_forgotten(q, forgotten_until_ms, &w);
	jw_close(&w);
	buf_putc(out, '\n');
}

void past_answer_usage(const struct past_query *q, const struct ledger_row *rows, size_t n,
	int64_t forgotten_until_ms, struct buf *out)
{
	struct json_writer w = json_writer_object(out);
	const struct past_question *p = &q->question;
	put_maybe(&w, "clusterQueue", p->clusterqueue);
	stamp_put(&w, "from", p->from_ms);
	stamp_put(&w, "until", p->to_ms);
	jw_int(&w, "stepSeconds", p->step_ms / 1000);
	jw_bool(&w, "more", n > PAST_ROWS_MAX);
	put_rows(&w, "flavors", rows, n, false);
	past_answer_put_forgotten(q, forgotten_until_ms, &w);
	jw_close(&w);
	buf_putc(out, '\n');
}
