/*
 * Any bytes as Pods that are Pending or were rejected and Events about Jobs (an object, or a list of them): facts
 * whose text is safe to print, or a sentence that is; and whatever they say, what follows for a Job
 * is a trouble of at most as many pods as there are.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "base/json.h"
#include "controller/wire/decode_trouble.h"
#include "test/fuzz/outcome.h"
#include "controller/gate/trouble.h"
#include "base/uid.h"
#include "controller/gate/rejection.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const struct troubles *t, const struct uid *job)
{
	struct buf b;
	struct troubles_ask a = {.job = *job,
		.now_ms = INT64_C(1795255200000),
		.tick_ms = 20000,
		.after_ms = 10000,
		.missing = 2};
	struct trouble x = troubles_of(t, &a);
	must(x.word < TROUBLE_WORDS && (x.word == TROUBLE_NONE) == (x.pods == 0));
	must((size_t)x.pods <= troubles_pods(t) + 2);
	check_text(x.message);
	buf_init(&b, 4096);
	trouble_sentence(&x, 3, a.now_ms, &b);
	trouble_epitaph(&x, 3, a.now_ms, &b);
	check_text(buf_text(&b));
	buf_done(&b);
}

static void try(struct troubles *t, const cJSON *o)
{
	struct trouble_pod *p = NULL;
	struct trouble_refusal *r = NULL;
	struct rejected_pod *rejected = NULL;
	struct err e = {""};
	int rc = decode_trouble_pod(o, &p, &e);
	check_outcome(rc, p, &e);
	if (p) {
		check_text(p->message);
		troubles_see_pod(t, p, 1);
		ask(t, &p->job);
	}
	rc = decode_trouble_refusal(o, &r, &e);
	check_outcome(rc, r, &e);
	if (r) {
		must(r->first_ms <= r->last_ms);
		check_text(r->message);
		troubles_see_refusal(t, r);
		ask(t, &r->job);
	}
	rc = decode_rejected_pod(o, &rejected, &e);
	check_outcome(rc, rejected, &e);
	if (rejected) {
		check_text(rejected->reason);
		check_text(rejected->message);
		check_text(rejected->node);
		check_text(rejected->job_name);
	}
	free(p);
	free(r);
	free(rejected);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json *json = json_new(64 << 20);
	struct troubles *t = troubles_new();
	const cJSON *o;
	if (json_parse(json, (struct slice){(const char *)data, size}, &o, NULL) == 0) {
		if (cJSON_IsArray(o))
			json_each(item, o)
				try(t, item);
		else
			try(t, o);
	}
	troubles_begin_pods(t);
	troubles_end_pods(t);
	must(troubles_pods(t) == 0);
	troubles_free(t);
	json_free(json);
	return 0;
}
