#include "controller/answers/queued_job.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/span.h"
#include "controller/common/stamp.h"
#include "controller/gate/label_set.h"
#include "controller/gate/trouble.h"
#include "controller/write/status.h"
#include "forecast/play.h"
#include "queue/price/money.h"
#include "sluice/quantity.h"

enum { WHY_MAX_BYTES = 4096 };

/* The state of one that is no more: ended, deleted, or no longer managed. */
#define GONE "Gone"

/* ---- members --------------------------------------------------------------------------------- */

static void put_text(struct buf *out, const char *key, const char *value)
{
	buf_printf(out, ",\"%s\":", key);
	buf_json_string(out, value);
}

static void put_time(struct buf *out, const char *key, int64_t ms)
{
	char at[STAMP_TEXT_SIZE];
	if (ms > 0 && ms < INT64_MAX)
		put_text(out, key, stamp_format_seconds(ms, at));
}

static void put_money(struct buf *out, const char *key, int64_t micro)
{
	char text[MONEY_TEXT_SIZE];
	money_format(micro, text);
	put_text(out, key, text);
}

/* ---- metadata -------------------------------------------------------------------------------- */

static void put_labels(struct buf *out, const struct label_set *s)
{
	const struct label *label = label_set_labels(s);
	for (size_t i = 0; i < label_set_count(s); i++) {
		buf_puts(out, i ? "," : ",\"labels\":{");
		buf_json_string(out, label[i].key);
		buf_putc(out, ':');
		buf_json_string(out, label[i].value);
	}
	if (s)
		buf_putc(out, '}');
}

static void put_version(struct buf *out, uint64_t version)
{
	if (version > 0)
		buf_printf(out, ",\"resourceVersion\":\"%" PRIu64 "\"", version);
}

static void put_metadata(struct buf *out, const struct gate_listed *j, uint64_t version)
{
	char uid[UID_TEXT_SIZE];
	buf_puts(out, "\"metadata\":{\"name\":");
	buf_json_string(out, j->name);
	put_text(out, "namespace", j->ns);
	uid_format(&j->uid, uid);
	put_text(out, "uid", uid);
	put_version(out, version);
	put_time(out, "creationTimestamp", j->created_ms);
	put_labels(out, j->labels);
	buf_putc(out, '}');
}

/* ---- spec ------------------------------------------------------------------------------------ */

static void put_requests(struct buf *out, const struct queue *q, const struct uid *uid)
{
	struct resource asks[QUEUE_LINES_MAX];
	char text[QUANTITY_TEXT_SIZE];
	int32_t pods;
	size_t n = queue_job_asks(q, uid, &pods, asks);
	if (pods > 0)
		buf_printf(out, ",\"pods\":%" PRId32, pods);
	for (size_t i = 0; i < n; i++) {
		buf_puts(out, i ? "," : ",\"requests\":{");
		buf_json_string(out, asks[i].name);
		buf_putc(out, ':');
		buf_json_string(out, status_quantity(asks[i].amount, asks[i].name, text));
	}
	if (n > 0)
		buf_putc(out, '}');
}

static void put_spec(
	const struct queued_jobs_sources *s, const struct queued_job *j, struct buf *out)
{
	const struct explanation *x = &j->explanation;
	buf_puts(out, ",\"spec\":{\"queue\":");
	buf_json_string(out, x->localqueue);
	if (*x->clusterqueue)
		put_text(out, "clusterQueue", x->clusterqueue);
	buf_printf(out, ",\"priority\":%" PRId32, x->priority);
	if (x->claimed_priority != x->priority)
		buf_printf(out, ",\"claimedPriority\":%" PRId32, x->claimed_priority);
	if (j->listed.submitted_by)
		put_text(out, "submittedBy", j->listed.submitted_by);
	put_requests(out, s->queue, &j->listed.uid);
	buf_putc(out, '}');
}

/* ---- status ---------------------------------------------------------------------------------- */

static bool is_waiting(const struct explanation *x)
{
	return x->reason != WAIT_NOT;
}

