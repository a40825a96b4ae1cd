#include "controller/forecast/moves.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "controller/forecast/moves_priv.h"

/* ---- what was told of each Job ----------------------------------------------------------------- */

static uint64_t digest_of(const struct job_outline *o)
{
	const int64_t numbers[] = {o->priority, o->pods, o->full_pods, o->expected_ms};
	return map_hash_bytes(numbers, sizeof(numbers)) ^ map_hash_string(o->localqueue) * 31;
}

static bool has_moved(int64_t told_ms, int64_t start_ms, int64_t now_ms)
{
	if (told_ms == PLAY_NEVER)
		return false;
	if (start_ms == PLAY_NEVER)
		return true;
	int64_t by_ms = start_ms > told_ms ? start_ms - told_ms : told_ms - start_ms;
	int64_t left_ms = told_ms > now_ms ? told_ms - now_ms : 0;
	return by_ms > MOVES_LEAST_MS && by_ms > left_ms / 4;
}

static struct moved *add_moved(struct making *m)
{
	size_t n = m->now.head.moved++;
	m->now.moved = mem_one_more(m->now.moved, n, sizeof(*m->now.moved));
	memset(&m->now.moved[n], 0, sizeof(*m->now.moved));
	return &m->now.moved[n];
}

static void note_move(struct making *m, size_t i, const struct told *old, const struct told *now)
{
	struct moved *x = add_moved(m);
	x->eta = (uint32_t)i;
	x->from_ms = old->start_ms;
	x->at_ms = m->world->now_ms;
	x->is_later = now->start_ms > old->start_ms;
	x->itself = now->itself != old->itself;
}

/* Keeps the move that was told of the Job before. */
static void keep_move(struct making *m, size_t i, size_t old_i, size_t *at)
{
	while (*at < m->old.head.moved && m->old.moved[*at].eta < old_i)
		++*at;
	if (*at == m->old.head.moved || m->old.moved[*at].eta != old_i)
		return;
	struct moved *x = add_moved(m);
	*x = m->old.moved[*at];
	x->eta = (uint32_t)i;
}

static struct told told_of(const struct making *m, size_t i)
{
	struct told t = {.start_ms = m->eta[i].start.p50_ms,
		.in = m->now.head.answer,
		.first_in = m->now.head.answer};
	struct job_outline o;
	if (queue_outline_job(m->world->queue, &m->eta[i].uid, &o)) {
		t.tree = queue_tree_of(m->world->queue, o.clusterqueue);
		t.itself = digest_of(&o);
	}
	return t;
}

/* Compares the Job's start with what was told. In another tree it begins anew, as if nothing
 * was. */
static void compare(struct making *m, size_t i, size_t old_i, size_t *moved_at)
{
	const struct told *old = &m->old.told[old_i];
	struct told *now = &m->now.told[i];
	now->first_in = old->first_in;
	if (now->tree != old->tree || old->start_ms == PLAY_NEVER)
		return;
	if (has_moved(old->start_ms, now->start_ms, m->world->now_ms)) {
		note_move(m, i, old, now);
		return;
	}
	now->start_ms = old->start_ms;
	now->in = old->in;
	keep_move(m, i, old_i, moved_at);
}

/* Counts a Job that was to start later than now, and is gone. A Job that runs has started
 * sooner. */
static void look_at_missing(struct making *m, size_t old_i)
{
	const struct eta *old = &m->old_eta[old_i];
	struct job_outline o;
	bool was_to_start = old->start.p50_ms != PLAY_NEVER && old->start.p50_ms > m->world->now_ms;
	if (was_to_start && !queue_outline_job(m->world->queue, &old->uid, &o))
		facts_count(m, m->old.told[old_i].tree, MOVE_GONE);
}

/* Counts a Job that waits on, and does not start in most plays any more: it is held, say. */
static void look_at_halted(struct making *m, size_t i, size_t old_i)
{
	if (m->old_eta[old_i].start.p50_ms != PLAY_NEVER && m->eta[i].start.p50_ms == PLAY_NEVER)
		facts_count(m, m->old.told[old_i].tree, MOVE_GONE);
}

/* Compares all Jobs with the answer before. Both lists of etas are by uid. */
static void look_at_jobs(struct making *m)
{
	size_t old_i = 0, moved_at = 0, i = 0;
	m->now.told = mem_array(m->n + 1, sizeof(*m->now.told));
	m->now.head.told = m->n;
	while (i < m->n || old_i < m->old.head.told) {
		int order = i == m->n ? 1
			    : old_i == m->old.head.told
				    ? -1
				    : uid_cmp(&m->eta[i].uid, &m->old_eta[old_i].uid);
		if (order > 0) {
			look_at_missing(m, old_i++);
			continue;
		}
		m->now.told[i] = told_of(m, i);
		if (order == 0) {
			compare(m, i, old_i, &moved_at);
			look_at_halted(m, i, old_i++);
		}
		i++;
	}
}

void moves_remember(const struct moves_world *w, const struct ask_answer *before,
	const struct eta *eta, size_t n, struct buf *out)
{
	struct making m = {.world = w, .eta = eta, .n = n};
	m.has_old = memory_read(before, &m.old);
	if (!m.has_old)
		m.old = (struct memory){0};
	m.old_eta = m.has_old ? before->eta : NULL;
	m.now.head.answer = m.old.head.answer + 1;
	facts_gather(&m);
	look_at_jobs(&m);
	moves_explain(&m);
	memory_write(&m.now, out);
	free(m.now.told);
	free(m.now.moved);
	free(m.now.fact);
	free(m.now.change);
	free(m.now.object);
	free(m.now.run);
}

