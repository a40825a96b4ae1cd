/*
 * Any bytes as the text of a Job's annotations. The first byte says which one, what follows is its
 * text, so that the fuzzer need not find its way through JSON within JSON. (fuzz_job checks what a
 * decoded Job promises; here it is what the texts promise.)
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "controller/kube/json.h"
#include "controller/wire/decode.h"
#include "controller/wire/decode_text.h"
#include "controller/wire/labels.h"
#include "controller/wire/patch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {STORY_ANNOTATION, DIRECTIVES_ANNOTATION, HOLD_ANNOTATION,
	MAX_RUN_ANNOTATION, EXPECTED_ANNOTATION, MIN_PARALLELISM_ANNOTATION,
	COMPLETIONS_ANNOTATION};

enum { NAMES = sizeof(names) / sizeof(names[0]) };

static void check_texts(const char *text)
{
	int64_t ms = 0, n = 0;
	if (text_time(text, &ms)) /* the years 0 to 9999 */
		must(ms > INT64_C(-62200000000000) && ms < INT64_C(253402400000000));
	if (text_duration(text, &ms))
		must(ms > 0 && ms <= INT64_C(3153600000000));
	if (text_number(text, INT32_MAX, &n))
		must(n >= 0 && n <= INT32_MAX);
}

static void check_job(const struct job *j)
{
	must((j->story_state == STORY_NONE) == (j->story_attempt == 0));
	must(j->owner_parallelism == 0 || j->owner_parallelism > j->min_parallelism);
	must(j->owner_completions == 0 || j->owner_parallelism > 0);
	must(j->history.requeues >= 0 && j->history.ran_ms >= 0 && j->history.not_before_ms >= 0);
	must(j->max_run_ms >= 0 && j->expected_ms >= 0 && j->min_parallelism >= 0);
	must(j->parallelism >= 0 && j->completions >= 0);
}

/* A Job of 2 pods, suspended or running, that has what the notes below speak of. */
static void decode_with(const char *annotation, const char *text, bool suspend)
{
	struct buf b;
	struct json *json = json_new(64 << 20);
	const cJSON *root;
	struct job *j = NULL;
	struct err e = {""};
	buf_init(&b, 64 << 20);
	buf_puts(&b, "{\"metadata\":{\"name\":\"j\",\"namespace\":\"n\","
		     "\"uid\":\"6a7c2c1e-3a50-4b0d-9a51-0d3f6f6a0b11\",\"resourceVersion\":\"7\","
		     "\"annotations\":{");
	buf_json_string(&b, annotation);
	buf_putc(&b, ':');
	buf_json_string(&b, text);
	buf_printf(&b,
		"}},\"spec\":{\"suspend\":%s,\"parallelism\":2,\"completions\":2,"
		"\"completionMode\":\"Indexed\",\"template\":{\"spec\":{\"nodeSelector\":{\"a\":"
		"\"b\"},"
		"\"containers\":[{\"name\":\"c\"}]}}}}",
		suspend ? "true" : "false");
	must(!b.failed);
	if (json_parse(json, buf_slice(&b), &root, NULL) == 0 && decode_job(root, &j, &e) == 0)
		check_job(j);
	free(j);
	json_free(json);
	buf_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	char *text = mem_strndup((const char *)data + 1, size - 1);
	check_texts(text);
	decode_with(names[data[0] % NAMES], text, true);
	decode_with(names[data[0] % NAMES], text, false);
	free(text);
	return 0;
}
