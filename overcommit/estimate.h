/*
 * The estimate: how much of a node may be lent out right now. The formula, and nothing else.
 *
 * Profile ack (docs/idle.md), for cpu and for memory:
 *
 *     usage            base * T / 100 - system - use of high-priority pods;
 *     request          base * T / 100 - system - requests of high-priority pods (memory only);
 *     maxUsageRequest  base * T / 100 - system - the more of both, pod by pod.
 *
 * base is the node's allocatable. system is the more of what the node's system uses and what the
 * annotation node.koordinator.sh/reservation keeps. Integers are divided; nothing is below 0.
 *
 * Profile koordinator has the figures of its upstream. base is the capacity. The margin
 * base * (100 - T) / 100 is cut off as a double and subtracted. system is at least what capacity
 * has over allocatable, and `request` subtracts that reserve instead of what the system uses. A
 * slip of upstream's is not copied: for maxUsageRequest a high-priority pod without a sample counts
 * as it asks.
 *
 * A pod that has no sample uses what it asks for. But where an agent measures all pods together
 * (has_rest), pods without a sample use `rest` together, and count as high: an agent names lent pods
 * alone. A sample of a pod that is not among the node's
 * ("dangling") is use of high priority. An exclusive pod uses the cpu it asks for.
 *
 * The figure under gocran.io is another sum over the same terms, with the forecast of forecast.h,
 * or the requests of high-priority pods while there is too little history:
 *
 *     allocatable - allocatable * reserve / 100 - max(high + system now, forecast)
 *
 * with the forecast of forecast.h; while there is too little history it is what they request.
 *
 * No number that is measured or asked for counts as less than 0, and sums stop at the ends of
 * int64.
 */
#ifndef SLUICE_OVERCOMMIT_ESTIMATE_H
#define SLUICE_OVERCOMMIT_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>

#include "overcommit/load.h"
#include "overcommit/strategy.h"

struct estimate_pod { /* a pod that is Running or Pending on the node */
	enum tier tier;
	struct load request; /* of ordinary cpu and memory */
	bool has_used;
	struct load used;
};

struct estimate_node {
	struct load capacity, allocatable;
	struct load reservation; /* of the annotation; 0 when absent */
	struct load system_used; /* max(0, node - all pods with a sample) */
	struct load dangling;	 /* used by pods that are gone, and were not low */
	const struct estimate_pod *pods;
	size_t npods;
	bool has_rest;
	struct load rest; /* used by pods without a sample, all of them */
	/* For gocran.io: */
	bool has_forecast;
	struct load forecast; /* of high + system, margin included */
};

/* The terms of one resource, in the order in which they are shown. */
struct estimate_terms {
	enum lending_policy policy;
	int64_t base;	  /* allocatable, or capacity */
	int64_t margin;	  /* what is kept free of base */
	int64_t reserved; /* the annotation's, or what is not allocatable */
	int64_t system_used;
	int64_t system; /* what is subtracted for the system */
	int64_t used;	/* by high-priority pods, those without a sample as they ask */
	int64_t requested;
	int64_t max;	/* the more of used and requested, pod by pod */
	int64_t taken;	/* what is subtracted for high-priority pods, by the policy */
	int64_t cap;	/* -1: none */
	int64_t result; /* max(0, base - margin - system - taken), capped */
};

struct estimate {
	struct estimate_terms cpu, memory;	    /* thousandths of a core, bytes */
	size_t high_pods, low_pods, without_sample; /* the last: high pods alone */
};

void estimate_make(const struct strategy *s, const struct estimate_node *n, struct estimate *ret);

/* Return what is subtracted for system and high-priority pods; and what these use. */
struct load estimate_taken(const struct estimate *e);
struct load estimate_busy(const struct estimate *e);

/* Returns what may be lent if this were estimate_taken(): so a mean over time becomes a figure. */
struct load estimate_with_taken(const struct estimate *e, struct load system_and_taken);

/* Returns what may be lent under gocran.io: thousandths of a core (publication.h makes whole ones),
 * bytes. */
struct load estimate_gocran(
	const struct strategy *s, const struct estimate_node *n, const struct estimate *e);

#endif
