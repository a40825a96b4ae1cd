#include "controller/watch/predecessor_turn.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "controller/gate/gate.h"
#include "controller/gate/predecessor.h"

#define SLICE 1000 /* answers, and Jobs in them, between two passes */

struct question {
	struct wanted_predecessors wanted;
	uint32_t *found; /* indexes of predecessor_turn.job */
	size_t nfound;
};

struct predecessor_turn {
	char *ns;
	struct question **question;
	size_t count, answered;
	struct map by_name;	 /* the questions with a name */
	bool selects;		 /* some questions have none */
	struct predecessor *job; /* the Jobs that were found, each once */
	size_t njobs;
	struct arena kept;  /* the strings and labels of job */
	size_t found_bytes; /* of all question.found */
	bool too_large;
};

static bool has_name(const void *value, const void *key)
{
	return strcmp(((const struct question *)value)->wanted.name, key) == 0;
}

struct predecessor_turn *predecessor_turn_new(const char *ns)
{
	struct predecessor_turn *t = mem_alloc(sizeof(*t));
	t->ns = mem_strdup(ns);
	map_init(&t->by_name, has_name);
	return t;
}

void predecessor_turn_free(struct predecessor_turn *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->count; i++) {
		free(t->question[i]->found);
		free(t->question[i]);
	}
	free(t->question);
	free(t->job);
	map_done(&t->by_name);
	arena_done(&t->kept);
	free(t->ns);
	free(t);
}

void predecessor_turn_add(struct predecessor_turn *t, const struct wanted_predecessors *w)
{
	struct question *q = mem_alloc(sizeof(*q));
	q->wanted = *w;
	t->question = mem_grow(t->question, t->count + 1, sizeof(struct question *));
	t->question[t->count++] = q;
	if (w->name)
		map_put(&t->by_name, map_hash_string(w->name), q);
	else
		t->selects = true;
}

size_t predecessor_turn_count(const struct predecessor_turn *t)
{
	return t->count;
}

const struct wanted_predecessors *predecessor_turn_question(
	const struct predecessor_turn *t, size_t i)
{
	return &t->question[i]->wanted;
}

bool predecessor_turn_wants(const struct predecessor_turn *t, const char *name)
{
	return t->selects || map_get(&t->by_name, map_hash_string(name), name);
}

bool predecessor_turn_is_too_large(const struct predecessor_turn *t)
{
	return t->too_large;
}

/* ---- what is found --------------------------------------------------------------------------- */

static void weigh(struct predecessor_turn *t)
{
	size_t bytes = t->kept.bytes + t->njobs * sizeof(*t->job) + t->found_bytes;
	t->too_large = bytes > PREDECESSOR_TURN_MAX_BYTES;
}

/* Whether a list of n, which doubles, is full: a name has one Job or a few, a selector
 * thousands. */
static bool is_full(size_t n)
{
	return (n & (n - 1)) == 0;
}

static uint32_t add_job(struct predecessor_turn *t, const struct predecessor *p)
{
	t->job = mem_one_more(t->job, t->njobs, sizeof(*t->job));
	t->job[t->njobs] = *p;
	return (uint32_t)t->njobs++;
}

static bool has_enough(const struct question *q)
{
	return q->nfound > PREDECESSOR_TAKEN_MAX;
}

static void add_found(struct predecessor_turn *t, struct question *q, uint32_t job)
{
	if (is_full(q->nfound)) {
		q->found = mem_grow(q->found, q->nfound ? 2 * q->nfound : 1, sizeof(*q->found));
		t->found_bytes += (q->nfound ? q->nfound : 1) * sizeof(*q->found);
	}
	q->found[q->nfound++] = job;
	weigh(t);
}

static const struct label *keep_labels(struct arena *a, const struct predecessor *p)
{
	struct label *all = arena_take(a, p->nlabels, sizeof(*all));
	for (size_t i = 0; i < p->nlabels; i++)
		all[i] = (struct label){
			arena_string(a, p->labels[i].key), arena_string(a, p->labels[i].value)};
	return all;
}

static uint32_t keep(struct predecessor_turn *t, struct predecessor *p)
{
	p->ns = t->ns;
	p->name = arena_string(&t->kept, p->name);
	p->labels = keep_labels(&t->kept, p);
	p->failure = arena_string(&t->kept, p->failure);
	return add_job(t, p);
}

