#include "cli/import/metadata.h"

#include <string.h>

#include "sluice/keys.h"

/* ---- keys of Kueue --------------------------------------------------------------------------- */

/* What becomes of a key: at most one of label and annotation. A meaning is told in a note. */
struct key_rule {
	const char *name; /* behind the slash; NULL: the end */
	const char *label, *annotation;
	const char *meaning;
};

#define PLACED "pods are not placed by topology; pod affinity keeps them together"
#define AT_START "Kueue writes it when it starts a Job; Sluice writes its own"

static const struct key_rule job_keys[] = {
	{"queue-name", QUEUE_LABEL, NULL, NULL},
	{"priority-class", PRIORITY_LABEL, NULL, NULL},
	{"max-exec-time-seconds", NULL, MAX_RUN_ANNOTATION, NULL},
	{"job-min-parallelism", NULL, MIN_PARALLELISM_ANNOTATION, NULL},
	{"job-completions-equal-parallelism", NULL, COMPLETIONS_ANNOTATION, NULL},
	{"admission-gated-by", NULL, HOLD_ANNOTATION,
		"becomes sluice.dev/hold: what lifted this gate must remove that annotation, else the Job waits for ever"},
	{"elastic-job", NULL, NULL,
		"is left out: to give a run more pods put the Job on hold, raise spec.parallelism and remove the hold, or let it grow by itself (sluice.dev/min-parallelism with sluice.dev/grow)"},
	{"prebuilt-workload-name", NULL, NULL,
		"is left out: there are no Workload objects, the Job itself is what waits"},
	{"", NULL, NULL,
		"is left out: it is for what Kueue asks of an autoscaler; here that is spec.provisioning of a ResourceFlavor"},
	{"stopping", NULL, NULL, "is left out: Kueue writes it while it stops a Job"},
	{NULL, NULL, NULL, NULL},
};

static const struct key_rule pod_keys[] = {
	{"queue-name", NULL, NULL, "is left out: the label on the Job counts, not one on its pods"},
	{"priority-class", NULL, NULL,
		"is left out: the label on the Job counts, not one on its pods"},
	{"podset-required-topology", NULL, NULL, "is left out: " PLACED},
	{"podset-preferred-topology", NULL, NULL, "is left out: " PLACED},
	{"podset-unconstrained-topology", NULL, NULL, "is left out: " PLACED},
	{"podset-slice-required-topology", NULL, NULL, "is left out: " PLACED},
	{"podset-slice-required-topology-constraints", NULL, NULL, "is left out: " PLACED},
	{"podset-slice-size", NULL, NULL, "is left out: " PLACED},
	{"podset-group-name", NULL, NULL, "is left out: " PLACED},
	{"podset", NULL, NULL, "is left out: " AT_START},
	{"local-queue-name", NULL, NULL, "is left out: " AT_START},
	{"cluster-queue-name", NULL, NULL, "is left out: " AT_START},
	{"workload", NULL, NULL, "is left out: " AT_START},
	{"safe-to-forcefully-delete", NULL, NULL,
		"is left out: a pod that does not go away is not deleted by force; its Job is told so (StopOverdue)"},
	{NULL, NULL, NULL, NULL},
};

static const struct key_rule no_keys[] = {{NULL, NULL, NULL, NULL}};

/* Returns the name behind "kueue.x-k8s.io/", "" for a prefix that only ends so; NULL: not
 * Kueue's. */
static const char *name_of_kueue(const char *key)
{
	const char *slash = strchr(key, '/');
	size_t len = slash ? (size_t)(slash - key) : 0, domain = strlen(KUEUE_DOMAIN);
	if (len < domain || strncmp(slash - domain, KUEUE_DOMAIN, domain) != 0)
		return NULL;
	if (len > domain)
		return slash[-(ptrdiff_t)domain - 1] == '.' ? "" : NULL;
	return slash + 1;
}

static const struct key_rule *rule_of(const struct key_rule *rules, const char *name)
{
	for (; rules->name; rules++)
		if (strcmp(rules->name, name) == 0)
			return rules;
	return NULL;
}

/* ---- labels and annotations ------------------------------------------------------------------ */

/* The maps that are made; either may stay empty. */
struct made {
	cJSON *labels, *annotations;
};

static void take_key(struct walk *w, const struct key_rule *rules, const cJSON *in, bool is_label,
	struct made *made)
{
	const char *name = name_of_kueue(in->string);
	const struct key_rule *r = name ? rule_of(rules, name) : NULL;
	if (!name) {
		walk_copy(w, is_label ? made->labels : made->annotations, in->string, in);
		return;
	}
	if (!r) {
		walk_note(w, "is left out: Sluice has no counterpart");
		return;
	}
	if (r->meaning && says_nothing(in))
		return;
	if (r->meaning)
		walk_note(w, "%s", r->meaning);
	cJSON *to = r->label ? made->labels : made->annotations;
	const char *as = r->label ? r->label : r->annotation;
	/* The label wins: Kueue's oldest versions had the queue's name in an annotation. */
	if (as && !(as == r->label && !is_label && cJSON_GetObjectItemCaseSensitive(to, as)))
		walk_copy(w, to, as, in);
}

