#include "controller/gate/refusals.h"

#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "controller/gate/core.h"
#include "controller/gate/note.h"
#include "controller/gate/reasons.h"
#include "controller/gate/record.h"

#define TELL_AGAIN_MS INT64_C(3000000) /* an Event is gone after an hour */
#define TELL_OTHERS_MS INT64_C(600000) /* other words: some are new each time */

bool refusal_stands(const struct gate_job *j)
{
	return j->refusals.generation == j->seen.generation &&
	       j->refusals.bytes == j->seen.annotation_bytes;
}

void refusal_forget_starts(struct gate_job *j)
{
	j->refusals.starts = 0;
}

void refusal_keep(struct gate_job *j)
{
	j->refusals.generation = j->seen.generation;
	j->refusals.bytes = j->seen.annotation_bytes;
}

/* Tells whether a refusal is noted: the first of its kind, then the second, fourth, eighth ... in a
 * row, and when none was noted for long. What is owed is asked for each minute; an Event each
 * minute tells no more. */
static bool tells_refusal(
	const struct gate *g, struct refusals *r, enum intent_kind asked, const char *said)
{
	uint32_t bit = UINT32_C(1) << asked;
	uint64_t words = map_hash_string(said);
	int64_t rest_ms = words == r->told_words ? TELL_AGAIN_MS : TELL_OTHERS_MS;
	r->others += r->others < UINT32_MAX;
	if ((r->told & bit) && (r->others & (r->others - 1)) != 0 &&
		g->tick_ms - r->told_ms < rest_ms)
		return false;
	r->told |= bit;
	r->told_ms = g->tick_ms;
	r->told_words = words;
	return true;
}

void refusal_note(struct gate *g, struct gate_job *j, enum intent_kind asked, const char *said)
{
	if (tells_refusal(g, &j->refusals, asked, said))
		gate_note(g, NOTE_REFUSE, j, "the API server refuses: %s", said)->reason =
			REASON_REFUSED_BY_SERVER;
}

/* This sentence comes first: the queue's speaks only of the flavors that are left. */
void explain_lending(const struct gate *g, const struct gate_job *j, struct explanation *x)
{
	char rest[sizeof(x->sentence)];
	if (j->refusals.no_lending_ms <= g->tick_ms || x->reason == WAIT_NOT)
		return;
	memcpy(rest, x->sentence, sizeof(rest));
	snprintf(x->sentence, sizeof(x->sentence),
		"kept off idle resources, for this API server (before Kubernetes 1.36) does not let its requests be rewritten; ask for kubernetes.io/batch-cpu and batch-memory to run it there. Otherwise: %.*s",
		(int)(sizeof(x->sentence) / 2), rest);
}
