#include "controller/answers/queued_job.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/instant.h"
#include "base/map.h"
#include "base/span.h"
#include "controller/gate/label_set.h"
#include "controller/gate/trouble.h"
#include "controller/answers/review_reply.h"
#include "forecast/play.h"
#include "sluice/quantity.h"

enum { WHY_MAX_BYTES = 4096, DIGESTED_MAX_BYTES = 64 << 10 };

/* The state of a Job that is no more: ended, deleted, or no longer managed. */
#define GONE "Gone"
#define VERSION VISIBILITY_GROUP "/" VISIBILITY_VERSION

/* ---- what is shown of a Job ------------------------------------------------------------------ */

struct shown_start {
	struct forecast forecast;
	int64_t misses; /* 0: the Job starts in all plays, and the next two are NULL */
	const char *reason, *waits_for;
	const struct move *moved; /* NULL: the start has not moved */
	struct review_basis basis;
};

struct shown_trouble {
	struct gate_trouble gate;
	const char *reason, *cure;
};

/* What the views below show; 0 and NULL are absent. */
struct shown {
	const struct queued_jobs_sources *sources;
	struct queued_job job;
	const char *clusterqueue, *reason, *waits_for, *expected_from;
	int64_t priority, claimed_priority, position, rank, start_ms, expected_s, ledger_down_ms;
	bool unreachable, has_no_forecasts, is_ledger_down;
	int32_t pods;
	struct resource asks[QUEUE_LINES_MAX];
	size_t nasks;
	struct shown_start start_here; /* what the next member points to */
	const struct shown_start *start;
	struct shown_trouble trouble_here;
	const struct shown_trouble *trouble;
	struct run_bill bill_here;
	const struct run_bill *bill;
};

static bool is_waiting(const struct explanation *x)
{
	return x->reason != WAIT_NOT;
}

static void look_at_start(struct shown *x)
{
	struct shown_start *s = &x->start_here;
	const struct forecast *f = &s->forecast;
	const struct explanation *e = &x->job.explanation;
	if (!x->sources->forecasts || !is_waiting(e) ||
		!forecasts_find(x->sources->forecasts, &x->job.listed.uid, e, &s->forecast))
		return;
	x->start = s;
	s->misses = f->start.started < f->draws ? (int64_t)(f->draws - f->start.started) : 0;
	if (s->misses > 0 && f->reason != WAIT_NOT) {
		s->reason = wait_reason_name(f->reason);
		s->waits_for = wait_reason_phrase(f->reason);
	}
	s->moved = f->has_moved ? &f->move : NULL;
	s->basis = (struct review_basis){f->runs, f->arrivals};
}

static void look_at_trouble(struct shown *x)
{
	const struct gate_listed *j = &x->job.listed;
	struct shown_trouble *t = &x->trouble_here;
	if (!gate_job_trouble(x->sources->gate, j->ns, j->name, &t->gate))
		return;
	x->trouble = t;
	t->reason = trouble_name(t->gate.word);
	t->cure = trouble_cure(t->gate.word, t->gate.message);
}

static void look_at_bill(struct shown *x)
{
	const struct gate_listed *j = &x->job.listed;
	if (gate_bill(x->sources->gate, j->ns, j->name, x->sources->now_ms, &x->bill_here) &&
		x->bill_here.priced)
		x->bill = &x->bill_here;
}

static void look_at_wait(struct shown *x, const struct explanation *e)
{
	bool later = e->not_before_ms > x->sources->now_ms && e->not_before_ms < INT64_MAX;
	if (!is_waiting(e))
		return;
	if (e->in_line)
		x->rank = (int64_t)e->rank + 1;
	if (e->in_line && !wait_reason_needs_change(e->reason))
		x->position = (int64_t)e->ahead + 1;
	x->reason = wait_reason_name(e->reason);
	x->waits_for = wait_reason_phrase(e->reason);
	x->start_ms = later ? e->not_before_ms : 0;
	x->has_no_forecasts = !x->sources->forecasts;
}

