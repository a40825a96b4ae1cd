#include "controller/past/answer.h"

#include <stdio.h>
#include <string.h>

#include "base/instant.h"

/* Says what is missing in the answer. */
static void note_forgotten(const struct past_query *q, struct past_head *h)
{
	const struct past_question *p = &q->question;
	bool has_sums = p->by == COST_BY_QUEUE || p->by == COST_BY_NAMESPACE;
	struct instant_text until = instant_exact(h->forgotten_until_ms);
	h->note = h->note_here;
	if (p->kind != PAST_COST)
		snprintf(h->note_here, sizeof(h->note_here),
			"Runs that ended by %s are not in this answer: the ledger has forgotten them (--keep-history).",
			until.s);
	else if (has_sums)
		snprintf(h->note_here, sizeof(h->note_here),
			"Of runs that ended by %s the ledger keeps sums by month (UTC): in this answer are the months that lie whole between since and until.",
			until.s);
	else
		snprintf(h->note_here, sizeof(h->note_here),
			"Runs that ended by %s are not in this answer: of these the ledger keeps sums by month, queue and namespace only (--keep-history). Ask by queue or namespace.",
			until.s);
}

void past_head_of(
	const struct past_query *q, bool more, int64_t forgotten_until_ms, struct past_head *ret)
{
	const struct past_question *p = &q->question;
	bool is_grouped = p->kind != PAST_RUNS && p->kind != PAST_SPANS;
	bool is_missing = forgotten_until_ms != 0 && p->from_ms <= forgotten_until_ms;
	*ret = (struct past_head){.by = is_grouped ? cost_by_name(p->by) : NULL,
		.label = is_grouped && p->by == COST_BY_LABEL ? q->label : NULL,
		.ns = p->ns,
		.job = p->job,
		.user = p->submitter,
		.since_ms = p->from_ms,
		.until_ms = p->to_ms,
		.forgotten_until_ms = is_missing ? forgotten_until_ms : VIEW_NONE,
		.more = more};
	if (is_missing)
		note_forgotten(q, ret);
}

size_t past_rows_max(enum past_kind kind)
{
	return kind == PAST_SPANS ? PAST_SPANS_MAX : PAST_ROWS_MAX;
}

/* ---- rows as the ledger has written them ----------------------------------------------------- */

struct shown {
	struct past_head head;
	const struct ledger_row *rows;
	size_t n;
	const char *clusterqueue; /* PAST_SPANS; NULL: all */
	int64_t asked_ms;	  /* PAST_SPANS */
};

/* Puts the totals as "totals", the others as anything else. */
static void put_rows(struct json_writer *w, const char *key, const void *object)
{
	const struct shown *x = object;
	bool totals = strcmp(key, "totals") == 0;
	jw_array(w, key);
	for (size_t i = 0; i < x->n; i++)
		if (x->rows[i].is_total == totals)
			jw_raw(w, NULL, slice_of(x->rows[i].json));
	jw_end(w);
}

static const struct view_member usage_row_rows[] = {
	{"key", VIEW_TOLD, 0, 0,
		"What the row is of; null: the runs that have no such label, or no known user.",
		.as = "string"},
	{"currency", VIEW_TOLD, 0, 0,
		"Of the amounts. Runs that go on or had no price count in the row of their key's currency; null where there is none, or several.",
		.as = "string"},
	{"jobs", VIEW_TOLD, 0, 0, "How many Jobs these runs were of.", .as = "integer"},
	{"starts", VIEW_TOLD, 0, 0, "How many runs started.", .as = "integer"},
	{"running", VIEW_TOLD, 0, 0, "Of these: that go on.", .as = "integer"},
	{"ended", VIEW_TOLD, 0, 0,
		"Of these: that have ended, by the reason: Finished, Failed, Preempted, WindowClosed, ...",
		.as = "object"},
	{"waitP50Seconds", VIEW_TOLD, 0, 0,
		"Half of the runs waited no longer for their start, since the Job's creation or the end of its previous run. null: not known.",
		.as = "number"},
	{"waitP99Seconds", VIEW_TOLD, 0, 0, "The same of 99 in 100.", .as = "number"},
	{"runSeconds", VIEW_TOLD, 0, 0, "How long all of these ran.", .as = "number"},
	{"cpuHours", VIEW_TOLD, 0, 0, "Cores times hours that they held.", .as = "number"},
	{"gpuHours", VIEW_TOLD, 0, 0, "The same of resources whose name ends in \"/gpu\".",
		.as = "number"},
	{"lostSeconds", VIEW_TOLD, 0, 0,
		"Pod time lost: the work, in pod-seconds, that stops threw away.", .as = "number"},
	{"cost", VIEW_TOLD, 0, 0, "Of the runs that have ended: a decimal number, exact.",
		.as = "string"},
	{"estimatedCost", VIEW_TOLD, 0, 0,
		"The part of it of runs of which the ledger lost the beginning or the end.",
		.as = "string"},
};
static const struct view usage_row_view = VIEW("UsageReportRow", NULL, usage_row_rows);

