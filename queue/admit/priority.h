/*
 * Priority classes of both kinds, and whose priority they decide.
 *
 * Each workload is a member of exactly one class: the WorkloadPriorityClass that its label names,
 * else the PriorityClass of its pod template, else `by_default`, which stands for the global
 * default PriorityClass (the lowest value if there are several, 0 if there is none). So an edited
 * class finds its workloads without a search. A class is made by whoever names it first.
 *
 * A class that does not exist has no value: who names it waits. For a PriorityClass that is the
 * API server's own rule, too: it refuses the pods. So waits who names a class above
 * PRIORITY_HIGHEST, which is for what keeps the cluster alive.
 */
#ifndef SLUICE_QUEUE_ADMIT_PRIORITY_H
#define SLUICE_QUEUE_ADMIT_PRIORITY_H

#include "base/map.h"
#include "base/list.h"
#include "sluice/spec.h"

struct priority_class {
	enum priority_kind kind;
	char *name;
	bool exists;
	int32_t value;
	bool global_default;
	bool never_preempts; /* who names it displaces nobody */
	struct link members; /* workload.of_class */
};

struct priorities {
	struct map classes;
	struct priority_class by_default; /* always exists */
};

void priorities_init(struct priorities *p);
void priorities_done(struct priorities *p);

/* The class that these two names (both may be "") lead to. */
struct priority_class *priority_of(
	struct priorities *p, const char *workload_class, const char *pod_class);
struct priority_class *priority_find(
	const struct priorities *p, enum priority_kind kind, const char *name);

/* May Jobs name it? */
bool priority_usable(const struct priority_class *c);
/* NULL, or what is wrong with it: it is one that every API server has above PRIORITY_HIGHEST. */
const char *priority_system_fault(const char *pod_class);

/* Set and drop return false when nothing changed; `by_default` may then have changed as well:
 * priority_default_changed() says so and makes it right. */
struct priority_class *priority_set(
	struct priorities *p, const struct priority_spec *spec, bool *ret_changed);
void priority_unset(struct priority_class *c);
bool priority_default_changed(struct priorities *p);

/* Of the default PriorityClass, as the API server picks it; NULL: there is none. */
const char *priority_default_name(const struct priorities *p);

/* Frees the class when nobody is in it and it does not exist. */
void priority_tidy(struct priorities *p, struct priority_class *c);

#endif