static void look_at_terms(struct shown *x, const struct explanation *e)
{
	static const char *const sources[] = {[DURATION_UNKNOWN] = "",
		[DURATION_ANNOTATION] = "Annotation",
		[DURATION_DEADLINE] = "ActiveDeadlineSeconds",
		[DURATION_HISTORY] = "History"};
	if (e->expected_ms > 0) {
		x->expected_s = (e->expected_ms + 999) / 1000;
		x->expected_from = sources[e->expected_from];
	}
	x->unreachable = e->deadline_ms > 0 && e->unreachable;
}

static void look(const struct queued_jobs_sources *s, const struct queued_job *j, struct shown *ret)
{
	const struct explanation *e = &j->explanation;
	bool is_capped = e->claimed_priority != e->priority;
	*ret = (struct shown){.sources = s,
		.job = *j,
		.clusterqueue = *e->clusterqueue ? e->clusterqueue : NULL,
		.priority = e->priority,
		.claimed_priority = is_capped ? e->claimed_priority : VIEW_NONE,
		.is_ledger_down = !s->ledger_up,
		.ledger_down_ms = s->ledger_up ? 0 : gate_ledger_down_ms(s->gate)};
	ret->nasks = queue_job_asks(s->queue, &j->listed.uid, &ret->pods, ret->asks);
	look_at_wait(ret, e);
	look_at_terms(ret, e);
	look_at_start(ret);
	look_at_trouble(ret);
}

/* ---- metadata and spec ----------------------------------------------------------------------- */

static void put_labels(struct json_writer *w, const char *key, const void *object)
{
	const struct label_set *s = ((const struct shown *)object)->job.listed.labels;
	const struct label *label = label_set_labels(s);
	if (!s)
		return;
	jw_object(w, key);
	for (size_t i = 0; i < label_set_count(s); i++)
		jw_text(w, label[i].key, label[i].value);
	jw_end(w);
}

static void put_metadata(struct json_writer *w, const char *key, const void *object)
{
	const struct queued_job *job = &((const struct shown *)object)->job;
	jw_object(w, key);
	jw_texts(w, "name", job->listed.name, "namespace", job->listed.ns, NULL);
	uid_put(w, "uid", &job->listed.uid);
	if (job->version > 0)
		jw_textf(w, "resourceVersion", "%" PRIu64, job->version);
	instant_put(w, "creationTimestamp", job->listed.created_ms);
	put_labels(w, "labels", object);
	jw_end(w);
}

static void put_requests(struct json_writer *w, const char *key, const void *object)
{
	const struct shown *x = object;
	if (x->nasks == 0)
		return;
	jw_object(w, key);
	for (size_t i = 0; i < x->nasks; i++)
		quantity_put(w, x->asks[i].name, x->asks[i].amount, x->asks[i].name);
	jw_end(w);
}

static const struct view_member spec_rows[] = {
	{"queue", VIEW_TEXT, IN(shown, job.explanation.localqueue),
		"The LocalQueue that the Job names."},
	{"clusterQueue", VIEW_TEXT, IN(shown, clusterqueue),
		"The ClusterQueue of that LocalQueue."},
	{"priority", VIEW_INT, IN(shown, priority), "The priority that counts in the queue."},
	{"claimedPriority", VIEW_INT, IN(shown, claimed_priority),
		"The priority of its class, where the ClusterQueue counts less."},
	{"submittedBy", VIEW_TEXT, IN(shown, job.listed.submitted_by),
		"The user who submitted the Job, as the API server knew the name. Absent where that is not known."},
	{"pods", VIEW_COUNT, IN(shown, pods), "How many pods it has at once."},
	{"requests", VIEW_PUT, 0, 0, "What all its pods ask for together, by resource.",
		.put = put_requests, .as = "object"},
};
static const struct view spec_view = VIEW("QueuedJobSpec", NULL, spec_rows);

