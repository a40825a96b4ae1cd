#include "queue/core/model/keys.h"

#include <string.h>

#include "queue/core/model/claim.h"
#include "queue/core/model/clusterqueue.h"
#include "sluice/quantity.h"

/* A mix is counted in about 2^20 parts to a quota, and saturates at MUCH. */
#define SCALE_BITS 20
#define MUCH (INT64_MAX - 1)

static int bits_of(int64_t n)
{
	return n > 0 ? 64 - __builtin_clzll((unsigned long long)n) : 0;
}

/* By a power of two, because each search does it: right by shift, or left by -shift. A search is
 * right as long as scaling keeps the order of amounts. */
static int64_t scale(int64_t amount, int shift)
{
	if (shift >= 0)
		return amount >> shift;
	return amount > MUCH >> -shift ? MUCH : amount << -shift;
}

static int64_t mix_add(int64_t mix, int64_t part)
{
	int64_t sum = quantity_add(mix, part);
	return sum < MUCH ? sum : MUCH;
}

/* For idle resources the spec has proportions only, and the amount changes. cpu and memory weigh
 * the same at 4 GiB to a core, about what pods ask for. */
#define LENT_CPU ((int64_t)1 << 20)
#define LENT_MEMORY ((int64_t)1 << 42)

static int64_t quota_of(const struct quota_row *row)
{
	if (!row->flavor_pool->lent)
		return row->said.nominal;
	return strcmp(row->resource, "cpu") == 0 ? LENT_CPU : LENT_MEMORY;
}

static int64_t largest_quota(const struct resource_group *g, size_t resource)
{
	int64_t largest = 0;
	for (size_t f = 0; f < g->nflavors; f++) {
		int64_t quota = quota_of(group_row(g, f, resource));
		largest = quota > largest ? quota : largest;
	}
	return largest;
}

/* A scale that is off by up to a factor of four is good enough. It stays, and so do the claims, for
 * quotas are edited often. */
static bool shift_choose(
	struct resource_group *g, const struct resource_group *old, size_t resource)
{
	int shift = bits_of(largest_quota(g, resource)) - SCALE_BITS;
	if (old && shift - old->keys.shift[resource] >= -2 &&
		shift - old->keys.shift[resource] <= 2) {
		g->keys.shift[resource] = old->keys.shift[resource];
		return false;
	}
	g->keys.shift[resource] = (int8_t)shift;
	return true;
}

static size_t keys_by_flavor(const struct clusterqueue *cq)
{
	size_t keys = 0;
	for (size_t i = 0; i < cq->spec.ngroups; i++) {
		const struct resource_group *g = &cq->spec.groups[i];
		keys += g->nflavors * (g->nresources + (g->nresources > 1));
	}
	return keys;
}

bool keys_choose(struct clusterqueue *cq, const struct clusterqueue *old)
{
	bool by_flavor = keys_by_flavor(cq) <= KEYS_MAX, anew = !old;
	cq->nkeys = 0;
	for (size_t i = 0; i < cq->spec.ngroups; i++) {
		struct resource_group *g = &cq->spec.groups[i];
		struct group_keys *k = &g->keys;
		k->slots = by_flavor ? g->nflavors : 1;
		size_t left = (KEYS_MAX - cq->nkeys) / k->slots;
		k->first = cq->nkeys;
		k->resources = g->nresources < left ? g->nresources : left;
		k->mixed = k->resources < left && g->nresources > 1;
		k->width = k->resources + k->mixed;
		cq->nkeys += k->slots * k->width;
		for (size_t r = 0; r < g->nresources; r++)
			anew = shift_choose(g, old ? &old->spec.groups[i] : NULL, r) || anew;
	}
	return anew;
}

static void want_nowhere(const struct group_keys *k, int64_t *slot)
{
	for (size_t i = 0; i < k->width; i++)
		slot[i] = INT64_MAX;
}

static void want_in_slot(
	const struct group_keys *k, const struct need *need, size_t n, int64_t *slot)
{
	for (size_t i = 0; i < n; i++) {
		size_t r = need[i].resource;
		if (r < k->resources)
			slot[r] = need[i].least;
		if (k->mixed)
			slot[k->resources] =
				mix_add(slot[k->resources], scale(need[i].least, k->shift[r]));
	}
}

void keys_want(const struct clusterqueue *cq, const struct claim *c, int64_t *ret_want)
{
	for (size_t key = 0; key < cq->nkeys; key++)
		ret_want[key] = 0;
	for (size_t i = 0; i < cq->spec.ngroups; i++) {
		const struct group_keys *k = &cq->spec.groups[i].keys;
		size_t n;
		const struct need *need = claim_needs(c, i, &n);
		for (size_t s = 0; s < k->slots && (n > 0 || c->uncovered); s++) {
			int64_t *slot = ret_want + k->first + s * k->width;
			bool suits = k->slots > 1 ? claim_suits(c, i, s) : c->suits[i] != 0;
			if (suits && !c->uncovered)
				want_in_slot(k, need, n, slot);
			else
				want_nowhere(k, slot);
		}
	}
}

static void raise(int64_t *to, int64_t amount)
{
	if (amount > *to)
		*to = amount;
}

static int64_t has_free(const struct quota_row *row, void *ctx)
{
	(void)ctx;
	return quota_available(row);
}

static int64_t has_potential(const struct quota_row *row, void *ctx)
{
	(void)ctx;
	return quota_potential(row);
}

static void see_flavor(
	const struct resource_group *g, size_t flavor, keys_row_has *has, void *ctx, int64_t *slot)
{
	int64_t mix = 0;
	for (size_t r = 0; r < g->nresources; r++) {
		int64_t free = has(group_row(g, flavor, r), ctx);
		mix = mix_add(mix, scale(free, g->keys.shift[r]));
		if (r < g->keys.resources)
			raise(&slot[r], free);
	}
	if (g->keys.mixed)
		raise(&slot[g->keys.resources], mix);
}

void keys_by_row(const struct clusterqueue *cq, keys_row_has *has, void *ctx,
	int64_t ret_available[KEYS_MAX])
{
	for (size_t key = 0; key < cq->nkeys; key++)
		ret_available[key] = 0;
	for (size_t i = 0; i < cq->spec.ngroups; i++) {
		const struct group_keys *k = &cq->spec.groups[i].keys;
		for (size_t f = 0; f < cq->spec.groups[i].nflavors; f++) {
			size_t s = k->slots > 1 ? f : 0;
			see_flavor(&cq->spec.groups[i], f, has, ctx,
				ret_available + k->first + s * k->width);
		}
	}
}

void keys_available(const struct clusterqueue *cq, enum keys_of of, int64_t ret_available[KEYS_MAX])
{
	keys_by_row(cq, of == KEYS_FREE ? has_free : has_potential, NULL, ret_available);
}

static bool slot_may(const int64_t *want, const int64_t *available, size_t width)
{
	for (size_t i = 0; i < width; i++)
		if (!quota_fits(want[i], available[i]))
			return false;
	return true;
}

bool keys_may_fit(const struct clusterqueue *cq, const int64_t *want, const int64_t *available)
{
	for (size_t i = 0; i < cq->spec.ngroups; i++) {
		const struct group_keys *k = &cq->spec.groups[i].keys;
		size_t at = k->first, end = at + k->slots * k->width;
		while (at < end && !slot_may(want + at, available + at, k->width))
			at += k->width;
		if (at == end && k->width > 0)
			return false;
	}
	return true;
}
