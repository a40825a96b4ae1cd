#include "queue/assign.h"

static enum assign_verdict assign_flavor(
	const struct resource_group *g, size_t flavor, const struct need *need, size_t n)
{
	struct quota_row *const *row = g->row + flavor * g->nresources;
	enum assign_verdict worst = ASSIGN_FITS;
	for (size_t i = 0; i < n; i++) {
		const struct quota_row *r = row[need[i].resource];
		if (!quota_fits(need[i].amount, quota_potential(r)))
			return ASSIGN_EXCEEDS;
		if (!quota_fits(need[i].amount, quota_available(r)))
			worst = ASSIGN_BUSY;
	}
	return worst;
}

enum assign_verdict assign_group(
	const struct clusterqueue *cq, const struct claim *c, size_t group, uint8_t *ret_flavor)
{
	const struct resource_group *g = &cq->groups[group];
	size_t n;
	const struct need *need = claim_needs(c, group, &n);
	if (n == 0)
		return ASSIGN_FITS;

	enum assign_verdict best = ASSIGN_NO_FLAVOR;
	for (size_t f = 0; f < g->nflavors; f++) {
		enum assign_verdict v = ASSIGN_FLAVOR_MISSING;
		if (claim_suits(c, group, f))
			v = assign_flavor(g, f, need, n);
		else if (g->flavors[f]->exists)
			continue;
		if (v > best)
			best = v;
		if (v == ASSIGN_FITS) {
			*ret_flavor = (uint8_t)f;
			return v;
		}
	}
	return best;
}

enum assign_verdict assign_plainly(const struct clusterqueue *cq, const struct claim *c)
{
	if (c->uncovered)
		return ASSIGN_UNCOVERED;
	enum assign_verdict worst = ASSIGN_FITS;
	uint8_t flavor;
	for (size_t g = 0; g < cq->ngroups; g++) {
		enum assign_verdict v = assign_group(cq, c, g, &flavor);
		if (v < worst)
			worst = v;
	}
	return worst;
}

bool choice_goes_on(const struct clusterqueue *cq, const struct choice *c)
{
	for (size_t g = 0; g < cq->ngroups; g++)
		if (c->next[g] > 0)
			return true;
	return false;
}

enum assign_verdict assign_flavors(struct queue *q, const struct clusterqueue *cq,
	const struct claim *c, const struct workload *w, int32_t pods, const struct choice *after,
	struct choice *ret_choice)
{
	(void)q;
	(void)w;
	(void)after;
	if (c->uncovered)
		return ASSIGN_UNCOVERED;
	enum assign_verdict worst = ASSIGN_FITS;
	struct choice choice = {.pods = pods};
	for (size_t g = 0; g < cq->ngroups; g++) {
		enum assign_verdict v = assign_group(cq, c, g, &choice.flavor[g]);
		if (v < worst)
			worst = v;
	}
	for (size_t i = 0; worst == ASSIGN_FITS && i < c->nneeds; i++) {
		const struct need *n = &c->need[i];
		const struct resource_group *g = &cq->groups[n->group];
		bool inside;
		uint32_t level = quota_borrow_level(
			g->row[choice.flavor[n->group] * g->nresources + n->resource], QUOTA_THEN,
			n->amount, &inside);
		choice.level = level > choice.level ? level : choice.level;
	}
	if (worst == ASSIGN_FITS)
		*ret_choice = choice;
	return worst;
}