static const struct view_member usage_report_rows[] = {
	{"by", VIEW_TEXT, IN(shown, head.by),
		"What each row is of: queue, namespace, owner, user or label. As the parameter by of the question; label=KEY there."},
	{"label", VIEW_TEXT, IN(shown, head.label), "The label's key, where it is by label."},
	{"namespace", VIEW_TEXT, IN(shown, head.ns),
		"It is of the Jobs of this namespace alone. Absent: of all."},
	{"since", VIEW_EXACT, IN(shown, head.since_ms),
		"The runs that started then or later, whole."},
	{"until", VIEW_EXACT, IN(shown, head.until_ms), "And before then."},
	{"more", VIEW_BOOL, IN(shown, head.more),
		"Only the most expensive rows are shown; the totals are of all rows."},
	{"rows", VIEW_PUT, 0, 0, "The dearest first, then the longest.", .put = put_rows,
		.of = &usage_row_view},
	{"totals", VIEW_PUT, 0, 0,
		"Of all runs: one row, or one each currency and one of the runs without a cost, where there are several.",
		.put = put_rows, .of = &usage_row_view},
	{"forgottenUntil", VIEW_EXACT, IN(shown, head.forgotten_until_ms),
		"Runs that ended by then are not in it."},
	{"note", VIEW_TEXT, IN(shown, head.note), "That, in a sentence."},
};
const struct view usage_report_view = VIEW("UsageReport",
	"What Jobs did in runs that started in a stretch of time: how long they waited and ran, how they ended, what they held and cost.",
	usage_report_rows);

static const struct view_member run_rows[] = {
	{"namespace", VIEW_TOLD, 0, 0, "Of the Job.", .as = "string"},
	{"job", VIEW_TOLD, 0, 0, "Its name. The Job itself may be deleted.", .as = "string"},
	{"uid", VIEW_TOLD, 0, 0, "Its uid: a name may be used again.", .as = "string"},
	{"attempt", VIEW_TOLD, 0, 0, "Which of its runs, from 1.", .as = "integer"},
	{"owner", VIEW_TOLD, 0, 0, "CronJob/NAME, or what generated names have in common.",
		.as = "string"},
	{"submittedBy", VIEW_TOLD, 0, 0, "The user. Absent: not known.", .as = "string"},
	{"clusterQueue", VIEW_TOLD, 0, 0, "That it ran in.", .as = "string"},
	{"queue", VIEW_TOLD, 0, 0, "The LocalQueue that the Job named.", .as = "string"},
	{"state", VIEW_TOLD, 0, 0,
		"Reserved (it is about to start), Running, Stopping (its pods are waited for) or Ended.",
		.as = "string"},
	{"queuedAt", VIEW_TOLD, 0, 0,
		"Since when it waited: the creation of the Job (or when it got its queue label, if later), or the end of its previous run.",
		.as = "time"},
	{"reservedAt", VIEW_TOLD, 0, 0, "When quota was reserved for it.", .as = "time"},
	{"startedAt", VIEW_TOLD, 0, 0, "When the start was seen.", .as = "time"},
	{"stoppingAt", VIEW_TOLD, 0, 0,
		"When it was told to stop, or was seen to have ended, and had pods still.",
		.as = "time"},
	{"stoppedAt", VIEW_TOLD, 0, 0, "When no pod was left.", .as = "time"},
	{"reason", VIEW_TOLD, 0, 0,
		"Finished, Failed, or what stopped it: Preempted, WindowClosed, ...",
		.as = "string"},
	{"actor", VIEW_TOLD, 0, 0, "The party that ended it.", .as = "string"},
	{"preemptor", VIEW_TOLD, 0, 0,
		"NAMESPACE/NAME of the Job that it was preempted for. Absent in the history of one namespace where that is of another.",
		.as = "string"},
	{"outcome", VIEW_TOLD, 0, 0, "The Job ended with this run: Succeeded, Failed or Deleted.",
		.as = "string"},
	{"holds", VIEW_TOLD, 0, 0, "What it held when it started, by resource.", .as = "amounts"},
	{"flavors", VIEW_TOLD, 0, 0, "The ResourceFlavors of that.", .as = "string[]"},
	{"waitSeconds", VIEW_TOLD, 0, 0, "From queuedAt to startedAt.", .as = "number"},
	{"runSeconds", VIEW_TOLD, 0, 0, "From startedAt to stoppedAt, or until now.",
		.as = "number"},
	{"cpuHours", VIEW_TOLD, 0, 0, "Cores times hours that it held.", .as = "number"},
	{"gpuHours", VIEW_TOLD, 0, 0, "The same of resources whose name ends in \"/gpu\".",
		.as = "number"},
	{"lostSeconds", VIEW_TOLD, 0, 0,
		"Pod time lost: the work, in pod-seconds, that its stop threw away.",
		.as = "number"},
	{"currency", VIEW_TOLD, 0, 0, "Of the cost.", .as = "string"},
	{"cost", VIEW_TOLD, 0, 0, "Once it has ended: a decimal number, exact.", .as = "string"},
	{"estimated", VIEW_TOLD, 0, 0,
		"The ledger lost when it began or ended, or it was adopted while it ran.",
		.as = "boolean"},
};
static const struct view run_view = VIEW("JobHistoryRun", NULL, run_rows);