/* When time alone will let it go on; 0: not known. */
static int64_t start_ms(const struct queued_jobs_sources *s, const struct explanation *x)
{
	bool later = x->not_before_ms > s->now_ms && x->not_before_ms < INT64_MAX;
	return is_waiting(x) && later ? x->not_before_ms : 0;
}

bool queued_job_forecast(
	const struct queued_jobs_sources *s, const struct queued_job *j, struct forecast *ret)
{
	return s->forecasts && is_waiting(&j->explanation) &&
	       forecasts_find(s->forecasts, &j->listed.uid, &j->explanation, ret);
}

static void put_move(const struct move *m, struct buf *out)
{
	struct buf why;
	buf_init(&why, WHY_MAX_BYTES);
	moves_say_why(m, &why);
	buf_puts(out, ",\"moved\":{\"why\":");
	buf_json_string(out, buf_text(&why));
	put_time(out, "from", m->from_ms);
	put_time(out, "at", m->at_ms);
	buf_putc(out, '}');
	buf_done(&why);
}

static void put_forecast(
	const struct queued_jobs_sources *s, const struct queued_job *j, struct buf *out)
{
	struct forecast x;
	if (!queued_job_forecast(s, j, &x))
		return;
	buf_printf(out, ",\"start\":{\"draws\":%zu", x.draws);
	put_time(out, "asOf", x.as_of_ms);
	put_time(out, "p10", x.start.p10_ms);
	put_time(out, "p50", x.start.p50_ms);
	put_time(out, "p90", x.start.p90_ms);
	if (x.start.started < x.draws)
		buf_printf(out, ",\"misses\":%zu", x.draws - x.start.started);
	if (x.start.started < x.draws && x.reason != WAIT_NOT) {
		put_text(out, "reason", wait_reason_name(x.reason));
		put_text(out, "waitsFor", wait_reason_phrase(x.reason));
	}
	if (x.has_moved)
		put_move(&x.move, out);
	buf_printf(out, ",\"basis\":{\"runs\":%zu,\"arrivals\":%zu}}", x.runs, x.arrivals);
}

/* What is known of its duration and its end. */
static void put_terms(struct buf *out, const struct explanation *x)
{
	static const char *const sources[] = {[DURATION_UNKNOWN] = "",
		[DURATION_ANNOTATION] = "Annotation",
		[DURATION_DEADLINE] = "ActiveDeadlineSeconds",
		[DURATION_HISTORY] = "History"};
	if (x->expected_ms > 0) {
		buf_printf(out, ",\"expectedSeconds\":%" PRId64, (x->expected_ms + 999) / 1000);
		put_text(out, "expectedFrom", sources[x->expected_from]);
	}
	put_time(out, "deadline", x->deadline_ms);
	if (x->deadline_ms > 0 && x->unreachable)
		buf_puts(out, ",\"deadlineUnreachable\":true");
	put_time(out, "stopsAt", x->stop_ms);
}

static void put_trouble(struct buf *out, const struct gate_trouble *x)
{
	buf_puts(out, ",\"trouble\":{\"reason\":");
	buf_json_string(out, trouble_name(x->word));
	buf_printf(out, ",\"pods\":%" PRId32 ",\"of\":%" PRId32, x->pods, x->of);
	put_time(out, "since", x->since_ms);
	put_text(out, "message", x->message);
	put_text(out, "cure", trouble_cure(x->word, x->message));
	buf_putc(out, '}');
}

static void put_bill(struct buf *out, const struct run_bill *b)
{
	buf_puts(out, ",\"bill\":{\"currency\":");
	buf_json_string(out, b->currency);
	put_text(out, "plan", b->plan);
	put_money(out, "cost", b->cost);
	put_money(out, "perHour", b->per_hour);
	if (b->expected_cost >= 0)
		put_money(out, "expectedCost", b->expected_cost);
	buf_putc(out, '}');
}

static void put_run(
	const struct queued_jobs_sources *s, const struct gate_listed *j, struct buf *out)
{
	struct gate_trouble trouble;
	struct run_bill bill;
	put_time(out, "startedAt", j->started_ms);
	if (gate_job_trouble(s->gate, j->ns, j->name, &trouble))
		put_trouble(out, &trouble);
	if (gate_bill(s->gate, j->ns, j->name, s->now_ms, &bill) && bill.priced)
		put_bill(out, &bill);
}

