/*
 * Keys: what a search through the waiting groups compares, so that it can pass over a subtree
 * because of the least that anybody in it wants.
 *
 * A resource group of a ClusterQueue has slots, one for each flavor; a slot has a key for each
 * resource, and one for the mix, the sum of all of them scaled to parts of the quota. The mix is
 * there because of subtrees in which one Job wants little cpu and another one little memory: each
 * of the two leasts fits, nobody does, and only the least sum shows it. A Job may fit if in each
 * group all keys of some slot fit.
 *
 * Keys are paid for by each group of waiting Jobs, so there are at most KEYS_MAX. A ClusterQueue
 * with more pairs has one slot for all flavors of a group, and at worst leaves resources out; then
 * a search is longer, never wrong.
 */
#ifndef SLUICE_QUEUE_MODEL_KEYS_H
#define SLUICE_QUEUE_MODEL_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEYS_MAX 18

struct claim;
struct clusterqueue;

/* A resource group's keys: slot s begins at first + s * width. */
struct group_keys {
	size_t first, slots, width;
	size_t resources; /* the first so many have a key of their own */
	bool mixed;	  /* the last key of a slot is the mix */
	int8_t *shift;	  /* of each resource: what scales it */
};

/* Lays out the keys for the spec's groups and quotas. `old` are the groups of the same resources
 * and flavors before, or NULL; true when all claims have to be derived anew. */
bool keys_choose(struct clusterqueue *cq, const struct clusterqueue *old);

/* What the claim wants, from its needs and the flavors that suit; INT64_MAX: cannot be had there.
 */
void keys_want(const struct clusterqueue *cq, const struct claim *c, int64_t *ret_want);

/* What there is for each key: what is free once those who are leaving are gone, or, for somebody
 * who may displace others, all that could ever be had. */
enum keys_of {
	KEYS_FREE,
	KEYS_POTENTIAL,
};
void keys_available(
	const struct clusterqueue *cq, enum keys_of of, int64_t ret_available[KEYS_MAX]);

/* Could something that wants so much fit? Says yes too often, never no. */
bool keys_may_fit(const struct clusterqueue *cq, const int64_t *want, const int64_t *available);

#endif
