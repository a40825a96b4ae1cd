/*
 * May the controller's account do what deploy/rbac/controller.yaml says, where idle resources are
 * lent, what deploy/components/idle-resources/role.yaml says, and where nodes have agents, may both
 * accounts do what deploy/components/node-agent/role.yaml says? One SubjectAccessReview asks for
 * each verb of each resource there. So the answer is by the sum of all bindings, not ours alone.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/doctor/checks.h"
#include "base/json_writer.h"
#include "cli/deployed.h"
#include "cli/simulate/documents.h"

#define REVIEWS "/apis/authorization.k8s.io/v1/subjectaccessreviews"
#define AGENTS "/apis/apps/v1/daemonsets?fieldSelector=metadata.name%3Dsluice-node"

struct rights {
	struct doctor_context *p;
	struct findings *f;
	const char *account_ns, *account; /* whose they are */
	const char *ns;			  /* of the Role; NULL: of a ClusterRole */
	size_t asked;
	struct err unknown; /* why a review could not be asked; "" */
};

/* Writes what is asked for: "pods/eviction" is resource pods, subresource eviction. */
static void put_attributes(const struct rights *r, const char *group, const char *resource,
	const char *name, const char *verb, struct json_writer *w)
{
	size_t len = strcspn(resource, "/");
	jw_object(w, "resourceAttributes");
	jw_text(w, "group", group);
	jw_slice(w, "resource", (struct slice){resource, len});
	if (resource[len])
		jw_text(w, "subresource", resource + len + 1);
	if (r->ns)
		jw_text(w, "namespace", r->ns);
	if (name)
		jw_text(w, "name", name);
	jw_text(w, "verb", verb);
	jw_end(w);
}

static void put_review(const struct rights *r, const char *group, const char *resource,
	const char *name, const char *verb, struct buf *out)
{
	struct json_writer w = json_writer_object(out);
	jw_texts(&w, "apiVersion", "authorization.k8s.io/v1", "kind", "SubjectAccessReview", NULL);
	jw_object(&w, "spec");
	jw_textf(&w, "user", "system:serviceaccount:%s:%s", r->account_ns, r->account);
	jw_array(&w, "groups");
	jw_text(&w, NULL, "system:serviceaccounts");
	jw_textf(&w, NULL, "system:serviceaccounts:%s", r->account_ns);
	jw_text(&w, NULL, "system:authenticated");
	jw_end(&w);
	put_attributes(r, group, resource, name, verb, &w);
	jw_close(&w);
}

static bool may(struct rights *r, const char *group, const char *resource, const char *name,
	const char *verb)
{
	struct buf body;
	const cJSON *root;
	struct err e = {""};
	bool allowed = false;
	buf_init(&body, 8192);
	put_review(r, group, resource, name, verb, &body);
	int rc = doctor_context_post(r->p, REVIEWS, buf_text(&body), &root, &e);
	buf_done(&body);
	if (rc < 0)
		r->unknown = e;
	else
		json_bool(json_object(root, "status"), "allowed", &allowed);
	r->asked++;
	return allowed;
}

int rights_ask(struct doctor_context *p, const char *group, const char *resource, const char *verb,
	bool *ret_may, struct err *e)
{
	struct rights r = {
		.p = p, .account_ns = p->o->namespace_name, .account = "sluice-controller"};
	bool allowed = may(&r, group, resource, NULL, verb);
	if (*r.unknown.text) {
		*e = r.unknown;
		return ERR_DENIED;
	}
	*ret_may = allowed;
	return 0;
}

static void check_resource(struct rights *r, const cJSON *rule, const char *group,
	const char *resource, const char *name)
{
	struct buf lacking;
	buf_init(&lacking, 1024);
	json_each(verb, json_array(rule, "verbs")) {
		if (*r->unknown.text)
			break;
		if (cJSON_IsString(verb) && !may(r, group, resource, name, verb->valuestring))
			buf_printf(&lacking, "%s%s", lacking.len ? ", " : "", verb->valuestring);
	}
	if (lacking.len > 0 && !*r->unknown.text)
		findings_add(r->f, VERDICT_FAIL, "the account %s/%s may not %s %s%s%s%s%s%s%s",
			r->account_ns, r->account, buf_text(&lacking), resource, *group ? "." : "",
			group, name ? " " : "", name ? name : "", r->ns ? " in namespace " : "",
			r->ns ? r->ns : "");
	buf_done(&lacking);
}