/* ---- status ---------------------------------------------------------------------------------- */

static void put_why(struct json_writer *w, const char *key, const void *object)
{
	struct buf why;
	buf_init(&why, WHY_MAX_BYTES);
	moves_say_why(object, &why);
	jw_text(w, key, buf_text(&why));
	buf_done(&why);
}

static const struct view_member move_rows[] = {
	{"why", VIEW_PUT, 0, 0,
		"What has happened since then that may have moved the start: which objects admins changed, and how many Jobs, runs and nodes came or went.",
		.put = put_why, .as = "string"},
	{"from", VIEW_TIME, IN(move, from_ms), "The p50 that was told before."},
	{"at", VIEW_TIME, IN(move, at_ms), "Until then."},
};
static const struct view move_view = VIEW("QueuedJobStartMove", NULL, move_rows);

static const struct view_member start_rows[] = {
	{"draws", VIEW_INT, IN(shown_start, forecast.draws),
		"How many simulations this is based on."},
	{"asOf", VIEW_TIME, IN(shown_start, forecast.as_of_ms),
		"The time of the queue's state that was simulated."},
	{"p10", VIEW_TIME, IN(shown_start, forecast.start.p10_ms),
		"By then 10 % of the simulations have started the Job."},
	{"p50", VIEW_TIME, IN(shown_start, forecast.start.p50_ms),
		"By then half of the simulations have started the Job. Absent where half of them have no start within 30 days."},
	{"p90", VIEW_TIME, IN(shown_start, forecast.start.p90_ms),
		"By then 90 % of the simulations have started the Job. Absent where too many have no start."},
	{"misses", VIEW_COUNT, IN(shown_start, misses),
		"How many simulations had no start within 30 days."},
	{"reason", VIEW_TEXT, IN(shown_start, reason),
		"Why the first of these had no start, in one word."},
	{"waitsFor", VIEW_TEXT, IN(shown_start, waits_for), "That reason in a few words."},
	{"moved", VIEW_OBJECT, IN(shown_start, moved),
		"The start that was told before, and why it has moved. Absent where it moved by less than ten minutes, or by less than a quarter of the wait that was left.",
		.of = &move_view},
	{"basis", VIEW_PART, IN(shown_start, basis),
		"How many earlier runs and Jobs this is based on.", .of = &review_basis_view},
};
static const struct view start_view = VIEW("QueuedJobStart", NULL, start_rows);

static const struct view_member trouble_rows[] = {
	{"reason", VIEW_TEXT, IN(shown_trouble, reason), "In one word, such as ErrImagePull."},
	{"pods", VIEW_INT, IN(shown_trouble, gate.pods), "How many pods this keeps from running."},
	{"of", VIEW_INT, IN(shown_trouble, gate.of), "How many pods the Job needs."},
	{"since", VIEW_TIME, IN(shown_trouble, gate.since_ms), "Since when."},
	{"message", VIEW_TEXT, IN(shown_trouble, gate.message), "What the cluster says."},
	{"cure", VIEW_TEXT, IN(shown_trouble, cure), "What can be done."},
};
static const struct view trouble_view = VIEW("QueuedJobTrouble", NULL, trouble_rows);

static const struct view_member bill_rows[] = {
	{"currency", VIEW_TEXT, IN(run_bill, currency), "Of the amounts."},
	{"plan", VIEW_TEXT, IN(run_bill, plan), "The PricePlan."},
	{"cost", VIEW_MONEY, IN(run_bill, cost), "So far."},
	{"perHour", VIEW_MONEY, IN(run_bill, per_hour), "As of now."},
	{"expectedCost", VIEW_MONEY, IN(run_bill, expected_cost),
		"Of the whole run, where its duration is known."},
};
static const struct view bill_view = VIEW("QueuedJobBill", NULL, bill_rows);

