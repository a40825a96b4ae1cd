/*
 * The overcommit controller: lends out idle resources of nodes, and takes them back when needed.
 *
 *     watches (Nodes, Pods), samples (usage_poller.h)  ->  inventory.h
 *     configuration (ConfigMap ack-slo-config, NodeOvercommits)  ->  a strategy for each node
 *     each dirty node: estimate -> window -> publication  ->  PATCH nodes/status
 *     what nodes lend, flavor by flavor                   ->  queue_set_idle_pool()
 *     each fresh sample: reclaim.h                        ->  queue_reclaim_job(), or an eviction
 *     agents of nodes (controller/nodes): node_orders.h go out; samples come in, and what was done
 *     there (ended_pods.h)
 *
 * It only wires these parts, and has them work in that order, once a second. Each part tells its
 * story in its header: node_watch.h, usage_poller.h, overcommit_configs.h, node_state.h,
 * publisher.h, pools.h, reclaimer.h, overcommit_status.h, history.h. All times are the machines'
 * own, by which usage is measured.
 *
 * Always true:
 *   - only the leader writes. Two for a moment is harmless: both write what the same samples say;
 *   - capacity and allocatable are written together and say the same (a kubelet copies one to the
 *     other), and in the same PATCH the annotation sluice.dev/overcommit-sample: when the sample
 *     behind them was taken. So the leader after a kill -9 knows how old a figure is and degrades
 *     it in time. Until it has two samples of its own it raises nothing;
 *   - while lending is off (no configuration says enable: true, and no flavor has an idle pool)
 *     nothing is followed for it. The Nodes are listed once, to set to 0 what an earlier leader
 *     published;
 *   - a bad configuration leaves the last good one in force, with an Event and a metric;
 *   - a cycle in which nothing changed writes nothing.
 *
 * Which configuration holds for a node: overcommit_configs.h. NodeOvercommits that do not count say
 * so in their status.
 */
#ifndef SLUICE_CONTROLLER_OVERCOMMIT_OVERCOMMIT_CONTROLLER_H
#define SLUICE_CONTROLLER_OVERCOMMIT_OVERCOMMIT_CONTROLLER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json_writer.h"
#include "controller/gate/gate.h"
#include "controller/write/events.h"
#include "controller/kube/client.h"
#include "controller/kube/shared_watch.h"
#include "controller/common/log.h"
#include "sluice/queue.h"

struct cJSON;
struct node_agent_view;
struct orders;
struct overcommit_controller;
struct sample;

struct overcommit_controller_options {
	struct kube_client *client;
	struct kube_shared_watch *nodes, *pods; /* pods: bound, and not ended */
	struct queue *queue;
	struct gate *gate; /* says which pods may be evicted, and tells of their Jobs */
	struct events *events;
	struct log *log;
	const char *configmap_namespace, *configmap; /* kube-system, ack-slo-config */
	struct history *history;		     /* NULL: no forecast */
	uint64_t seed;
	void (*changed)(void *ctx); /* the queue was told something: a pass is due */
	/* The agents of nodes (controller/nodes/node_agents.h). NULL: there are none. */
	void (*orders_changed)(
		const char *node, void *ctx); /* who waits for them is to be answered */
	bool (*agent)(const char *node, struct node_agent_view *ret, void *ctx); /* false: none */
	void *ctx;
};

struct overcommit_controller *overcommit_controller_new(
	const struct overcommit_controller_options *o);
void overcommit_controller_free(struct overcommit_controller *l);

/* Take a NodeOvercommit, and a ResourceFlavor whose spec the queue took over, as the informer sees
 * them. s is taken. */
int overcommit_controller_see(
	struct overcommit_controller *l, const struct cJSON *object, struct err *e);
void overcommit_controller_drop(struct overcommit_controller *l, const char *name);
void overcommit_controller_see_flavor(struct overcommit_controller *l, struct flavor_spec *s);
void overcommit_controller_drop_flavor(struct overcommit_controller *l, const char *name);

/* Gives the orders of a node, for its agent. NULL: nothing is known of the node yet, or this replica
 * does not lead. Borrowed until the next call. */
const struct orders *overcommit_controller_orders(
	struct overcommit_controller *l, const char *node);
/* Takes what the agent of a node reports, valid during the call. now_ms: when it came. It says no
 * more than the node has (nodes/sample_check.h). */
void overcommit_controller_take_sample(
	struct overcommit_controller *l, const char *node, const struct sample *s, int64_t now_ms);
/* Takes what it says it did, also where the rest of the sample is not believed. */
void overcommit_controller_take_deeds(
	struct overcommit_controller *l, const char *node, const struct sample *s, int64_t now_ms);

/* Does one cycle, about once a second. leads: it may write, reclaim, and tell the queue. */
void overcommit_controller_tick(struct overcommit_controller *l, int64_t now_ms, bool leads);

/* Appends the metrics of docs/metrics.md, also the seeds'. l NULL: no samples. */
void overcommit_controller_put_metrics(const struct overcommit_controller *l, struct buf *out);
/* Puts the members of an OvercommitReport: of all nodes (node ""), or of one, with its sum term by
 * term. False: no such node. */
bool overcommit_controller_show(
	const struct overcommit_controller *l, const char *node, struct json_writer *w);

#endif
