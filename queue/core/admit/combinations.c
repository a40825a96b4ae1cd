#include "queue/core/admit/combinations.h"

static int64_t amount_of(const struct need *n, bool fewest)
{
	return fewest ? n->least : n->amount;
}

static uint8_t lowest(uint64_t flavors)
{
	return (uint8_t)__builtin_ctzll(flavors);
}

bool combination_first(struct combination *k, const struct clusterqueue *cq, const struct claim *c,
	const uint64_t among[CQ_GROUPS_MAX])
{
	*k = (struct combination){.cq = cq, .claim = c};
	for (size_t g = 0; g < cq->spec.ngroups; g++) {
		size_t needs;
		claim_needs(c, g, &needs);
		k->among[g] = needs > 0 ? among[g] : 1;
		if (k->among[g] == 0)
			return false;
		k->flavor[g] = lowest(k->among[g]);
	}
	return true;
}

static bool flavor_can(
	const struct resource_group *g, size_t f, const struct need *need, size_t n, bool fewest)
{
	for (size_t i = 0; i < n; i++) {
		const struct quota_row *row = group_row(g, f, need[i].resource);
		if (need_too_large(row, &need[i]) ||
			!quota_fits(amount_of(&need[i], fewest), quota_potential(row)))
			return false;
	}
	return true;
}

bool combination_first_bookable(
	struct combination *k, const struct clusterqueue *cq, const struct claim *c, bool fewest)
{
	uint64_t can[CQ_GROUPS_MAX] = {0};
	for (size_t g = 0; g < cq->spec.ngroups; g++) {
		size_t n;
		const struct resource_group *group = &cq->spec.groups[g];
		const struct need *need = claim_needs(c, g, &n);
		for (size_t f = 0; f < group->nflavors; f++)
			if (claim_suits(c, g, f) && flavor_can(group, f, need, n, fewest))
				can[g] |= (uint64_t)1 << f;
	}
	return combination_first(k, cq, c, can);
}

bool combination_next(struct combination *k)
{
	for (size_t g = k->cq->spec.ngroups; g-- > 0;) {
		uint64_t behind = k->among[g] & ~(((uint64_t)2 << k->flavor[g]) - 1);
		k->flavor[g] = lowest(behind ? behind : k->among[g]);
		if (behind)
			return true;
	}
	return false;
}

size_t combination_lines(
	const struct combination *k, bool fewest, struct booking_line ret[QUEUE_LINES_MAX])
{
	const struct claim *c = k->claim;
	size_t n = 0;
	for (size_t i = 0; i < c->nneeds && n < QUEUE_LINES_MAX; i++) {
		const struct need *need = &c->need[i];
		int64_t amount = amount_of(need, fewest);
		if (amount > 0)
			ret[n++] = (struct booking_line){
				need_row(k->cq, need, k->flavor[need->group]), amount};
	}
	return n;
}
