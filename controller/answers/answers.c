#include "controller/answers/answers.h"

#include <ev.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "controller/common/clock.h"
#include "controller/forecast/forecasts.h"
#include "controller/net/coding.h"
#include "controller/ledger/pg.h"
#include "controller/past/past_questions.h"
#include "controller/answers/complaint.h"
#include "controller/answers/report.h"
#include "controller/answers/discovery.h"
#include "controller/answers/job_query.h"
#include "controller/answers/queued_jobs.h"
#include "controller/answers/reader.h"
#include "controller/answers/review_reply.h"
#include "controller/answers/start_review.h"
#include "controller/answers/summary.h"
#include "controller/answers/timeline.h"
#include "controller/answers/watchers.h"
#include "controller/answers/whatif.h"

#define JSON "application/json"

enum { ONE_MAX_BYTES = 1 << 20 };

/* A question that was passed to the reader. */
struct pending {
	struct link link; /* a->pending */
	struct http_question *question;
};

struct answers {
	const struct answer_sources *from;
	struct reader *reader;
	struct watchers *watchers;
	struct link asked; /* by review_reply.link: questions that are played */
	struct link pending;
	/* In the child: all Jobs at its moment, and the last summary of them. */
	struct queued_jobs *all;
	struct buf summary;
	struct job_query summary_query;
};

/* ---- who can answer -------------------------------------------------------------------------- */

/* Says why this controller cannot tell; NULL: it leads. */
static const char *why_not(
	const struct answers *a, const char *cure, char sentence[LEADERSHIP_TEXT_SIZE])
{
	struct leadership l = sources_leadership(a->from);
	return leadership_why_not(&l, cure, sentence);
}

static struct queued_jobs_sources sources(const struct answers *a)
{
	return (struct queued_jobs_sources){.gate = a->from->gate,
		.queue = a->from->queue,
		.forecasts = a->from->forecasts,
		.ledger_up = pg_up(a->from->pg),
		.now_ms = clock_of_loop_ms(ev_now(a->from->loop))};
}

/* ---- one Job --------------------------------------------------------------------------------- */

static void take_one(struct answers *a, struct http_question *q, const struct job_query *query)
{
	struct queued_jobs_sources s = sources(a);
	struct buf body;
	char tag[CODING_TAG_SIZE];
	uint64_t news = 0;
	buf_init(&body, ONE_MAX_BYTES);
	bool is_known = queued_jobs_one(&s, query, &body, &news);
	coding_tag_number(news, tag);
	http_tag(q, query->form == FORM_OBJECTS ? tag : "");
	if (body.failed) {
		complain(q, 413, "what is known of this Job is larger than 1 MiB");
	} else if (is_known) {
		http_answer(q, (struct http_reply){200, JSON}, &body);
	} else {
		complain_of_no_job(q, query->name);
	}
	buf_done(&body);
}

/* ---- by the reader --------------------------------------------------------------------------- */

static void serve_events(
	struct answers *a, const struct job_query *query, struct slice rest, struct buf *out)
{
	struct job_query_events how;
	must(rest.len >= sizeof(how));
	memcpy(&how, rest.ptr, sizeof(how));
	rest.ptr += sizeof(how);
	rest.len -= sizeof(how);
	queued_jobs_events(a->all, query, &how, rest, out);
}

/* The first byte of an answer that is a sentence: what was asked for is not there. No JSON and
 * nothing packed begins so. */
#define NOT_THERE '!'

static void serve_timeline(struct answers *a, const struct job_query *query, struct buf *out)
{
	struct err e = {""};
	if (timeline_put(a->all, query, out, &e) != 0)
		buf_printf(out, "%c%s", NOT_THERE, e.text);
	else if (query->takes_gzip)
		coding_gzip(out);
}

static bool is_same_summary(const struct job_query *a, const struct job_query *b)
{
	return a->ask == b->ask && strcmp(a->ns, b->ns) == 0 && a->by == b->by &&
	       a->takes_gzip == b->takes_gzip;
}

/* Fifty pages that show the same ask for the same: it is made once of each moment. */
static void serve_summary(struct answers *a, const struct job_query *query, struct buf *out)
{
	if (!is_same_summary(&a->summary_query, query)) {
		buf_reset(&a->summary);
		summary_put(a->all, query, &a->summary);
		if (query->takes_gzip)
			coding_gzip(&a->summary);
		a->summary_query = *query;
	}
	buf_add(out, a->summary.ptr, a->summary.len);
}

/* Puts a report of Nodes or queues, which takes no look at Jobs. */
static void serve_report(const struct answers *a, const struct job_query *query, struct buf *out)
{
	const struct report_sources s = report_sources_of(a->from);
	struct report_path path = {
		.report = query->ask == ASK_NODES ? REPORT_NODES : REPORT_QUEUES};
	struct err e = {""};
	memcpy(path.ns, query->ns, sizeof(path.ns));
	must(report_put(&s, &path, NULL, out, &e) == 0);
	if (query->takes_gzip)
		coding_gzip(out);
}

static bool is_of_jobs(enum job_query_ask ask)
{
	return ask != ASK_NODES && ask != ASK_QUEUES;
}

