/* An answer of the controller, as its JSON. */
#ifndef SLUICE_TEST_CONTROLLER_API_ANSWER_H
#define SLUICE_TEST_CONTROLLER_API_ANSWER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "controller/answers/api.h"
#include "controller/answers/job_query.h"
#include "controller/answers/report.h"
#include "base/json.h"
#include "controller_world.h"
#include "test/golden/golden.h"

struct answer {
	struct http_reply reply; /* of ask() */
	int rc;			 /* of ask_report() */
	struct err e;
	struct buf body;
	struct json *json;
	const cJSON *root; /* NULL when it is not JSON */
	char test[320];	   /* what was asked for */
};

static inline void answer_open(struct answer *a)
{
	*a = (struct answer){.json = json_new(16 << 20), .e = {""}};
	buf_init(&a->body, 1 << 20);
}

static inline void ask(struct answer *a, const struct world *w, const char *path)
{
	answer_open(a);
	snprintf(a->test, sizeof(a->test), "%s", path);
	a->reply = api_answer(&w->sources, path, &a->body);
	if (strcmp(a->reply.content_type, "application/json") == 0)
		assert_int_equal(json_parse(a->json, buf_slice(&a->body), &a->root, NULL), 0);
}

/* path: below the root of the API. after: the parameter, or NULL. */
static inline void ask_report(
	struct answer *a, const struct world *w, const char *path, const char *after)
{
	char whole[512];
	struct report_path p;
	answer_open(a);
	snprintf(whole, sizeof(whole), VISIBILITY_ROOT "/%s", path);
	snprintf(a->test, sizeof(a->test), "%s", path);
	assert_true(report_path(whole, &p));
	a->rc = report_put(&w->reports, &p, after, &a->body, &a->e);
	if (a->rc == 0)
		assert_int_equal(json_parse(a->json, buf_slice(&a->body), &a->root, NULL), 0);
	else
		assert_int_equal(a->body.len, 0);
}

static inline void done(struct answer *a)
{
	json_free(a->json);
	golden_done(a->test, &a->body);
}

static inline int64_t count(const cJSON *o, const char *key)
{
	int64_t n = -1;
	assert_int_equal(json_i64(o, key, &n), 0);
	return n;
}

#endif
