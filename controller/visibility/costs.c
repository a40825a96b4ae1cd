#include "controller/visibility/costs.h"

#include <stdio.h>
#include <string.h>

#include "controller/http/cost_api.h"
#include "controller/visibility/complaint.h"
#include "controller/visibility/job_query.h"
#include "controller/visibility/watch_terms.h"

enum { ANSWER_MAX_BYTES = 2 << 20 };

#define HEAD                                                                                       \
	"{\"kind\":\"CostReport\",\"apiVersion\":\"" VISIBILITY_GROUP "/" VISIBILITY_VERSION "\","

bool costs_path(const char *path, char ret_ns[COSTS_NAMESPACE_SIZE])
{
	static const char names[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
	static const char all[] = VISIBILITY_ROOT "/costs", one[] = VISIBILITY_ROOT "/namespaces/";
	ret_ns[0] = '\0';
	if (strcmp(path, all) == 0)
		return true;
	if (strncmp(path, one, strlen(one)) != 0)
		return false;
	const char *ns = path + strlen(one);
	size_t len = strspn(ns, names);
	if (len == 0 || len >= COSTS_NAMESPACE_SIZE || strcmp(ns + len, "/costs") != 0)
		return false;
	memcpy(ret_ns, ns, len);
	ret_ns[len] = '\0';
	return true;
}

/* body is an object, as cost.h writes it. */
static void on_report(const struct buf *body, const char *sentence, void *ctx)
{
	struct http_question *q = ctx;
	struct buf whole;
	if (!body) {
		complain(q, 503, sentence);
		return;
	}
	buf_init(&whole, ANSWER_MAX_BYTES);
	buf_puts(&whole, HEAD);
	buf_puts(&whole, buf_text(body) + 1);
	http_answer(q, (struct api_reply){200, "application/json"}, &whole);
	buf_done(&whole);
}

void costs_take(const struct parts *parts, struct http_question *q, const char *ns)
{
	struct watch_words watch = {.watch = http_param(q, "watch")};
	struct cost_words words = {.by = http_param(q, "by"),
		.since = http_param(q, "since"),
		.until = http_param(q, "until"),
		.ns = *ns ? ns : NULL};
	struct err e = {""};
	if (watch_wanted(&watch)) {
		complain(q, 400, "costs cannot be watched: ask for them again");
		return;
	}
	int rc = cost_api_ask(parts->cost_api, &words, parts_now_ms(parts), on_report, q, &e);
	if (rc)
		complain(q, rc == ERR_LIMIT ? 429 : 400, e.text);
}

void costs_drop(const struct parts *parts)
{
	cost_api_forget(parts->cost_api, on_report);
}