/* Answers a question of the reader, in the child. */
static void serve(struct slice question, uint64_t moment, struct buf *out, void *ctx)
{
	struct answers *a = ctx;
	struct job_query query;
	must(question.len >= sizeof(query));
	memcpy(&query, question.ptr, sizeof(query));
	if (!a->all && is_of_jobs(query.ask)) {
		struct queued_jobs_sources s = sources(a);
		a->all = queued_jobs_new(&s);
	}
	question.ptr += sizeof(query);
	question.len -= sizeof(query);
	switch (query.ask) {
	case ASK_LIST:
		queued_jobs_list(a->all, &query, moment, out);
		if (query.takes_gzip)
			coding_gzip(out);
		return;
	case ASK_ROWS:
		queued_jobs_rows(a->all, &query, out);
		return;
	case ASK_EVENTS:
		serve_events(a, &query, question, out);
		return;
	case ASK_TIMELINE:
		serve_timeline(a, &query, out);
		return;
	case ASK_SUMMARY:
		serve_summary(a, &query, out);
		return;
	case ASK_NODES:
	case ASK_QUEUES:
		serve_report(a, &query, out);
		return;
	}
	must_not_get_here();
}

static void forget(struct pending *p)
{
	list_leave(&p->link);
	free(p);
}

static void complain_of_absence(struct http_question *q, struct slice body)
{
	char sentence[sizeof(((struct err *)0)->text)];
	snprintf(sentence, sizeof(sentence), "%.*s", (int)body.len - 1, body.ptr + 1);
	complain(q, 404, sentence);
}

static void on_list(const struct reader_answer *r, void *ctx)
{
	struct pending *p = ctx;
	struct http_question *q = p->question;
	struct buf body = {.ptr = (char *)(uintptr_t)r->body.ptr, .len = r->body.len};
	forget(p);
	if (r->code == ERR_LIMIT)
		complain(q, 413,
			"this list is larger than 64 MiB: ask for it in pages (limit=500), or for one namespace");
	else if (r->sentence)
		complain(q, r->too_many ? 429 : 503, r->sentence);
	else if (body.len > 0 && body.ptr[0] == NOT_THERE)
		complain_of_absence(q, r->body);
	else if (!complain_of_unsent(q, body.len,
			 "ask for this one in pages (limit=500), or again in a moment"))
		http_answer(q, (struct http_reply){200, JSON}, &body);
}

static void take_later(struct answers *a, struct http_question *q, const struct job_query *query)
{
	struct pending *p = mem_alloc(sizeof(*p));
	p->question = q;
	list_add(&a->pending, &p->link);
	struct reader_question question = {.text = {(const char *)query, sizeof(*query)},
		.moment = query->moment,
		.ns = query->path_ns};
	if (reader_ask(a->reader, &question, on_list, p))
		return;
	forget(p);
	complain(q, 410,
		"the list that this page continues is no longer kept: ask for it anew, without continue");
}

/* ---- how they change ------------------------------------------------------------------------- */

static struct watch_words watch_words_of(const struct http_question *q)
{
	return (struct watch_words){.watch = http_param(q, "watch"),
		.version = http_param(q, "resourceVersion"),
		.initial = http_param(q, "sendInitialEvents"),
		.bookmarks = http_param(q, "allowWatchBookmarks"),
		.timeout = http_param(q, "timeoutSeconds")};
}

/* Takes a watch; its path asks for more than one Job. */
static void take_watch(struct answers *a, struct http_question *q, const struct job_query *query,
	const struct watch_words *words, bool is_of_clusterqueue, const char *who)
{
	struct watch_terms terms;
	struct err e = {""};
	/* The API server takes it for a get, and would end it after a minute. */
	if (is_of_clusterqueue)
		complain(q, 400,
			"the line of a ClusterQueue cannot be watched: watch queuedjobs with the fieldSelector spec.clusterQueue");
	else if (watch_terms_take(&terms, words, &e) != 0)
		complain(q, 400, e.text);
	else
		watchers_add(a->watchers, q, query, &terms, who);
}

/* The header of a page that nobody has touched for a while (page/assets/attended.js). */
#define UNATTENDED "Sluice-Unattended"

/* Answers. A question from a person makes the queue be played. A watch does not: it may last for
 * days with nobody in front of it. */
