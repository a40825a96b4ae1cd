/*
 * RunPolicies: the specs in force, the queues that they bind, and their Calendars.
 *
 * Which queues a policy binds (by names and globs) is looked up when it, or a queue, comes or goes.
 * A policy that is being deleted, or had no valid spec yet, binds none.
 */
#ifndef SLUICE_QUEUE_FEATURES_WINDOWS_RUNPOLICY_H
#define SLUICE_QUEUE_FEATURES_WINDOWS_RUNPOLICY_H

#include "base/arena.h"
#include "queue/core/model/named_object.h"
#include "queue/features/windows/calendar_ref.h"
#include "sluice/queue.h"

#define RUNPOLICY_EXEMPTING_MAX 64 /* policies with a selector */

struct runpolicy {
	struct named_object object;
	struct runpolicy_spec spec; /* in force; its strings are in memory; spec.name NULL: none */
	struct arena memory;
	struct calendar_ref *calendar_ref; /* NULL: no spec is in force */
	struct link of_calendar_ref;
	uint64_t stopped_total;
	int exempts; /* the bit of workload.exempt for its selector; -1: it has no selector */
};

struct runpolicies {
	struct named_objects all;
	uint64_t exempting; /* the bits of runpolicy.exempts in use */
};

void runpolicies_init(struct runpolicies *all);
void runpolicies_done(struct queue *q);

struct runpolicy *runpolicy_find(const struct queue *q, const char *name);
struct runpolicy *runpolicy_first(const struct queue *q); /* in name order; NULL: none */
struct runpolicy *runpolicy_next(const struct runpolicy *p);

/* Returns whether the policy binds this queue by its name. */
bool runpolicy_names_clusterqueue(const struct runpolicy *p, const char *name);
bool runpolicy_names_localqueue(const struct runpolicy *p, const char *ns, const char *name);

/* Which policies' selectors exempt the Job: bits of runpolicy.exempts. */
uint64_t runpolicies_exempt(const struct queue *q, const struct job *j);
/* Does any of them look at a label of that key? */
bool runpolicies_ask_for(const struct queue *q, const char *key);

/* Does the glob (* and ?) or name match this name? */
bool runpolicy_glob(const char *glob, const char *name);
/* Does NAMESPACE/NAME, globs both? They are matched apart, so that a star takes no slash. */
bool runpolicy_pair_glob(const char *glob, const char *ns, const char *name);

#endif