static void put_item_state(struct json_writer *w, const char *key, const void *object)
{
	const struct after_view *v = object;
	jw_text(w, key, v->holds ? "Holds" : v->never ? "Never" : "Waits");
}

static void put_item_jobs(struct json_writer *w, const char *key, const void *object)
{
	const struct after_view *v = object;
	if (v->njobs > 0)
		jw_array_of(w, key, v->job, v->njobs);
}

static const struct view_member item_rows[] = {
	{"item", VIEW_TEXT, IN(after_view, text), "As written, such as afterok:prep."},
	{"state", VIEW_PUT, 0, 0,
		"Holds, Waits, or Never: it cannot hold before its name is used again.",
		.put = put_item_state, .as = "string"},
	{"jobs", VIEW_PUT, 0, 0,
		"The Jobs of its namespace that keep it from holding, 20 at most. One that is named may not be there yet.",
		.put = put_item_jobs, .as = "string[]"},
	{"more", VIEW_COUNT, IN(after_view, more), "How many other Jobs keep it from holding."},
};
static const struct view item_view = VIEW("QueuedJobAfter", NULL, item_rows);

static void put_after(struct json_writer *w, const char *key, const void *object)
{
	const struct shown *x = object;
	const struct uid *uid = &x->job.listed.uid;
	struct after_view v;
	if (!x->job.tells_after || !queue_view_after(x->sources->queue, uid, 0, &v))
		return;
	jw_array(w, key);
	for (size_t i = 0; queue_view_after(x->sources->queue, uid, i, &v); i++)
		view_put(w, NULL, &item_view, &v);
	jw_end(w);
}

static const struct view_member status_rows[] = {
	{"state", VIEW_TEXT, IN(shown, job.listed.state),
		"Waiting, Starting, Running, Stopping or Deleting; Ended while pods are left."},
	{"position", VIEW_COUNT, IN(shown, position),
		"Its place in the queue of its ClusterQueue: 1 is the first. Jobs that do not compete with it (their window is closed, or they can never start) do not count. Absent where something else keeps the Job, and where it can never start as it is."},
	{"rank", VIEW_COUNT, IN(shown, rank),
		"Its place in the order of its ClusterQueue among all that are in line: 1 is the first, and no two have the same. Lists are in this order."},
	{"reason", VIEW_TEXT, IN(shown, reason),
		"Why it waits, in one word, such as WaitingForQuota."},
	{"waitsFor", VIEW_TEXT, IN(shown, waits_for), "What it waits for, in a few words."},
	{"message", VIEW_SENTENCE, IN(shown, job.explanation.sentence),
		"The whole sentence: what is known, and what can be done. `sluice explain` prints it."},
	{"queuedAt", VIEW_TIME, IN(shown, job.explanation.queued_ms),
		"The time of queueing, which decides its place."},
	{"startAt", VIEW_TIME, IN(shown, start_ms),
		"The earliest start: the next opening of a window, the cheapest start, or the end of a pause. Absent where it is not known."},
	{"start", VIEW_OBJECT, IN(shown, start),
		"The expected start, by simulations of the queue. Absent where no user has asked for it lately, in the first seconds, and of a Job that does not wait.",
		.of = &start_view, .passes = true},
	{"noForecasts", VIEW_FLAG, IN(shown, has_no_forecasts),
		"True: the controller has --forecasts off, so start is never set."},
	{"expectedSeconds", VIEW_COUNT, IN(shown, expected_s), "How long it is expected to run."},
	{"expectedFrom", VIEW_TEXT, IN(shown, expected_from),
		"How that is known: Annotation, ActiveDeadlineSeconds or History."},
	{"deadline", VIEW_TIME, IN(shown, job.explanation.deadline_ms),
		"When it must have ended, as its owner said."},
	{"deadlineUnreachable", VIEW_FLAG, IN(shown, unreachable),
		"True: the Job can no longer end by its deadline."},
	{"stopsAt", VIEW_TIME, IN(shown, job.explanation.stop_ms), "When a window will stop it."},
	{"startedAt", VIEW_TIME, IN(shown, job.listed.started_ms), "Since when it runs."},
	{"trouble", VIEW_OBJECT, IN(shown, trouble), "What keeps pods of its run from running.",
		.of = &trouble_view},
	{"bill", VIEW_OBJECT, IN(shown, bill), "What its run has cost so far.", .of = &bill_view,
		.passes = true},
	{"after", VIEW_PUT, 0, 0,
		"The items of sluice.dev/after, in the order written. Only of a single Job.",
		.put = put_after, .of = &item_view},
	{"story", VIEW_TEXT, IN(shown, job.story),
		"The annotation by which Sluice keeps what it did with the Job. Only of a single Job."},
	{"ledgerDown", VIEW_FLAG, IN(shown, is_ledger_down),
		"True: Postgres does not answer. Running Jobs continue, and no Job starts."},
	{"ledgerDownSince", VIEW_TIME, IN(shown, ledger_down_ms), "Since when."},
};
static const struct view status_view = VIEW("QueuedJobStatus", NULL, status_rows);

