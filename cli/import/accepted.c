#include "cli/import/accepted.h"

#include <ctype.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "cli/deployed.h"
#include "controller/wire/decode.h"

/* ---- the CRDs -------------------------------------------------------------------------------- */

void accepted_done(struct accepted *a)
{
	for (size_t i = 0; i < a->ncrds; i++) {
		documents_free(a->crd[i].documents);
		free(a->crd[i].kind);
	}
	free(a->crd);
	*a = (struct accepted){0};
}

static const char *text_of_crd(const char *kind)
{
	char path[200] = "api/crds/";
	size_t n = strlen(path);
	for (const char *p = kind; *p && n + 6 < sizeof(path); p++)
		path[n++] = (char)tolower((unsigned char)*p);
	memcpy(path + n, ".yaml", 6);
	for (size_t i = 0; i < DEPLOYED_COUNT; i++)
		if (strcmp(DEPLOYED[i].path, path) == 0)
			return DEPLOYED[i].text;
	return NULL;
}

const cJSON *accepted_schema(struct accepted *a, const char *kind)
{
	for (size_t i = 0; i < a->ncrds; i++)
		if (strcmp(a->crd[i].kind, kind) == 0)
			return a->crd[i].schema;
	const char *text = text_of_crd(kind);
	const cJSON *root;
	must(text);
	struct documents *d = documents_new(slice_of(text));
	must(documents_next(d, &root, NULL) == 1);
	const cJSON *version = json_array(json_object(root, "spec"), "versions")->child;
	a->crd = mem_grow(a->crd, a->ncrds + 1, sizeof(*a->crd));
	a->crd[a->ncrds] = (struct accepted_crd){.kind = mem_strdup(kind),
		.documents = d,
		.schema = json_object(json_object(version, "schema"), "openAPIV3Schema")};
	must(a->crd[a->ncrds].schema);
	return a->crd[a->ncrds++].schema;
}

/* ---- one value ------------------------------------------------------------------------------- */

struct judge {
	char path[600];
	struct err *e;
};

static int fault(const struct judge *j, const char *sentence)
{
	return err_set(
		j->e, ERR_INVALID, "%.300s%s%.180s", j->path, *j->path ? ": " : "", sentence);
}

static int bound(
	const struct judge *j, const cJSON *schema, const char *name, double what, const char *unit)
{
	const cJSON *b = json_get(schema, name);
	char text[100];
	bool most = strncmp(name, "max", 3) == 0;
	if (!cJSON_IsNumber(b) || (most ? what <= b->valuedouble : what >= b->valuedouble))
		return 0;
	snprintf(text, sizeof(text), "must %s at %s %.0f%s", *unit ? "have" : "be",
		most ? "most" : "least", b->valuedouble, unit);
	return fault(j, text);
}

static double length_of(const cJSON *v)
{
	size_t n = 0;
	if (cJSON_IsString(v)) /* characters */
		for (const char *p = v->valuestring; *p; p++)
			n += ((unsigned char)*p & 0xC0) != 0x80;
	else
		json_each(item, v)
			n++;
	return (double)n;
}

static bool is_type(const cJSON *v, const char *type)
{
	bool whole = cJSON_IsNumber(v) && v->valuedouble == trunc(v->valuedouble);
	return strcmp(type, "object") == 0    ? cJSON_IsObject(v)
	       : strcmp(type, "array") == 0   ? cJSON_IsArray(v)
	       : strcmp(type, "string") == 0  ? cJSON_IsString(v)
	       : strcmp(type, "boolean") == 0 ? cJSON_IsBool(v)
					      : whole;
}

static int check_type(const struct judge *j, const cJSON *schema, const cJSON *v)
{
	const char *type = json_text(schema, "type");
	bool either = false;
	char text[100];
	json_bool(schema, "x-kubernetes-int-or-string", &either);
	if (either && !is_type(v, "string") && !is_type(v, "integer"))
		return fault(j, "must be a whole number, or a text such as \"1.5\"");
	if (!type || is_type(v, type))
		return 0;
	snprintf(text, sizeof(text), "must be of type %.20s", type);
	return fault(j, text);
}

