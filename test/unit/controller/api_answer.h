/* An answer of the API, as its JSON. */
#ifndef SLUICE_TEST_CONTROLLER_API_ANSWER_H
#define SLUICE_TEST_CONTROLLER_API_ANSWER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "controller/answers/api.h"
#include "controller/kube/json.h"
#include "controller_world.h"
#include "test/golden/golden.h"

struct answer {
	struct http_reply reply;
	struct buf body;
	struct json *json;
	const cJSON *root; /* NULL when it is not JSON */
	char test[128];	   /* what was asked for */
};

static inline void ask_for(struct answer *a, const struct world *w, const struct api_request *r)
{
	buf_init(&a->body, 1 << 20);
	a->json = json_new(16 << 20);
	a->root = NULL;
	snprintf(a->test, sizeof(a->test), "%s", r->path);
	a->reply = api_answer(&w->sources, r, &a->body);
	if (strcmp(a->reply.content_type, "application/json") == 0)
		assert_int_equal(json_parse(a->json, buf_slice(&a->body), &a->root, NULL), 0);
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
