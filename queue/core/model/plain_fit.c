#include "queue/core/model/plain_fit.h"

enum assign_verdict plain_fit_untried(const struct resource_group *g)
{
	for (size_t f = 0; f < g->nflavors; f++)
		if (!g->flavors[f]->exists)
			return ASSIGN_FLAVOR_MISSING;
	return ASSIGN_NO_FLAVOR;
}

static enum assign_verdict fit_of_flavor(const struct resource_group *g, size_t flavor,
	const struct need *need, size_t n, enum quota_when when)
{
	struct quota_row *const *row = g->row + flavor * g->nresources;
	enum assign_verdict worst = ASSIGN_FITS;
	for (size_t i = 0; i < n; i++) {
		const struct quota_row *r = row[need[i].resource];
		if (!quota_fits(need[i].least, quota_potential(r)) || need_too_large(r, &need[i]))
			return ASSIGN_EXCEEDS;
		if (!quota_fits(need[i].least, quota_available(r)) ||
			!quota_has(r, when, need[i].least))
			worst = ASSIGN_BUSY;
	}
	return worst;
}

static enum assign_verdict fit_of_group(const struct clusterqueue *cq, const struct claim *c,
	size_t group, enum quota_when when, uint8_t *ret_flavor)
{
	const struct resource_group *g = &cq->spec.groups[group];
	size_t n;
	const struct need *need = claim_needs(c, group, &n);
	if (n == 0)
		return ASSIGN_FITS;

	enum assign_verdict best = plain_fit_untried(g);
	for (size_t f = 0; f < g->nflavors; f++) {
		enum assign_verdict v =
			claim_suits(c, group, f) ? fit_of_flavor(g, f, need, n, when) : best;
		if (v > best)
			best = v;
		if (v == ASSIGN_FITS) {
			*ret_flavor = (uint8_t)f;
			return v;
		}
	}
	return best;
}

enum assign_verdict plain_fit_group(
	const struct clusterqueue *cq, const struct claim *c, size_t group, uint8_t *ret_flavor)
{
	return fit_of_group(cq, c, group, QUOTA_THEN, ret_flavor);
}

static enum assign_verdict fit_of_all(
	const struct clusterqueue *cq, const struct claim *c, enum quota_when when)
{
	if (c->uncovered)
		return ASSIGN_UNCOVERED;
	enum assign_verdict worst = ASSIGN_FITS;
	uint8_t flavor;
	for (size_t g = 0; g < cq->spec.ngroups; g++) {
		enum assign_verdict v = fit_of_group(cq, c, g, when, &flavor);
		if (v < worst)
			worst = v;
	}
	return worst;
}

enum assign_verdict plain_fit(const struct clusterqueue *cq, const struct claim *c)
{
	return fit_of_all(cq, c, QUOTA_THEN);
}

enum assign_verdict plain_fit_now(const struct clusterqueue *cq, const struct claim *c)
{
	return fit_of_all(cq, c, QUOTA_NOW);
}
