/*
 * Any bytes as sluice.dev/after-outcomes: what a new leader reads of a Job that waits for others. As they
 * stand, and behind a head that names the Job, so that the fuzzer gets past it. A queue that takes them
 * writes a record that reads back, and holds no item that is not listed in it; nothing counts on
 * another Job.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/features/dependencies/outcome_record.h"
#include "sluice/queue.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct uid JOB = {{7}}, OTHER = {{8}};

static const char *const VALUES[] = {"shards"};
static const struct requirement STAGE = {"stage", SELECTOR_IN, VALUES, 1};
static const struct dependency ITEMS[] = {{AFTER_OK, "prep", {0}, "prep"},
	{AFTER_OK, NULL, {&STAGE, 1}, "afterok:{stage=shards}"},
	{AFTER_NOT_OK, NULL, {&STAGE, 1}, "afternotok:{stage=shards}"}};

static struct job waiting(const char *record)
{
	return (struct job){.uid = JOB,
		.ns = "team-a",
		.name = "report",
		.queue = "main",
		.priority_class = "",
		.pod_priority_class = "",
		.suspend = true,
		.parallelism = 1,
		.completions = 1,
		.created_ms = 1000,
		.after = {.item = ITEMS, .count = 3, .record = record}};
}

static void check_lines(const char *text)
{
	const char *at = outcome_record_lines(text, &JOB);
	struct record_line l;
	while (at && *at) {
		must(outcome_record_next(&at, &l));
		must(l.item_len > 0 && !memchr(l.item, '\n', l.item_len));
		must(l.holds || (l.name[0] && l.created_ms >= 0 && l.ended_ms >= 0));
	}
}

/* What it writes, a second queue takes over, and writes the same. */
static void check_taken(const char *text, unsigned rounds)
{
	struct queue *q = queue_new();
	struct job j = waiting(text);
	struct buf b;
	queue_set_job(q, &j);
	buf_init(&b, OUTCOME_RECORD_MAX);
	queue_job_outcomes(q, &JOB, &b);
	must(!b.failed);
	must(b.len == 0 || outcome_record_lines(buf_text(&b), &JOB));
	must(!outcome_record_lines(buf_text(&b), &OTHER));
	for (size_t i = 0; i < 3; i++)
		must(!outcome_record_holds(buf_text(&b), &JOB, ITEMS[i].text) ||
			outcome_record_holds(text, &JOB, ITEMS[i].text));
	if (rounds > 0)
		check_taken(buf_text(&b), rounds - 1);
	buf_done(&b);
	queue_free(q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char head[] = "for 07000000-0000-0000-0000-000000000000\n";
	char *text = mem_strndup((const char *)data, size);
	size_t len = strlen(text);
	char *own = mem_alloc(sizeof(head) + len);
	memcpy(own, head, sizeof(head) - 1);
	memcpy(own + sizeof(head) - 1, text, len + 1);
	check_lines(text);
	check_lines(own);
	check_taken(text, 0);
	check_taken(own, 1);
	free(own);
	free(text);
	return 0;
}