static void put_item(struct buf *out, const struct after_view *v)
{
	buf_puts(out, "{\"item\":");
	buf_json_string(out, v->text);
	put_text(out, "state", v->holds ? "Holds" : v->never ? "Never" : "Waits");
	for (size_t i = 0; i < v->njobs; i++) {
		buf_puts(out, i ? "," : ",\"jobs\":[");
		buf_json_string(out, v->job[i]);
	}
	if (v->njobs > 0)
		buf_putc(out, ']');
	if (v->more > 0)
		buf_printf(out, ",\"more\":%zu", v->more);
	buf_putc(out, '}');
}

static void put_after(struct buf *out, const struct queue *q, const struct uid *uid)
{
	struct after_view v;
	size_t i = 0;
	for (; queue_view_after(q, uid, i, &v); i++) {
		buf_puts(out, i ? "," : ",\"after\":[");
		put_item(out, &v);
	}
	if (i > 0)
		buf_putc(out, ']');
}

static void put_status(
	const struct queued_jobs_sources *s, const struct queued_job *j, struct buf *out)
{
	const struct explanation *x = &j->explanation;
	buf_puts(out, ",\"status\":{\"state\":");
	buf_json_string(out, j->listed.state);
	if (is_waiting(x) && x->in_line)
		buf_printf(out, ",\"position\":%zu,\"rank\":%zu", x->ahead + 1, x->rank + 1);
	if (is_waiting(x)) {
		put_text(out, "reason", wait_reason_name(x->reason));
		put_text(out, "waitsFor", wait_reason_phrase(x->reason));
	}
	put_text(out, "message", x->sentence);
	put_time(out, "queuedAt", x->queued_ms);
	put_time(out, "startAt", start_ms(s, x));
	put_forecast(s, j, out);
	if (is_waiting(x) && !s->forecasts)
		buf_puts(out, ",\"noForecasts\":true");
	put_terms(out, x);
	put_run(s, &j->listed, out);
	if (j->tells_after)
		put_after(out, s->queue, &j->listed.uid);
	if (j->story)
		put_text(out, "story", j->story);
	if (!s->ledger_up) {
		buf_puts(out, ",\"ledgerDown\":true");
		put_time(out, "ledgerDownSince", gate_ledger_down_ms(s->gate));
	}
	buf_putc(out, '}');
}

#define QUEUED_JOB                                                                                 \
	"\"kind\":\"QueuedJob\",\"apiVersion\":\"" VISIBILITY_GROUP "/" VISIBILITY_VERSION "\""
#define METADATA_ALONE "\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\""

static void put_object(
	const struct queued_jobs_sources *s, const struct queued_job *j, struct buf *out)
{
	buf_puts(out, "{" QUEUED_JOB ",");
	put_metadata(out, &j->listed, j->version);
	put_spec(s, j, out);
	put_status(s, j, out);
	buf_putc(out, '}');
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
	{"Position", "string", "", "Its place in the line of its ClusterQueue.", 0},
	{"Priority", "integer", "", "The priority that counts.", 0},
	{"Asks", "string", "", "What all its pods ask for together.", 0},
	{"Waits for", "string", "",
		"What has to happen before it starts. Of a run, what is in the way of its pods.",
		0},
	{"Start", "string", "",
		"When it starts: in, where time alone decides; about, as likely as not; or how long it runs.",
		0},
	{"Age", "string", "", "Since the Job was made.", 0},
	{"ClusterQueue", "string", "", "Its ClusterQueue.", 1},
	{"Submitted by", "string", "", "The user who submitted it.", 1},
	{"Message", "string", "", "The whole sentence.", 1},
};