static const struct view_member span_rows[] = {
	{"clusterQueue", VIEW_TOLD, 0, 0, "In which they ran.", .as = "string"},
	{"namespace", VIEW_TOLD, 0, 0, "Of the Jobs.", .as = "string"},
	{"job", VIEW_TOLD, 0, 0, "The name of the Job that began first.", .as = "string"},
	{"sweep", VIEW_TOLD, 0, 0,
		"What the Jobs have in common: CronJob/NAME, or the generateName; else the name of the only Job.",
		.as = "string"},
	{"jobs", VIEW_TOLD, 0, 0, "How many Jobs these runs were of.", .as = "integer"},
	{"runs", VIEW_TOLD, 0, 0, "How many runs.", .as = "integer"},
	{"from", VIEW_TOLD, 0, 0, "When the first of them began.", .as = "time"},
	{"until", VIEW_TOLD, 0, 0, "When the last of them ended. Absent: they go on.",
		.as = "time"},
	{"outcome", VIEW_TOLD, 0, 0,
		"How each of them ended: Finished, Failed, or what stopped it: Preempted, WindowClosed, ... Absent: they go on.",
		.as = "string"},
	{"lostSeconds", VIEW_TOLD, 0, 0,
		"Pod time lost: the work, in pod-seconds, that their stops threw away.",
		.as = "number"},
	{"currency", VIEW_TOLD, 0, 0, "Of the cost. Absent where they had several.",
		.as = "string"},
	{"cost", VIEW_TOLD, 0, 0, "Of those that have ended: a decimal number, exact.",
		.as = "string"},
};
static const struct view span_view = VIEW("RunSpan", NULL, span_rows);

static const struct view_member run_spans_rows[] = {
	{"asOf", VIEW_TIME, IN(shown, asked_ms), "When it was asked for."},
	{"namespace", VIEW_TEXT, IN(shown, head.ns),
		"It is of the Jobs of this namespace alone. Absent: of all."},
	{"clusterQueue", VIEW_TEXT, IN(shown, clusterqueue),
		"It is of this ClusterQueue alone. Absent: of all."},
	{"since", VIEW_EXACT, IN(shown, head.since_ms),
		"The runs that ended then or later, or go on."},
	{"until", VIEW_EXACT, IN(shown, head.until_ms), "And began before then."},
	{"more", VIEW_BOOL, IN(shown, head.more),
		"There are more: each ClusterQueue, and in it each namespace, has its newest here."},
	{"spans", VIEW_PUT, 0, 0,
		"Runs of one ClusterQueue, namespace and sweep that ended alike and began within the same 96th of the time, counted from the epoch. By ClusterQueue and beginning, at most 2,000.",
		.put = put_rows, .of = &span_view},
	{"forgottenUntil", VIEW_EXACT, IN(shown, head.forgotten_until_ms),
		"Runs that ended by then are not in it."},
	{"note", VIEW_TEXT, IN(shown, head.note), "That, in a sentence."},
};
const struct view run_spans_view = VIEW("RunSpans",
	"The runs of a stretch of time for a line of time, alike ones folded: histories with fold=true.",
	run_spans_rows);