static const struct view_member queued_job_rows[] = {
	{"metadata", VIEW_PUT, 0, 0, "Name, namespace, uid, creation and labels of the Job.",
		.put = put_metadata, .as = "ObjectMeta"},
	{"spec", VIEW_PART, 0, 0, "What the Job asks for.", .of = &spec_view},
	{"status", VIEW_PART, 0, 0, "Where it stands, why, and until when.", .of = &status_view},
};
const struct view queued_job_view = VIEW("QueuedJob",
	"What Sluice knows of a Job that has not ended: where it stands, why it waits, and until when.",
	queued_job_rows);

/* Counts a start as the one that was told, until it has moved: each play tells a slightly other
 * one. */
uint64_t queued_job_digest(const struct queued_jobs_sources *s, const struct queued_job *j)
{
	struct shown x;
	struct buf news;
	struct json_writer labels = json_writer(&news);
	look(s, j, &x);
	int64_t told_ms = x.start ? x.start->forecast.told_ms : 0;
	buf_init(&news, DIGESTED_MAX_BYTES);
	buf_add(&news, &told_ms, sizeof(told_ms));
	put_labels(&labels, NULL, &x);
	view_digest(&news, &spec_view, &x);
	view_digest(&news, &status_view, &x);
	uint64_t digest = map_hash_bytes(news.ptr, news.len);
	buf_done(&news);
	return digest;
}

static void put_object(struct json_writer *w, const char *key, const struct shown *x)
{
	jw_object(w, key);
	jw_texts(w, "kind", "QueuedJob", "apiVersion", VERSION, NULL);
	view_put_members(w, &queued_job_view, x);
	jw_end(w);
}

static void put_metadata_alone(struct json_writer *w, const char *key, const struct shown *x)
{
	jw_object(w, key);
	jw_texts(w, "kind", "PartialObjectMetadata", "apiVersion", "meta.k8s.io/v1", NULL);
	put_metadata(w, "metadata", x);
	jw_end(w);
}

/* ---- a row ----------------------------------------------------------------------------------- */

struct column {
	const char *name, *type, *format, *description;
	int priority; /* 1: only in -o wide */
};

static const struct column COLUMNS[] = {
	{"Name", "string", "name", "Name of the Job.", 0},
	{"Queue", "string", "", "Its LocalQueue.", 0},
	{"State", "string", "", "Waiting, Starting, Running, Stopping or Deleting.", 0},
	{"Position", "string", "", "Its place in the queue of its ClusterQueue.", 0},
	{"Priority", "integer", "", "The priority that counts.", 0},
	{"Requests", "string", "", "Its pods, and what all of them ask for together.", 0},
	{"Waits for", "string", "",
		"What keeps the Job from starting. Of a run, what keeps its pods from running.", 0},
	{"Start", "string", "",
		"in: the earliest start. about: the expected start. Of a run, how long it has run.",
		0},
	{"Age", "string", "", "Since the Job was made.", 0},
	{"ClusterQueue", "string", "", "Its ClusterQueue.", 1},
	{"Submitted by", "string", "", "The user who submitted it.", 1},
	{"Message", "string", "", "The whole sentence.", 1},
};

