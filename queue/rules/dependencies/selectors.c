#include "queue/rules/dependencies/selectors.h"

#include <string.h>

#include "queue/model/workload.h"

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

void selectors_count_out(struct predecessor_name *n)
{
	const struct known_job *newest = predecessor_newest(n);
	each_selector(n->awaited.ns, n->taken_by, s) {
		s->ntaken--;
		s->kept_moved |= 1u << newest->outcome;
		s->with[newest->outcome]--;
		if (s->one[newest->outcome] == n)
			s->one[newest->outcome] = NULL;
		n->awaited.ns->selectors_moved |= s->bit;
	}
}

void selectors_count_in(struct predecessor_name *n, uint64_t bits)
{
	const struct known_job *newest = predecessor_newest(n);
	n->taken_by = 0;
	if (!newest)
		return;
	each_selector(n->awaited.ns, bits, s) {
		n->awaited.ns->selectors_moved |= s->bit;
		if (s->ntaken == PREDECESSOR_TAKEN_MAX) {
			s->too_many = true;
			continue;
		}
		n->taken_by |= s->bit;
		s->ntaken++;
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
	list_each(&s->awaited.ns->names, l) {
		const struct predecessor_name *n =
			container_of_const(l, struct predecessor_name, of_namespace);
		if ((n->taken_by & s->bit) && predecessor_newest(n)->outcome == o)
			return n;
	}
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

/* ---- Terms ---- */

static bool values_same(const struct requirement *a, const struct requirement *b)
{
	bool same = a->nvalues == b->nvalues;
	for (size_t i = 0; same && i < a->nvalues; i++)
		same = strcmp(a->values[i], b->values[i]) == 0;
	return same;
}

bool selector_terms_same(const struct selector_term *a, const struct selector_term *b)
{
	bool same = a->nrequirements == b->nrequirements;
	for (size_t i = 0; same && i < a->nrequirements; i++) {
		const struct requirement *x = &a->requirements[i], *y = &b->requirements[i];
		same = x->op == y->op && strcmp(x->key, y->key) == 0 && values_same(x, y);
	}
	return same;
}