void queued_job_put_columns(struct buf *out)
{
	buf_puts(out, ",\"columnDefinitions\":[");
	for (size_t i = 0; i < sizeof(COLUMNS) / sizeof(COLUMNS[0]); i++) {
		const struct column *c = &COLUMNS[i];
		buf_printf(out,
			"%s{\"name\":\"%s\",\"type\":\"%s\",\"format\":\"%s\",\"description\":\"%s\",\"priority\":%d}",
			i ? "," : "", c->name, c->type, c->format, c->description, c->priority);
	}
	buf_putc(out, ']');
}

static void put_cell(struct buf *out, const char *text)
{
	buf_putc(out, ',');
	buf_json_string(out, text);
}

/* "16 cpu, 64Gi memory" */
static void put_asks(struct buf *out, const struct queue *q, const struct uid *uid)
{
	struct resource asks[QUEUE_LINES_MAX];
	struct buf text;
	char one[128];
	int32_t pods;
	size_t n = queue_job_asks(q, uid, &pods, asks);
	buf_init(&text, QUEUE_LINES_MAX * sizeof(one));
	for (size_t i = 0; i < n; i++) {
		quantity_describe(asks[i].amount, asks[i].name, one, sizeof(one));
		buf_puts(&text, i ? ", " : "");
		buf_puts(&text, one);
	}
	put_cell(out, buf_text(&text));
	buf_done(&text);
}

static int64_t age_ms(const struct queued_jobs_sources *s, int64_t since_ms)
{
	return since_ms > 0 ? s->now_ms - since_ms : 0;
}

/* A forecast is of some moments ago. */
static void put_likely_start(int64_t in_ms, struct buf *out)
{
	buf_printf(out, in_ms > 0 ? "about %s" : "soon", span_short(in_ms).s);
}

static void put_start(
	const struct queued_jobs_sources *s, const struct queued_job *j, struct buf *out)
{
	int64_t at_ms = start_ms(s, &j->explanation);
	struct forecast x;
	buf_puts(out, ",\"");
	if (at_ms > 0) {
		buf_printf(out, "in %s", span_short(at_ms - s->now_ms).s);
	} else if (queued_job_forecast(s, j, &x) && x.start.p50_ms < PLAY_NEVER) {
		put_likely_start(x.start.p50_ms - s->now_ms, out);
	} else if (j->listed.started_ms > 0) {
		buf_printf(out, "%s ago", span_short(s->now_ms - j->listed.started_ms).s);
	}
	buf_putc(out, '"');
}

/* Of a run whose pods do not get on: what is in their way. */
static const char *waits_for(const struct queued_jobs_sources *s, const struct queued_job *j)
{
	struct gate_trouble trouble;
	if (gate_job_trouble(s->gate, j->listed.ns, j->listed.name, &trouble))
		return trouble_name(trouble.word);
	return wait_reason_phrase(j->explanation.reason);
}

static void put_cells(
	const struct queued_jobs_sources *s, const struct queued_job *j, struct buf *out)
{
	const struct explanation *x = &j->explanation;
	buf_json_string(out, j->listed.name);
	put_cell(out, x->localqueue);
	put_cell(out, j->listed.state);
	if (is_waiting(x) && x->in_line)
		buf_printf(out, ",\"%zu\"", x->ahead + 1);
	else
		put_cell(out, "");
	buf_printf(out, ",%" PRId32, x->priority);
	put_asks(out, s->queue, &j->listed.uid);
	put_cell(out, waits_for(s, j));
	put_start(s, j, out);
	put_cell(out, span_short(age_ms(s, j->listed.created_ms)).s);
	put_cell(out, x->clusterqueue);
	put_cell(out, j->listed.submitted_by ? j->listed.submitted_by : "");
	put_cell(out, x->sentence);
}

void queued_job_put(const struct queued_jobs_sources *s, const struct queued_job *j,
	enum job_query_form form, struct buf *out)
{
	if (form == FORM_OBJECTS) {
		put_object(s, j, out);
		return;
	}
	buf_puts(out, "{\"cells\":[");
	put_cells(s, j, out);
	buf_putc(out, ']');
	if (form == FORM_TABLE_OBJECTS) {
		buf_puts(out, ",\"object\":");
		put_object(s, j, out);
	} else if (form == FORM_TABLE) {
		buf_puts(out, ",\"object\":{" METADATA_ALONE ",");
		put_metadata(out, &j->listed, j->version);
		buf_putc(out, '}');
	}
	buf_putc(out, '}');
}