/* Adds a Job to a question. Its one copy is made for the first question. */
static void found_for(
	struct predecessor_turn *t, struct question *q, struct predecessor *p, int64_t *kept)
{
	if (has_enough(q))
		return;
	if (*kept < 0)
		*kept = keep(t, p);
	add_found(t, q, (uint32_t)*kept);
}

static bool takes(const struct question *q, const struct predecessor *p)
{
	return !q->wanted.name && !has_enough(q) &&
	       labels_match(p->labels, p->nlabels, q->wanted.selector);
}

void predecessor_turn_see(struct predecessor_turn *t, const struct job *j)
{
	struct predecessor p = predecessor_of_job(j, false);
	struct question *named = map_get(&t->by_name, map_hash_string(p.name), p.name);
	bool selectable = p.nlabels <= PREDECESSOR_LABELS_MAX;
	int64_t kept = -1;
	if (t->too_large)
		return;
	if (!selectable) /* that there are too many is all that the queue needs to know */
		p.nlabels = PREDECESSOR_LABELS_MAX + 1;
	if (named)
		found_for(t, named, &p, &kept);
	for (size_t i = 0; selectable && t->selects && i < t->count; i++)
		if (takes(t->question[i], &p))
			found_for(t, t->question[i], &p, &kept);
}

void predecessor_turn_begin_anew(struct predecessor_turn *t)
{
	for (size_t i = 0; i < t->count; i++) {
		free(t->question[i]->found);
		t->question[i]->found = NULL;
		t->question[i]->nfound = 0;
	}
	t->njobs = t->found_bytes = 0;
	free(t->job);
	t->job = NULL;
	arena_done(&t->kept);
	t->too_large = false;
}

static bool is_there(
	const struct predecessor_turn *t, const struct question *q, const struct uid *uid)
{
	for (size_t i = 0; i < q->nfound; i++)
		if (uid_cmp(&t->job[q->found[i]].uid, uid) == 0)
			return true;
	return false;
}

void predecessor_turn_recall(
	struct predecessor_turn *t, size_t i, const struct ledger_outcome_row *row)
{
	struct question *q = t->question[i];
	bool ended = row->outcome == LEDGER_JOB_SUCCEEDED || row->outcome == LEDGER_JOB_FAILED;
	if (has_enough(q) || is_there(t, q, &row->uid))
		return;
	struct predecessor p = {.uid = row->uid,
		.ns = t->ns,
		.name = q->wanted.name,
		.created_ms = row->created_ms,
		.state = row->outcome == LEDGER_JOB_SUCCEEDED ? PREDECESSOR_SUCCEEDED
			 : row->outcome == LEDGER_JOB_FAILED  ? PREDECESSOR_FAILED
							      : PREDECESSOR_STARTED,
		.ended_ms = ended ? row->ended_ms : 0,
		.failure = "",
		.gone = !row->held,
		.deleted = row->outcome == LEDGER_JOB_DELETED,
		.by_ledger = true};
	add_found(t, q, add_job(t, &p));
}

/* ---- the answers ----------------------------------------------------------------------------- */

static void answer(const struct predecessor_turn *t, const struct question *a, struct queue *q,
	const struct gate *g)
{
	struct predecessor *found = a->nfound ? mem_grow(NULL, a->nfound, sizeof(*found)) : NULL;
	for (size_t k = 0; k < a->nfound; k++) {
		found[k] = t->job[a->found[k]];
		found[k].followed = gate_follows_job(g, &found[k].uid);
	}
	queue_answer_wanted(q, a->wanted.id, found, a->nfound);
	free(found);
}

bool predecessor_turn_answer(struct predecessor_turn *t, struct queue *q, const struct gate *g)
{
	for (size_t told = 0; t->answered < t->count && told < SLICE; t->answered++) {
		told += 1 + t->question[t->answered]->nfound;
		answer(t, t->question[t->answered], q, g);
	}
	return t->answered == t->count;
}

void predecessor_turn_return(struct predecessor_turn *t, struct queue *q)
{
	for (size_t i = 0; i < t->count; i++)
		queue_return_wanted(q, t->question[i]->wanted.id);
}
