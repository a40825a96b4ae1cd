/*
 * The aggregated API (docs/ask.md): where it is installed, does the API server reach it? While
 * it does not, namespaces that are deleted stay Terminating.
 */
#include "cli/commands.h"
#include "cli/doctor/checks.h"

#define APISERVICE "v1alpha1.visibility.sluice.dev"

static void find_unavailable(struct findings *f, const cJSON *condition)
{
	const char *reason = json_text(condition, "reason");
	const char *message = json_text(condition, "message");
	findings_add(f, VERDICT_WARN,
		"the API server does not reach visibility.sluice.dev (%s: %s): kubectl get queuedjobs gets no answer, and namespaces that are deleted stay Terminating",
		reason ? reason : "not looked at yet",
		message ? message : "no condition Available");
	findings_cure(f,
		"kubectl -n sluice-system get endpointslices,pods; kubectl -n sluice-system logs deployment/sluice-controller --tail 20\n"
		"# to do without it: kubectl delete apiservice " APISERVICE);
}

void check_visibility(struct doctor_context *p, struct findings *f)
{
	const cJSON *root;
	struct err e = {""};
	int rc = doctor_context_get(
		p, "/apis/apiregistration.k8s.io/v1/apiservices/" APISERVICE, &root, &e);
	if (rc == ERR_GONE) {
		findings_skip(f,
			"the component visibility is not installed: sluice jobs, explain, when, decisions, cost and others do not work without it (docs/ask.md)");
		return;
	}
	if (rc < 0) {
		findings_skip(f, "%s", e.text);
		return;
	}
	if (json_condition_is(root, "Available", "True"))
		findings_ok(f, "kubectl get queuedjobs is answered");
	else
		find_unavailable(f, json_condition(root, "Available"));
}
