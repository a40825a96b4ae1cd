/*
 * What is installed beside what this program was built with. Of a CRD the fields of its schema and
 * the values of its enums are compared, not its CEL rules. Ours must be there; a CRD that knows
 * more is newer, which does no harm. A policy is compared whole: each member must be there as we
 * wrote it, and no other selector or condition, which would let Jobs pass by it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/doctor/checks.h"
#include "cli/deployed.h"
#include "cli/simulate/documents.h"

enum { PATH_MAX_BYTES = 512 };

/* A place in an object, for people: "spec.names[2].x". */
struct place {
	char text[PATH_MAX_BYTES];
	size_t len;
};

/* Steps into a member, or (without a name) the i-th item. */
static size_t enter(struct place *at, const char *name, size_t i)
{
	size_t was = at->len;
	if (name)
		snprintf(at->text + was, sizeof(at->text) - was, "%s%s", was ? "." : "", name);
	else
		snprintf(at->text + was, sizeof(at->text) - was, "[%zu]", i);
	at->len = strlen(at->text);
	return was;
}

static void leave(struct place *at, size_t was)
{
	at->len = was;
	at->text[was] = '\0';
}

/* ---- CRDs: is our schema part of theirs? ---------------------------------------------------- */

static bool has_value(const cJSON *array, const cJSON *value)
{
	json_each(item, array) {
		if (cJSON_Compare(item, value, true))
			return true;
	}
	return false;
}

static bool knows_values(const cJSON *ours, const cJSON *theirs, struct place *at)
{
	const cJSON *known = json_array(theirs, "enum");
	json_each(value, known ? json_array(ours, "enum") : NULL) {
		if (has_value(known, value))
			continue;
		snprintf(at->text + at->len, sizeof(at->text) - at->len, " = %s",
			cJSON_IsString(value) ? value->valuestring : "?");
		return false;
	}
	return true;
}

static bool knows_schema(const cJSON *ours, const cJSON *theirs, struct place *at);

static bool knows_fields(const cJSON *ours, const cJSON *theirs, struct place *at)
{
	json_each(field, json_object(ours, "properties")) {
		const cJSON *known = json_get(json_object(theirs, "properties"), field->string);
		size_t was = enter(at, field->string, 0);
		if (!known || !knows_schema(field, known, at))
			return false;
		leave(at, was);
	}
	return true;
}

/* True if their schema has all of ours. False: `at` is what theirs lacks. */
static bool knows_schema(const cJSON *ours, const cJSON *theirs, struct place *at)
{
	static const char *const inside[] = {"items", "additionalProperties"};
	if (!knows_values(ours, theirs, at) || !knows_fields(ours, theirs, at))
		return false;
	for (size_t i = 0; i < sizeof(inside) / sizeof(*inside); i++) {
		const cJSON *part = json_object(ours, inside[i]);
		const cJSON *known = json_object(theirs, inside[i]);
		if (part && known && !knows_schema(part, known, at))
			return false;
	}
	return true;
}

static const cJSON *version_of(const cJSON *crd, const char *name)
{
	json_each(v, json_array(json_object(crd, "spec"), "versions"))
		if (json_is(v, "name", name))
			return v;
	return NULL;
}

static const cJSON *schema_of(const cJSON *version)
{
	return json_object(json_object(version, "schema"), "openAPIV3Schema");
}

static void compare_crd(
	const char *name, const cJSON *ours, const cJSON *theirs, struct findings *f)
{
	struct place at = {"", 0};
	bool served = false;
	const cJSON *version = version_of(theirs, "v1alpha1");
	json_bool(version, "served", &served);
	if (!served || !json_condition_is(theirs, "Established", "True"))
		findings_add(f, VERDICT_FAIL, "%s is installed, but does not serve v1alpha1%s",
			name, served ? " yet" : "");
	else if (!knows_schema(schema_of(version_of(ours, "v1alpha1")), schema_of(version), &at))
		findings_add(f, VERDICT_FAIL,
			"%s is older than this program: it does not know %s, and drops or refuses it",
			name, at.text);
}

/* ---- policies: is it as it was written? ----------------------------------------------------- */

static bool same(const cJSON *ours, const cJSON *theirs, struct place *at);

static bool same_members(const cJSON *ours, const cJSON *theirs, struct place *at)
{
	json_each(member, ours) {
		size_t was = enter(at, member->string, 0);
		if (!same(member, json_get(theirs, member->string), at))
			return false;
		leave(at, was);
	}
	json_each(member, theirs) {
		size_t was = enter(at, member->string, 0);
		/* The API server adds defaults: texts, and selectors that are empty. */
		if (member->child && !json_get(ours, member->string))
			return false;
		leave(at, was);
	}
	return true;
}

static bool same_items(const cJSON *ours, const cJSON *theirs, struct place *at)
{
	size_t i = 0;
	const cJSON *theirs_item = theirs->child;
	if (cJSON_GetArraySize(ours) != cJSON_GetArraySize(theirs))
		return false;
	json_each(item, ours) {
		size_t was = enter(at, NULL, i++);
		if (!theirs_item || !same(item, theirs_item, at))
			return false;
		leave(at, was);
		theirs_item = theirs_item->next;
	}
	return true;
}

/* Compares texts by their words: kubectl and kustomize fold long ones anew. */
static bool same_text(const char *a, const char *b)
{
	while (*a && *b) {
		size_t gap_a = strspn(a, " \n\t"), gap_b = strspn(b, " \n\t");
		if (gap_a == 0 && gap_b == 0 && *a++ != *b++)
			return false;
		if ((gap_a == 0) != (gap_b == 0))
			return false;
		a += gap_a;
		b += gap_b;
	}
	return *a == *b;
}