void queued_job_put_columns(struct json_writer *w)
{
	jw_array(w, "columnDefinitions");
	for (size_t i = 0; i < sizeof(COLUMNS) / sizeof(COLUMNS[0]); i++) {
		const struct column *c = &COLUMNS[i];
		jw_object(w, NULL);
		jw_texts(w, "name", c->name, "type", c->type, "format", c->format, "description",
			c->description, NULL);
		jw_int(w, "priority", c->priority);
		jw_end(w);
	}
	jw_end(w);
}

/* Puts the requests: "4 pods: 16 cpu, 64Gi memory". */
static void put_asks(struct json_writer *w, const struct shown *x)
{
	struct buf text;
	char one[128];
	buf_init(&text, (QUEUE_LINES_MAX + 1) * sizeof(one));
	if (x->pods > 0)
		buf_printf(&text, "%" PRId32 " pod%s", x->pods, x->pods == 1 ? "" : "s");
	for (size_t i = 0; i < x->nasks; i++) {
		quantity_describe(x->asks[i].amount, x->asks[i].name, one, sizeof(one));
		buf_printf(&text, "%s%s", i ? ", " : text.len > 0 ? ": " : "", one);
	}
	jw_slice(w, NULL, buf_slice(&text));
	buf_done(&text);
}

/* Appends a likely start, "about": a forecast is of some moments ago. */
static void put_likely_start(int64_t in_ms, struct buf *out)
{
	buf_printf(out, in_ms > 0 ? "about %s" : "soon", span_about(in_ms).s);
}

static void put_start(struct json_writer *w, const struct shown *x)
{
	int64_t now_ms = x->sources->now_ms;
	struct buf text;
	buf_init(&text, 64);
	if (x->start_ms > 0) {
		buf_printf(&text, "in %s", span_short(x->start_ms - now_ms).s);
	} else if (x->start && x->start->forecast.start.p50_ms < PLAY_NEVER) {
		put_likely_start(x->start->forecast.start.p50_ms - now_ms, &text);
	} else if (x->job.listed.started_ms > 0) {
		buf_printf(&text, "%s ago", span_short(now_ms - x->job.listed.started_ms).s);
	}
	jw_slice(w, NULL, buf_slice(&text));
	buf_done(&text);
}

static void put_age(struct json_writer *w, const struct shown *x)
{
	int64_t created_ms = x->job.listed.created_ms;
	jw_text(w, NULL, span_short(created_ms > 0 ? x->sources->now_ms - created_ms : 0).s);
}

static void put_text_cell(struct json_writer *w, const char *text)
{
	jw_text(w, NULL, text ? text : "");
}

static void put_cells(struct json_writer *w, const struct shown *x)
{
	/* For a run whose pods do not get on: what is in their way. */
	const char *waits_for = x->trouble ? x->trouble->reason : x->waits_for;
	jw_array(w, "cells");
	put_text_cell(w, x->job.listed.name);
	put_text_cell(w, x->job.explanation.localqueue);
	put_text_cell(w, x->job.listed.state);
	if (x->position > 0)
		jw_textf(w, NULL, "%" PRId64, x->position);
	else
		put_text_cell(w, "");
	if (x->priority == VIEW_NONE)
		jw_text(w, NULL, NULL);
	else
		jw_int(w, NULL, x->priority);
	put_asks(w, x);
	put_text_cell(w, waits_for);
	put_start(w, x);
	put_age(w, x);
	put_text_cell(w, x->clusterqueue);
	put_text_cell(w, x->job.listed.submitted_by);
	put_text_cell(w, x->job.explanation.sentence);
	jw_end(w);
}