static const struct view_member job_history_rows[] = {
	{"namespace", VIEW_TEXT, IN(shown, head.ns),
		"It is of the Jobs of this namespace alone. Absent: of all."},
	{"job", VIEW_TEXT, IN(shown, head.job), "It is of Jobs of this name alone."},
	{"user", VIEW_TEXT, IN(shown, head.user), "It is of Jobs that this user submitted alone."},
	{"since", VIEW_EXACT, IN(shown, head.since_ms),
		"The runs that ended then or later, or go on."},
	{"until", VIEW_EXACT, IN(shown, head.until_ms), "And began before then."},
	{"more", VIEW_BOOL, IN(shown, head.more), "There are more: these are the newest."},
	{"runs", VIEW_PUT, 0, 0, "Each run of each Job, the newest first.", .put = put_rows,
		.of = &run_view},
	{"forgottenUntil", VIEW_EXACT, IN(shown, head.forgotten_until_ms),
		"Runs that ended by then are not in it."},
	{"note", VIEW_TEXT, IN(shown, head.note), "That, in a sentence."},
};
const struct view job_history_view = VIEW("JobHistory",
	"The runs of Jobs in a stretch of time, also of Jobs that are deleted: when each was queued, started and stopped, why, and for whom. With fold=true the answer is a RunSpans.",
	job_history_rows);

/* Shows the rows, without the one that is too many. ret must not move. */
static void show(const struct past_query *q, const struct ledger_row *rows, size_t n,
	int64_t forgotten_until_ms, struct shown *ret)
{
	size_t most = past_rows_max(q->question.kind);
	*ret = (struct shown){.rows = rows, .n = n < most ? n : most};
	past_head_of(q, n > most, forgotten_until_ms, &ret->head);
}

static void put_view(const struct view *v, const struct shown *x, struct buf *out)
{
	struct json_writer w = json_writer(out);
	view_put(&w, NULL, v, x);
	buf_putc(out, '\n');
}

void past_answer_rows(const struct past_query *q, const struct ledger_row *rows, size_t n,
	int64_t forgotten_until_ms, struct buf *out)
{
	bool is_report = q->question.kind == PAST_REPORT;
	struct shown x;
	show(q, rows, n, forgotten_until_ms, &x);
	put_view(is_report ? &usage_report_view : &job_history_view, &x, out);
}

void past_answer_spans(const struct past_query *q, const struct ledger_row *rows, size_t n,
	int64_t forgotten_until_ms, struct buf *out)
{
	struct shown x;
	show(q, rows, n, forgotten_until_ms, &x);
	x.clusterqueue = q->question.clusterqueue;
	x.asked_ms = q->asked_ms;
	put_view(&run_spans_view, &x, out);
}

void past_answer_usage(const struct past_query *q, const struct ledger_row *rows, size_t n,
	int64_t forgotten_until_ms, struct buf *out)
{
	const struct past_question *p = &q->question;
	struct json_writer w = json_writer_object(out);
	struct shown x;
	show(q, rows, n, forgotten_until_ms, &x);
	if (p->clusterqueue)
		jw_text(&w, "clusterQueue", p->clusterqueue);
	instant_put(&w, "from", p->from_ms);
	instant_put(&w, "until", p->to_ms);
	jw_int(&w, "stepSeconds", p->step_ms / 1000);
	jw_bool(&w, "more", x.head.more);
	put_rows(&w, "flavors", &x);
	if (x.head.note)
		jw_texts(&w, "forgottenUntil", instant_exact(forgotten_until_ms).s, "note",
			x.head.note, NULL);
	jw_close(&w);
	buf_putc(out, '\n');
}
