/*
 * Any bytes as the text of a Job's annotations. The first byte ('1' on) says which, what follows is
 * its text, so that the fuzzer need not find its way through JSON within JSON. (fuzz_job checks
 * what a decoded Job promises; here it is what the texts promise.)
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "base/span.h"
#include "base/json.h"
#include "controller/wire/decode.h"
#include "controller/wire/decode_text.h"
#include "controller/wire/job_times.h"
#include "controller/wire/patch.h"
#include "test/fuzz/outcome.h"
#include "sluice/keys.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {STORY_ANNOTATION, DIRECTIVES_ANNOTATION, HOLD_ANNOTATION,
	MAX_RUN_ANNOTATION, EXPECTED_ANNOTATION, MIN_PARALLELISM_ANNOTATION, COMPLETIONS_ANNOTATION,
	START_AFTER_ANNOTATION, DEADLINE_ANNOTATION, MISSED_ANNOTATION, START_ANNOTATION,
	MAX_PRICE_ANNOTATION, STOPPING_ANNOTATION, GROW_ANNOTATION, AFTER_ANNOTATION,
	DEPENDENCY_FAILURE_ANNOTATION};

enum { NAMES = sizeof(names) / sizeof(names[0]) };

static void check_texts(const char *text)
{
	int64_t ms = 0, n = 0;
	if (text_time(text, &ms)) /* the years 0 to 9999 */
		must(ms > INT64_C(-62200000000000) && ms < INT64_C(253402400000000));
	if (span_parse_seconds(text, &ms))
		must(ms > 0 && ms <= INT64_C(3153600000000));
	if (span_parse(text, &ms))
		must(ms >= 0 && ms <= INT64_C(3153600000000));
	if (text_number(text, INT32_MAX, &n))
		must(n >= 0 && n <= INT32_MAX);
}

/* Each item has a name, or a selector of some labels, or neither. */
static void check_after(const struct dependencies *after)
{
	must(after->count <= DEPENDENCIES_MAX);
	for (size_t i = 0; i < after->count; i++) {
		const struct dependency *d = &after->item[i];
		bool selects = d->selector.nrequirements > 0;
		must(d->text && d->text[0] &&
			(d->name != NULL) + selects + (d->kind == AFTER_SINGLETON) == 1);
		must(!d->name || (d->name[0] && !strpbrk(d->name, ":/, {}")));
		for (size_t k = 0; k < d->selector.nrequirements; k++)
			must(d->selector.requirements[k].key[0]);
		for (const char *s = d->text; *s; s++)
			must((unsigned char)*s >= 0x20 && (unsigned char)*s < 0x7f);
	}
}

static void check_job(const struct job *j)
{
	check_after(&j->after);
	must((j->admission.state == STORY_NONE) == (j->admission.attempt == 0));
	must(j->admission.epoch >= 0 && (j->admission.epoch == 0 || j->admission.attempt > 0));
	must(j->admission.owner_parallelism == 0 ||
		j->admission.owner_parallelism > j->min_parallelism);
	must(j->admission.owner_completions == 0 || j->admission.owner_parallelism > 0);
	must(j->admission.history.requeues >= 0 && j->admission.history.ran_ms >= 0 &&
		j->admission.history.not_before_ms >= 0);
	must(j->durations.max_run_ms >= 0 && j->durations.expected_ms >= 0 &&
		j->min_parallelism >= 0);
	must(j->grow != GROW_YES || j->min_parallelism > 0 || j->invalid);
	must(j->parallelism >= 0 && j->completions >= 0);
	must(j->terms.has_max_price == (j->terms.max_price_resource != NULL));
	must(j->terms.max_price >= 0 && j->annotations.stopping_at_ms >= 0 &&
		j->admission.history.suspensions >= 0);
}

static const struct zone *find_utc(const char *name, void *ctx)
{
	return strcmp(name, "UTC") == 0 ? ctx : NULL;
}

/* A time with a zone keeps the Job from starting until its zone was looked for. */
static void check_times(struct job *j)
{
	struct zone *utc = zone_utc();
	bool zoned = j->start_after.zone || j->deadline.zone;
	must(!zoned || j->invalid);
	job_times_resolve(j, find_utc, utc);
	must(!zoned || j->invalid || j->terms.start_after_ms + j->terms.deadline_ms > 0);
	must(j->terms.start_after_ms >= 0 && j->terms.deadline_ms >= 0);
	check_text(j->invalid ? j->invalid : "");
	zone_free(utc);
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
	if (json_parse(json, buf_slice(&b), &root, NULL) == 0 &&
		decode_job(root, NULL, &j, &e) == 0) {
		check_job(j);
		check_times(j);
	}
	free(j);
	json_free(json);
	buf_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	char *text = mem_strndup((const char *)data + 1, size - 1);
	const char *name = names[(uint8_t)(data[0] - '1') % NAMES];
	check_texts(text);
	decode_with(name, text, true);
	decode_with(name, text, false);
	free(text);
	return 0;
}
