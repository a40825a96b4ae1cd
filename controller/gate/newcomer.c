#include "controller/gate/newcomer.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/must.h"
#include "controller/gate/core.h"
#include "controller/gate/gate.h"
#include "controller/gate/note.h"
#include "controller/gate/reasons.h"
#include "controller/gate/record.h"
#include "sluice/intake.h"

#define LOOK_MS 10000	/* between looks at a Job that its queue cannot take */
#define PAUSE_MS 1000	/* between looks while nothing starts */
#define DENIED_MS 60000 /* until the Namespace is asked for again, after a no */
#define COUNT_KEPT_MS                                                                              \
	300000 /* how long a Job that cannot be taken is judged by one count of its pods */
#define COUNT_FRESH_MS 10000 /* the oldest count that is written to the ledger */

static const char ASKING[] =
	"it runs, and ran before it was queued: whether an admin lets it be adopted is being asked";
static const char COUNTING[] = "it runs, and ran before it was queued: its pods are being counted";
static const char PAUSED[] =
	"it runs, and ran before it was queued: it is adopted when Jobs start again";

static void forget_pods(struct newcomer *x)
{
	for (size_t i = 0; i < x->nnodes; i++)
		free(x->node[i]);
	free(x->node);
	x->node = NULL;
	x->nnodes = 0;
	x->counted = false;
}

void newcomer_end(struct gate_job *j)
{
	forget_pods(&j->newcomer);
	free(j->newcomer.why);
	j->newcomer = (struct newcomer){.attempt = j->newcomer.attempt};
}

void newcomer_lost(struct gate *g, struct gate_job *j)
{
	if (j->newcomer.why)
		queue_block_job(g->queue, &j->uid, NULL);
	newcomer_end(j);
}

static bool is_newcomer(const struct gate_job *j)
{
	const struct facts *f = &j->seen;
	return j->phase == PHASE_WAITING && !j->story && j->queue && j->queue[0] && f->start_seen &&
	       !f->finished && !f->deleting && !f->uncontrolled && !j->lost;
}

bool newcomer_asks(const struct gate *g, const struct gate_job *j)
{
	(void)g;
	return is_newcomer(j) && !j->newcomer.asked;
}

bool newcomer_answered(struct gate *g, struct gate_job *j, const struct job_answer *a)
{
	if (!newcomer_asks(g, j))
		return true;
	switch (a->outcome) {
	case JOB_DONE:
		j->newcomer.asked = true;
		j->newcomer.begun_by_ms = a->adopt_begun_by_ms;
		break;
	case JOB_GONE: /* the Namespace is, and so will be the Job */
	case JOB_REFUSED:
	case JOB_DENIED:
		job_rest(g, j, DENIED_MS);
		break;
	case JOB_BUSY:
	case JOB_IN_DOUBT:
		job_rest(g, j, a->retry_ms > 0 ? a->retry_ms : PAUSE_MS);
		break;
	}
	return true;
}

void newcomer_counted(struct gate *g, struct gate_job *j, const struct job_answer *a)
{
	struct newcomer *x = &j->newcomer;
	forget_pods(x);
	x->counted = true;
	x->counted_ms = g->tick_ms;
	x->pods = a->pods < INT32_MAX ? (int32_t)a->pods : INT32_MAX;
	x->node = mem_array(a->nnodes, sizeof(*x->node));
	for (x->nnodes = 0; x->nnodes < a->nnodes; x->nnodes++)
		x->node[x->nnodes] = mem_strdup(a->node[x->nnodes]);
}

void newcomer_spent(struct gate_job *j, int32_t next_attempt)
{
	if (next_attempt > j->newcomer.attempt)
		j->newcomer.attempt = next_attempt;
}

static void keep_out(struct gate *g, struct gate_job *j, const char *why)
{
	static const char begins[] =
		"it runs, and ran before it was queued: it is not stopped, and holds no quota; it is adopted when this is over: ";
	struct newcomer *x = &j->newcomer;
	job_pause(g, j, g->tick_ms + LOOK_MS);
	if (x->why && strcmp(x->why + strlen(begins), why) == 0) {
		queue_block_job(
			g->queue, &j->uid, x->why); /* another reason may have stood there */
		return;
	}
	char *before = x->why;
	struct buf text;
	buf_init(&text, sizeof(begins) + QUEUE_INTAKE_SIZE);
	buf_printf(&text, "%s%s", begins, why);
	x->why = buf_take(&text);
	queue_block_job(g->queue, &j->uid, x->why);
	free(before);
	gate_note(g, NOTE_KEEP_OUT, j, "%s", x->why);
}