static void take_keys(struct walk *w, const struct key_rule *rules, const cJSON *metadata,
	bool is_label, struct made *made)
{
	const char *which = is_label ? "labels" : "annotations";
	const cJSON *map = json_object(metadata, which);
	size_t back = walk_step(w, which);
	if (!map && json_get(metadata, which))
		walk_refuse(w, "must be an object");
	json_each(key, map) {
		size_t inner = walk_step(w, key->string);
		if (strcmp(key->string, "kubectl.kubernetes.io/last-applied-configuration") != 0)
			take_key(w, rules, key, is_label, made);
		walk_back(w, inner);
	}
	walk_back(w, back);
}

static void add_unless_empty(struct walk *w, cJSON *to, const char *name, cJSON *made)
{
	if (made->child)
		walk_add(w, to, name, made);
	else
		cJSON_Delete(made);
}

/* ---- the rest of it -------------------------------------------------------------------------- */

static void take_deletion(struct walk *w, const cJSON *value, cJSON *to)
{
	(void)value;
	(void)to;
	walk_refuse(w, "is set: the object is being deleted, so there is nothing to move");
}

static void take_finalizers(struct walk *w, const cJSON *value, cJSON *to)
{
	(void)to;
	json_each(f, value) {
		const char *name = cJSON_IsString(f) ? f->valuestring : "";
		if (!w->live && !name_of_kueue(name))
			walk_note(w, "are left out: %.100s belongs to the object that is there",
				name);
	}
}

static void take_owners(struct walk *w, const cJSON *value, cJSON *to)
{
	(void)to;
	if (!w->live && !says_nothing(value))
		walk_note(w, "is left out: what owned the object does not own what is made of it");
}

static const struct field metadata_fields[] = {
	{"name"},
	{"generateName"},
	{"namespace"},
	{"labels", .server = true}, /* take_keys() */
	{"annotations", .server = true},
	{"uid", .server = true},
	{"resourceVersion", .server = true},
	{"generation", .server = true},
	{"creationTimestamp", .server = true},
	{"managedFields", .server = true},
	{"selfLink", .server = true},
	{"deletionGracePeriodSeconds", .server = true},
	{"deletionTimestamp", .take = take_deletion},
	{"finalizers", .take = take_finalizers},
	{"ownerReferences", .take = take_owners},
	{NULL},
};

static void take_with(struct walk *w, const struct key_rule *rules, const cJSON *in, cJSON *to)
{
	struct made made = {cJSON_CreateObject(), cJSON_CreateObject()};
	cJSON *metadata = cJSON_CreateObject();
	walk_fields(w, metadata_fields, in, metadata);
	take_keys(w, rules, in, true, &made);
	take_keys(w, rules, in, false, &made);
	add_unless_empty(w, metadata, "labels", made.labels);
	add_unless_empty(w, metadata, "annotations", made.annotations);
	add_unless_empty(w, to, "metadata", metadata);
}

void take_metadata(struct walk *w, const cJSON *value, cJSON *to)
{
	take_with(w, no_keys, value, to);
}

void take_job_metadata(struct walk *w, const cJSON *value, cJSON *to)
{
	take_with(w, job_keys, value, to);
}

void take_pod_metadata(struct walk *w, const cJSON *value, cJSON *to)
{
	take_with(w, pod_keys, value, to);
}

/* ---- where Kueue is named -------------------------------------------------------------------- */

static bool names(const char *text, const char *domain)
{
	return text && strstr(text, domain);
}

bool walk_find_domain(struct walk *w, const cJSON *v, const char *domain)
{
	size_t index = 0;
	if (cJSON_IsString(v))
		return names(v->valuestring, domain);
	if (!cJSON_IsObject(v) && !cJSON_IsArray(v))
		return false;
	json_each(item, v) {
		size_t back =
			cJSON_IsObject(v) ? walk_step(w, item->string) : walk_step_item(w, index++);
		if ((cJSON_IsObject(v) && names(item->string, domain)) ||
			walk_find_domain(w, item, domain))
			return true;
		walk_back(w, back);
	}
	return false;
}

bool walk_find_kueue(struct walk *w, const cJSON *v)
{
	return walk_find_domain(w, v, KUEUE_DOMAIN);
}

void note_kueue_left(struct walk *w, const cJSON *made)
{
	size_t back = w->path.len;
	if (walk_find_kueue(w, made))
		walk_note(w, "still names Kueue, and is as it was; see whether it must change");
	walk_back(w, back);
}
