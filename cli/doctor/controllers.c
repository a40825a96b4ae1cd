/*
 * What the cluster knows of the controllers themselves. The kubelet asks each for /readyz, and keeps
 * whether it is ready and how it ended last, but not what it names (kinds that it cannot follow).
 * So each is asked once more, through the API server, which wants the right to get pods/proxy.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/doctor/checks.h"
#include "controller/common/path.h"

enum {
	EXIT_COULD_NOT_FOLLOW = 4,
	PROBES_PORT = 8081,
	READYZ_WAIT_MS = 5000,
	READYZ_MAX_BYTES = 64 * 1024
};
#define CONTROLLERS                                                                                \
	"/api/v1/namespaces/%s/pods?labelSelector=app.kubernetes.io%%2Fname%%3Dsluice-controller"

/* Tells when the controller last ended because Jobs could not be followed; NULL: it did not. */
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

/* ---- what they say --------------------------------------------------------------------------- */

/* Returns the port that the pod calls "probes", as deploy/manager does. */
static int64_t probes_port(const cJSON *pod)
{
	json_each(container, json_array(json_object(pod, "spec"), "containers")) {
		json_each(port, json_array(container, "ports")) {
			int64_t number = 0;
			if (json_is(port, "name", "probes") &&
				json_i64(port, "containerPort", &number) == 0)
				return number;
		}
	}
	return PROBES_PORT;
}

/* Tells the controller's own text (answer_ready() in controller/answers/api.c) from what the API server
 * says where it does not reach the pod. */
static bool is_readiness(struct slice text)
{
	return slice_starts(text, "leading") || slice_starts(text, "standby") ||
	       slice_starts(text, "not ready");
}

/* Appends what /readyz says. False, and e: it could not be asked. */
static bool ask_readyz(
	struct doctor_context *p, const char *name, int64_t port, struct buf *out, struct err *e)
{
	struct buf path;
	buf_init(&path, PATH_MAX_BYTES);
	path_format(&path, "/api/v1/namespaces/%s/pods/%s", p->o->namespace_name, name);
	buf_printf(&path, ":%" PRId64 "/proxy/readyz", port);
	int rc = doctor_context_text(p, buf_text(&path), READYZ_WAIT_MS, out, e);
	buf_done(&path);
	if (is_readiness(buf_slice(out)))
		return true;
	if (rc == 0)
		err_set(e, ERR_INVALID, "pod %s does not answer as a controller does", name);
	return false;
}

/* Adds a finding for each line that begins with "- ". */
static void find_named(
	const struct doctor_context *p, struct findings *f, const char *name, const char *readyz)
{
	const char *ns = p->o->namespace_name;
	for (const char *end = strchr(readyz, '\n'); end; end = strchr(end + 1, '\n')) {
		if (strncmp(end + 1, "- ", 2) != 0)
			continue;
		const char *line = end + 3;
		findings_add(f, VERDICT_WARN, "pod %s/%s: %.*s", ns, name, (int)strcspn(line, "\n"),
			line);
		findings_cure(f,
			"kubectl -n %s logs %s --tail 50   # watch-trouble, not-permitted, ledger-down",
			ns, name);
	}
}

/* ---- the pods -------------------------------------------------------------------------------- */

static void find_not_ready(const struct doctor_context *p, struct findings *f, const char *name,
	const char *since, int64_t port)
{
	const char *ns = p->o->namespace_name;
	findings_add(f, VERDICT_WARN, "pod %s/%s is not ready since %s", ns, name,
		since ? since : "it was made");
	findings_cure(f,
		"kubectl get --raw /api/v1/namespaces/%s/pods/%s:%" PRId64
		"/proxy/readyz   # says what is missing, and which kinds it cannot follow\n"
		"kubectl -n %s logs %s --tail 50   # watch-trouble, not-permitted, ledger-down",
		ns, name, port, ns, name);
}

static void find_blind_end(
	const struct doctor_context *p, struct findings *f, const char *name, const char *end)
{
	const char *ns = p->o->namespace_name;
	findings_add(f, VERDICT_WARN,
		"pod %s/%s led and could not follow Jobs for a minute; it gave the lease back and ended (exit code %d) at %s",
		ns, name, EXIT_COULD_NOT_FOLLOW, end);
	findings_cure(f,
		"kubectl -n %s logs %s --previous --tail 50   # watch-trouble has what the API server answered",
		ns, name);
}

struct seen_controllers {
	size_t n, ready;
	struct err unasked; /* why some pod could not be asked; "": all were */
};

static void look_at_controller(struct doctor_context *p, struct findings *f, const cJSON *pod,
	struct seen_controllers *seen)
{
	const char *name = json_text(json_object(pod, "metadata"), "name");
	const cJSON *condition = json_condition(pod, "Ready");
	const char *since = json_text(condition, "lastTransitionTime"), *end = blind_end(pod);
	int64_t port = probes_port(pod);
	struct buf readyz;
	buf_init(&readyz, READYZ_MAX_BYTES);
	name = name ? name : "";
	seen->n++;
	seen->ready += json_condition_is(pod, "Ready", "True");
	if (!json_condition_is(pod, "Ready", "True"))
		find_not_ready(p, f, name, since, port);
	if (ask_readyz(p, name, port, &readyz, &seen->unasked))
		find_named(p, f, name, buf_text(&readyz));
	if (end)
		find_blind_end(p, f, name, end);
	buf_done(&readyz);
}

void check_controllers(struct doctor_context *p, struct findings *f)
{
	char path[700];
	const cJSON *root;
	struct err e = {""};
	struct seen_controllers seen = {0};
	snprintf(path, sizeof(path), CONTROLLERS, p->o->namespace_name);
	if (doctor_context_get(p, path, &root, &e) < 0) {
		findings_skip(f, "%s", e.text);
		return;
	}
	json_each(pod, json_array(root, "items")) {
		look_at_controller(p, f, pod, &seen);
	}
	if (seen.n == 0)
		findings_skip(f, "no pod of a controller is in namespace %s", p->o->namespace_name);
	else if (f->count == 0 && *seen.unasked.text)
		findings_ok(f,
			"%zu of %zu ready: they follow Jobs; of other kinds that is not known (%s)",
			seen.ready, seen.n, seen.unasked.text);
	else if (f->count == 0)
		findings_ok(f, "%zu of %zu ready, and none names a kind that it cannot follow",
			seen.ready, seen.n);
}
