#include "queue/core/model/claim.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/core/model/directives.h"
#include "queue/core/model/feature.h"
#include "queue/core/model/state.h"
#include "queue/requests/lending.h"
#include "sluice/quantity.h"

int64_t need_amount(const struct need *n, int32_t pods)
{
	return quantity_times(n->each, pods);
}

static bool is_covered(const struct clusterqueue *cq, const char *resource)
{
	for (size_t g = 0; g < cq->spec.ngroups; g++)
		for (size_t r = 0; r < cq->spec.groups[g].nresources; r++)
			if (strcmp(cq->spec.groups[g].resources[r], resource) == 0)
				return true;
	return false;
}

/* The resource as which a request counts: itself, or for a resource that nodes lend, what that
 * stands for, unless this ClusterQueue (NULL: none) covers it by its own name. */
static const char *counted_as(
	const struct clusterqueue *cq, const char *resource, int64_t *ret_times)
{
	const char *counts_as = lending_counts_as(resource, ret_times);
	if (counts_as && !(cq && is_covered(cq, resource)))
		return counts_as;
	*ret_times = 1;
	return resource;
}

/* Does a pod ask for it, even for 0? *ret_each: for how much. */
static bool shape_asks(const struct clusterqueue *cq, const struct shape *s, const char *resource,
	int64_t *ret_each)
{
	bool asks = strcmp(resource, "pods") == 0;
	*ret_each = asks;
	for (size_t i = 0; i < s->nrequests; i++) {
		const struct resource *r = &s->request[i];
		int64_t times = 1;
		if (strcmp(r->name, resource) != 0 &&
			!(is_lendable(resource) &&
				strcmp(counted_as(cq, r->name, &times), resource) == 0))
			continue;
		asks = true;
		*ret_each = quantity_add(*ret_each, quantity_times(r->amount, times));
	}
	return asks;
}

int64_t shape_amount(const struct shape *s, const char *resource)
{
	int64_t each;
	shape_asks(NULL, s, resource, &each);
	return each;
}

/* Writes the needs (NULL: only counts them). */
static size_t needs_of(const struct clusterqueue *cq, const struct shape *s, struct need *ret)
{
	size_t n = 0;
	for (size_t g = 0; g < cq->spec.ngroups; g++) {
		for (size_t r = 0; r < cq->spec.groups[g].nresources; r++) {
			int64_t each;
			if (s->pods == 0 ||
				!shape_asks(cq, s, cq->spec.groups[g].resources[r], &each))
				continue;
			if (ret)
				ret[n] = (struct need){(uint16_t)g, (uint16_t)r, each,
					quantity_times(each, s->pods),
					quantity_times(each, s->min_pods)};
			n++;
		}
	}
	return n;
}

bool claim_minds_lending(const struct clusterqueue *cq, const struct claim *c, size_t group)
{
	size_t n;
	const struct need *need = claim_needs(c, group, &n);
	for (size_t i = 0; i < n; i++)
		if (is_lendable(cq->spec.groups[group].resources[need[i].resource]))
			return true;
	return false;
}

static uint64_t flavors_that_suit(const struct clusterqueue *cq, const struct claim *c,
	size_t group, const struct directives *d)
{
	const struct resource_group *g = &cq->spec.groups[group];
	bool minds = claim_minds_lending(cq, c, group);
	uint64_t suits = 0;
	for (size_t f = 0; f < g->nflavors; f++)
		if (g->flavors[f]->exists &&
			(!minds || lending_suits(d->lending, g->flavors[f]->lending)) &&
			directives_suit(&d->placement, g->flavors[f], NULL) == FLAVOR_SUITS)
			suits |= (uint64_t)1 << f;
	return suits;
}

static bool is_counted(const struct clusterqueue *cq, const char *resource)
{
	int64_t times;
	return is_covered(cq, counted_as(cq, resource, &times));
}

void claim_init(struct claim *c, const struct queue *q, const struct clusterqueue *cq,
	const struct shape *shape)
{
	*c = (struct claim){.nneeds = needs_of(cq, shape, NULL), .nkeys = cq->nkeys};
	c->bytes = c->nneeds * sizeof(struct need) + 2 * cq->spec.ngroups * sizeof(uint64_t) +
		   2 * c->nkeys * sizeof(int64_t);
	c->least = mem_alloc(c->bytes);
	c->want = c->least + c->nkeys;
	c->suits = (uint64_t *)(void *)(c->want + c->nkeys);
	c->never = c->suits + cq->spec.ngroups;
	c->need = (struct need *)(void *)(c->never + cq->spec.ngroups);

	needs_of(cq, shape, c->need);
	bool blocks = shape->pods > 0 && !cq->spec.ignores_undeclared;
	for (size_t i = 0; blocks && i < shape->nrequests; i++)
		if (!c->uncovered && shape->request[i].amount > 0 &&
			!is_counted(cq, shape->request[i].name))
			c->uncovered = shape->request[i].name;
	for (size_t g = 0; g < cq->spec.ngroups; g++)
		c->suits[g] = flavors_that_suit(cq, c, g, shape->directives);
	each_feature(f, q->features_awake, claim_narrow)
		f->claim_narrow(q, cq, shape, c);
	keys_want(cq, c, c->want);
	memcpy(c->least, c->want, c->nkeys * sizeof(*c->least));
}

void claim_done(struct claim *c)
{
	free(c->least);
	*c = (struct claim){0};
}

const struct need *claim_needs(const struct claim *c, size_t group, size_t *ret_n)
{
	size_t first = 0, n = 0;
	while (first < c->nneeds && c->need[first].group < group)
		first++;
	while (first + n < c->nneeds && c->need[first + n].group == group)
		n++;
	*ret_n = n;
	return c->need + first;
}

size_t claim_flavors(const struct clusterqueue *cq, const struct claim *c,
	const uint8_t flavor[CQ_GROUPS_MAX], const struct flavor *ret[CQ_GROUPS_MAX])
{
	size_t n = 0, needs;
	for (size_t g = 0; g < cq->spec.ngroups; g++) {
		claim_needs(c, g, &needs);
		if (needs > 0)
			ret[n++] = cq->spec.groups[g].flavors[flavor[g]];
	}
	return n;
}
