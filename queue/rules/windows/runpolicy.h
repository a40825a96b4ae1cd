/*
 * RunPolicies: the specs in force, which queues they bind, and which Calendar they go by.
 *
 * Which queues a policy binds is looked up when it, or a queue, comes or goes: names and globs. One
 * that is being deleted, or of which no valid spec was ever seen, binds nobody.
 */
#ifndef SLUICE_QUEUE_RULES_WINDOWS_RUNPOLICY_H
#define SLUICE_QUEUE_RULES_WINDOWS_RUNPOLICY_H

#include "base/arena.h"
#include "queue/rules/windows/calendar_ref.h"
#include "sluice/queue.h"

struct clusterqueue;
struct localqueue;

#define RUNPOLICY_SPAN_MAX_MS (INT64_C(31) * 24 * 3600 * 1000) /* overrun, notice, minRun, .. */
#define RUNPOLICY_NAMES_MAX 256				       /* queues; localQueues; quota */
#define RUNPOLICY_EXEMPTING_MAX 64			       /* policies with a selector */

struct runpolicy {
	char *name;
	uint64_t serial;
	struct tree_node by_name;
	struct runpolicy_spec spec; /* in force; its strings are in memory; spec.name NULL: none */
	struct arena memory;
	char *invalid;
	struct calendar_ref *calendar_ref; /* NULL: no spec is in force */
	struct link of_calendar_ref;
	uint64_t stopped_total;
	int exempts; /* which bit of workload.exempt its selector is; -1: it has none */
};

struct runpolicies {
	struct tree all;	     /* by name */
	uint64_t serials, exempting; /* bits of exempts that are taken */
};

void runpolicies_init(struct runpolicies *all);
void runpolicies_done(struct queue *q);

struct runpolicy *runpolicy_first(const struct queue *q); /* in name order; NULL: none */
struct runpolicy *runpolicy_next(const struct runpolicy *p);

/* Does it bind this queue by its name? */
bool runpolicy_names_clusterqueue(const struct runpolicy *p, const char *name);
bool runpolicy_names_localqueue(const struct runpolicy *p, const char *ns, const char *name);

/* What the policies' exempt selectors say of the Job: bits of runpolicy.exempts. */
uint64_t runpolicies_exempt(const struct queue *q, const struct job *j);

/* Whether a glob (* and ?) or a name takes this name. */
bool runpolicy_glob(const char *glob, const char *name);

/* Policies came, went or changed: who is bound by what is looked up anew, and what differs now is
 * touched. */
void window_states_form(struct queue *q);
/* The same for one ClusterQueue and all its LocalQueues that came, went or moved. */
void window_states_form_queue(struct queue *q, struct clusterqueue *cq);
/* .. for one LocalQueue, none of whose Jobs stands anywhere. */
void window_states_form_localqueue(struct queue *q, struct localqueue *lq);
/* A Calendar turned: the regimes of those bound by it are computed anew, quota sets applied, runs
 * suspected. */
void window_states_turn(struct queue *q, struct calendar_ref *t);

#endif
