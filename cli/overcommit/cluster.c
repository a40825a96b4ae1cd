#include "cli/overcommit/cluster.h"

#include <ev.h>
#include <stdio.h>
#include <string.h>

#include "cli/question.h"
#include "controller/common/visibility_names.h"

#define METRICS "/apis/metrics.k8s.io/v1beta1"

struct reading {
	const struct overcommit_cluster *of;
	struct kube_client *client;
	struct json *json;
	struct snapshot *s;
};

static int ask(const struct reading *r, const char *path, const char *kind, struct err *e)
{
	const cJSON *root;
	int rc = question_ask(r->of->loop, r->client, path, r->json, &root, e);
	return rc < 0 ? rc : snapshot_add(r->s, root, kind, e);
}

static int read_node(const struct reading *r, const char *node, struct err *e)
{
	char path[512];
	snprintf(path, sizeof(path), "/api/v1/nodes/%.253s", node);
	int rc = ask(r, path, "Node", e);
	if (rc == ERR_GONE)
		err_set(e, rc, "there is no Node %.253s in %s", node, r->of->config->origin);
	if (rc < 0)
		return rc;
	snprintf(path, sizeof(path), "/api/v1/pods?fieldSelector=spec.nodeName%%3D%.253s", node);
	return ask(r, path, "PodList", e);
}

/* Reads the use of the node or of one pod. A missing one is no error. ERR_BUSY: metrics are not
 * served at all. */
static int read_usage(const struct reading *r, const char *path, const char *kind, struct err *e)
{
	int rc = ask(r, path, kind, e);
	if (rc != ERR_GONE && rc != ERR_BUSY && rc != ERR_INVALID)
		return rc;
	if (strcmp(kind, "NodeMetrics") == 0)
		buf_printf(&r->s->notes, "no usage: %s\n", e->text);
	return rc == ERR_BUSY ? ERR_BUSY : 0;
}

/* Reads the use of the node and of its pods, one by one: a list of the whole cluster would be a
 * thousand times as long. */
static int read_usages(const struct reading *r, const char *node, struct err *e)
{
	char path[700];
	snprintf(path, sizeof(path), METRICS "/nodes/%.253s", node);
	int rc = read_usage(r, path, "NodeMetrics", e);
	if (rc == ERR_BUSY)
		return 0; /* metrics are not served: the pods' would not come either */
	for (size_t i = 0; i < r->s->npods && rc == 0; i++) {
		const struct pod_facts *p = r->s->pod[i];
		snprintf(path, sizeof(path), METRICS "/namespaces/%.253s/pods/%.253s", p->ns,
			p->name);
		if (p->phase != POD_OVER)
			rc = read_usage(r, path, "PodMetrics", e);
	}
	return rc == ERR_BUSY ? 0 : rc;
}

static int read_configmap(const struct reading *r, struct err *e)
{
	char path[700];
	const char *slash = strchr(r->of->configmap, '/');
	if (!slash)
		return 0;
	snprintf(path, sizeof(path), "/api/v1/namespaces/%.*s/configmaps/%.253s",
		(int)(slash - r->of->configmap), r->of->configmap, slash + 1);
	int rc = ask(r, path, "ConfigMap", e);
	if (rc == ERR_INVALID)
		err_wrap(e, "the controller goes on with the last good one, which only it knows");
	return rc == ERR_GONE ? 0 : rc;
}

/* Reads the NodeOvercommits. A faulty one is left out; its status says why. */
static int read_rules(const struct reading *r, struct err *e)
{
	const cJSON *root;
	int rc = question_ask(
		r->of->loop, r->client, SLUICE_ROOT "/nodeovercommits", r->json, &root, e);
	if (rc == ERR_GONE)
		return 0; /* the kind does not exist */
	if (rc < 0)
		return rc;
	json_each(item, json_array(root, "items")) {
		struct err wrong;
		if (snapshot_add(r->s, item, "NodeOvercommit", &wrong) < 0)
			buf_printf(&r->s->notes, "%s\n", wrong.text);
	}
	return 0;
}

/* Reads what the controller knows of the node's agent. Nobody has to be able to tell. */
static void read_agent(const struct reading *r, const char *node)
{
	const cJSON *root;
	char path[512];
	struct err e;
	snprintf(path, sizeof(path), VISIBILITY_ROOT "/overcommits/%.253s", node);
	if (question_ask(r->of->loop, r->client, path, r->json, &root, &e) == 0)
		agent_read(root, &r->s->agent);
}

int overcommit_cluster_read(
	const struct overcommit_cluster *c, const char *node, struct snapshot *s, struct err *e)
{
	struct reading r = {.of = c, .s = s, .json = json_new(QUESTION_TREE_MAX)};
	r.client = question_client(c->loop, c->config);
	int rc = read_node(&r, node, e);
	if (rc == 0)
		rc = read_configmap(&r, e);
	if (rc == 0)
		rc = read_rules(&r, e);
	if (rc == 0)
		read_agent(&r, node);
	if (rc == 0 && !s->agent.is_source)
		rc = read_usages(&r, node, e);
	kube_client_free(r.client);
	json_free(r.json);
	return rc;
}