/* ---- one that is gone ------------------------------------------------------------------------ */

/* The slices lie within one allocation of watch_rows.h and have no NUL. */
static struct gate_listed listed_of(const struct watch_row *r, char ns[64], char name[256])
{
	snprintf(ns, 64, "%.*s", (int)r->ns.len, r->ns.ptr);
	snprintf(name, 256, "%.*s", (int)r->name.len, r->name.ptr);
	return (struct gate_listed){
		.uid = r->uid, .ns = ns, .name = name, .state = GONE, .created_ms = r->created_ms};
}

static void put_gone_cells(const struct queued_jobs_sources *s, const struct gate_listed *j,
	struct slice localqueue, struct buf *out)
{
	buf_json_string(out, j->name);
	buf_putc(out, ',');
	buf_json_slice(out, localqueue);
	buf_printf(out, ",\"" GONE "\",\"\",null,\"\",\"\",\"\",\"%s\",\"\",\"\",\"\"",
		span_short(age_ms(s, j->created_ms)).s);
}

static void put_gone_object(
	const struct gate_listed *j, struct slice localqueue, uint64_t version, struct buf *out)
{
	buf_puts(out, "{" QUEUED_JOB ",");
	put_metadata(out, j, version);
	buf_puts(out, ",\"spec\":{\"queue\":");
	buf_json_slice(out, localqueue);
	buf_puts(out, "},\"status\":{\"state\":\"" GONE "\"}}");
}

void queued_job_put_gone(const struct queued_jobs_sources *s, const struct watch_row *r,
	uint64_t version, enum job_query_form form, struct buf *out)
{
	char ns[64], name[256];
	struct gate_listed j = listed_of(r, ns, name);
	if (form == FORM_OBJECTS) {
		put_gone_object(&j, r->localqueue, version, out);
		return;
	}
	buf_puts(out, "{\"cells\":[");
	put_gone_cells(s, &j, r->localqueue, out);
	buf_putc(out, ']');
	if (form == FORM_TABLE_OBJECTS) {
		buf_puts(out, ",\"object\":");
		put_gone_object(&j, r->localqueue, version, out);
	} else if (form == FORM_TABLE) {
		buf_puts(out, ",\"object\":{" METADATA_ALONE ",");
		put_metadata(out, &j, version);
		buf_putc(out, '}');
	}
	buf_putc(out, '}');
}

/* ---- events ---------------------------------------------------------------------------------- */

void queued_job_begin_event(const char *type, uint64_t version, bool with_columns,
	enum job_query_form form, struct buf *out)
{
	buf_printf(out, "{\"type\":\"%s\",\"object\":", type);
	if (form == FORM_OBJECTS)
		return;
	buf_printf(out,
		"{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{\"resourceVersion\":\"%" PRIu64
		"\"}",
		version);
	if (with_columns)
		queued_job_put_columns(out);
	else
		buf_puts(out, ",\"columnDefinitions\":[]");
	buf_puts(out, ",\"rows\":[");
}

void queued_job_end_event(enum job_query_form form, struct buf *out)
{
	buf_puts(out, form == FORM_OBJECTS ? "}\n" : "]}}\n");
}

void queued_job_put_bookmark(
	uint64_t version, bool is_end, enum job_query_form form, struct buf *out)
{
	bool is_table = form != FORM_OBJECTS;
	queued_job_begin_event("BOOKMARK", version, false, form, out);
	if (is_table)
		buf_puts(out, "{\"cells\":[],\"object\":");
	buf_puts(out, is_table ? "{" METADATA_ALONE : "{" QUEUED_JOB);
	buf_printf(out, ",\"metadata\":{\"resourceVersion\":\"%" PRIu64 "\"", version);
	if (is_end)
		buf_puts(out, ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}");
	buf_puts(out, is_table ? "}}}" : "}}");
	queued_job_end_event(form, out);
}
