/*
 * What a Job says of idle resources: whether it may run on them, under which names its pods ask for
 * them, and whether its pods may be evicted.
 *
 * Kubernetes checks next to nothing of kubernetes.io/batch-cpu and batch-memory (no integers, no
 * limits, no mixing). What it lets pass may mean one amount to the scheduler and another to the
 * lending side. So all of that is checked here, and a Job whose requests make no sense waits with
 * the sentence.
 */
#include <string.h>

#include "controller/wire/decode_parts.h"
#include "controller/wire/patch.h"
#include "controller/wire/resources.h"
#include "sluice/keys.h"
#include "sluice/quantity.h"

#define TREE_MAX_BYTES (16 << 20)
#define TEXT_MAX_BYTES (64 * 1024) /* a text stands twice in an annotation */

static const char *const lists[] = {"containers", "initContainers"};

/* ---- Evictions -------------------------------------------------------------------------------
 */

static bool speaks_of_disruption(const cJSON *rule)
{
	json_each(condition, json_array(rule, "onPodConditions")) {
		const char *status = json_text(condition, "status");
		if (json_is(condition, "type", "DisruptionTarget") &&
			(!status || strcmp(status, "True") == 0))
			return true;
	}
	return false;
}

/* Whether evictions are ignored. The first rule that matches a pod holds, and an evicted pod also
 * ends with some exit code: a rule on those that comes first might match it too. */
bool ignores_disruption(const cJSON *spec)
{
	json_each(rule, json_array(json_object(spec, "podFailurePolicy"), "rules")) {
		if (!json_is(rule, "action", "Ignore"))
			return false;
		if (speaks_of_disruption(rule))
			return true;
	}
	return false;
}

/* ---- What is asked for -----------------------------------------------------------------------
 */

static bool list_has_lent(const struct resource_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (resources_lent(list->item[i].name))
			return true;
	return false;
}

static bool any_lent(const struct container *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (list_has_lent(&c[i].requests) || list_has_lent(&c[i].limits))
			return true;
	return false;
}

static bool names_lent(const struct pod_resources *pod)
{
	return any_lent(pod->containers, pod->ncontainers) ||
	       any_lent(pod->init_containers, pod->ninit_containers) ||
	       list_has_lent(&pod->pod_level) || list_has_lent(&pod->pod_level_limits);
}

static bool is_plain(const char *name)
{
	return strcmp(name, "cpu") == 0 || strcmp(name, "memory") == 0;
}

/* Whether a value is in whole units, exactly. */
static bool is_integer(const cJSON *value)
{
	int64_t milli, whole;
	const char *text = cJSON_IsString(value) ? value->valuestring : NULL;
	if (!text)
		return cJSON_IsNumber(value) &&
		       value->valuedouble == (double)(int64_t)value->valuedouble;
	if (quantity_parse(slice_of(text), QUANTITY_WHOLE, &whole, NULL) < 0)
		return true; /* a fault already */
	return quantity_parse(slice_of(text), QUANTITY_MILLI, &milli, NULL) < 0 ||
	       milli % 1000 == 0;
}

static const char *example(const struct lent *lent)
{
	if (strcmp(lent->plain, "memory") == 0)
		return "bytes, e.g. \"1Gi\"";
	return lent->unit == 1 ? "thousandths of a core, e.g. \"500\" for half of one"
			       : "cores, e.g. \"2\"";
}

/* Checks one amount in a Pod that asks for lent resources somewhere. */
static void check_amount(
	struct decoder *d, const struct path *at, const cJSON *value, const struct lent *lent)
{
	const struct lent *this = resources_lent(value->string);
	if (is_plain(value->string))
		decoder_fault(d, at,
			"the Pod asks for %s as well, and one Pod may not ask for both; ask for %s in all of its containers, or in none",
			lent->name,
			lent->kind == LENDING_BATCH ? "kubernetes.io/batch-* alone"
						    : "gocran.io/* alone");
	else if (this && this->kind != lent->kind)
		decoder_fault(d, at,
			"the Pod asks for %s as well, and nodes lend under one name or the other; ask for one of them",
			lent->name);
	else if (this && !is_integer(value))
		decoder_fault(d, at, "is not a whole number; write it in %s", example(this));
}

static int64_t quiet_amount(const cJSON *value)
{
	struct decoder quiet = {0};
	return quantity_value(&quiet, NULL, value, "");
}

static void check_limits(struct decoder *d, const struct path *at, const cJSON *resources)
{
	const cJSON *limits = json_object(resources, "limits");
	json_each(value, json_object(resources, "requests")) {
		const cJSON *limit = json_get(limits, value->string);
		if (!resources_lent(value->string))
			continue;
		if (!limit)
			decoder_fault(d, PATH(PATH(at, "requests"), value->string),
				"has no limit; write the same under limits");
		else if (quiet_amount(limit) != quiet_amount(value))
			decoder_fault(d, PATH(PATH(at, "limits"), value->string),
				"is not what is asked for; of what is lent, limits and requests are equal");
	}
}

