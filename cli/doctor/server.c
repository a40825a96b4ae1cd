/* What the API server says of itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/span.h"
#include "cli/doctor/checks.h"

enum {
	/* The first with ValidatingAdmissionPolicy as v1, which keeps the gate shut. */
	OLDEST_MINOR = 30,
	TESTED_MINOR = 34,    /* the oldest that Sluice was tested with (docs/testing.md) */
	NEWEST_MINOR = 37,    /* the newest that Sluice was tested with */
	RESOURCES_MINOR = 36, /* the first where a suspended Job's resources may be written */
	SKEW_MAX_MS = 5 * 1000,
};
#define QUESTION_SERVER "/version"

void check_api_server(struct doctor_context *p, struct findings *f)
{
	const cJSON *root;
	struct err e = {""};
	int rc = doctor_context_get(p, QUESTION_SERVER, &root, &e);
	if (rc < 0) {
		findings_add(f, VERDICT_FAIL, "%s: %s", p->config->origin, e.text);
		return;
	}
	const char *minor = json_text(root, "minor");
	p->minor = minor ? atoi(minor) : 0; /* "36+" of some providers */
	findings_ok(f, "%s at %s answers", p->config->origin, p->config->server);
}

void check_version(struct doctor_context *p, struct findings *f)
{
	if (p->minor == 0)
		findings_skip(f, "it does not say");
	else if (p->minor < OLDEST_MINOR)
		findings_add(f, VERDICT_FAIL,
			"Kubernetes 1.%d has no ValidatingAdmissionPolicy: any user can start a queued Job; use 1.%d or later",
			p->minor, OLDEST_MINOR);
	else if (p->minor < TESTED_MINOR)
		findings_add(f, VERDICT_WARN,
			"Kubernetes 1.%d: Sluice is tested from 1.%d on; upgrade the cluster",
			p->minor, TESTED_MINOR);
	else if (p->minor < RESOURCES_MINOR)
		findings_add(f, VERDICT_WARN,
			"Kubernetes 1.%d: Jobs with sluice.dev/preemptible run in ordinary flavors only, since resources of a suspended Job can be written from 1.%d on; all else works",
			p->minor, RESOURCES_MINOR);
	else if (p->minor > NEWEST_MINOR)
		findings_add(f, VERDICT_WARN,
			"Kubernetes 1.%d: this version of Sluice was tested with 1.%d to 1.%d; see whether there is a newer one, and try it on a test cluster first",
			p->minor, TESTED_MINOR, NEWEST_MINOR);
	else
		findings_ok(f, "Kubernetes 1.%d", p->minor);
}

void check_mutating_policies(struct doctor_context *p, struct findings *f)
{
	const cJSON *root;
	struct err e = {""};
	int rc = doctor_context_get(p,
		"/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies?limit=1", &root,
		&e);
	p->no_mutating = rc == ERR_GONE;
	if (rc == 0)
		findings_ok(f, "served");
	else if (rc == ERR_GONE)
		findings_add(f, VERDICT_WARN,
			"not served: a queued Job that is created without suspend: true is refused, not suspended, and no LocalQueue is filled in");
	else
		findings_skip(f, "%s", e.text);
}

void check_api_clock(struct doctor_context *p, struct findings *f)
{
	if (!p->api_skew_known) {
		findings_skip(f, "it does not say what time it is");
		return;
	}
	int64_t off_ms = llabs(p->api_skew_ms);
	if (off_ms - p->api_unsure_ms > SKEW_MAX_MS)
		findings_add(f, VERDICT_WARN,
			"its clock is %s %s this machine's: windows open and close, and waits are told, by the controller's",
			span_short(off_ms).s, p->api_skew_ms > 0 ? "ahead of" : "behind");
	else
		findings_ok(f, "within %lld ms of this machine's",
			(long long)(off_ms > p->api_unsure_ms ? off_ms : p->api_unsure_ms));
}

/* ---- where resources are lent---------------------------------------------------------------- */

static bool switched_on(const cJSON *strategy)
{
	bool on = false;
	if (json_bool(strategy, "enable", &on) == 0 && on)
		return true;
	json_each(one, json_array(strategy, "nodeConfigs")) {
		if (json_bool(one, "enable", &on) == 0 && on)
			return true;
	}
	return false;
}

struct lending {
	bool on;      /* something is lent */
	bool metrics; /* lending goes by metrics.k8s.io */
	bool agents;  /* ... by agents alone, somewhere */
	bool decided; /* the ConfigMap decides: NodeOvercommits do not count */
};

