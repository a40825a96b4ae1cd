/*
 * Targets: what a spec may name, by kind: whether it is there, and which one may have been meant.
 * All that is told of a name that finds nothing has its "did you mean" from here.
 */
#ifndef SLUICE_QUEUE_FEATURES_TARGETS_H
#define SLUICE_QUEUE_FEATURES_TARGETS_H

#include "base/similar.h"
#include "queue/core/model/state.h"
#include "queue/job/text.h"

/* A name in a spec, and where it stands. */
struct named {
	const char *
		name; /* as written; NULL: this field names nothing, or what it is within is not there */
	size_t index[2];    /* in place of the first and second [] of the field */
	const void *within; /* what it is looked up in, as the target says; NULL */
	const char *of;	    /* a name that stands beside it, as the target says; NULL */
};

/* A kind of thing that can be named. */
struct target {
	bool (*found)(const struct queue *q, const struct named *n);
	/* "ResourceFlavor spott does not exist" */
	void (*say_missing)(const struct named *n, struct text *t);
	/* Offers the names that there are; NULL: none is suggested. */
	void (*offer)(const struct queue *q, const struct named *n, struct similar *s);
	/* " (it has night, day)": those that there are, where none is alike; NULL: they are many. */
	void (*say_others)(const struct named *n, struct text *t);
};

/* Appends " (did you mean spot?)" where one of those that there are is alike, or which ones there
 * are. */
void target_suggest(
	const struct target *target, const struct queue *q, const struct named *n, struct text *t);

extern const struct target target_flavor;
extern const struct target
	target_flavor_with_quota; /* of any ClusterQueue or Cohort; suggested alone */
/* within: a struct clusterqueue. The resource is suggested alone; of: the flavor. */
extern const struct target target_flavor_of_clusterqueue, target_resource_of_clusterqueue;
extern const struct target target_calendar; /* within: its struct calendar_ref */
extern const struct target target_window;   /* within: the calendar_ref; of: the Calendar's name */
extern const struct target target_clusterqueues; /* a name or glob */
extern const struct target
	target_clusterqueue; /* within: a struct localqueue that names it, or NULL */
extern const struct target target_localqueues; /* NAMESPACE/NAME, a glob in each */
extern const struct target target_localqueue;  /* of: its namespace */
extern const struct target
	target_quota; /* a resource; of: the flavor; within: a struct runpolicy */
extern const struct target target_price; /* a resource as PricePlans write it; within: the plan */

#endif