static int check_enum(const struct judge *j, const cJSON *schema, const cJSON *v)
{
	const cJSON *words = json_array(schema, "enum");
	struct buf text;
	buf_init(&text, 160);
	buf_puts(&text, "must be one of");
	json_each(w, words) {
		if (cJSON_IsString(v) && cJSON_IsString(w) &&
			strcmp(v->valuestring, w->valuestring) == 0) {
			buf_done(&text);
			return 0;
		}
		buf_printf(&text, "%s %s", w == words->child ? "" : ",",
			cJSON_IsString(w) ? w->valuestring : "?");
	}
	int rc = words ? fault(j, buf_text(&text)) : 0;
	buf_done(&text);
	return rc;
}

static int check_bounds(const struct judge *j, const cJSON *schema, const cJSON *v)
{
	int rc = 0;
	must(v);
	double length = length_of(v);
	if (cJSON_IsArray(v) && (rc = bound(j, schema, "minItems", length, " items")) == 0)
		rc = bound(j, schema, "maxItems", length, " items");
	else if (cJSON_IsString(v) &&
		 (rc = bound(j, schema, "minLength", length, " characters")) == 0)
		rc = bound(j, schema, "maxLength", length, " characters");
	else if (cJSON_IsNumber(v) && (rc = bound(j, schema, "minimum", v->valuedouble, "")) == 0)
		rc = bound(j, schema, "maximum", v->valuedouble, "");
	else if (cJSON_IsObject(v))
		rc = bound(j, schema, "maxProperties", length, " fields");
	return rc;
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* Reads the expression between "matches('" and "')", if the rule has nothing else behind the given
 * beginning. */
static bool expression_of(const char *rule, const char *begin, char *ret, size_t size)
{
	size_t n = strlen(begin);
	const char *end = strstr(rule, "')");
	if (strncmp(rule, begin, n) != 0 || !end || (end[2] && strcmp(end + 2, ")") != 0) ||
		(size_t)(end - rule - (ptrdiff_t)n) >= size)
		return false;
	snprintf(ret, size, "%.*s", (int)(end - rule - (ptrdiff_t)n), rule + n);
	return true;
}

static bool matches(const char *expression, const char *text)
{
	regex_t r;
	if (regcomp(&r, expression, REG_EXTENDED | REG_NOSUB) != 0)
		return true;
	bool yes = regexec(&r, text, 0, NULL, 0) == 0;
	regfree(&r);
	return yes;
}

static bool breaks(const char *rule, const cJSON *v)
{
	char x[400];
	must(v);
	if (cJSON_IsString(v) && expression_of(rule, "self.matches('", x, sizeof(x)))
		return !matches(x, v->valuestring);
	if (cJSON_IsString(v) && expression_of(rule, "self == '' || self.matches('", x, sizeof(x)))
		return *v->valuestring && !matches(x, v->valuestring);
	if (cJSON_IsObject(v) &&
		expression_of(rule, "self.all(k, size(k) <= 317 && k.matches('", x, sizeof(x)))
		json_each(key, v)
			if (strlen(key->string) > 317 || !matches(x, key->string))
				return true;
	return false;
}

static int check_rules(const struct judge *j, const cJSON *schema, const cJSON *v)
{
	json_each(r, json_array(schema, "x-kubernetes-validations")) {
		const char *rule = json_text(r, "rule"), *message = json_text(r, "message");
		if (rule && breaks(rule, v))
			return fault(j, message ? message : "breaks a rule of the CRD");
	}
	return 0;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int judge(struct judge *j, const cJSON *schema, const cJSON *v);

static int judge_at(struct judge *j, const char *step, const cJSON *schema, const cJSON *v)
{
	size_t n = strlen(j->path);
	snprintf(j->path + n, sizeof(j->path) - n, "%s%.250s", n && *step != '[' ? "." : "", step);
	int rc = judge(j, schema, v);
	j->path[n] = '\0';
	return rc;
}

static int judge_members(struct judge *j, const cJSON *schema, const cJSON *v)
{
	const cJSON *fields = json_object(schema, "properties");
	const cJSON *others = json_object(schema, "additionalProperties");
	int rc = 0;
	json_each(name, json_array(schema, "required"))
		if (!json_get(v, name->valuestring)) {
			char text[200];
			snprintf(text, sizeof(text), "has no %.100s", name->valuestring);
			return fault(j, text);
		}
	json_each(member, v) {
		const cJSON *s = json_object(fields, member->string);
		if (rc == 0 && (s || others))
			rc = judge_at(j, member->string, s ? s : others, member);
	}
	return rc;
}

static int judge(struct judge *j, const cJSON *schema, const cJSON *v)
{
	int rc = check_type(j, schema, v);
	size_t index = 0;
	if (rc == 0)
		rc = check_enum(j, schema, v);
	if (rc == 0)
		rc = check_bounds(j, schema, v);
	if (rc == 0)
		rc = check_rules(j, schema, v);
	if (rc == 0 && cJSON_IsObject(v))
		rc = judge_members(j, schema, v);
	json_each(item, cJSON_IsArray(v) ? v : NULL) {
		char step[32];
		snprintf(step, sizeof(step), "[%zu]", index++);
		if (rc == 0)
			rc = judge_at(j, step, json_object(schema, "items"), item);
	}
	return rc;
}

/* ---- what is said of the whole --------------------------------------------------------------- */

static const char *name_of(const cJSON *o)
{
	const char *name = json_text(o, "name");
	return name ? name : "";
}

/* True if each flavor of a group has exactly the group's resources, in their order. */
static bool lists_its_resources(const cJSON *group)
{
	json_each(flavor, json_array(group, "flavors")) {
		const cJSON *r = json_array(group, "coveredResources"), *has;
		has = json_array(flavor, "resources");
		r = r ? r->child : NULL;
		for (has = has ? has->child : NULL; has && r; has = has->next, r = r->next)
			if (strcmp(name_of(has), r->valuestring) != 0)
				return false;
		if (has || r)
			return false;
	}
	return true;
}

/* Counts how often a resource (or flavor) of that name is listed in all groups. */
static size_t times_listed(const cJSON *groups, const char *list, const char *name)
{
	size_t n = 0;
	json_each(group, groups)
		json_each(item, json_array(group, list))
			n += strcmp(cJSON_IsString(item) ? item->valuestring : name_of(item),
				     name) == 0;
	return n;
}

static bool has_limit(const cJSON *group)
{
	json_each(flavor, json_array(group, "flavors"))
		json_each(r, json_array(flavor, "resources"))
			if (json_get(r, "borrowingLimit") || json_get(r, "lendingLimit"))
				return true;
	return false;
}

static int check_group(struct judge *j, const cJSON *groups, const cJSON *group, bool has_parent)
{
	size_t flavors = 0, resources = 0;
	if (!lists_its_resources(group))
		return fault(j,
			"every flavor must list exactly the names in coveredResources, in the same order");
	if (!has_parent && has_limit(group))
		return fault(j,
			"borrowingLimit and lendingLimit need a cohort: there is nothing to borrow or lend");
	json_each(f, json_array(group, "flavors")) {
		flavors++;
		if (times_listed(groups, "flavors", name_of(f)) > 1)
			return fault(j, "a flavor may be listed once, in one resource group");
	}
	json_each(r, json_array(group, "coveredResources")) {
		resources++;
		if (times_listed(groups, "coveredResources", r->valuestring) > 1)
			return fault(j, "a resource may be covered once, by one resource group");
	}
	return flavors * resources > 512 ? fault(j, "has more than 512 quotas") : 0;
}

static int check_groups(struct judge *j, const cJSON *spec, const char *parent)
{
	const cJSON *groups = json_array(spec, "resourceGroups");
	size_t index = 0, flavors = 0, resources = 0;
	json_each(group, groups) {
		snprintf(j->path, sizeof(j->path), "spec.resourceGroups[%zu]", index++);
		int rc = check_group(j, groups, group, json_get(spec, parent) != NULL);
		if (rc < 0)
			return rc;
		flavors += (size_t)length_of(json_array(group, "flavors"));
		resources += (size_t)length_of(json_array(group, "coveredResources"));
	}
	snprintf(j->path, sizeof(j->path), "spec.resourceGroups");
	return flavors > 256 || resources > 256
		       ? fault(j, "has more than 256 flavors, or resources, in all groups together")
		       : 0;
}

static bool is_text(const cJSON *o, const char *key, const char *text)
{
	const char *t = json_text(o, key);
	return t && strcmp(t, text) == 0;
}

static int check_clusterqueue(struct judge *j, const cJSON *spec)
{
	const cJSON *f = json_object(spec, "flavorFungibility");
	const cJSON *selector = json_object(spec, "namespaceSelector");
	json_each(x, json_array(selector, "matchExpressions")) {
		const cJSON *values = json_array(x, "values");
		bool wants = is_text(x, "operator", "In") || is_text(x, "operator", "NotIn");
		snprintf(j->path, sizeof(j->path), "spec.namespaceSelector.matchExpressions");
		if (wants != (values && values->child))
			return fault(j,
				"In and NotIn need at least one value; Exists and DoesNotExist take none");
	}
	snprintf(j->path, sizeof(j->path), "spec.flavorFungibility.preference");
	if (json_get(f, "preference") && (!is_text(f, "whenCanBorrow", "TryNextFlavor") ||
						 is_text(f, "whenCanPreempt", "MayStopSearch")))
		return fault(j, "needs whenCanBorrow and whenCanPreempt to be TryNextFlavor");
	return check_groups(j, spec, "cohortName");
}

static int check_tolerations(struct judge *j, const cJSON *spec)
{
	json_each(t, json_array(spec, "tolerations")) {
		bool exists = is_text(t, "operator", "Exists");
		const char *key = json_text(t, "key"), *value = json_text(t, "value");
		snprintf(j->path, sizeof(j->path), "spec.tolerations");
		if (!(key && *key) && !exists)
			return fault(j, "operator must be Exists when key is empty");
		if (exists && value && *value)
			return fault(j, "value must be empty when operator is Exists");
		if (json_get(t, "tolerationSeconds") && !is_text(t, "effect", "NoExecute"))
			return fault(j, "tolerationSeconds needs effect NoExecute");
	}
	return 0;
}

static int check_whole(struct judge *j, const char *kind, const cJSON *o)
{
	const cJSON *spec = json_object(o, "spec");
	const char *name = decode_name(o);
	bool in_labels =
		strcmp(kind, "LocalQueue") == 0 || strcmp(kind, "WorkloadPriorityClass") == 0;
	snprintf(j->path, sizeof(j->path), "metadata.name");
	if (!matches("^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", name) ||
		strlen(name) > 253)
		return fault(j, "must be lower-case letters, digits, '-' and '.'");
	if (in_labels && strlen(name) > 63)
		return fault(j, "may have at most 63 characters: Jobs carry it in a label");
	if (strcmp(kind, "ClusterQueue") == 0)
		return check_clusterqueue(j, spec);
	if (strcmp(kind, "ResourceFlavor") == 0)
		return check_tolerations(j, spec);
	if (strcmp(kind, "Cohort") != 0)
		return 0;
	snprintf(j->path, sizeof(j->path), "spec.parentName");
	return is_text(spec, "parentName", name) ? fault(j, "is the Cohort itself")
						 : check_groups(j, spec, "parentName");
}

/* Checks what the API server itself wants: labels and annotations are texts. */
static int check_metadata(struct judge *j, const cJSON *o)
{
	static const char *const maps[] = {"labels", "annotations"};
	for (size_t i = 0; i < 2; i++)
		json_each(key, json_object(json_object(o, "metadata"), maps[i])) {
			snprintf(j->path, sizeof(j->path), "metadata.%s.%.200s", maps[i],
				key->string);
			if (!cJSON_IsString(key))
				return fault(j, "must be a text; put it in quotes");
		}
	return 0;
}

int accepted_check(struct accepted *a, const char *kind, const cJSON *o, struct err *e)
{
	struct judge j = {.e = e};
	int rc = judge(&j, accepted_schema(a, kind), o);
	if (rc == 0)
		rc = check_metadata(&j, o);
	return rc < 0 ? rc : check_whole(&j, kind, o);
}
