/*
 * A lender on a scripted API server: a ConfigMap, Nodes, Pods and what they use, as a test says.
 */
#ifndef SLUICE_TEST_OVERCOMMIT_OVERCOMMIT_CONTROLLER_STAGE_H
#define SLUICE_TEST_OVERCOMMIT_OVERCOMMIT_CONTROLLER_STAGE_H

#include "base/json.h"
#include "controller/nodes/node_agents.h"
#include "controller/overcommit/usage_poller.h"
#include "controller/overcommit/overcommit_controller.h"
#include "controller/overcommit/overcommit_controller_priv.h"
#include "test/unit/kube/test.h"
#include "test/unit/kube/scripted_server.h"

#define GI (INT64_C(1) << 30)
#define NOW_MS INT64_C(1795255200000) /* 2026-11-21T10:00:00Z */

struct overcommit_controller_stage {
	struct ev_loop *loop;
	struct scripted_server *server;
	struct kube_config *config;
	struct kube_client *client;
	struct kube_shared_watch *nodes, *pods;
	struct queue *queue;
	struct overcommit_controller *overcommit_controller;
	struct json *json;
	int changes;	      /* how often a pass was asked for */
	int orders_changes;   /* how often orders were told to be others */
	char orders_node[64]; /* of which node, the last time */
	bool has_agent;	      /* what is told of the agent of each node */
	struct node_agent_view agent;
	int64_t now_ms;
};

/* configmap: the text of colocation-config, NULL for a ConfigMap that is not there. */
void stage_open(struct overcommit_controller_stage *s, const char *configmap);
void stage_close(struct overcommit_controller_stage *s);

/* The list that a watch begins with; what is held back comes with the release. Returned so that
 * more can be said on it. */
struct script *stage_list(
	struct overcommit_controller_stage *s, const char *path, const char *objects);
/* As an event of a watch, or an item of the first list. */
char *stage_event(const char *type, const char *object);

/* A round of samples: items of both lists. */
void stage_round(struct overcommit_controller_stage *s, const char *pods, const char *nodes);
void stage_patch(struct overcommit_controller_stage *s, const char *node, int status);

/* Ticks once and turns until nothing is under way; stage_pass() moves time and does so. */
void stage_tick(struct overcommit_controller_stage *s);
void stage_pass(struct overcommit_controller_stage *s, int64_t ms);

/* How many requests had this in their first line, and the body of the last. */
size_t stage_count(const struct overcommit_controller_stage *s, const char *line_part);
const char *stage_last_body(const struct overcommit_controller_stage *s, const char *line_part);

/* Texts of objects; to be freed. Extra is more of the metadata, status or spec. */
char *node_text(const char *name, const char *labels, int cpu, int gi, const char *annotations,
	const char *more_status);
char *pod_text(const char *ns, const char *name, const char *node, const char *labels,
	const char *resources);
char *configmap_text(const char *config);
char *usage_text(const char *ns, const char *name, int64_t at_ms, int cpu_milli, int mi);

#endif
