/*
 * Pod templates: what the cluster sees of the pods of a Job, each different one kept once.
 *
 * A shape (shape.h) has what quotas count. A template has what the scheduler and the namespace's
 * ResourceQuotas look at besides: limits, ports, affinity, and the namespace itself. Jobs of one
 * shape share one, so ten thousand waiting Jobs ask the cluster fifty questions.
 *
 * Labels are in it only if its pods look at other pods. Of the four labels that the API server adds
 * for each Job (its name and its uid) it has only those that these pods select by; else no two Jobs
 * had the same template. So anti-affinity of present pods is not checked for a pod that looks at no
 * other pods itself. That errs on the side of "possible".
 *
 * It is the pod as the API server will make it, as far as the queue knows: LimitRanges' defaults
 * and the RuntimeClass's overhead are filled in (accounting.h). What a start adds is not in it: a
 * flavor's labels and tolerations, and names of lent resources (node_suitability.h). Nor is the
 * default PriorityClass, which is added where it is needed.
 *
 * Answers about it are kept with it (node_suitability.h, namespace_quota.h).
 */
#ifndef SLUICE_QUEUE_REQUESTS_POD_TEMPLATE_H
#define SLUICE_QUEUE_REQUESTS_POD_TEMPLATE_H

#include "base/arena.h"
#include "base/map.h"
#include "queue/cluster/pod.h"
#include "base/list.h"

/* An answer about nodes: the rest of the block is node_suitability.c's. */
struct template_answer {
	struct template_answer *next;
};

struct refusal; /* of namespace_quota_rule.c: answers about its namespace's quotas */

struct pod_template {
	uint64_t hash;
	uint32_t refs; /* shapes */
	const struct pod *pod;
	const void *key; /* equal bytes, equal templates */
	size_t key_len;
	struct arena memory;
	struct link of_all;		 /* templates.all, in the order of their making */
	struct template_answer *answers; /* freed with the last reference */
	bool moved; /* some answer has changed: claims must be derived anew (node_suitability.c) */
	struct refusal *refusal; /* one block, freed with the last reference */
};

struct pod_templates {
	struct map map;
	struct link all;
	size_t bytes;
};

void pod_templates_init(struct pod_templates *t);
void pod_templates_done(struct pod_templates *t); /* no reference may be left */

/* Of a pod with all defaults filled in; NULL for NULL. Give it back with pod_template_put. */
struct pod_template *pod_template_of(struct pod_templates *t, const struct pod *p);
size_t pod_template_bytes(
	const struct pod_template *t); /* what it takes in memory; NULL takes nothing */
void pod_template_put(struct pod_templates *all, struct pod_template *t); /* NULL does nothing */

#endif
