#include "controller/answers/past_resource.h"

#include <stdio.h>
#include <string.h>

#include "controller/past/past_questions.h"
#include "controller/answers/complaint.h"
#include "controller/answers/job_query.h"
#include "controller/answers/watch_terms.h"

enum { ANSWER_MAX_BYTES = 5 << 20 };

static const char *const objects[] = {
	[PAST_COST] = "CostReport", [PAST_REPORT] = "UsageReport", [PAST_RUNS] = "JobHistory"};

enum { NRESOURCES = sizeof(objects) / sizeof(objects[0]) };

static bool take_name(const char *name, struct past_resource *ret)
{
	for (int i = 0; i < NRESOURCES; i++)
		if (strcmp(name, past_resource_name((enum past_kind)i)) == 0) {
			ret->kind = (enum past_kind)i;
			return true;
		}
	return false;
}

bool past_resource_path(const char *path, struct past_resource *ret)
{
	static const char names[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
	static const char all[] = VISIBILITY_ROOT "/", one[] = VISIBILITY_ROOT "/namespaces/";
	ret->ns[0] = '\0';
	if (strncmp(path, one, strlen(one)) != 0)
		return strncmp(path, all, strlen(all)) == 0 && take_name(path + strlen(all), ret);
	const char *ns = path + strlen(one);
	size_t len = strspn(ns, names);
	if (len == 0 || len >= PAST_NAMESPACE_SIZE || ns[len] != '/')
		return false;
	memcpy(ret->ns, ns, len);
	ret->ns[len] = '\0';
	return take_name(ns + len + 1, ret);
}

/* body is an object without a kind. */
static void put_object(struct http_question *q, const char *object, const struct buf *body)
{
	struct buf whole;
	buf_init(&whole, ANSWER_MAX_BYTES);
	buf_printf(&whole,
		"{\"kind\":\"%s\",\"apiVersion\":\"" VISIBILITY_GROUP "/" VISIBILITY_VERSION "\",",
		object);
	buf_puts(&whole, buf_text(body) + 1);
	http_answer(q, (struct http_reply){200, "application/json"}, &whole);
	buf_done(&whole);
}

static void reply(
	enum past_kind kind, const struct buf *body, const char *sentence, struct http_question *q)
{
	if (!body)
		complain(q, 503, sentence);
	else if (!complain_of_unsent(q, body->len, "ask again in a moment"))
		put_object(q, objects[kind], body);
}

static void on_costs(const struct buf *body, const char *sentence, void *ctx)
{
	reply(PAST_COST, body, sentence, ctx);
}

static void on_report(const struct buf *body, const char *sentence, void *ctx)
{
	reply(PAST_REPORT, body, sentence, ctx);
}

static void on_runs(const struct buf *body, const char *sentence, void *ctx)
{
	reply(PAST_RUNS, body, sentence, ctx);
}

static past_questions_answer_fn *const answers[] = {
	[PAST_COST] = on_costs, [PAST_REPORT] = on_report, [PAST_RUNS] = on_runs};

bool past_resource_wants_table(const char *accept)
{
	struct job_query q = {0};
	return job_query_take(&q, &(struct job_query_words){.accept = accept}, NULL) == 0 &&
	       q.form != FORM_OBJECTS;
}

static void complain_of_table(struct http_question *q, const struct past_resource *r)
{
	static const char *const commands[] = {
		[PAST_COST] = "cost", [PAST_REPORT] = "report", [PAST_RUNS] = "history"};
	char sentence[200];
	snprintf(sentence, sizeof(sentence),
		"%s is one report, and no list that makes a table: sluice %s prints it, or write kubectl get %s -o yaml",
		past_resource_name(r->kind), commands[r->kind], past_resource_name(r->kind));
	complain(q, 406, sentence);
}

void past_resource_take(
	const struct parts *parts, struct http_question *q, const struct past_resource *r)
{
	struct watch_words watch = {.watch = http_param(q, "watch")};
	struct past_words words = {.kind = r->kind,
		.by = http_param(q, "by"),
		.since = http_param(q, "since"),
		.until = http_param(q, "until"),
		.job = http_param(q, "job"),
		.submitter = http_param(q, "user"),
		.ns = *r->ns ? r->ns : NULL};
	struct err e = {""};
	if (watch_wanted(&watch)) {
		char sentence[100];
		snprintf(sentence, sizeof(sentence), "%s cannot be watched: ask for them again",
			past_resource_name(r->kind));
		complain(q, 400, sentence);
		return;
	}
	if (past_resource_wants_table(http_header(q, "Accept"))) {
		complain_of_table(q, r);
		return;
	}
	struct past_asker who = {answers[r->kind], q, http_of(q)};
	int rc = past_questions_ask(parts->past_questions, &words, parts_now_ms(parts), &who, &e);
	if (rc)
		complain(q, rc == ERR_LIMIT ? 429 : 400, e.text);
}