/* ---- what is told ------------------------------------------------------------------------------ */

static int eta_cmp(const void *eta, const void *moved)
{
	size_t a = *(const size_t *)eta, b = ((const struct moved *)moved)->eta;
	return (a > b) - (a < b);
}

static const struct moved *find_moved(const struct memory *m, size_t eta)
{
	size_t n = m->head.moved;
	return n ? bsearch(&eta, m->moved, n, sizeof(*m->moved), eta_cmp) : NULL;
}

/* Finds a change; NULL: it was too long ago to be kept. */
static const struct change *find_change(const struct memory *m, uint32_t number)
{
	for (size_t i = 0; i < m->head.changes; i++)
		if (m->change[i].number == number)
			return &m->change[i];
	return NULL;
}

static bool is_named(const struct move *m, size_t n, const struct change *c)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(m->kind[i], c->kind) == 0 && strcmp(m->name[i], c->name) == 0)
			return true;
	return false;
}

/* Names the objects. An object that was changed twice counts once. */
static void name_objects(const struct memory *m, const struct moved *x, struct move *ret)
{
	size_t n = 0;
	for (uint32_t i = 0; i < x->why.count[MOVE_OBJECT] && i < MOVES_NAMES; i++) {
		const struct change *c = find_change(m, x->change[i]);
		if (!c)
			continue;
		if (is_named(ret, n, c)) {
			ret->why.count[MOVE_OBJECT]--;
			continue;
		}
		ret->is_new[n] = c->is_new;
		ret->kind[n] = c->kind;
		ret->name[n++] = c->name;
	}
}

bool moves_find(const struct ask_answer *a, const struct eta *eta, struct move *ret)
{
	struct memory m;
	if (!memory_read(a, &m))
		return false;
	const struct moved *x = find_moved(&m, (size_t)(eta - a->eta));
	if (!x)
		return false;
	*ret = (struct move){.from_ms = x->from_ms,
		.at_ms = x->at_ms,
		.is_later = x->is_later,
		.itself = x->itself,
		.why = x->why};
	name_objects(&m, x, ret);
	return true;
}

int64_t moves_told(const struct ask_answer *a, const struct eta *eta)
{
	struct memory m;
	return memory_read(a, &m) ? m.told[eta - a->eta].start_ms : eta->start.p50_ms;
}

/* ---- in words ---------------------------------------------------------------------------------- */

static void begin_reason(size_t empty, struct buf *out)
{
	if (out->len > empty)
		buf_puts(out, ", ");
}

static void say_objects(const struct move *m, size_t empty, struct buf *out)
{
	uint32_t named = 0;
	for (; named < MOVES_NAMES && m->name[named]; named++) {
		begin_reason(empty, out);
		if (*m->name[named])
			buf_printf(out, "%s %s %s", m->kind[named], m->name[named],
				m->is_new[named] ? "is new" : "was changed");
		else
			buf_puts(out, "an admin removed an object");
	}
	if (m->why.count[MOVE_OBJECT] == named)
		return;
	begin_reason(empty, out);
	buf_printf(out, "%" PRIu32 " %s", m->why.count[MOVE_OBJECT] - named,
		named > 0 ? "other objects were changed by admins"
			  : "objects were changed by admins");
}

/* The words for each fact that is counted: of one, and of several. */
static const struct {
	const char *one, *many;
} fact_words[MOVE_FACTS] = {
	[MOVE_CAME] = {"Job came that is expected to start before this one",
		"Jobs came that are expected to start before this one"},
	[MOVE_GONE] = {"waiting Job is gone or held", "waiting Jobs are gone or held"},
	[MOVE_LONGER] = {"run takes longer than expected", "runs take longer than expected"},
	[MOVE_SOONER] = {"run ended sooner than expected", "runs ended sooner than expected"},
	[MOVE_STOPPED] = {"run was stopped", "runs were stopped"},
	[MOVE_NODE_CAME] = {"node was added", "nodes were added"},
	[MOVE_NODE_WENT] = {"node was removed", "nodes were removed"},
};

static void say_counts(const struct move *m, size_t empty, struct buf *out)
{
	for (size_t i = 0; i < MOVE_FACTS; i++) {
		uint32_t n = m->why.count[i];
		if (n == 0 || !fact_words[i].one)
			continue;
		begin_reason(empty, out);
		buf_printf(out, "%s%" PRIu32 " %s", m->why.partial ? "at least " : "", n,
			n == 1 ? fact_words[i].one : fact_words[i].many);
	}
}

void moves_say_why(const struct move *m, struct buf *out)
{
	size_t empty = out->len;
	if (m->itself)
		buf_puts(out, "the Job itself was changed");
	say_objects(m, empty, out);
	say_counts(m, empty, out);
	if (m->why.count[MOVE_MORE_TO_COME]) {
		begin_reason(empty, out);
		buf_puts(out, "new Jobs are assumed to come more often than before");
	}
	if (out->len == empty)
		buf_puts(out,
			m->is_later
				? "no change of the queue is known; runs are expected to take longer than before, or more new Jobs to arrive"
				: "no change of the queue is known; runs are expected to take less time than before, or fewer new Jobs to arrive");
}
