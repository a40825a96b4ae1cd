/* Any bytes as lines of a record: what is read is written as a text that is read as the same. */
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/must.h"
#include "base/json.h"
#include "record/facts.h"
#include "record/recorder.h"
#include "sluice/queue_call.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool reads(struct json *j, struct slice line, struct arena *a, struct queue_call *ret)
{
	struct err e = {""};
	const cJSON *root;
	if (json_parse(j, line, &root, &e) == 0 &&
		schema_read(queue_call_schema(), root, a, ret, &e) == 0)
		return true;
	must(*e.text);
	return false;
}

static void one_line(struct json *j, struct slice line)
{
	struct arena a = {0}, b = {0};
	struct queue_call call, again;
	struct buf text, same;
	buf_init(&text, RECORD_LINE_MAX);
	buf_init(&same, RECORD_LINE_MAX);
	if (reads(j, line, &a, &call)) {
		schema_write(queue_call_schema(), &call, &text);
		must(text.failed || reads(j, buf_slice(&text), &b, &again));
		if (!text.failed)
			schema_write(queue_call_schema(), &again, &same);
		must(slice_eq(buf_slice(&text), buf_slice(&same)) || text.failed);
	}
	buf_done(&text);
	buf_done(&same);
	arena_done(&a);
	arena_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json *j = json_new(64 << 20);
	struct slice rest = {(const char *)data, size};
	while (rest.len > 0) {
		const char *end = memchr(rest.ptr, '\n', rest.len);
		size_t n = end ? (size_t)(end - rest.ptr) : rest.len;
		one_line(j, (struct slice){rest.ptr, n});
		n += end != NULL;
		rest = (struct slice){rest.ptr + n, rest.len - n};
	}
	json_free(j);
	return 0;
}
