#include "cli/import/cluster.h"

#include <stdio.h>
#include <string.h>

#include "cli/import/crane_kinds.h"
#include "cli/import/kinds.h"
#include "cli/import/metadata.h"
#include "cli/question.h"

enum { PATH_SIZE = 1200 };

struct reader {
	const struct import_cluster *c;
	struct import *import;
	struct kube_client *client;
	struct json *json;
	bool answered;	/* some listing could be read */
	bool has_kinds; /* the cluster has kinds of Kueue, or of Crane */
};

/* A kind: where it is, and what its items are when they do not say so. */
struct listing {
	const char *api, *kind, *plural;
	bool namespaced;
	const char *query; /* "?labelSelector=...", or "" */
};

struct taking {
	struct import *import;
	const struct listing *listing;
};

static void take_item(const cJSON *o, void *ctx)
{
	const struct taking *t = ctx;
	import_object(t->import, "the cluster", t->listing->api, t->listing->kind, o);
}

static int read_listing(struct reader *r, const struct listing *l, struct err *e)
{
	char path[PATH_SIZE];
	const char *ns = l->namespaced ? r->c->namespace_name : NULL;
	struct question_facts facts;
	snprintf(path, sizeof(path), "/%s/%s%s%.253s/%s%s", strchr(l->api, '/') ? "apis" : "api",
		l->api, ns ? "/namespaces/" : "", ns ? ns : "", l->plural, l->query);
	int rc = question_each(r->c->loop, r->client, r->json, path, take_item,
		&(struct taking){r->import, l}, &facts, e);
	r->answered |= facts.http_status / 100 == 2;
	return rc;
}

/* Reads a kind in the newest version that is served. None: the cluster has no such kind, and
 * nothing is lost. */
static int read_kind(struct reader *r, const struct import_kind *k, struct err *e)
{
	static const char *const apis[] = {
		KUEUE_DOMAIN "/v1beta2", KUEUE_DOMAIN "/v1beta1", KUEUE_DOMAIN "/v1alpha1"};
	int rc = ERR_GONE;
	for (size_t i = 0; rc == ERR_GONE && i < sizeof(apis) / sizeof(*apis); i++)
		rc = read_listing(
			r, &(struct listing){apis[i], k->name, k->plural, k->namespaced, ""}, e);
	return rc == ERR_GONE ? 0 : rc;
}

static int read_configmap(struct reader *r, const char *ns, const char *name, struct err *e)
{
	char path[PATH_SIZE];
	const cJSON *root;
	snprintf(path, sizeof(path), "/api/v1/namespaces/%.253s/configmaps/%s", ns, name);
	int rc = question_ask(r->c->loop, r->client, path, r->json, &root, e);
	if (rc == 0)
		import_object(r->import, "the cluster", "v1", "ConfigMap", root);
	return rc;
}

/* Says what is denied, so that the rest can be read. */
static int forgive(struct reader *r, int rc, const char *kind, const struct err *e)
{
	if (rc != ERR_DENIED && rc != ERR_GONE)
		return rc;
	import_missing(r->import, "the cluster", kind, e->text);
	return 0;
}

static int read_all(struct reader *r, struct err *e)
{
	const struct listing jobs = {
		"batch/v1", "Job", "jobs", true, "?labelSelector=" KUEUE_DOMAIN "%2Fqueue-name"};
	const struct listing cronjobs = {"batch/v1", "CronJob", "cronjobs", true, ""};
	const struct import_kind *k;
	int rc = 0;
	for (size_t i = 0; rc == 0 && (k = import_kind_at(i)); i++)
		if (k->plural)
			rc = forgive(r, read_kind(r, k, e), k->name, e);
	r->has_kinds = r->answered;
	if (rc == 0)
		rc = read_configmap(r, r->c->kueue_namespace, "kueue-manager-config", e);
	if (rc == ERR_GONE && !r->has_kinds)
		rc = 0; /* no Kueue, so no configuration of it is missing */
	rc = forgive(r, rc, "Configuration", e);
	if (rc == 0)
		rc = forgive(r, read_listing(r, &cronjobs, e), "CronJob", e);
	if (rc == 0)
		rc = forgive(r, read_listing(r, &jobs, e), "Job", e);
	if (rc == 0 && !r->answered)
		rc = ERR_DENIED;
	return rc;
}

/* Reads what Crane has. Kinds that are not there are nothing lost, and so is a template. */
static int read_crane(struct reader *r, struct err *e)
{
	const struct listing nodes = {"v1", "Node", "nodes", false, ""};
	const struct crane_kind *k;
	int rc = 0;
	for (size_t i = 0; rc == 0 && (k = crane_kind_at(i)); i++) {
		rc = read_listing(
			r, &(struct listing){k->api, k->name, k->plural, k->namespaced, ""}, e);
		rc = rc == ERR_GONE ? 0 : forgive(r, rc, k->name, e);
	}
	r->has_kinds = r->answered;
	if (rc == 0)
		rc = forgive(r, read_listing(r, &nodes, e), "Node", e);
	if (rc == 0)
		rc = read_configmap(r, r->c->crane_namespace, CRANE_TEMPLATE, e);
	rc = rc == ERR_GONE ? 0 : forgive(r, rc, "ConfigMap", e);
	return rc == 0 && !r->answered ? ERR_DENIED : rc;
}

int import_cluster_read(const struct import_cluster *c, struct import *i, struct err *e)
{
	struct reader r = {c, i, NULL, json_new(QUESTION_TREE_MAX), false, false};
	r.client = question_client(c->loop, c->config);
	int rc = i->source == IMPORT_CRANE ? read_crane(&r, e) : read_all(&r, e);
	kube_client_free(r.client);
	json_free(r.json);
	if (rc == 0 && !r.has_kinds && i->nitems == import_count(i, IMPORT_UNTOUCHED))
		return err_set(e, ERR_GONE,
			i->source == IMPORT_CRANE
				? "there is nothing of Crane in this cluster: neither its kinds nor its template"
				: "there is nothing of Kueue in this cluster: neither its kinds nor a Job for it");
	return rc;
}