/* Compares two trees. False: `at` is the first place that differs. */
static bool same(const cJSON *ours, const cJSON *theirs, struct place *at)
{
	if (cJSON_IsObject(ours) && cJSON_IsObject(theirs))
		return same_members(ours, theirs, at);
	if (cJSON_IsArray(ours) && cJSON_IsArray(theirs))
		return same_items(ours, theirs, at);
	if (cJSON_IsString(ours) && cJSON_IsString(theirs))
		return same_text(ours->valuestring, theirs->valuestring);
	return cJSON_Compare(ours, theirs, true);
}

/* True for what keeps the gate shut when something fails, or at all. */
static bool is_grave(const char *place)
{
	return strstr(place, "failurePolicy") || strstr(place, "validationActions") ||
	       strstr(place, "policyName");
}

static void compare_policy(
	const char *what, const cJSON *ours, const cJSON *theirs, struct findings *f)
{
	struct place at = {"", 0};
	enter(&at, "spec", 0);
	if (same(json_object(ours, "spec"), json_object(theirs, "spec"), &at))
		return;
	findings_add(f, is_grave(at.text) ? VERDICT_FAIL : VERDICT_WARN,
		"%s is not as this program's deploy/policies has it: %s differs", what, at.text);
}

/* ---- asking --------------------------------------------------------------------------------- */

static const struct {
	const char *kind, *path;
	bool crd;
} kinds[] = {
	{"CustomResourceDefinition", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/",
		true},
	{"MutatingAdmissionPolicy",
		"/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies/", false},
	{"MutatingAdmissionPolicyBinding",
		"/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings/", false},
	{"ValidatingAdmissionPolicy",
		"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/", false},
	{"ValidatingAdmissionPolicyBinding",
		"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/", false},
};
enum { KINDS_KNOWN = sizeof(kinds) / sizeof(*kinds) };

static size_t kind_of(const cJSON *object)
{
	const char *kind = json_text(object, "kind");
	size_t i = 0;
	while (i < KINDS_KNOWN && !(kind && strcmp(kind, kinds[i].kind) == 0))
		i++;
	return i;
}

struct comparison {
	struct doctor_context *p;
	struct findings *f;
	bool crds;
	bool uncounted; /* the policy of components/uncounted-resource-claims is not there */
	size_t compared;
	struct err unknown; /* why an object could not be read; "" */
};

static void compare_object(struct comparison *c, const cJSON *ours)
{
	char path[400], what[300];
	const cJSON *theirs;
	struct err e = {""};
	size_t kind = kind_of(ours);
	const char *name = json_text(json_object(ours, "metadata"), "name");
	if (kind == KINDS_KNOWN || kinds[kind].crd != c->crds || !name)
		return;
	snprintf(path, sizeof(path), "%s%.200s", kinds[kind].path, name);
	snprintf(what, sizeof(what), "%s%s%.200s", c->crds ? "" : kinds[kind].kind,
		c->crds ? "" : " ", name);
	int rc = doctor_context_get(c->p, path, &theirs, &e);
	bool may_miss = strcmp(name, "sluice-count-devices") == 0; /* uncounted-resource-claims */
	if (rc == ERR_GONE && may_miss)
		c->uncounted = true;
	else if (rc == ERR_GONE)
		findings_add(c->f, VERDICT_FAIL, "%s is not installed", what);
	else if (rc < 0)
		c->unknown = e;
	else if (c->crds)
		compare_crd(what, ours, theirs, c->f);
	else
		compare_policy(what, ours, theirs, c->f);
	c->compared += rc == 0;
}

static void compare_file(struct comparison *c, const struct deployed *file)
{
	const cJSON *root;
	struct err e = {""};
	char *text = deployed_for(file->text, c->p->o->namespace_name);
	struct documents *d = documents_new(slice_of(text));
	while (documents_next(d, &root, &e) == 1)
		compare_object(c, root);
	documents_free(d);
	free(text);
}

static bool lies_in(const struct deployed *file, const char *folder)
{
	return strncmp(file->path, folder, strlen(folder)) == 0;
}

/* Compares the policies of a folder. A server without mutating policies does without their whole
 * folder (deploy/components/without-mutating-policy), and without a warning about it. */
static void compare_all(struct comparison *c, const char *folder)
{
	for (size_t i = 0; i < DEPLOYED_COUNT; i++)
		if (lies_in(&DEPLOYED[i], folder) &&
			!(c->p->no_mutating && lies_in(&DEPLOYED[i], "deploy/policies/mutating/")))
			compare_file(c, &DEPLOYED[i]);
}

void check_crds(struct doctor_context *p, struct findings *f)
{
	struct comparison c = {.p = p, .f = f, .crds = true};
	compare_all(&c, "api/crds/");
	if (f->count > 0)
		return;
	if (*c.unknown.text)
		findings_skip(f, "%s", c.unknown.text);
	else
		findings_ok(f, "%zu kinds are served as v1alpha1, and as new as this program",
			c.compared);
}

void check_policies(struct doctor_context *p, struct findings *f)
{
	struct comparison c = {.p = p, .f = f};
	compare_all(&c, "deploy/policies/");
	if (f->count > 0)
		return;
	if (*c.unknown.text)
		findings_skip(f, "%s", c.unknown.text);
	else
		findings_ok(f, "%zu policies and bindings are as they were written%s%s", c.compared,
			p->no_mutating ? " (the mutating ones cannot be)" : "",
			c.uncounted
				? "; sluice-count-devices is not there, so devices that Jobs claim "
				  "are counted by no quota (components/uncounted-resource-claims)"
				: "");
}