static int read_configmap(struct doctor_context *p, struct lending *l, struct err *e)
{
	char path[700];
	const cJSON *root;
	const char *slash = strchr(p->o->configmap, '/');
	if (!slash)
		return 0;
	snprintf(path, sizeof(path), "/api/v1/namespaces/%.*s/configmaps/%.253s",
		(int)(slash - p->o->configmap), p->o->configmap, slash + 1);
	int rc = doctor_context_get(p, path, &root, e);
	if (rc < 0)
		return rc == ERR_GONE ? 0 : rc;
	const char *text = json_text(json_object(root, "data"), "colocation-config");
	if (!text)
		return 0;
	char *copy = mem_strdup(text); /* the tree goes with the next parse */
	l->decided = true;
	if (json_parse(p->json, slice_of(copy), &root, e) == 0)
		l->on = l->metrics = switched_on(root);
	free(copy);
	return 0; /* the controller says what is wrong with it */
}

static int read_nodeovercommits(struct doctor_context *p, struct lending *l, struct err *e)
{
	const cJSON *root;
	int rc = doctor_context_get(p, SLUICE_ROOT "/nodeovercommits", &root, e);
	if (rc < 0)
		return rc == ERR_GONE ? 0 : rc;
	json_each(item, json_array(root, "items")) {
		const cJSON *spec = json_object(item, "spec");
		const char *source = json_text(spec, "usageSource");
		bool enable = true;
		json_bool(spec, "enable", &enable);
		l->on |= enable;
		bool kubelet = source && strcmp(source, "kubelet") == 0;
		bool agent = source && strcmp(source, "agent") == 0;
		l->agents |= enable && agent;
		l->metrics |= enable && !kubelet && !agent;
	}
	return 0;
}

static void look_for_metrics(struct doctor_context *p, struct findings *f)
{
	const cJSON *root;
	struct err e = {""};
	int rc = doctor_context_get(p, "/apis/metrics.k8s.io/v1beta1/nodes", &root, &e);
	if (rc == ERR_DENIED)
		findings_skip(f, "%s", e.text);
	else if (rc < 0 && node_agents_measure_all(p))
		findings_ok(
			f, "not served, and not needed: the agents of all nodes that lend report");
	else if (rc < 0) {
		findings_add(f, VERDICT_FAIL,
			"idle resources are lent, but what nodes use is not known: %s", e.text);
		findings_cure(f,
			"kubectl apply -f https://github.com/kubernetes-sigs/metrics-server/releases/latest/download/components.yaml\n"
			"# or usageSource: kubelet, with deploy/components/kubelet-usage");
	} else if (!json_array(root, "items") || !json_array(root, "items")->child) {
		findings_add(f, VERDICT_WARN,
			"idle resources are lent, and metrics.k8s.io knows of no node");
		findings_cure(f, "kubectl -n kube-system logs deployment/metrics-server --tail 20");
	} else
		findings_ok(f, "served, and idle resources are lent by it");
}

static void look_for_kubelets(struct doctor_context *p, struct findings *f)
{
	bool may = false;
	struct err e = {""};
	if (rights_ask(p, "", "nodes/proxy", "get", &may, &e) < 0)
		findings_skip(f, "%s", e.text);
	else if (!may) {
		findings_add(f, VERDICT_FAIL,
			"idle resources are lent by what kubelets say, and the account %s/sluice-controller may not get nodes/proxy",
			p->o->namespace_name);
		findings_cure(f,
			"kubectl apply --server-side --force-conflicts -f deploy/components/kubelet-usage/role.yaml");
	} else
		findings_ok(f, "not needed: usage is read from the kubelets, which is allowed");
}

static int read_lending(struct doctor_context *p, struct lending *ret, struct err *e)
{
	*ret = (struct lending){false, false, false};
	int rc = read_configmap(p, ret, e);
	return rc == 0 && !ret->decided ? read_nodeovercommits(p, ret, e) : rc;
}

int lending_is_on(struct doctor_context *p, bool *ret_on, struct err *e)
{
	struct lending l;
	int rc = read_lending(p, &l, e);
	*ret_on = l.on;
	return rc;
}

void check_metrics(struct doctor_context *p, struct findings *f)
{
	struct lending l;
	struct err e = {""};
	if (read_lending(p, &l, &e) < 0)
		findings_skip(f, "%s", e.text);
	else if (!l.on)
		findings_skip(f, "idle resources are not lent");
	else if (!l.metrics && l.agents)
		findings_skip(f, "usage is read from the agents of nodes (check node-agents)");
	else if (!l.metrics)
		look_for_kubelets(p, f);
	else
		look_for_metrics(p, f);
}
