/*
 * The calls that change a queue, as data: so that they can be written down and made again (record/).
 *
 * The same calls in the same order give byte-identical decisions (queue.h). So the calls are all that
 * is needed to see once more why something was decided. A listener hears each, with its arguments
 * and what it returned. Calls that only ask are not told.
 *
 * What is always true:
 *   - only the caller's calls are told: no function in queue/ calls one that tells
 *     (test/unit/record/calls_test.c reads the sources).
 *   - a call that changes nothing may be left out where there would be many: a status that comes
 *     again every second, a question that has no answer.
 *   - listening changes nothing, and costs one comparison for each call while nobody listens.
 *
 * When a public function that changes a queue is added: a row here, its arguments in struct
 * queue_call and in record/facts.def, a line in record/player.c, and queue_tell() in it.
 */
#ifndef SLUICE_QUEUE_CALL_H
#define SLUICE_QUEUE_CALL_H

#include "sluice/queue.h"

/* X(kind, function without "queue_", the argument without which it cannot be made, or kind) */
#define QUEUE_CALLS(X)                                                                             \
	X(CONFIGURE, configure, config)                                                            \
	X(KEY_NAMES, key_names, kind)                                                              \
	/* what admins describe */                                                                 \
	X(SET_CLUSTERQUEUE, set_clusterqueue, clusterqueue)                                        \
	X(REJECT_CLUSTERQUEUE, reject_clusterqueue, name)                                          \
	X(DROP_CLUSTERQUEUE, drop_clusterqueue, name)                                              \
	X(SET_COHORT, set_cohort, cohort)                                                          \
	X(REJECT_COHORT, reject_cohort, name)                                                      \
	X(DROP_COHORT, drop_cohort, name)                                                          \
	X(SET_LOCALQUEUE, set_localqueue, localqueue)                                              \
	X(REJECT_LOCALQUEUE, reject_localqueue, name)                                              \
	X(DROP_LOCALQUEUE, drop_localqueue, name)                                                  \
	X(SET_FLAVOR, set_flavor, flavor)                                                          \
	X(REJECT_FLAVOR, reject_flavor, name)                                                      \
	X(DROP_FLAVOR, drop_flavor, name)                                                          \
	X(SET_IDLE_POOL, set_idle_pool, idle_pool)                                                 \
	X(SET_MADE_NODES, set_made_nodes, made_nodes)                                              \
	X(DROP_MADE_NODES, drop_made_nodes, name)                                                  \
	X(SET_CLUSTER_AUTOSCALER, set_cluster_autoscaler, kind)                                    \
	X(SET_PRIORITY, set_priority, priority)                                                    \
	X(DROP_PRIORITY, drop_priority, name)                                                      \
	X(SET_NAMESPACE, set_namespace, of_namespace)                                              \
	X(DROP_NAMESPACE, drop_namespace, name)                                                    \
	X(SET_LIMIT_RANGE, set_limit_range, limit_range)                                           \
	X(DROP_LIMIT_RANGE, drop_limit_range, name)                                                \
	X(SET_RUNTIME_CLASS, set_runtime_class, runtime_class)                                     \
	X(DROP_RUNTIME_CLASS, drop_runtime_class, name)                                            \
	/* the cluster itself */                                                                   \
	X(KNOW_CLUSTER, know_cluster, kind)                                                        \
	X(SET_NODE, set_node, node)                                                                \
	X(DROP_NODE, drop_node, name)                                                              \
	X(SET_DEVICE_CLASS, set_device_class, device_class)                                        \
	X(DROP_DEVICE_CLASS, drop_device_class, name)                                              \
	X(KNOW_DEVICE_CLASSES, know_device_classes, kind)                                          \
	X(BIND_POD, bind_pod, bound_pod)                                                           \
	X(UNBIND_POD, unbind_pod, kind)                                                            \
	X(KNOW_PODS, know_pods, kind)                                                              \
	X(SET_RESOURCE_QUOTA, set_resource_quota, resource_quota)                                  \
	X(DROP_RESOURCE_QUOTA, drop_resource_quota, name)                                          \
	X(SAW_QUOTAS, saw_quotas, kind)                                                            \
	X(SET_DISRUPTION_BUDGET, set_disruption_budget, disruption_budget)                         \
	X(DROP_DISRUPTION_BUDGET, drop_disruption_budget, name)                                    \
	/* time and money */                                                                       \
	X(SET_CALENDAR, set_calendar, calendar)                                                    \
	X(REJECT_CALENDAR, reject_calendar, name)                                                  \
	X(DROP_CALENDAR, drop_calendar, name)                                                      \
	X(SET_RUNPOLICY, set_runpolicy, runpolicy)                                                 \
	X(REJECT_RUNPOLICY, reject_runpolicy, name)                                                \
	X(DROP_RUNPOLICY, drop_runpolicy, name)                                                    \
	X(SET_PRICEPLAN, set_priceplan, priceplan)                                                 \
	X(REJECT_PRICEPLAN, reject_priceplan, name)                                                \
	X(DROP_PRICEPLAN, drop_priceplan, name)                                                    \
	X(SET_BUDGET, set_budget, budget)                                                          \
	X(REJECT_BUDGET, reject_budget, name)                                                      \
	X(DROP_BUDGET, drop_budget, name)                                                          \
	X(SET_ADVANCE_RESERVATION, set_advance_reservation, advance_reservation)                   \
	X(REJECT_ADVANCE_RESERVATION, reject_advance_reservation, name)                            \
	X(DROP_ADVANCE_RESERVATION, drop_advance_reservation, name)                                \
	X(RECALL_SPENT, recall_spent, currency)                                                    \
	X(RECALL_DURATION, recall_duration, family)                                                \
	X(RECALL_RUN, recall_run, localqueue_name)                                                 \
	/* Jobs that others wait for */                                                            \
	X(SEE_PREDECESSOR, see_predecessor, predecessors)                                          \
	X(UNFOLLOW_PREDECESSOR, unfollow_predecessor, name)                                        \
	X(LOSE_PREDECESSOR, lose_predecessor, name)                                                \
	X(FORETELL_PREDECESSOR, foretell_predecessor, kind)                                        \
	X(BEGIN_JOB_LIST, begin_job_list, kind)                                                    \
	X(END_JOB_LIST, end_job_list, kind)                                                        \
	X(FOLLOW_PREDECESSORS, follow_predecessors, kind)                                          \
	X(TAKE_WANTED, take_wanted, kind)                                                          \
	X(ANSWER_WANTED, answer_wanted, kind)                                                      \
	X(RETURN_WANTED, return_wanted, kind)                                                      \
	X(TAKE_UNRECORDED, take_unrecorded, kind)                                                  \
	X(HAS_UNRECORDED, has_unrecorded, kind)                                                    \
	X(IS_UNRECORDED, is_unrecorded, kind)                                                      \
	X(RETURN_UNRECORDED, return_unrecorded, kind)                                              \
	/* Jobs beyond what may wait, and those that cannot be read */                             \
	X(DEFER_JOB, defer_job, job)                                                               \
	X(DEFER_KNOWN_JOB, defer_known_job, kind)                                                  \
	X(UNDEFER_JOB, undefer_job, kind)                                                          \
	X(END_DEFERRED_LIST, end_deferred_list, kind)                                              \
	X(TAKE_DEFERRED, take_deferred, kind)                                                      \
	X(RETURN_DEFERRED, return_deferred, kind)                                                  \
	X(UNREAD_JOB, unread_job, name)                                                            \
	X(READ_JOB, read_job, name)                                                                \
	X(BEGIN_UNREAD_LIST, begin_unread_list, kind)                                              \
	X(END_UNREAD_LIST, end_unread_list, kind)                                                  \
	/* Jobs */                                                                                 \
	X(SET_JOB, set_job, job)                                                                   \
	X(DROP_JOB, drop_job, kind)                                                                \
	X(ADOPT_JOB, adopt_job, kind)                                                              \
	X(ADOPT_UNREAD, adopt_unread, job)                                                         \
	X(TAKE_IN, take_in, kind)                                                                  \
	X(CONFIRM_JOB, confirm_job, kind)                                                          \
	X(LEAVING_JOB, leaving_job, kind)                                                          \
	X(READY_JOB, ready_job, kind)                                                              \
	X(FINISHED_JOB, finished_job, kind)                                                        \
	X(SHRINK_JOB, shrink_job, kind)                                                            \
	X(KEEP_PODS, keep_pods, kind)                                                              \
	X(GREW_JOB, grew_job, kind)                                                                \
	X(KEEP_ACTIVE, keep_active, kind)                                                          \
	X(ENDING_JOB, ending_job, kind)                                                            \
	X(BLOCK_JOB, block_job, kind)                                                              \
	X(RECLAIM_JOB, reclaim_job, why)                                                           \
	X(RELEASE_JOB, release_job, kind)                                                          \
	X(END_JOB, end_job, kind)                                                                  \
	X(RECALL_HISTORY, recall_history, history)                                                 \
	X(RECALL_PAST, recall_past, history)                                                       \
	X(RECALL_PRIORITY, recall_priority, kind)                                                  \
	/* time, decisions, and what else comes out */                                             \
	X(CLOCK_STEPPED, clock_stepped, kind)                                                      \
	X(PAUSE_STARTS, pause_starts, kind)                                                        \
	X(AWAIT_STATUSES, await_statuses, kind)                                                    \
	X(DECIDE, decide, kind)                                                                    \
	X(TAKE_CEILING, take_ceiling, kind)                                                        \
	X(RETAKE_CEILINGS, retake_ceilings, kind)

