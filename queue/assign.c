#include "queue/assign.h"

static enum assign_verdict assign_flavor(
	const struct resource_group *g, size_t flavor, const struct need *need, size_t n)
{
	struct quota_row *const *row = g->row + flavor * g->nresources;
	enum assign_verdict worst = ASSIGN_FITS;
	for (size_t i = 0; i < n; i++) {
		const struct quota_row *r = row[need[i].resource];
		if (!quota_fits(need[i].amount, r->nominal))
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

enum assign_verdict assign_flavors(
	const struct clusterqueue *cq, const struct claim *c, struct choice *ret_choice)
{
	if (c->uncovered)
		return ASSIGN_UNCOVERED;
	enum assign_verdict worst = ASSIGN_FITS;
	struct choice choice = {{0}};
	for (size_t g = 0; g < cq->ngroups; g++) {
		enum assign_verdict v = assign_group(cq, c, g, &choice.flavor[g]);
		if (v < worst)
			worst = v;
	}
	if (worst == ASSIGN_FITS)
		*ret_choice = choice;
	return worst;
}
