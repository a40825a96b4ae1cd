#include "controller/answers/decision_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "base/mem.h"

struct entry {
	uint64_t seq;
	int64_t at_ms;
	enum note_kind kind;
	char *ns, *name, *clusterqueue, *text;
};

struct decision_log {
	struct entry entry[DECISION_LOG_SIZE]; /* the entry of seq s is at s % DECISION_LOG_SIZE */
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
		return; /* no decision: when many wait there would be nothing else */
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

static void put_entry(const struct entry *e, struct json_writer *w)
{
	jw_object(w, NULL);
	jw_int(w, "seq", (int64_t)e->seq);
	jw_texts(w, "at", instant_exact(e->at_ms).s, "kind", note_kind_name(e->kind), "namespace",
		e->ns ? e->ns : "", "job", e->name ? e->name : "", "clusterQueue",
		e->clusterqueue ? e->clusterqueue : "", "text", e->text, NULL);
	jw_end(w);
}

void decision_log_put(
	const struct decision_log *c, uint64_t after, const char *ns, struct json_writer *w)
{
	uint64_t oldest = c->last > DECISION_LOG_SIZE ? c->last - DECISION_LOG_SIZE : 0;
	uint64_t from = after < oldest || after > c->last ? oldest : after;
	jw_array(w, "decisions");
	for (uint64_t seq = from + 1; seq <= c->last; seq++) {
		const struct entry *e = &c->entry[seq % DECISION_LOG_SIZE];
		if (!ns || (e->ns && strcmp(e->ns, ns) == 0))
			put_entry(e, w);
	}
	jw_end(w);
}
