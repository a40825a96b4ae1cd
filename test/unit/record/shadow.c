#include "test/unit/record/shadow.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "record/facts.h"
#include "record/player.h"
#include "record/recorder.h"

struct shadow {
	struct player *player;
	struct buf line;
	uint64_t heard[QUEUE_CALL_KINDS], bytes;
	char fault[8192];
};

static void hear(const struct queue_call *call, void *ctx)
{
	struct shadow *s = ctx;
	struct err e = {""};
	s->heard[call->kind]++;
	if (s->fault[0])
		return;
	buf_reset(&s->line);
	schema_write(queue_call_schema(), call, &s->line);
	s->bytes += s->line.len + 1;
	int rc = player_line(s->player, buf_slice(&s->line), &e);
	if (rc == 0)
		snprintf(s->fault, sizeof(s->fault), "recorded %.3500s\nnow      %.3500s",
			buf_text(&s->line), player_now(s->player).ptr);
	else if (rc < 0)
		snprintf(s->fault, sizeof(s->fault), "cannot be read: %s\n%.3500s", e.text,
			buf_text(&s->line));
}

struct shadow *shadow_new(struct queue *q)
{
	struct shadow *s = mem_alloc(sizeof(*s));
	s->player = player_new();
	buf_init(&s->line, RECORD_LINE_MAX);
	queue_listen(q, (struct queue_listener){hear, s});
	return s;
}

void shadow_free(struct shadow *s)
{
	if (!s)
		return;
	player_free(s->player);
	buf_done(&s->line);
	free(s);
}

const char *shadow_fault(const struct shadow *s)
{
	return s->fault;
}

uint64_t shadow_heard(const struct shadow *s, enum queue_call_kind kind)
{
	return s->heard[kind];
}

uint64_t shadow_decisions(const struct shadow *s)
{
	return player_counts(s->player).decisions;
}

uint64_t shadow_bytes(const struct shadow *s)
{
	return s->bytes;
}
