/*
 * What the cluster knows of the controllers themselves: the kubelet asks each for /readyz, and
 * keeps how it ended last. No more rights are wanted than to list the pods of their namespace.
 */
#include <stdio.h>
#include <string.h>

#include "cli/doctor/checks.h"

enum { EXIT_COULD_NOT_FOLLOW = 4, PROBES_PORT = 8081 };
#define CONTROLLERS                                                                                \
	"/api/v1/namespaces/%s/pods?labelSelector=app.kubernetes.io%%2Fname%%3Dsluice-controller"

static const cJSON *ready_condition(const cJSON *pod)
{
	json_each(c, json_array(json_object(pod, "status"), "conditions")) {
		const char *type = json_text(c, "type");
		if (type && strcmp(type, "Ready") == 0)
			return c;
	}
	return NULL;
}

static bool is_true(const cJSON *condition)
{
	const char *status = json_text(condition, "status");
	return status && strcmp(status, "True") == 0;
}

/* When it last ended for that Jobs could not be followed; NULL: it did not. */
static const char *blind_end(const cJSON *pod)
{
	json_each(c, json_array(json_object(pod, "status"), "containerStatuses")) {
		const cJSON *end = json_object(json_object(c, "lastState"), "terminated");
		int64_t code = 0;
		const char *at = json_text(end, "finishedAt");
		if (json_i64(end, "exitCode", &code) == 0 && code == EXIT_COULD_NOT_FOLLOW)
			return at ? at : "some time ago";
	}
	return NULL;
}

static void look_at_controller(
	const struct doctor_context *p, struct findings *f, const cJSON *pod, size_t *ready)
{
	const char *name = json_text(json_object(pod, "metadata"), "name");
	const cJSON *condition = ready_condition(pod);
	const char *since = json_text(condition, "lastTransitionTime"), *end = blind_end(pod);
	const char *ns = p->o->namespace_name;
	name = name ? name : "";
	*ready += is_true(condition);
	if (!is_true(condition)) {
		findings_add(f, VERDICT_WARN, "pod %s/%s is not ready since %s", ns, name,
			since ? since : "it was made");
		findings_cure(f,
			"kubectl get --raw /api/v1/namespaces/%s/pods/%s:%d/proxy/readyz   # says what is missing, and which kinds it cannot follow\n"
			"kubectl -n %s logs %s --tail 50   # watch-trouble, not-permitted, ledger-down",
			ns, name, PROBES_PORT, ns, name);
	}
	if (end) {
		findings_add(f, VERDICT_WARN,
			"pod %s/%s led and could not follow Jobs for a minute; it gave the lease back and ended (exit code %d) at %s",
			ns, name, EXIT_COULD_NOT_FOLLOW, end);
		findings_cure(f,
			"kubectl -n %s logs %s --previous --tail 50   # watch-trouble has what the API server answered",
			ns, name);
	}
}

void check_controllers(struct doctor_context *p, struct findings *f)
{
	char path[700];
	const cJSON *root;
	struct err e = {""};
	size_t n = 0, ready = 0;
	snprintf(path, sizeof(path), CONTROLLERS, p->o->namespace_name);
	if (doctor_context_get(p, path, &root, &e) < 0) {
		findings_skip(f, "%s", e.text);
		return;
	}
	json_each(pod, json_array(root, "items")) {
		look_at_controller(p, f, pod, &ready);
		n++;
	}
	if (n == 0)
		findings_skip(f, "no pod of a controller is in namespace %s", p->o->namespace_name);
	else if (f->count == 0)
		findings_ok(f, "%zu of %zu ready: they follow Jobs", ready, n);
}
