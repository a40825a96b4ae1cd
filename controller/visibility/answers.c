#include "controller/visibility/answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "controller/ledger/pg.h"
#include "controller/visibility/discovery.h"
#include "controller/visibility/job_query.h"
#include "controller/visibility/queued_jobs.h"
#include "controller/visibility/reader.h"
#include "controller/write/dispatcher.h"

#define JSON "application/json"

enum { ONE_MAX_BYTES = 1 << 20 };

/* A question that the reader has. */
struct pending {
	struct pending *prev, *next;
	struct answers *answers;
	struct http_question *question;
};

struct answers {
	const struct parts *parts;
	const struct ports_state *state;
	struct reader *reader;
	struct pending *first;
	struct queued_jobs *all; /* in the child: of its moment */
};

/* ---- errors ---------------------------------------------------------------------------------- */

static const char *reason_of(unsigned status)
{
	switch (status) {
	case 400:
		return "BadRequest";
	case 401:
		return "Unauthorized";
	case 404:
		return "NotFound";
	case 410:
		return "Expired";
	case 413:
		return "RequestEntityTooLarge";
	default:
		return "ServiceUnavailable";
	}
}

static void complain(struct http_question *q, unsigned status, const char *sentence)
{
	struct buf body;
	buf_init(&body, 8192);
	buf_printf(&body,
		"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"reason\":\"%s\",\"code\":%u,\"message\":",
		reason_of(status), status);
	buf_json_string(&body, sentence);
	buf_puts(&body, "}\n");
	http_answer(q, (struct api_reply){status, JSON}, &body);
	buf_done(&body);
}

void answers_refuse(struct http_question *q, const char *sentence)
{
	complain(q, 401, sentence);
}

/* ---- who can answer -------------------------------------------------------------------------- */

/* Only the leader knows. */
static bool can_answer(const struct answers *a, struct http_question *q)
{
	char sentence[1024];
	const char *holder = dispatcher_lease_holder(a->parts->dispatcher);
	const char *trouble = a->state->ledger_trouble;
	if (gate_leading(a->parts->gate))
		return true;
	if (*trouble)
		snprintf(sentence, sizeof(sentence),
			"no controller leads that this one knows of: the ledger is not connected (%.600s); running Jobs go on, nothing new starts",
			trouble);
	else if (*holder && strcmp(holder, a->parts->options->identity) != 0)
		snprintf(sentence, sizeof(sentence),
			"this controller stands by, and %.200s leads: ask again in a moment",
			holder);
	else
		snprintf(sentence, sizeof(sentence),
			"no controller leads yet: this one is about to; ask again in a moment");
	complain(q, 503, sentence);
	return false;
}

static struct queued_jobs_sources sources(const struct answers *a)
{
	return (struct queued_jobs_sources){.gate = a->parts->gate,
		.queue = a->parts->queue,
		.ledger_up = pg_up(a->parts->pg),
		.now_ms = parts_now_ms(a->parts)};
}

/* ---- one Job --------------------------------------------------------------------------------- */

static void take_one(struct answers *a, struct http_question *q, const struct job_query *query)
{
	struct queued_jobs_sources s = sources(a);
	struct buf body;
	char sentence[512];
	buf_init(&body, ONE_MAX_BYTES);
	if (queued_jobs_one(&s, query, &body)) {
		http_answer(q, (struct api_reply){200, JSON}, &body);
	} else {
		snprintf(sentence, sizeof(sentence),
			"queuedjobs." VISIBILITY_GROUP " \"%s\" not found", query->name);
		complain(q, 404, sentence);
	}
	buf_done(&body);
}

/* ---- many ------------------------------------------------------------------------------------ */

/* In the child. */
static void serve(struct slice question, uint64_t moment, struct buf *out, void *ctx)
{
	struct answers *a = ctx;
	struct job_query query;
	must(question.len == sizeof(query));
	memcpy(&query, question.ptr, sizeof(query));
	if (!a->all) {
		struct queued_jobs_sources s = sources(a);
		a->all = queued_jobs_new(&s);
	}
	queued_jobs_list(a->all, &query, moment, out);
}

static void forget(struct pending *p)
{
	struct answers *a = p->answers;
	if (p->prev)
		p->prev->next = p->next;
	else
		a->first = p->next;
	if (p->next)
		p->next->prev = p->prev;
	free(p);
}

static void on_list(const struct reader_answer *r, void *ctx)
{
	struct pending *p = ctx;
	struct http_question *q = p->question;
	struct buf body;
	forget(p);
	if (r->code == ERR_LIMIT)
		complain(q, 413,
			"this list is larger than 64 MiB: ask for it in pages (limit=500), or for one namespace");
	else if (r->sentence)
		complain(q, 503, r->sentence);
	if (r->sentence)
		return;
	buf_init(&body, r->body.len + 1);
	buf_add(&body, r->body.ptr, r->body.len);
	http_answer(q, (struct api_reply){200, JSON}, &body);
	buf_done(&body);
}

static void take_list(struct answers *a, struct http_question *q, const struct job_query *query)
{
	struct pending *p = mem_alloc(sizeof(*p));
	*p = (struct pending){.answers = a, .question = q, .next = a->first};
	if (p->next)
		p->next->prev = p;
	a->first = p;
	struct slice question = {(const char *)query, sizeof(*query)};
	if (reader_ask(a->reader, query->moment, question, on_list, p))
		return;
	forget(p);
	complain(q, 410,
		"the list that this page continues is no longer kept: ask for it anew, without continue");
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void take_jobs(struct answers *a, struct http_question *q, struct job_query *query)
{
	struct job_query_words words = {.accept = http_header(q, "Accept"),
		.include_object = http_param(q, "includeObject"),
		.label_selector = http_param(q, "labelSelector"),
		.field_selector = http_param(q, "fieldSelector"),
		.limit = http_param(q, "limit"),
		.token = http_param(q, "continue")};
	struct err e = {""};
	if (job_query_take(query, &words, &e) != 0)
		complain(q, 400, e.text);
	else if (!can_answer(a, q))
		return;
	else if (query->one)
		take_one(a, q, query);
	else
		take_list(a, q, query);
}

void answers_take(struct answers *a, struct http_question *q, const char *path)
{
	struct job_query query;
	struct buf body;
	if (job_query_path(path, &query)) {
		take_jobs(a, q, &query);
		return;
	}
	buf_init(&body, ONE_MAX_BYTES);
	if (discovery_document(path, &body))
		http_answer(q, (struct api_reply){200, JSON}, &body);
	else
		complain(q, 404, "the server could not find the requested resource");
	buf_done(&body);
}

struct answers *answers_new(const struct parts *parts, const struct ports_state *state)
{
	struct answers *a = mem_alloc(sizeof(*a));
	*a = (struct answers){.parts = parts, .state = state};
	struct reader_options o = {
		.loop = parts->loop, .log = parts->log, .serve = serve, .ctx = a};
	a->reader = reader_new(&o);
	return a;
}

void answers_drop(struct answers *a)
{
	while (a->first) {
		reader_forget(a->reader, a->first);
		forget(a->first);
	}
}

void answers_free(struct answers *a)
{
	if (!a)
		return;
	answers_drop(a);
	reader_free(a->reader);
	free(a);
}
