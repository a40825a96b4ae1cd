#include "queue/claim.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sluice/quantity.h"

/* Does a pod ask for it, be it for nothing? Then *ret_each is for how much. */
static bool shape_asks(const struct shape *s, const char *resource, int64_t *ret_each)
{
	*ret_each = 1;
	if (strcmp(resource, "pods") == 0)
		return true;
	for (size_t i = 0; i < s->nrequests; i++) {
		*ret_each = s->request[i].amount;
		if (strcmp(s->request[i].name, resource) == 0)
			return true;
	}
	return false;
}

int64_t shape_amount(const struct shape *s, const char *resource)
{
	int64_t each;
	return shape_asks(s, resource, &each) ? each : 0;
}

int64_t need_amount(const struct need *n, int32_t pods)
{
	return quantity_times(n->each, pods);
}

static bool is_covered(const struct clusterqueue *cq, const char *resource)
{
	for (size_t g = 0; g < cq->ngroups; g++)
		for (size_t r = 0; r < cq->groups[g].nresources; r++)
			if (strcmp(cq->groups[g].resources[r], resource) == 0)
				return true;
	return false;
}

/* Writes the needs (NULL: only counts them). */
static size_t needs_of(const struct clusterqueue *cq, const struct shape *s, struct need *ret)
{
	size_t n = 0;
	for (size_t g = 0; g < cq->ngroups; g++) {
		for (size_t r = 0; r < cq->groups[g].nresources; r++) {
			int64_t each;
			if (s->pods == 0 || !shape_asks(s, cq->groups[g].resources[r], &each))
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

static uint64_t flavors_that_suit(const struct resource_group *g, const struct placement *p)
{
	uint64_t suits = 0;
	for (size_t f = 0; f < g->nflavors; f++)
		if (g->flavors[f]->exists &&
			placement_match(p, &g->flavors[f]->nodes, NULL) == PLACEMENT_FITS)
			suits |= (uint64_t)1 << f;
	return suits;
}

void claim_init(struct claim *c, const struct clusterqueue *cq, const struct shape *shape)
{
	*c = (struct claim){.nneeds = needs_of(cq, shape, NULL), .nkeys = cq->nkeys};
	c->bytes = c->nneeds * sizeof(struct need) + cq->ngroups * sizeof(uint64_t) +
		   2 * c->nkeys * sizeof(int64_t);
	c->least = mem_alloc(c->bytes);
	c->want = c->least + c->nkeys;
	c->suits = (uint64_t *)(void *)(c->want + c->nkeys);
	c->need = (struct need *)(void *)(c->suits + cq->ngroups);

	needs_of(cq, shape, c->need);
	bool blocks = shape->pods > 0 && !cq->ignores_undeclared;
	for (size_t i = 0; blocks && i < shape->nrequests; i++)
		if (!c->uncovered && shape->request[i].amount > 0 &&
			!is_covered(cq, shape->request[i].name))
			c->uncovered = shape->request[i].name;
	for (size_t g = 0; g < cq->ngroups; g++)
		c->suits[g] = flavors_that_suit(&cq->groups[g], &shape->directives->placement);
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
