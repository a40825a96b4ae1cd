#include "controller/gate/outcome_note.h"

#include "base/backoff.h"
#include "base/order.h"
#include "controller/gate/core.h"
#include "controller/gate/gate.h"
#include "controller/gate/job_table.h"
#include "controller/gate/record.h"

#define TICK_MS 1000
#define LOOKS_MAX 100	/* in a tick */
#define COST_MAX 100000 /* names that are looked at in a tick, or a little more */
#define POSTS_BUSY 2
#define OWNER_BYTES_MAX (128 * 1024)
#define RETRY_MS 1000
#define RETRY_MAX_MS 512000

static bool waits(const struct gate *g, const struct gate_job *j)
{
	return job_waits(g, j) && !j->seen.deleting && j->seen.annotation_bytes <= OWNER_BYTES_MAX;
}

static bool may_write(const struct gate *g, const struct gate_job *j)
{
	return !job_busy(j) && !j->need_read && g->tick_ms >= j->outcome_note.not_before_ms;
}

static bool is_unanswered(const struct gate_job *j)
{
	return j && job_busy(j) && job_busy_with(j) == INTENT_OUTCOMES;
}

/* Keeps unanswered PATCHes, which count: a slow API server is given no more to do. */
static void forget_answered(struct gate *g)
{
	struct outcome_notes *n = &g->outcome_notes;
	size_t kept = 0;
	for (size_t i = 0; i < n->nposted; i++)
		if (is_unanswered(gate_find_job(g, &n->posted[i])))
			n->posted[kept++] = n->posted[i];
	n->nposted = kept;
}

/* Jobs that cannot be written to now are returned at the end: else they would come again at
 * once. */
void outcome_note_tick(struct gate *g)
{
	struct uid uid, later[LOOKS_MAX];
	size_t nlater = 0, cost = 0, most = gate_is_busy(g) ? POSTS_BUSY : OUTCOME_POSTS_MAX;
	struct outcome_notes *n = &g->outcome_notes;
	if (g->tick_ms < g->outcome_notes.due_ms)
		return;
	n->due_ms = g->tick_ms + TICK_MS;
	forget_answered(g);
	for (size_t looks = 0; looks < LOOKS_MAX && n->nposted < most && cost < COST_MAX; looks++) {
		if (!queue_take_unrecorded(g->queue, &uid))
			break;
		struct gate_job *j = gate_find_job(g, &uid);
		if (!j || !waits(g, j))
			continue;
		if (!may_write(g, j)) {
			later[nlater++] = uid;
			continue;
		}
		if (!queue_is_unrecorded(g->queue, &uid, &cost))
			continue;
		gate_want(g, j, INTENT_OUTCOMES);
		n->posted[n->nposted++] = uid;
	}
	for (size_t i = 0; i < nlater; i++)
		queue_return_unrecorded(g->queue, &later[i]);
}

void outcome_note_tell(struct gate *g, struct gate_job *j, struct intent *i)
{
	buf_reset(&g->outcome_notes.text);
	queue_job_outcomes(g->queue, &j->uid, &g->outcome_notes.text);
	i->outcomes = buf_text(&g->outcome_notes.text);
}

/* Whether a PATCH in doubt landed the Job tells: the queue compares. */
bool outcome_note_answered(struct gate *g, struct gate_job *j, const struct job_answer *a)
{
	struct outcome_note *n = &j->outcome_note;
	if (a->outcome == JOB_DONE) {
		n->failures = 0;
		return true;
	}
	int64_t pause_ms = gate_spread(g, backoff_ms(RETRY_MS, n->failures++, RETRY_MAX_MS));
	n->not_before_ms = g->tick_ms + greater(a->retry_ms, pause_ms);
	queue_return_unrecorded(g->queue, &j->uid);
	return true;
}
