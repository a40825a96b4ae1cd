/* The questions of each controller's queue about Jobs that others wait for, answered by the API server and then by
 * the ledger, each in its time. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "controller/watch/predecessor_turn.h"
#include "test/sim/pipelines.h"
#include "test/sim/pipelines_priv.h"
#include "test/sim/sim.h"

struct sim_turn {
	struct sim_turn *older;
	struct replica *of;
	uint64_t life;
	struct predecessor_turn *asks;
	size_t ns;
	bool failed;
};

/* What a process has taken from its queue and not begun. */
struct asking {
	uint64_t life;
	bool busy[NAMESPACES];
	struct wanted_predecessors *wanted;
	size_t count;
};

static struct asking *asking_of(struct sim *s, const struct replica *r)
{
	struct asking **a = &s->pipelines.asking[r->index];
	if (!*a)
		*a = sim_alloc(s, sizeof(**a));
	if ((*a)->life != r->life) {
		free((*a)->wanted);
		**a = (struct asking){.life = r->life};
	}
	return *a;
}

static bool is_alive(const struct sim_turn *t)
{
	return t->of->up && t->of->life == t->life;
}

static void turn_ends(struct sim *s, struct replica *r, void *arg)
{
	struct sim_turn *t = arg;
	asking_of(s, r)->busy[t->ns] = false;
	sim_log(s, "%s has %s what others wait for in %s", r->identity,
		t->failed ? "not read" : "read", namespace_names[t->ns]);
	if (t->failed)
		predecessor_turn_return(t->asks, r->queue);
	else
		predecessor_turn_answer(t->asks, r->queue, r->gate);
	if (!t->failed)
		sim_reach(s, PATH_PREDECESSORS_READ);
	replica_step_soon(s, r);
}

static int64_t draw_latency(struct sim *s, int64_t most_ms)
{
	return rng_skewed(&s->pipelines.rng, 1, most_ms > 1 ? most_ms : 1);
}

static void answer_later(struct sim *s, struct sim_turn *t, bool failed)
{
	t->failed |= failed;
	if (is_alive(t))
		replica_at(s, t->of, s->now_ms + draw_latency(s, s->faults.ledger_latency_ms),
			turn_ends, t);
}

/* sql/outcomes.sql: the last run tells. */
static bool row_of_job(const struct sim *s, const struct uid *uid, struct ledger_outcome_row *ret)
{
	const struct model_reservation *const *holds;
	bool any = false;
	*ret = (struct ledger_outcome_row){.uid = *uid};
	for (size_t i = 0, n = model_ledger_reservations(s->ledger, &holds); i < n; i++) {
		const struct model_reservation *h = holds[i];
		if (!h->committed || uid_cmp(&h->reservation.uid, uid))
			continue;
		any = true;
		ret->held |= h->open;
		ret->created_ms = h->created_ms;
		ret->ended_ms = h->stopped ? h->stop.at_ms : h->close.at_ms;
		ret->outcome = h->open ? LEDGER_JOB_GOES_ON : h->outcome;
	}
	if (s->o.bug == BUG_END_GUESSED && any && !ret->held && ret->outcome == LEDGER_JOB_GOES_ON)
		ret->outcome = LEDGER_JOB_DELETED;
	return any;
}

static void recall_name(struct sim *s, struct sim_turn *t, size_t question, const char *name)
{
	for (const struct model_job *j =
			pipelines_next_named(s, s->api.first, namespace_names[t->ns], name);
		j; j = pipelines_next_named(s, j->next, namespace_names[t->ns], name)) {
		struct ledger_outcome_row row;
		if (row_of_job(s, &j->now->job.uid, &row))
			predecessor_turn_recall(t->asks, question, &row);
	}
}

static void reads_ledger(struct sim *s, void *arg)
{
	struct sim_turn *t = arg;
	bool down = s->now_ms < s->ledger_down_until_ms || !way_is_open(s, &t->of->to_ledger) ||
		    rng_odds(&s->pipelines.rng, s->faults.ledger_lost);
	for (size_t i = 0; !down && i < predecessor_turn_count(t->asks); i++) {
		const struct wanted_predecessors *w = predecessor_turn_question(t->asks, i);
		if (is_alive(t) && w->name && s->o.bug != BUG_OUTCOME_UNREAD)
			recall_name(s, t, i, w->name);
	}
	answer_later(s, t, down);
}

static void reads_api(struct sim *s, void *arg)
{
	struct sim_turn *t = arg;
	bool down = !way_is_open(s, &t->of->to_api) ||
		    rng_odds(&s->pipelines.rng, s->faults.busy + s->faults.lost);
	for (const struct model_job *j = s->api.first; is_alive(t) && !down && j; j = j->next) {
		struct job job = j->now->job;
		if (j->now->gone || strcmp(job.ns, namespace_names[t->ns]))
			continue;
		if (s->o.bug == BUG_FAILURE_UNSEEN && job.status.failed) {
			job.status.failed = false;
			job.status.complete = true;
		}
		predecessor_turn_see(t->asks, &job);
	}
	if (down)
		answer_later(s, t, true);
	else
		sim_after(s, draw_latency(s, s->faults.ledger_latency_ms), reads_ledger, t);
}

static void begin_turn(struct sim *s, struct replica *r, struct asking *a, size_t ns)
{
	struct sim_turn *t = sim_alloc(s, sizeof(*t));
	size_t kept = 0;
	*t = (struct sim_turn){.older = s->pipelines.turns, .of = r, .life = r->life, .ns = ns};
	t->asks = predecessor_turn_new(namespace_names[ns]);
	s->pipelines.turns = t;
	for (size_t i = 0; i < a->count; i++) {
		if (strcmp(a->wanted[i].ns, namespace_names[ns]))
			a->wanted[kept++] = a->wanted[i];
		else
			predecessor_turn_add(t->asks, &a->wanted[i]);
	}
	a->count = kept;
	a->busy[ns] = predecessor_turn_count(t->asks) > 0;
	if (a->busy[ns])
		sim_after(s, draw_latency(s, s->faults.api_latency_ms), reads_api, t);
}

void pipelines_ask(struct sim *s, struct replica *r)
{
	struct wanted_predecessors w;
	if (!s->pipelines.on || !gate_leading(r->gate))
		return;
	struct asking *a = asking_of(s, r);
	while (queue_take_wanted(r->queue, &w)) {
		sim_log(s, "%s wants to know of %s/%s", r->identity, w.ns,
			w.name ? w.name : "labels");
		a->wanted = mem_grow(a->wanted, a->count + 1, sizeof(*a->wanted));
		a->wanted[a->count++] = w;
	}
	for (size_t ns = 0; ns < NAMESPACES && a->count > 0; ns++)
		if (!a->busy[ns])
			begin_turn(s, r, a, ns);
}

void pipelines_forget_questions(struct sim *s)
{
	for (struct sim_turn *t = s->pipelines.turns; t; t = t->older)
		predecessor_turn_free(t->asks);
	for (size_t i = 0; i < REPLICAS; i++)
		if (s->pipelines.asking[i])
			free(s->pipelines.asking[i]->wanted);
}
