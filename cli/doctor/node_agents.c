/*
 * The agents of nodes (sluice-node, docs/idle.md), as the controller sees them: nodes that lend and
 * have none, agents that are silent, and what of a node is out of an agent's reach.
 *
 * A cluster may do without: then nothing on its nodes holds lent pods to what they ask for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor/checks.h"
#include "controller/common/visibility_names.h"
#include "controller/wire/decode_node.h"

enum { SILENT_MS = 60000, SERVED_MAX = 2048, NAMED = 5, TEXT_SIZE = 600, NOTES_SIZE = 4000 };

#define REPORT VISIBILITY_ROOT "/overcommits"
#define AGENTS "/apis/apps/v1/namespaces/sluice-node/daemonsets/sluice-node"
#define KOORDLET "/apis/apps/v1/daemonsets?fieldSelector=metadata.name%3Dkoordlet"
#define LOGS "kubectl -n sluice-node logs daemonset/sluice-node --tail 20"

/* Nodes that have something in common: the first are named. */
struct nodes {
	size_t count;
	char text[TEXT_SIZE];
};

static void add(struct nodes *to, const char *name)
{
	size_t len = strlen(to->text);
	if (to->count++ < NAMED)
		snprintf(to->text + len, sizeof(to->text) - len, "%s%.100s", len ? ", " : "", name);
}

/* Gives them as text: "n1, n2", or "n1, n2, n3, n4, n5 and 7 more". */
static const char *named(struct nodes *all)
{
	size_t len = strlen(all->text);
	if (all->count > NAMED)
		snprintf(all->text + len, sizeof(all->text) - len, " and %zu more",
			all->count - NAMED);
	return all->text;
}

struct fleet {
	size_t lending, with; /* nodes that lend; of these, with an agent */
	struct nodes without, unheard, silent, no_tier, no_cpu, no_memory, refused, undone;
};

static bool lacks(const cJSON *agent, const char *what)
{
	json_each(word, json_array(agent, "lacks"))
		if (cJSON_IsString(word) && strcmp(word->valuestring, what) == 0)
			return true;
	return false;
}

static int64_t count_of(const cJSON *agent, const char *deed)
{
	int64_t n = 0;
	json_i64(json_object(agent, "deeds"), deed, &n);
	return n;
}

static void look_at_agent(struct fleet *f, const char *name, const cJSON *agent)
{
	int64_t age_ms = 0;
	f->with++;
	if (json_i64(agent, "ageMs", &age_ms) < 0)
		add(&f->unheard, name);
	if (age_ms > SILENT_MS)
		add(&f->silent, name);
	if (lacks(agent, "tier"))
		add(&f->no_tier, name);
	if (lacks(agent, "cpu"))
		add(&f->no_cpu, name);
	if (lacks(agent, "memory"))
		add(&f->no_memory, name);
	if (count_of(agent, "refused") > 0)
		add(&f->refused, name);
	if (count_of(agent, "undone") > 0)
		add(&f->undone, name);
}

static void look_at_nodes(const cJSON *report, struct fleet *ret)
{
	json_each(node, json_array(report, "nodes")) {
		bool enabled = false;
		const char *name = json_text(node, "node");
		const cJSON *agent = json_object(node, "agent");
		if (!name || json_bool(node, "enabled", &enabled) < 0 || !enabled)
			continue;
		ret->lending++;
		if (agent)
			look_at_agent(ret, name, agent);
		else
			add(&ret->without, name);
	}
}

bool node_agents_measure_all(struct doctor_context *p)
{
	const cJSON *root;
	struct err e;
	struct fleet fleet = {0};
	if (doctor_context_get(p, REPORT, &root, &e) < 0)
		return false;
	look_at_nodes(root, &fleet);
	return fleet.with > 0 &&
	       fleet.without.count + fleet.unheard.count + fleet.silent.count == 0;
}

/* ---- what is found --------------------------------------------------------------------------- */

static void warn(struct findings *f, struct nodes *nodes, const char *what, const char *cure)
{
	if (nodes->count == 0)
		return;
	findings_add(f, VERDICT_WARN, "%s: %s", what, named(nodes));
	findings_cure(f, "%s", cure);
}