static const char *first_name(const cJSON *rule)
{
	const cJSON *names = json_array(rule, "resourceNames");
	return names && cJSON_IsString(names->child) ? names->child->valuestring : NULL;
}

static void check_rule(struct rights *r, const cJSON *rule)
{
	json_each(group, json_array(rule, "apiGroups")) {
		json_each(resource, json_array(rule, "resources")) {
			if (cJSON_IsString(group) && cJSON_IsString(resource))
				check_resource(r, rule, group->valuestring, resource->valuestring,
					first_name(rule));
		}
	}
}

/* Tells whether an object is the role that a binding gives. */
static bool is_given(const cJSON *object, const cJSON *binding)
{
	const cJSON *role = json_object(binding, "roleRef");
	const char *kind = json_text(object, "kind"), *given_kind = json_text(role, "kind"),
		   *name = json_text(json_object(object, "metadata"), "name"),
		   *given_name = json_text(role, "name");
	return kind && name && given_kind && given_name && strcmp(kind, given_kind) == 0 &&
	       strcmp(name, given_name) == 0;
}

/* Checks the rules of the role that an object gives, if it is a binding. */
static void check_binding(struct rights *r, const cJSON *binding, struct slice text)
{
	const cJSON *root, *subjects = json_array(binding, "subjects");
	struct err e = {""};
	r->account_ns = subjects ? json_text(subjects->child, "namespace") : NULL;
	r->account = subjects ? json_text(subjects->child, "name") : NULL;
	if (!r->account_ns || !r->account)
		return;
	struct documents *d = documents_new(text);
	while (documents_next(d, &root, &e) == 1) {
		if (!is_given(root, binding))
			continue;
		r->ns = json_text(json_object(root, "metadata"), "namespace");
		json_each(rule, json_array(root, "rules")) {
			check_rule(r, rule);
		}
	}
	documents_free(d);
}

static void check_file(struct rights *r, const struct deployed *file)
{
	const cJSON *root;
	struct err e = {""};
	char *text = deployed_for(file->text, r->p->o->namespace_name);
	struct documents *d = documents_new(slice_of(text));
	while (documents_next(d, &root, &e) == 1)
		check_binding(r, root, slice_of(text));
	documents_free(d);
	free(text);
}

static void check_folder(struct doctor_context *p, struct findings *f, const char *folder)
{
	struct rights r = {.p = p, .f = f};
	for (size_t i = 0; i < DEPLOYED_COUNT; i++)
		if (strncmp(DEPLOYED[i].path, folder, strlen(folder)) == 0)
			check_file(&r, &DEPLOYED[i]);
	if (f->count > 0)
		return;
	if (*r.unknown.text)
		findings_skip(
			f, "you may not ask (create subjectaccessreviews), or: %s", r.unknown.text);
	else
		findings_ok(f, "all %zu rights are there", r.asked);
}

void check_rbac(struct doctor_context *p, struct findings *f)
{
	check_folder(p, f, "deploy/rbac/");
}

/* Checks the rights beyond those of the base, which only lending idle resources needs. */
void check_lending(struct doctor_context *p, struct findings *f)
{
	bool lends = false;
	struct err e = {""};
	if (lending_is_on(p, &lends, &e) < 0)
		findings_skip(f, "%s", e.text);
	else if (!lends)
		findings_skip(f, "idle resources are not lent");
	else
		check_folder(p, f, "deploy/components/idle-resources/");
}

/* Checks the rights of the agents of nodes, and those that the controller needs for them. */
void check_agent_rights(struct doctor_context *p, struct findings *f)
{
	const cJSON *items;
	if (!doctor_context_list(p, f, AGENTS, &items))
		return;
	if (!items || !items->child)
		findings_skip(f, "there is no DaemonSet sluice-node");
	else
		check_folder(p, f, "deploy/components/node-agent/");
}
