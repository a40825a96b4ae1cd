/*
 * Any bytes as a signed story (story_read_run): what a new leader without a ledger believes. As they
 * stand, and signed by us, so that the fuzzer gets past the signature. What is read keeps its
 * promises, and what it says reads back as it was when it is written anew. No story is believed of
 * another Job, nor with a bit of it turned.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "controller/gate/story.h"
#include "test/fuzz/outcome.h"

#define LAST_MS INT64_C(253402387199000) /* the end of 9999, a day to the west */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct uid JOB = {{7}}, OTHER = {{8}};
static const struct siphash_key KEY = {{1, 2}};

static void check_lines(const struct story_run *run)
{
	must(run->nlines <= QUEUE_LINES_MAX);
	for (size_t i = 0; i < run->nlines; i++) {
		const struct quota_line *l = &run->lines[i];
		must(strncmp(l->node, "cq/", 3) == 0);
		must(strcmp(l->node + 3, run->clusterqueue) == 0);
		must(l->flavor && l->resource && l->amount >= 0);
		for (size_t k = 0; k < i; k++) /* what is held twice would count twice */
			must(strcmp(run->lines[k].resource, l->resource) != 0);
	}
}

static void check_run(const struct story_run *run)
{
	must(run->state == STORY_STARTED || run->state == STORY_STOPPED);
	must(run->attempt >= 1 && run->epoch >= 0);
	must(run->at_ms <= LAST_MS);
	must(run->has_priority || run->priority == 0);
	must(slice_utf8(slice_of(run->clusterqueue)));
	check_lines(run);
}

/* Written anew: the same, unless it is too long to tell all. */
static void check_written(const struct story_run *run)
{
	struct story s = {.state = run->state,
		.attempt = run->attempt,
		.epoch = run->epoch,
		.at_ms = run->at_ms,
		.clusterqueue = run->clusterqueue,
		.lines = run->lines,
		.nlines = run->nlines,
		.has_priority = run->has_priority,
		.priority = run->priority,
		.is_signed = true,
		.key = KEY,
		.uid = JOB};
	struct story_reader *r = story_reader_new();
	struct story_run again;
	struct buf b;
	buf_init(&b, STORY_TEXT_MAX);
	story_fit(&s, 0, &b);
	must(!b.failed);
	if (story_read_run(r, buf_text(&b), &JOB, &KEY, &again)) {
		must(again.state == run->state && again.attempt == run->attempt);
		must(again.epoch == run->epoch && again.nlines == run->nlines);
		must(again.has_priority == run->has_priority && again.priority == run->priority);
		must(run->at_ms < 0 || again.at_ms == run->at_ms - run->at_ms % 1000 ||
			run->at_ms > LAST_MS - 86400000); /* 9999 ends earlier in UTC */
		must(strcmp(again.clusterqueue, run->clusterqueue) == 0);
		for (size_t i = 0; i < run->nlines; i++) {
			must(strcmp(again.lines[i].resource, run->lines[i].resource) == 0);
			must(strcmp(again.lines[i].flavor, run->lines[i].flavor) == 0);
			must(again.lines[i].amount == run->lines[i].amount);
		}
	} else {
		must(!strstr(buf_text(&b), "\"mac\":\""));
	}
	buf_done(&b);
	story_reader_free(r);
}

static void try(struct story_reader *r, char *text, size_t turned)
{
	struct story_run run;
	if (!story_read_run(r, text, &JOB, &KEY, &run))
		return;
	check_run(&run);
	check_written(&run);
	must(!story_read_run(r, text, &OTHER, &KEY, &run));
	text[turned % strlen(text)] ^= 1;
	must(!story_read_run(r, text, &JOB, &KEY, &run));
}

/* The text, then what story.c would write behind it. */
static char *sign(const char *text)
{
	size_t len = strlen(text);
	char *signs = mem_alloc(sizeof(JOB) + len), *ret = mem_alloc(len + 64);
	uint64_t mac[2];
	memcpy(signs, &JOB, sizeof(JOB));
	memcpy(signs + sizeof(JOB), text, len);
	siphash128(&KEY, signs, sizeof(JOB) + len, mac);
	snprintf(ret, len + 64, "%s,\"mac\":\"%016llx%016llx\"}", text, (unsigned long long)mac[0],
		(unsigned long long)mac[1]);
	free(signs);
	return ret;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct story_reader *r = story_reader_new();
	char *text = mem_strndup((const char *)data, size), *own = sign(text);
	size_t turned = size ? data[size - 1] * size / 7 : 0;
	try(r, text, turned);
	try(r, own, turned);
	free(own);
	free(text);
	story_reader_free(r);
	return 0;
}