static void put_shown(
	struct json_writer *w, const char *key, const struct shown *x, enum job_query_form form)
{
	if (form == FORM_OBJECTS) {
		put_object(w, key, x);
		return;
	}
	jw_object(w, key);
	put_cells(w, x);
	if (form == FORM_TABLE_OBJECTS)
		put_object(w, "object", x);
	else if (form == FORM_TABLE)
		put_metadata_alone(w, "object", x);
	jw_end(w);
}

void queued_job_put(struct json_writer *w, const char *key, const struct queued_jobs_sources *s,
	const struct queued_job *j, enum job_query_form form)
{
	struct shown x;
	look(s, j, &x);
	if (form == FORM_OBJECTS || form == FORM_TABLE_OBJECTS)
		look_at_bill(&x);
	put_shown(w, key, &x, form);
}

/* The slices lie within one allocation of watch_rows.h and have no NUL. */
void queued_job_put_gone(struct json_writer *w, const char *key,
	const struct queued_jobs_sources *s, const struct watch_row *r, uint64_t version,
	enum job_query_form form)
{
	char ns[64], name[256], queue[256];
	snprintf(ns, sizeof(ns), "%.*s", (int)r->ns.len, r->ns.ptr);
	snprintf(name, sizeof(name), "%.*s", (int)r->name.len, r->name.ptr);
	snprintf(queue, sizeof(queue), "%.*s", (int)r->localqueue.len, r->localqueue.ptr);
	struct shown x = {.sources = s,
		.job = {.version = version,
			.listed = {.uid = r->uid,
				.ns = ns,
				.name = name,
				.state = GONE,
				.created_ms = r->created_ms},
			.explanation = {.localqueue = queue}},
		.priority = VIEW_NONE,
		.claimed_priority = VIEW_NONE};
	put_shown(w, key, &x, form);
}

/* ---- events ---------------------------------------------------------------------------------- */

const char *queued_job_begin_event(struct json_writer *w, const char *type, uint64_t version,
	bool with_columns, enum job_query_form form)
{
	jw_object(w, NULL);
	jw_text(w, "type", type);
	if (form == FORM_OBJECTS)
		return "object";
	jw_object(w, "object");
	jw_texts(w, "kind", "Table", "apiVersion", "meta.k8s.io/v1", NULL);
	jw_object(w, "metadata");
	jw_textf(w, "resourceVersion", "%" PRIu64, version);
	jw_end(w);
	if (with_columns)
		queued_job_put_columns(w);
	else
		jw_array_of(w, "columnDefinitions", NULL, 0);
	jw_array(w, "rows");
	return NULL;
}

void queued_job_end_event(struct json_writer *w)
{
	jw_close(w);
	buf_putc(w->out, '\n');
}

void queued_job_put_bookmark(
	uint64_t version, bool is_end, enum job_query_form form, struct buf *out)
{
	struct json_writer w = json_writer(out);
	bool is_table = form != FORM_OBJECTS;
	const char *key = queued_job_begin_event(&w, "BOOKMARK", version, false, form);
	jw_object(&w, key);
	if (is_table) {
		jw_array_of(&w, "cells", NULL, 0);
		jw_object(&w, "object");
	}
	jw_texts(&w, "kind", is_table ? "PartialObjectMetadata" : "QueuedJob", "apiVersion",
		is_table ? "meta.k8s.io/v1" : VERSION, NULL);
	jw_object(&w, "metadata");
	jw_textf(&w, "resourceVersion", "%" PRIu64, version);
	if (is_end) {
		jw_object(&w, "annotations");
		jw_text(&w, "k8s.io/initial-events-end", "true");
	}
	queued_job_end_event(&w);
}