static void take_now_or_later(
	struct answers *a, struct http_question *q, const struct job_query *query)
{
	if (!http_header(q, UNATTENDED))
		forecasts_want(a->from->forecasts);
	if (query->one)
		take_one(a, q, query);
	else
		take_later(a, q, query);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Takes a question about Jobs. why: this controller cannot tell; NULL: it can. */
static void take_jobs(struct answers *a, struct http_question *q, struct job_query *query,
	const char *why, const char *who)
{
	struct watch_words watch = watch_words_of(q);
	bool is_of_clusterqueue = query->clusterqueue[0]; /* of the path: no selector is read yet */
	struct job_query_words words = {.accept = http_header(q, "Accept"),
		.include_object = http_param(q, "includeObject"),
		.label_selector = http_param(q, "labelSelector"),
		.field_selector = http_param(q, "fieldSelector"),
		.limit = http_param(q, "limit"),
		.token = http_param(q, "continue")};
	struct err e = {""};
	int rc = job_query_take(query, &words, &e);
	query->takes_gzip = http_takes_gzip(q);
	if (rc)
		complain(q, rc == ERR_GONE ? 406 : 400, e.text);
	else if (why)
		complain(q, 503, why);
	else if (watch_wanted(&watch) && !query->one)
		take_watch(a, q, query, &watch, is_of_clusterqueue, who);
	else
		take_now_or_later(a, q, query);
}

/* Takes a question about a report for which the reader goes over all Jobs. */
static void take_read(struct answers *a, struct http_question *q, const struct report_path *p,
	struct job_query *query)
{
	struct err e = {""};
	int rc = p->report == REPORT_TIMELINES
			 ? job_query_take_timeline(
				   query, http_param(q, "until"), http_param(q, "clusterQueue"), &e)
			 : summary_take(query, http_param(q, "by"), &e);
	if (rc != 0)
		complain(q, 400, e.text);
	else
		take_now_or_later(a, q, query);
}

static void take_report(struct answers *a, struct http_question *q, const struct report_path *p)
{
	struct job_query query = {.takes_gzip = http_takes_gzip(q)};
	if (report_take(a->from, q, p))
		return;
	memcpy(query.ns, p->ns, sizeof(query.ns));
	memcpy(query.path_ns, p->ns, sizeof(query.path_ns));
	if (p->report == REPORT_NODES || p->report == REPORT_QUEUES) {
		query.ask = p->report == REPORT_NODES ? ASK_NODES : ASK_QUEUES;
		take_later(a, q, &query);
	} else {
		take_read(a, q, p, &query);
	}
}

static void take_document(struct http_question *q, const char *path)
{
	struct buf body;
	buf_init(&body, ONE_MAX_BYTES);
	http_tag(q, ""); /* the API server keeps documents by a rule of its own */
	if (discovery_document(path, &body))
		http_answer(q, (struct http_reply){200, JSON}, &body);
	else
		complain(q, 404, "the server could not find the requested resource");
	buf_done(&body);
}

void answers_take(struct answers *a, struct http_question *q, const char *path,
	const struct answers_asker *asker)
{
	struct job_query query;
	struct report_path report;
	char who[24], ns[64], name[254], sentence[LEADERSHIP_TEXT_SIZE];
	const char *why = why_not(a, asker->cure, sentence);
	snprintf(who, sizeof(who), "%" PRIu64, asker->who);
	if (job_query_path(path, &query)) { /* most are of this kind */
		take_jobs(a, q, &query, why, who);
		return;
	}
	bool is_report = report_path(path, &report), is_whatif = strcmp(path, WHATIFS_PATH) == 0;
	bool is_start = job_query_start_path(path, ns, name);
	if (!is_report && !is_whatif && !is_start)
		take_document(q, path);
	else if (why)
		complain(q, 503, why);
	else if (is_report)
		take_report(a, q, &report);
	else if (is_start)
		start_review_take(a->from, &a->asked, q, ns, name, who);
	else
		whatif_take(a->from, &a->asked, q, who);
}

bool answers_take_passed_on(struct http_question *q, const char *path, void *ctx)
{
	const char *user = http_header(q, "X-Remote-User");
	struct answers_asker asker = {auth_number(user ? user : ""), ANSWERS_AGAIN};
	answers_take(ctx, q, path, &asker);
	return true;
}

struct answers *answers_new(const struct answer_sources *from)
{
	struct answers *a = mem_alloc(sizeof(*a));
	*a = (struct answers){.from = from};
	struct reader_options o = {.loop = from->loop, .log = from->log, .serve = serve, .ctx = a};
	a->reader = reader_new(&o);
	a->watchers = watchers_new(a->reader);
	list_init(&a->pending);
	list_init(&a->asked);
	buf_init(&a->summary, READER_ANSWER_MAX);
	return a;
}

void answers_drop(struct answers *a, const struct http *port)
{
	for (struct link *l = a->pending.next, *next; l != &a->pending; l = next) {
		struct pending *p = container_of(l, struct pending, link);
		next = l->next;
		if (http_of(p->question) != port)
			continue;
		reader_forget(a->reader, p);
		forget(p);
	}
	watchers_drop(a->watchers, port);
	review_reply_drop(&a->asked, port);
	past_questions_forget(a->from->past_questions, port);
}

void answers_tick(struct answers *a, int64_t tick_ms)
{
	char sentence[LEADERSHIP_TEXT_SIZE];
	const char *why = why_not(a, ANSWERS_AGAIN, sentence);
	if (why)
		watchers_end(a->watchers, why);
	else
		watchers_tick(a->watchers, tick_ms);
}

void answers_free(struct answers *a)
{
	if (!a)
		return;
	must(list_empty(&a->pending) && list_empty(&a->asked));
	watchers_free(a->watchers);
	reader_free(a->reader);
	buf_done(&a->summary);
	free(a);
}