static void tell(struct findings *f, struct fleet *fleet)
{
	warn(f, &fleet->without,
		"these nodes lend and have no agent: nothing there holds lent pods to what they ask for",
		"kubectl -n sluice-node get pods -o wide; kubectl -n sluice-node describe daemonset sluice-node");
	if (fleet->with > SERVED_MAX) {
		findings_add(f, VERDICT_WARN,
			"these are more agents than a leader serves (%d): some get no orders",
			SERVED_MAX);
		findings_cure(f,
			"# a nodeSelector of DaemonSet sluice-node: nodes without an agent lend, too");
	}
	warn(f, &fleet->unheard,
		"the agents of these nodes have not reported since this controller began to lead",
		"# they do so within half a minute; later: " LOGS);
	warn(f, &fleet->silent, "the agents of these nodes have not reported for a minute", LOGS);
	warn(f, &fleet->no_tier,
		"agents found no cgroup of best-effort pods, and limit nothing, on these nodes",
		LOGS "\n# --tier=PATH says where it is, below /sys/fs/cgroup");
	warn(f, &fleet->no_cpu, "agents cannot bound the cpu of lent pods on these nodes", LOGS);
	warn(f, &fleet->no_memory, "agents cannot bound the memory of lent pods on these nodes",
		LOGS);
	warn(f, &fleet->refused, "the kernels of these nodes refused writes of their agents", LOGS);
	warn(f, &fleet->undone,
		"somebody else writes the cgroups of lent pods on these nodes, and undoes what the agent wrote",
		"kubectl get pods -A -o wide --field-selector spec.nodeName=NODE\n"
		"# koordlet and other tools that write cgroups must not run beside sluice-node");
	if (f->count == 0)
		findings_ok(f, "report from all %zu nodes that lend", fleet->lending);
}

/* Both would write the cgroups of the same pods, each over the other. */
static void look_for_koordlet(struct doctor_context *p, struct findings *f)
{
	const cJSON *root;
	struct err e;
	if (doctor_context_get(p, KOORDLET, &root, &e) < 0)
		return;
	json_each(item, json_array(root, "items")) {
		const char *ns = json_text(json_object(item, "metadata"), "namespace");
		findings_add(f, VERDICT_FAIL,
			"koordlet (DaemonSet %s/koordlet) runs beside sluice-node: both write the cgroups of lent pods",
			ns ? ns : "");
		findings_cure(f,
			"kubectl -n %s delete daemonset koordlet\n"
			"# or do without deploy/components/node-agent",
			ns ? ns : "koordinator-system");
	}
}

/* ---- the ConfigMap --------------------------------------------------------------------------- */

static void tell_notes(const struct qos_config *q, struct findings *f)
{
	char text[NOTES_SIZE] = "";
	for (size_t i = 0; i < q->nnotes; i++) {
		size_t len = strlen(text);
		snprintf(text + len, sizeof(text) - len, "%s%s", i ? "; " : "", q->notes[i]);
	}
	if (q->nnotes == 0)
		return;
	findings_add(f, VERDICT_WARN, "resource-qos-config: %s", text);
	findings_cure(f, "# take out what is not done, or sluice doctor --ignore node-agents");
}

/* Says what of resource-qos-config, which is koordlet's, no agent of ours does. */
static void look_at_configmap(struct doctor_context *p, struct findings *f)
{
	char path[700];
	const cJSON *root;
	struct err e;
	struct overcommit_config *c = NULL;
	const char *slash = strchr(p->o->configmap, '/');
	if (!slash)
		return;
	snprintf(path, sizeof(path), "/api/v1/namespaces/%.*s/configmaps/%.253s",
		(int)(slash - p->o->configmap), p->o->configmap, slash + 1);
	if (doctor_context_get(p, path, &root, &e) < 0)
		return;
	const cJSON *data = json_object(root, "data");
	if (decode_overcommit_config(slice_of(json_text(data, "colocation-config")),
		    slice_of(json_text(data, "resource-threshold-config")),
		    slice_of(json_text(data, "resource-qos-config")), &c, &e) == 0)
		tell_notes(&c->qos, f);
	free(c);
}

void check_node_agents(struct doctor_context *p, struct findings *f)
{
	const cJSON *root;
	struct err e = {""};
	struct fleet fleet = {0};
	bool on = false;
	if (lending_is_on(p, &on, &e) < 0) {
		findings_skip(f, "%s", e.text);
		return;
	}
	if (!on) {
		findings_skip(f, "idle resources are not lent");
		return;
	}
	if (doctor_context_get(p, REPORT, &root, &e) < 0) {
		findings_skip(f, "only the controller knows of them: %s", e.text);
		return;
	}
	look_at_nodes(root, &fleet);
	if (fleet.with == 0 && doctor_context_get(p, AGENTS, &root, &e) < 0) {
		findings_ok(f,
			"there are none: nothing on nodes holds lent pods to what they ask for (deploy/components/node-agent)");
		return;
	}
	look_for_koordlet(p, f);
	look_at_configmap(p, f);
	tell(f, &fleet);
}
