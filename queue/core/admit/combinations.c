#include "queue/core/admit/combinations.h"

int64_t combinations_amount(const struct combinations *of, const struct need *n)
{
	return of->fewest ? n->least : n->amount;
}

static bool flavor_can(
	const struct clusterqueue *cq, const struct combinations *of, size_t group, size_t f)
{
	size_t n;
	const struct need *need = claim_needs(of->claim, group, &n);
	const struct resource_group *g = &cq->spec.groups[group];
	if (!claim_suits(of->claim, group, f))
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct quota_row *row = g->row[f * g->nresources + need[i].resource];
		if (need_too_large(row, &need[i]) ||
			!quota_fits(combinations_amount(of, &need[i]), quota_potential(row)))
			return false;
	}
	return true;
}

static size_t next_flavor(
	const struct clusterqueue *cq, const struct combinations *of, size_t group, size_t f)
{
	while (f < cq->spec.groups[group].nflavors && !flavor_can(cq, of, group, f))
		f++;
	return f;
}

bool combination_first(const struct clusterqueue *cq, const struct combinations *of, size_t *f)
{
	for (size_t g = 0; g < cq->spec.ngroups; g++) {
		size_t n;
		claim_needs(of->claim, g, &n);
		f[g] = n > 0 ? next_flavor(cq, of, g, 0) : 0;
		if (n > 0 && f[g] == cq->spec.groups[g].nflavors)
			return false;
	}
	return true;
}

bool combination_next(const struct clusterqueue *cq, const struct combinations *of, size_t *f)
{
	for (size_t g = cq->spec.ngroups; g-- > 0;) {
		size_t n;
		claim_needs(of->claim, g, &n);
		size_t next = n > 0 ? next_flavor(cq, of, g, f[g] + 1) : SIZE_MAX;
		if (next < cq->spec.groups[g].nflavors) {
			f[g] = next;
			return true;
		}
		f[g] = n > 0 ? next_flavor(cq, of, g, 0) : 0;
	}
	return false;
}
