/* Jobs for the tests of decoders: a whole text, or a Job with a piece or two of its own. */
#ifndef SLUICE_TEST_WIRE_WIRE_JOB_H
#define SLUICE_TEST_WIRE_WIRE_JOB_H

#include "controller/wire/decode.h"
#include "wire.h"

#define UID "'uid':'123e4567-e89b-12d3-a456-426614174000'"

static inline struct job *decoded(const char *text)
{
	struct job *j = NULL;
	struct err e = {""};
	if (decode_job(parsed(text), NULL, &j, &e) < 0)
		fail_msg("%s: %s", text, e.text);
	return j;
}

/* A Job with these pieces inside; "" for none. */
static inline struct job *job_with(const char *meta, const char *spec, const char *pod)
{
	struct buf b;
	buf_init(&b, 64 << 20);
	buf_puts(&b, "{'kind':'Job','metadata':{'name':'train','namespace':'team-a'," UID);
	buf_printf(&b, "%s%s},'spec':{", *meta ? "," : "", meta);
	buf_printf(&b, "%s%s'template':{'spec':{%s}}}}", spec, *spec ? "," : "", pod);
	struct job *j = decoded(buf_text(&b));
	buf_done(&b);
	return j;
}

#endif
