/*
 * Templates: what the cluster sees of the pods of a Job, each different one kept once.
 *
 * A shape (shape.h) says what quotas count; a template says what the scheduler and the
 * ResourceQuotas of its namespace look at besides: limits, ports, affinity. Jobs of one shape share
 * one, so ten thousand waiting Jobs ask the cluster fifty questions. The namespace is part of it.
 *
 * Labels are in it only where its pods look at other pods, and of the four that the API server
 * gives the pods of each Job (its name and its uid) only those that these pods select by: else no
 * two Jobs had the same. So pods that are there and want others away (anti-affinity by labels) are
 * not heard of a pod that looks at none itself, which errs on the side of "possible".
 *
 * It is the pod as the API server will make it, as far as the queue knows: LimitRanges' defaults
 * and the RuntimeClass's overhead have been filled in (accounting.h). Not in it is what a start
 * adds: a flavor's labels and tolerations, the names of what is lent (node_suitability.h). Nor the
 * default PriorityClass, which is asked for by who needs it.
 *
 * What was answered is kept with it (node_suitability.h, namespace_quota.h), by what it rested on.
 */
#ifndef SLUICE_QUEUE_REQUESTS_POD_TEMPLATE_H
#define SLUICE_QUEUE_REQUESTS_POD_TEMPLATE_H

#include "base/arena.h"
#include "base/map.h"
#include "queue/cluster/pod.h"
#include "base/list.h"

struct verdicts; /* of node_suitability.c: what the nodes said of it */
struct refusal;	 /* of namespace_quota.c: what the quotas of its namespace said */

struct pod_template {
	uint64_t hash;
	uint32_t refs; /* shapes */
	const struct pod *pod;
	const void *key; /* equal bytes, equal templates */
	size_t key_len;
	struct arena memory;
	struct link of_all; /* templates.all, in the order of their making */
	struct verdicts *verdicts;
	bool moved; /* some verdict is another one now: claims are to follow (node_suitability.c) */
	struct refusal *refusal; /* one block: whoever gives the last reference back frees it */
};

struct pod_templates {
	struct map map;
	struct link all;
	size_t bytes;
};

void pod_templates_init(struct pod_templates *t);
void pod_templates_done(struct pod_templates *t); /* every reference must have been given back */

/* Of a pod that has been filled in; NULL for NULL. Give it back with pod_template_put. */
struct pod_template *pod_template_of(struct pod_templates *t, const struct pod *p);
struct pod_template *pod_template_keep(struct pod_template *t);
size_t pod_template_bytes(
	const struct pod_template *t); /* what it takes in memory; NULL takes nothing */
void pod_template_put(struct pod_templates *all, struct pod_template *t); /* NULL does nothing */

#endif
