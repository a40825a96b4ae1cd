/*
 * Priority classes of both kinds, and the workloads of each.
 *
 * Each workload is a member of exactly one class, so that an edited class finds its workloads
 * without a search:
 *
 *   the WorkloadPriorityClass that its label names,
 *   else the PriorityClass of its pod template,
 *   else `by_default`: the global default PriorityClass (the lowest value if there are several, 0
 *   if there is none)
 *
 * A record is made when the object or a workload first names the class. A workload waits while its
 * class does not exist; of such a PriorityClass the API server would refuse the pods. It also waits
 * if its class is above PRIORITY_HIGHEST: those are for what keeps the cluster alive.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_PRIORITY_H
#define SLUICE_QUEUE_CORE_MODEL_PRIORITY_H

#include "base/map.h"
#include "base/list.h"
#include "sluice/spec.h"

struct priority_class {
	enum priority_kind kind;
	char *name;
	bool exists;
	int32_t value;
	bool global_default;
	bool never_preempts; /* its workloads preempt none */
	struct link members; /* workload.of_class */
};

struct priorities {
	struct map classes;
	struct priority_class by_default; /* always exists */
};

void priorities_init(struct priorities *p);
void priorities_done(struct priorities *p);

/* The class that these two names select; both may be "". */
struct priority_class *priority_of(
	struct priorities *p, const char *workload_class, const char *pod_class);
struct priority_class *priority_find(
	const struct priorities *p, enum priority_kind kind, const char *name);

/* May Jobs name it? */
bool priority_usable(const struct priority_class *c);
/* By value, then by name. */
bool priority_is_lower(const struct priority_class *a, const struct priority_class *b);
/* NULL, or the sentence about a class that every API server has above PRIORITY_HIGHEST. */
const char *priority_system_fault(const char *pod_class);

/* Set and unset may change `by_default`, too: priority_default_changed() says so and updates it. */
struct priority_class *priority_set(
	struct priorities *p, const struct priority_spec *spec, bool *ret_changed);
void priority_unset(struct priority_class *c);
bool priority_default_changed(struct priorities *p);

/* The name of the default PriorityClass, as the API server picks it; NULL: there is none. */
const char *priority_default_name(const struct priorities *p);

/* Frees the class when it has no workload and does not exist. */
void priority_tidy(struct priorities *p, struct priority_class *c);

#endif