static int32_t pods_of(const struct gate_job *j)
{
	int32_t seen = job_pods_in_sight(j);
	return seen > j->newcomer.pods ? seen : j->newcomer.pods;
}

static int32_t next_attempt(const struct gate_job *j)
{
	int32_t number = j->attempt.number + 1;
	return number > j->newcomer.attempt ? number : j->newcomer.attempt;
}

void newcomer_adopted(struct gate *g, struct gate_job *j)
{
	if (!newcomer_owes_story(j))
		return;
	char excess[QUEUE_INTAKE_SIZE];
	bool over = queue_job_excess(g->queue, &j->uid, excess);
	gate_note(g, NOTE_TAKE_IN, j,
		"adopted: it ran before it was queued, and goes on; its quota, and what it costs, are counted from now on%s%s%s",
		over ? "; " : "", over ? excess : "",
		over ? ", so nothing more starts there until enough has ended" : "");
}

static bool was_counted_since(const struct gate *g, const struct gate_job *j, int64_t ms)
{
	return j->newcomer.counted && g->tick_ms - j->newcomer.counted_ms <= ms;
}

static void count_pods(struct gate *g, struct gate_job *j)
{
	forget_pods(&j->newcomer);
	queue_block_job(g->queue, &j->uid, j->newcomer.why ? j->newcomer.why : COUNTING);
	job_request(g, j, INTENT_PODS);
}

/* Takes the Job in by the nodes of its pods: their flavor may not suit its template. */
static enum newcomer_verdict take_in(
	struct gate *g, struct gate_job *j, struct ledger_reservation *ret)
{
	const struct newcomer *x = &j->newcomer;
	struct intake in;
	if (!was_counted_since(g, j, COUNT_KEPT_MS)) {
		count_pods(g, j);
		return NEWCOMER_GOES_ON;
	}
	if (!queue_intake_on(g->queue, &j->uid, pods_of(j), (const char *const *)x->node, x->nnodes,
		    g->now_ms, &in)) {
		keep_out(g, j, in.why_not);
		return NEWCOMER_GOES_ON;
	}
	if (!was_counted_since(g, j, COUNT_FRESH_MS)) {
		count_pods(g, j);
		return NEWCOMER_GOES_ON;
	}
	if (job_busy(j))
		return NEWCOMER_GOES_ON;
	*ret = (struct ledger_reservation){.uid = j->uid,
		.attempt = next_attempt(j),
		.state = LEDGER_POSTED,
		.reserved_ms = g->now_ms,
		.started_ms = g->now_ms,
		.estimated = true};
	queue_block_job(g->queue, &j->uid, NULL);
	newcomer_end(j);
	must(queue_take_in(g->queue, &j->uid, in.line, in.nlines, g->now_ms));
	return NEWCOMER_TAKE_OVER;
}

/* Tells whether it began early enough: it may have been resumed since the last look. */
static bool began_in_time(const struct gate_job *j)
{
	return j->seen.start_ms <= j->newcomer.begun_by_ms;
}

enum newcomer_verdict newcomer_see_to(
	struct gate *g, struct gate_job *j, struct ledger_reservation *ret)
{
	if (!is_newcomer(j) || (j->newcomer.asked && !began_in_time(j)))
		return NEWCOMER_INTRUDER;
	if (!j->newcomer.asked) {
		queue_block_job(g->queue, &j->uid, ASKING);
		job_request(g, j, INTENT_NAMESPACE);
	} else if (gate_starts_pause(g)) {
		queue_block_job(g->queue, &j->uid, PAUSED);
		gate_alarm(g, j, g->tick_ms + PAUSE_MS);
	} else {
		return take_in(g, j, ret);
	}
	return NEWCOMER_GOES_ON;
}

/* Tells whether the Job was adopted, and no story says so yet. */
static bool is_untold(const struct gate_job *j)
{
	return j->attempt.estimated && !j->story && !j->seen.suspend && !j->lost;
}

bool newcomer_owes_story(const struct gate_job *j)
{
	return is_untold(j) && j->phase == PHASE_RUNNING && j->attempt.committed &&
	       !j->attempt.adopting && !j->stop.wanted;
}

bool newcomer_is_reserved(const struct gate_job *j)
{
	return is_untold(j) && j->seen.start_seen;
}

void newcomer_tell(const struct gate_job *j, struct intent *i)
{
	i->drop_notice = j->seen.has_notice; /* from a wait before it left its queue */
	i->story.reason = REASON_ADOPTED;
	i->story.history = j->seen.history;
}
