/*
 * Is the database that of deploy/quickstart? The PGHOST of the controllers says so. Then a few
 * findings are no faults but choices: one Postgres, and no standby.
 */
#include <stdio.h>
#include <string.h>

#include "cli/doctor/checks.h"

#define DEPLOYMENT "/apis/apps/v1/namespaces/%s/deployments/sluice-controller"
#define HOST "sluice-postgres"

static bool names_host(const cJSON *container)
{
	json_each(variable, json_array(container, "env")) {
		const char *name = json_text(variable, "name");
		const char *value = json_text(variable, "value");
		if (name && value && strcmp(name, "PGHOST") == 0)
			return strcmp(value, HOST) == 0;
	}
	return false;
}

bool quickstart_is_used(struct doctor_context *p)
{
	char path[400];
	const cJSON *root;
	struct err e = {""};
	snprintf(path, sizeof(path), DEPLOYMENT, p->o->namespace_name);
	if (doctor_context_get(p, path, &root, &e) < 0)
		return false;
	const cJSON *template = json_object(json_object(root, "spec"), "template");
	json_each(container, json_array(json_object(template, "spec"), "containers")) {
		if (names_host(container))
			return true;
	}
	return false;
}