#define QUEUE_CALL_ID(kind, function, needs) CALL_##kind,
enum queue_call_kind { QUEUE_CALLS(QUEUE_CALL_ID) QUEUE_CALL_KINDS };
#undef QUEUE_CALL_ID

/* A call: zero where its function has no such argument. All is borrowed until hear() returns. */
struct queue_call {
	enum queue_call_kind kind;

	int64_t now_ms;
	struct uid uid;
	/* Names and sentences; NULL: none. */
	const char *ns, *name;
	const char *clusterqueue_name, *localqueue_name, *family, *currency;
	const char *sentence, *why;

	/* Times, by what the function calls them. */
	int64_t reserved_ms, not_before_ms, started_ms, from_ms, to_ms, ran_ms, at_ms, step_ms;
	int64_t cost, version;
	uint64_t seed, id, list;
	int32_t pods, counted;
	enum priority_kind priority_kind;
	enum predecessor_state state;
	bool flag; /* known, ready, paused, awaits, works, told_end */

	/* An object, decoded. */
	const struct queue_config *config;
	const struct clusterqueue_spec *clusterqueue;
	const struct cohort_spec *cohort;
	const struct localqueue_spec *localqueue;
	const struct flavor_spec *flavor;
	const struct idle_pool *idle_pool;
	const struct made_nodes_spec *made_nodes;
	const struct priority_spec *priority;
	const struct namespace_spec *of_namespace;
	const struct limit_range_spec *limit_range;
	const struct runtime_class_spec *runtime_class;
	const struct node_spec *node;
	const struct device_class_spec *device_class;
	const struct bound_pod *bound_pod;
	const struct resource_quota *resource_quota;
	const struct disruption_budget_spec *disruption_budget;
	const struct calendar_spec *calendar;
	const struct runpolicy_spec *runpolicy;
	const struct priceplan_spec *priceplan;
	const struct budget_spec *budget;
	const struct advance_reservation_spec *advance_reservation;
	const struct job *job;
	const struct job_history *history;
	const struct predecessor *predecessors;
	size_t npredecessors;
	const struct quota_line *lines;
	size_t nlines;

	/* The answer. */
	bool gave;  /* what a bool function returned, where that is known when the call is told */
	size_t cap; /* of a decision: how many may come at once */
	const struct decision *decisions;
	size_t ndecisions;
	int64_t next_ms;
	const struct wanted_predecessors *wanted;
	const struct deferred_job *deferred;
	const struct ceiling *ceiling;
};

struct queue_listener {
	void (*hear)(const struct queue_call *call, void *ctx); /* NULL: nobody listens */
	void *ctx;
};

/* Sets the listener, who hears all calls from now on: before the first one, if the record is to be
 * whole. */
void queue_listen(struct queue *q, struct queue_listener listener);

#endif
