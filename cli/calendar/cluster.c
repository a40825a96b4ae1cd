#include "cli/calendar/cluster.h"

#include <ev.h>
#include <string.h>

#include "base/flags.h"
#include "cli/question.h"
#include "base/json.h"
#include "controller/wire/decode.h"

#define CALENDARS SLUICE_ROOT "/calendars"

/* ---- ConfigMaps ------------------------------------------------------------------------------ */

static bool has_text(const struct calendar_specs *s, const char *configmap, const char *key)
{
	return calendar_specs_text(s, configmap, key).ptr != NULL;
}

/* Adds the dates of a ConfigMap. A missing one is no error here: the shelf says so when it is
 * closed, and names the Calendar that wants it. */
static int add_dates(const struct cluster *c, struct kube_client *client, struct calendar_specs *s,
	const struct exception_spec *x, struct err *e)
{
	struct json *json = json_new(QUESTION_TREE_MAX);
	const cJSON *root;
	int rc = question_get(c->loop, client, json, &root, e,
		"/api/v1/namespaces/%s/configmaps/%s", c->config_namespace, x->dates_configmap);
	if (rc == 0)
		rc = calendar_specs_add_configmap(s, root, e);
	if (rc == ERR_DENIED)
		err_wrap(e,
			"dates come from ConfigMap %s, which you may not read (with -f of both files no cluster is asked)",
			x->dates_configmap);
	json_free(json);
	return rc == ERR_GONE ? 0 : rc;
}

static int add_all_dates(const struct cluster *c, struct kube_client *client,
	struct calendar_specs *s, struct err *e)
{
	int rc = 0;
	for (size_t i = 0; i < s->n; i++)
		for (size_t x = 0; rc == 0 && x < s->item[i].spec->nexceptions; x++) {
			const struct exception_spec *from = &s->item[i].spec->exception[x];
			if (*from->dates_configmap &&
				!has_text(s, from->dates_configmap, from->dates_key))
				rc = add_dates(c, client, s, from, e);
		}
	return rc;
}

/* ---- Calendars ------------------------------------------------------------------------------- */

static int add_one(const struct cluster *c, const cJSON *o, struct calendar_specs *s, struct err *e)
{
	return calendar_specs_add_calendar(s, c->config->origin, o, e);
}

static void add_list(const struct cluster *c, const cJSON *root, struct calendar_specs *s,
	struct buf *complaints)
{
	json_each(item, json_array(root, "items")) {
		struct err e;
		if (add_one(c, item, s, &e) < 0)
			buf_printf(complaints, "%s\n", e.text);
	}
}

static int read_calendars(const struct cluster *c, struct kube_client *client, const char *name,
	struct calendar_specs *s, struct buf *complaints, struct err *e)
{
	struct json *json = json_new(QUESTION_TREE_MAX);
	const cJSON *root;
	int rc = question_get(
		c->loop, client, json, &root, e, name ? CALENDARS "/%s" : CALENDARS, name);
	if (rc == ERR_GONE)
		err_set(e, rc, "there is no Calendar%s%.253s in %s%s", name ? " " : "",
			name ? name : "", c->config->origin,
			name ? "" : ", not even the kind; kubectl apply -k deploy/ brings it");
	if (rc == 0 && name)
		rc = add_one(c, root, s, e);
	else if (rc == 0)
		add_list(c, root, s, complaints);
	json_free(json);
	return rc;
}

int cluster_read(const struct cluster *c, const char *name, struct calendar_specs *s,
	struct buf *complaints, struct err *e)
{
	int rc = name ? flag_check_name("NAME", name, e) : 0;
	if (rc < 0)
		return rc;
	struct kube_client *client = question_client(c->loop, c->config);
	rc = read_calendars(c, client, name, s, complaints, e);
	if (rc == 0)
		rc = add_all_dates(c, client, s, e);
	kube_client_free(client);
	return rc;
}
