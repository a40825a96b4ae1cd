#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "controller/gate/core.h"
#include "controller/gate/gate.h"
#include "controller/gate/note.h"
#include "controller/gate/record.h"

#define NOTES_MAX 4096 /* more were not taken for a long time: the oldest go */

const char *note_kind_name(enum note_kind k)
{
	static const char *const names[] = {
#define NOTE(kind, name, ...) [NOTE_##kind] = name,
#include "controller/gate/notes.def"
	};
	return names[k];
}

static void drop_oldest_note(struct gate *g)
{
	struct note_item *item = g->notes.first;
	g->notes.first = item->next;
	if (!g->notes.first)
		g->notes.tail = &g->notes.first;
	g->notes.count--;
	free(g->notes.out);
	g->notes.out = item;
}

/* Names the ClusterQueue of the attempt; of a Job without one, where it is queued. */
static const char *clusterqueue_of(const struct gate *g, const struct gate_job *j)
{
	struct job_outline o;
	if (!j || j->attempt.clusterqueue[0] || !queue_outline_job(g->queue, &j->uid, &o))
		return j ? j->attempt.clusterqueue : "";
	return o.clusterqueue;
}

struct note *gate_note(
	struct gate *g, enum note_kind kind, const struct gate_job *j, const char *fmt, ...)
{
	const char *ns = j ? j->ns : "", *name = j ? j->name : "";
	const char *preempting =
		j && kind == NOTE_STOP && j->stop.preempting ? j->stop.preempting : "";
	const char *clusterqueue = kind == NOTE_STOP ? clusterqueue_of(g, j)
				   : j		     ? j->attempt.clusterqueue
						     : "";
	size_t ns_size = strlen(ns) + 1, name_size = strlen(name) + 1;
	size_t preempting_size = strlen(preempting) + 1, queue_size = strlen(clusterqueue) + 1;
	struct note_item *item =
		mem_alloc(sizeof(*item) + ns_size + name_size + preempting_size + queue_size);
	struct note *n = &item->note;
	memcpy(item->names, ns, ns_size);
	memcpy(item->names + ns_size, name, name_size);
	memcpy(item->names + ns_size + name_size, preempting, preempting_size);
	n->preempting = item->names + ns_size + name_size;
	memcpy(item->names + ns_size + name_size + preempting_size, clusterqueue, queue_size);
	n->clusterqueue = item->names + ns_size + name_size + preempting_size;
	n->kind = kind;
	n->at_ms = g->now_ms;
	n->uid = j ? j->uid : (struct uid){0};
	n->ns = item->names;
	n->name = item->names + ns_size;
	n->attempt = j ? j->attempt.number : 0;
	n->reason = n->preemption = n->currency = "";
	n->waited_ms = j && g->now_ms > j->seen.queued_ms ? g->now_ms - j->seen.queued_ms : 0;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(n->text, sizeof(n->text), fmt, ap);
	va_end(ap);
	*g->notes.tail = item;
	g->notes.tail = &item->next;
	if (++g->notes.count > NOTES_MAX)
		drop_oldest_note(g);
	return n;
}

const struct note *gate_take_note(struct gate *g)
{
	if (!g->notes.first)
		return NULL;
	drop_oldest_note(g);
	return &g->notes.out->note;
}
