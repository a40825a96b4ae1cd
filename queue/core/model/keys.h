/*
 * Keys: the amounts that a search through the waiting groups compares. A search skips a subtree
 * when the least of its keys do not fit.
 *
 * A resource group of a ClusterQueue has a slot for each flavor. A slot has a key for each
 * resource, and one for the mix: the sum of all of them, scaled to parts of the quota. The mix is
 * for subtrees in which one Job wants little cpu and another one little memory. Each of the two
 * least amounts fits, yet no Job does; only the least sum shows it. A Job may fit if in each group
 * all keys of some slot fit.
 *
 * Each group of waiting Jobs stores its keys, so there are at most KEYS_MAX. A ClusterQueue with
 * more pairs has one slot for all flavors of a group, and at worst leaves resources out. A search
 * is then longer, never wrong.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_KEYS_H
#define SLUICE_QUEUE_CORE_MODEL_KEYS_H

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

/* Lays out the keys for the spec's groups and quotas. `old`: the groups before, if resources and
 * flavors are the same; else NULL. True: all claims have to be derived anew. */
bool keys_choose(struct clusterqueue *cq, const struct clusterqueue *old);

/* What the claim wants, from its needs and the flavors that suit. INT64_MAX: not available. */
void keys_want(const struct clusterqueue *cq, const struct claim *c, int64_t *ret_want);

struct quota_row;

/* What there is for each key, by a function of each row. */
typedef int64_t keys_row_has(const struct quota_row *row, void *ctx);
void keys_by_row(const struct clusterqueue *cq, keys_row_has *has, void *ctx,
	int64_t ret_available[KEYS_MAX]);

enum keys_of {
	KEYS_FREE,	/* what is free once all victims are gone (THEN) */
	KEYS_POTENTIAL, /* all that could ever be had: for a Job that may preempt */
};
/* What there is for each key. */
void keys_available(
	const struct clusterqueue *cq, enum keys_of of, int64_t ret_available[KEYS_MAX]);

/* Could a claim that wants so much fit? A yes may be wrong, a no never is. */
bool keys_may_fit(const struct clusterqueue *cq, const int64_t *want, const int64_t *available);

#endif
