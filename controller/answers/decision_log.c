#include "controller/answers/decision_log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "controller/common/stamp.h"

struct entry {
	uint64_t seq;
	int64_t at_ms;
	enum note_kind kind;
	char *ns, *name, *clusterqueue, *text;
};

struct decision_log {
	struct entry entry[DECISION_LOG_SIZE]; /* that of seq s is at s % DECISION_LOG_SIZE */
	uint64_t last;
};

static void entry_done(struct entry *e)
{
	free(e->ns);
	free(e->name);
	free(e->clusterqueue);
	free(e->text);
}

struct decision_log *decision_log_new(void)
{
	return mem_alloc(sizeof(struct decision_log));
}

void decision_log_free(struct decision_log *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < DECISION_LOG_SIZE; i++)
		entry_done(&c->entry[i]);
	free(c);
}

void decision_log_add(struct decision_log *c, const struct note *n)
{
	if (n->kind == NOTE_WAIT)
		return; /* no decision, and when many wait there would be nothing else */
	struct entry *e = &c->entry[++c->last % DECISION_LOG_SIZE];
	entry_done(e);
	*e = (struct entry){
		.seq = c->last,
		.at_ms = n->at_ms,
		.kind = n->kind,
		.ns = mem_strdup(n->ns),
		.name = mem_strdup(n->name),
		.clusterqueue = mem_strdup(n->clusterqueue),
		.text = mem_strdup(n->text),
	};
}

uint64_t decision_log_last(const struct decision_log *c)
{
	return c->last;
}

static void entry_render(const struct entry *e, struct buf *out)
{
	char at[STAMP_TEXT_SIZE];
	buf_printf(out, "{\"seq\":%" PRIu64 ",\"at\":\"%s\",\"kind\":", e->seq,
		stamp_format(e->at_ms, at));
	buf_json_string(out, note_kind_name(e->kind));
	buf_puts(out, ",\"namespace\":");
	buf_json_string(out, e->ns ? e->ns : "");
	buf_puts(out, ",\"job\":");
	buf_json_string(out, e->name ? e->name : "");
	buf_puts(out, ",\"clusterQueue\":");
	buf_json_string(out, e->clusterqueue ? e->clusterqueue : "");
	buf_puts(out, ",\"text\":");
	buf_json_string(out, e->text);
	buf_putc(out, '}');
}

void decision_log_render(
	const struct decision_log *c, uint64_t after, const char *ns, struct buf *out)
{
	uint64_t oldest = c->last > DECISION_LOG_SIZE ? c->last - DECISION_LOG_SIZE : 0;
	uint64_t from = after < oldest || after > c->last ? oldest : after;
	const char *comma = "";
	buf_puts(out, "{\"decisions\":[");
	for (uint64_t seq = from + 1; seq <= c->last; seq++) {
		const struct entry *e = &c->entry[seq % DECISION_LOG_SIZE];
		if (ns && (!e->ns || strcmp(e->ns, ns) != 0))
			continue;
		buf_puts(out, comma);
		comma = ",";
		entry_render(e, out);
	}
	buf_puts(out, "]}\n");
}