/* Refuses a legacy name beside the one that replaced it. */
static void check_twice(struct decoder *d, const struct path *at, const cJSON *map)
{
	json_each(a, map) {
		const struct lent *legacy = resources_lent(a->string);
		if (!legacy || !legacy->legacy)
			continue;
		json_each(b, map) {
			const struct lent *other = resources_lent(b->string);
			if (other && b != a && other->kind == legacy->kind &&
				strcmp(other->plain, legacy->plain) == 0)
				decoder_fault(d, PATH(at, a->string),
					"is the old name of what %s asks for as well; remove it",
					b->string);
		}
	}
}

static void check_container(
	struct decoder *d, const struct path *at, const cJSON *container, const struct lent *lent)
{
	static const char *const maps[] = {"requests", "limits"};
	const cJSON *resources = json_object(container, "resources");
	for (size_t i = 0; i < 2; i++) {
		const struct path *here = PATH(at, maps[i]);
		const cJSON *map = json_object(resources, maps[i]);
		json_each(value, map)
			check_amount(d, PATH(here, value->string), value, lent);
		check_twice(d, here, map);
	}
	check_limits(d, at, resources);
}

/* Refuses a label (or the annotation of the first protocol) with another class. */
static void check_class(struct decoder *d, const cJSON *template)
{
	char shown[SHOWN_SIZE];
	static const char *const keys[] = {QOS_LABEL, LEGACY_QOS_KEY};
	static const char *const where[] = {"labels", "annotations"};
	const struct path *at = PATH(PATH(PATH(NULL, "spec"), "template"), "metadata");
	for (size_t i = 0; i < 2; i++) {
		const char *class = json_text(
			json_object(json_object(template, "metadata"), where[i]), keys[i]);
		if (class && strcmp(class, QOS_LENT) != 0)
			decoder_fault(d, PATH(PATH(at, where[i]), keys[i]),
				"%s is not what may run on lent resources; write BE, or remove it",
				text_show(class, shown));
	}
}

/* Refuses requests of the Pod as a whole, which no annotation keeps. pod is decoded from the
 * template. */
static void check_pod_level(
	struct decoder *d, const struct path *at, const struct pod_resources *pod, const char *cure)
{
	if (pod->pod_level.count > 0 || pod->pod_level_limits.count > 0)
		decoder_fault(d, PATH(at, "resources"),
			"what is lent is asked for container by container; %s", cure);
}

static void check_asks_lent(struct decoder *d, const struct path *at, const cJSON *text,
	const struct lent *lent, const struct pod_resources *pod)
{
	check_pod_level(d, at, pod, "write it in the containers' resources");
	for (size_t i = 0; i < 2; i++) {
		size_t n = 0;
		json_each(c, json_array(text, lists[i]))
			check_container(
				d, PATH(PATH_INDEX(PATH(at, lists[i]), n++), "resources"), c, lent);
	}
}

/* ---- Jobs that may have it in other names ----------------------------------------------------
 */

static bool asks_plain(const struct container *c)
{
	for (size_t i = 0; i < c->requests.count; i++)
		if (is_plain(c->requests.item[i].name))
			return true;
	return false;
}

/* Checks a Job that opted in. Init containers that end may ask for nothing. */
static void check_preemptible(
	struct decoder *d, const struct path *at, const struct pod_resources *pod)
{
	static const char cure[] =
		"asks for neither cpu nor memory, so there is nothing that could be lent to it; write what it needs under requests, or remove sluice.dev/preemptible";
	check_pod_level(d, at, pod,
		"write it in the containers' resources, or remove sluice.dev/preemptible");
	for (size_t i = 0; i < pod->ncontainers; i++)
		if (!asks_plain(&pod->containers[i]))
			decoder_fault(d, PATH(PATH_INDEX(PATH(at, lists[0]), i), "resources"), "%s",
				cure);
	for (size_t i = 0; i < pod->ninit_containers; i++)
		if (pod->init_containers[i].sidecar && !asks_plain(&pod->init_containers[i]))
			decoder_fault(d, PATH(PATH_INDEX(PATH(at, lists[1]), i), "resources"), "%s",
				cure);
}

static bool whole_cores(const struct container *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < c[i].requests.count; k++)
			if (strcmp(c[i].requests.item[k].name, "cpu") == 0 &&
				c[i].requests.item[k].amount % 1000 != 0)
				return false;
	return true;
}

static bool preemptible_in(struct decoder *d, const char *map, const cJSON *o, bool *ret)
{
	char shown[SHOWN_SIZE];
	const struct path *at = PATH(PATH(NULL, "metadata"), map);
	const cJSON *of = json_object(meta_of(o), map);
	if (!json_get(of, PREEMPTIBLE_KEY))
		return false;
	const char *text = text_field(d, at, of, PREEMPTIBLE_KEY, NAME_MAX_BYTES);
	*ret = strcmp(text, "true") == 0;
	if (!*ret && strcmp(text, "false") != 0)
		decoder_fault(d, PATH(at, PREEMPTIBLE_KEY), "%s is neither \"true\" nor \"false\"",
			text_show(text, shown));
	return true;
}

