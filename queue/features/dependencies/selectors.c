#include "queue/features/dependencies/selectors.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/core/model/state.h"

/* ---- What they take ---- */

uint64_t selectors_taking(const struct predecessor_namespace *ns, const struct predecessor *p)
{
	uint64_t bits = 0;
	if (p->nlabels > PREDECESSOR_LABELS_MAX)
		return 0;
	for (size_t i = 0; p->labels && i < PREDECESSOR_SELECTORS_MAX; i++) {
		const struct predecessor_selector *s = ns->selector[i];
		if (s && labels_match(p->labels, p->nlabels, &s->term))
			bits |= s->bit;
	}
	return bits;
}

_Static_assert(PREDECESSOR_TAKEN_MAX <= UINT16_MAX, "predecessor_name.place");

#define MEMBER_BYTES (sizeof(struct predecessor_name *) + sizeof(uint16_t))

/* Of a selector that takes it, or is about to. */
static uint16_t *place_by(const struct predecessor_name *n, const struct predecessor_selector *s)
{
	return n->place + __builtin_popcountll(n->taken_by & (s->bit - 1));
}

static void selector_take(
	struct queue *q, struct predecessor_selector *s, struct predecessor_name *n)
{
	size_t nplaces = (size_t)__builtin_popcountll(n->taken_by);
	n->place = mem_grow(n->place, nplaces + 1, sizeof(*n->place));
	uint16_t *place = place_by(n, s);
	memmove(place + 1, place, (size_t)(n->place + nplaces - place) * sizeof(*place));
	*place = (uint16_t)s->ntaken;
	n->taken_by |= s->bit;
	s->taken = mem_one_more(s->taken, s->ntaken, sizeof(*s->taken));
	s->taken[s->ntaken++] = n;
	q->predecessors->bytes += MEMBER_BYTES;
}

/* The last one takes its place. */
void selector_let_go(struct queue *q, struct predecessor_selector *s, struct predecessor_name *n)
{
	uint16_t *place = place_by(n, s), at = *place;
	struct predecessor_name *last = s->taken[--s->ntaken];
	s->taken[at] = last;
	*place_by(last, s) = at;
	n->taken_by &= ~s->bit;
	size_t nplaces = (size_t)__builtin_popcountll(n->taken_by);
	memmove(place, place + 1, (size_t)(n->place + nplaces - place) * sizeof(*place));
	if (nplaces == 0) {
		free(n->place);
		n->place = NULL;
	}
	q->predecessors->bytes -= MEMBER_BYTES;
}

void selectors_count_out(struct predecessor_name *n)
{
	const struct known_job *newest = predecessor_newest(n);
	each_selector(n->awaited.ns, n->taken_by, s) {
		s->kept_moved |= 1u << newest->outcome;
		s->with[newest->outcome]--;
		if (s->one[newest->outcome] == n)
			s->one[newest->outcome] = NULL;
		n->awaited.ns->selectors_moved |= s->bit;
	}
}

void selectors_count_in(struct queue *q, struct predecessor_name *n, uint64_t bits)
{
	const struct known_job *newest = predecessor_newest(n);
	uint64_t now = newest ? bits : 0;
	each_selector(n->awaited.ns, n->taken_by & ~now, s)
		selector_let_go(q, s, n);
	each_selector(n->awaited.ns, now, s) {
		n->awaited.ns->selectors_moved |= s->bit;
		if (!(n->taken_by & s->bit) && s->ntaken == PREDECESSOR_TAKEN_MAX) {
			s->too_many = true;
			continue;
		}
		if (!(n->taken_by & s->bit))
			selector_take(q, s, n);
		s->kept_moved |= 1u << newest->outcome;
		s->with[newest->outcome]++;
		s->one[newest->outcome] = n;
		if (newest->outcome == OUTCOME_FAILED && newest->ended_ms > s->failed_ms)
			s->failed_ms = newest->ended_ms;
	}
}

/* ---- Verdicts ---- */

enum dependency_verdict selector_verdict(
	const struct predecessor_selector *s, enum dependency_kind k, enum outcome own)
{
	enum dependency_verdict all = VERDICT_HOLDS;
	if (s->too_many || s->ntaken <= (own != OUTCOME_NONE))
		return VERDICT_WAITS;
	for (enum outcome o = 0; o < OUTCOMES; o++) {
		size_t n = s->with[o] - (o == own);
		enum dependency_verdict v = n > 0 ? outcome_verdict(o, k) : VERDICT_HOLDS;
		if (v == VERDICT_NEVER)
			return VERDICT_NEVER;
		if (v == VERDICT_WAITS)
			all = VERDICT_WAITS;
	}
	return all;
}

enum outcome selector_own(const struct predecessor_selector *s, const struct workload *w)
{
	const struct predecessor_name *n = predecessor_name_known(s->awaited.ns, w->name);
	const struct known_job *newest = n && (n->taken_by & s->bit) ? predecessor_newest(n) : NULL;
	bool is_own = newest && uid_cmp(&newest->uid, &w->key.uid) == 0;
	return is_own ? newest->outcome : OUTCOME_NONE;
}

/* A follower waits, or runs without having been admitted. */
uint64_t selector_verdicts(const struct predecessor_selector *s)
{
	static const enum outcome own[] = {OUTCOME_NONE, OUTCOME_WAITS, OUTCOME_RUNS};
	uint64_t all = 0;
	for (enum dependency_kind k = AFTER_OK; k < AFTER_SINGLETON; k++)
		for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
			bool possible = own[i] == OUTCOME_NONE || s->with[own[i]] > 0;
			all = all << 2 | (possible ? (uint64_t)selector_verdict(s, k, own[i]) : 3);
		}
	return all;
}

bool selector_verdicts_turn(uint64_t before, uint64_t now)
{
	for (; now; now >>= 2, before >>= 2)
		if ((now & 3) == VERDICT_HOLDS && (before & 3) != VERDICT_HOLDS)
			return true;
	return false;
}

/* ---- For people ---- */

static const struct predecessor_name *one_with(const struct predecessor_selector *s, enum outcome o)
{
	if (s->one[o])
		return s->one[o];
	for (size_t i = 0; i < s->ntaken; i++)
		if (predecessor_newest(s->taken[i])->outcome == o)
			return s->taken[i];
	return NULL;
}

const struct predecessor_name *selector_culprit(
	const struct predecessor_selector *s, enum dependency_kind k)
{
	for (enum outcome o = 0; o < OUTCOMES; o++)
		if (s->with[o] > 0 && outcome_verdict(o, k) == VERDICT_NEVER)
			return one_with(s, o);
	return NULL;
}