static bool preemptible(struct decoder *d, const cJSON *o)
{
	bool is = false;
	if (!preemptible_in(d, "labels", o, &is))
		preemptible_in(d, "annotations", o, &is);
	return is;
}

/* ---- The owner's own --------------------------------------------------------------------------
 */

/* The resources of containers in the annotation; NULL: no start has written them. */
struct kept_resources {
	const cJSON *original, *applied;
};

/* Finds them in the annotation; notes holds them. Most Jobs have no such word there, and their
 * annotation is not parsed for it. */
static struct kept_resources kept_resources(const cJSON *o, struct json *notes)
{
	const cJSON *root;
	const char *kept = json_text(annotations_of(o), DIRECTIVES_ANNOTATION);
	if (!kept || strlen(kept) > ANNOTATIONS_MAX_BYTES || !strstr(kept, "\"resources\"") ||
		json_parse(notes, slice_of(kept), &root, NULL) < 0)
		return (struct kept_resources){NULL, NULL};
	return (struct kept_resources){json_object(json_object(root, "original"), "resources"),
		json_object(json_object(root, "applied"), "resources")};
}

static void owners_text(const cJSON *template, const struct kept_resources *kept, struct buf *text)
{
	if (kept->original && kept->applied)
		resources_restore(template, kept->original, kept->applied, text);
	else
		resources_take(template, text);
}

static const char *keep_text(struct decoder *d, const struct buf *text)
{
	char *copy = parcel_bytes(&d->parcel, text->len + 1);
	memcpy(copy, buf_text(text), text->len);
	return copy;
}

/* Reads what the containers ask for as a start would write it: without legacy names. */
static void read_renamed(
	struct decoder *d, const struct path *at, const struct buf *text, struct job *j)
{
	struct buf renamed;
	const cJSON *root;
	struct json *tree = json_new(TREE_MAX_BYTES);
	buf_init(&renamed, TEXT_MAX_BYTES * 2);
	if (resources_convert(buf_slice(text), (struct lent_form){LENDING_NONE, false}, &renamed,
		    NULL) == 0 &&
		json_parse(tree, buf_slice(&renamed), &root, NULL) == 0)
		pod_reread(d, at, root, &j->pod);
	buf_done(&renamed);
	json_free(tree);
}

static void read_text(struct decoder *d, const cJSON *template, const struct buf *text,
	const cJSON *root, bool opted_in, struct job *j)
{
	const struct path *at = PATH(PATH(PATH(NULL, "spec"), "template"), "spec");
	const struct lent *lent = resources_asks_lent(root);
	bool pod_level =
		list_has_lent(&j->pod.pod_level) || list_has_lent(&j->pod.pod_level_limits);
	if (!lent && pod_level)
		check_pod_level(d, at, &j->pod, "write it in the containers' resources");
	if (lent) {
		check_asks_lent(d, at, root, lent, &j->pod);
		check_class(d, template);
		j->lending = (uint8_t)(1 << lent->kind);
	}
	read_renamed(d, at, text, j);
	if (lent || !opted_in)
		return;
	check_preemptible(d, at, &j->pod);
	j->lending |= 1 << LENDING_BATCH;
	if (whole_cores(j->pod.containers, j->pod.ncontainers) &&
		whole_cores(j->pod.init_containers, j->pod.ninit_containers))
		j->lending |= 1 << LENDING_GOCRAN;
}

static void read_lending(struct decoder *d, const cJSON *template,
	const struct kept_resources *kept, bool opted_in, struct job *j)
{
	const cJSON *root;
	struct json *tree = json_new(TREE_MAX_BYTES);
	struct buf text;
	buf_init(&text, TEXT_MAX_BYTES);
	owners_text(template, kept, &text);
	if (text.failed || json_parse(tree, buf_slice(&text), &root, NULL) < 0) {
		decoder_fault(d, PATH(PATH(PATH(NULL, "spec"), "template"), "spec"),
			"what its containers ask for takes more than %d bytes to write down, and a Job that may run on lent resources has that in an annotation; use fewer containers",
			TEXT_MAX_BYTES);
	} else {
		read_text(d, template, &text, root, opted_in, j);
		j->resources = keep_text(d, &text);
	}
	buf_done(&text);
	json_free(tree);
}

void job_lending(struct decoder *d, const cJSON *o, struct job *j)
{
	const cJSON *template = json_object(json_object(o, "spec"), "template");
	bool opted_in = preemptible(d, o);
	struct json *notes = json_new(TREE_MAX_BYTES);
	const struct kept_resources kept = kept_resources(o, notes);
	j->lending = 1 << LENDING_NONE;
	if (opted_in || kept.original || names_lent(&j->pod))
		read_lending(d, template, &kept, opted_in, j);
	json_free(notes);
}
