#include "controller/wire/decode_node.h"

#include <string.h>

#include "controller/wire/decode.h"
#include "controller/wire/decode_aside.h"
#include "controller/wire/decode_parts.h"
#include "controller/wire/decode_strategy.h"
#include "sluice/keys.h"

/* The first guess at a Node's size: one of 20 labels takes about 2,500 bytes. */
#define NODE_GUESS 4096
#define LABELS_MAX 4096
#define TAINTS_MAX 1024
#define CPUS_MAX 65536
#define TREE_MAX (4 << 20)
#define RESERVATION "node.koordinator.sh/reservation"

/* Counts a cpuset as Linux writes it, "0-3,8". False: it is none. */
static bool cpuset_size(const char *text, int64_t *ret)
{
	uint8_t seen[CPUS_MAX / 8] = {0};
	int64_t n = 0;
	for (;; text++) {
		long long from = -1, to = -1;
		for (; *text >= '0' && *text <= '9' && from < CPUS_MAX; text++)
			from = (from < 0 ? 0 : from * 10) + (*text - '0');
		if (*text == '-')
			for (text++; *text >= '0' && *text <= '9' && to < CPUS_MAX; text++)
				to = (to < 0 ? 0 : to * 10) + (*text - '0');
		else
			to = from;
		if (from < 0 || to < from || to >= CPUS_MAX || (*text && *text != ','))
			return false;
		for (; from <= to; from++) {
			n += !(seen[from / 8] >> from % 8 & 1);
			seen[from / 8] |= (uint8_t)(1u << from % 8);
		}
		if (!*text)
			break;
	}
	*ret = n;
	return true;
}

static int64_t amount_of(
	struct decoder *d, const struct path *at, const cJSON *map, const char *resource)
{
	const cJSON *value = json_get(map, resource);
	return value ? quantity_value(d, PATH(at, resource), value, resource) : 0;
}

/* Reads what a node reserves. reservedCPUs counts instead of cpu, even where that is more: the
 * admin pinned these cores. */
static struct load reservation_value(struct decoder *d, const struct path *at, const cJSON *root)
{
	char shown[SHOWN_SIZE];
	const struct path *of = PATH(at, "resources");
	const cJSON *map = object_field(d, at, root, "resources");
	struct load r = {amount_of(d, of, map, "cpu"), amount_of(d, of, map, "memory")};
	const char *cpus = text_field(d, at, root, "reservedCPUs", ANNOTATIONS_MAX_BYTES);
	int64_t n = 0;
	if (*cpus == '\0')
		return r;
	if (!cpuset_size(cpus, &n))
		decoder_fault(d, PATH(at, "reservedCPUs"),
			"%s is not a set of CPUs; write e.g. 0-3,8", text_show(cpus, shown));
	r.cpu_milli = n * 1000;
	return r;
}

static struct load reservation_field(
	struct decoder *d, const cJSON *annotations, const char **fault)
{
	struct err e;
	const cJSON *root = NULL;
	struct load r = {0};
	const struct path *at = PATH(NULL, RESERVATION);
	const char *text = json_text(annotations, RESERVATION);
	if (!text || !*text)
		return r;
	struct json *json = json_new(TREE_MAX);
	struct faults_aside a = faults_aside(d);
	if (json_parse(json, slice_of(text), &root, &e) < 0)
		decoder_fault(d, at, "%s", e.text);
	else if (!cJSON_IsObject(root))
		decoder_fault(d, at, "must be a JSON object");
	else
		r = reservation_value(d, at, root);
	const char *wrong = faults_back(d, &a);
	json_free(json);
	if (wrong && !*fault)
		*fault = wrong;
	if (wrong)
		r = (struct load){0};
	return r;
}

/* Reads what a node has. An amount that cannot be read is nothing: then nothing of it is lent, and
 * the fault says why. */
static struct load capacity_field(
	struct decoder *d, const cJSON *status, const char *key, const char **fault)
{
	struct load l;
	const struct path *at = PATH(PATH(NULL, "status"), key);
	struct faults_aside a = faults_aside(d);
	const cJSON *map = object_field(d, at->up, status, key);
	l.cpu_milli = amount_of(d, at, map, "cpu");
	l.memory_bytes = amount_of(d, at, map, "memory");
	const char *wrong = faults_back(d, &a);
	if (wrong && !*fault)
		*fault = wrong;
	if (wrong)
		l = (struct load){0};
	return l;
}

/* Reads a figure of ours; -1: no such key. One that cannot be read is there, and is not what we
 * wrote. */
static int64_t figure_of(struct decoder *d, const cJSON *map, const char *resource)
{
	if (!json_get(map, resource))
		return -1;
	struct faults_aside a = faults_aside(d);
	int64_t amount = amount_of(d, PATH(NULL, "status"), map, resource);
	return faults_back(d, &a) ? INT64_MAX : amount;
}

static struct figures figures_field(struct decoder *d, const cJSON *status, const char *key)
{
	const cJSON *map = json_object(status, key);
	struct figures figures;
	for (size_t i = 0; i < FIGURES; i++)
		figures.each[i] = figure_of(d, map, figure_names[i]);
	return figures;
}

static void read_status(struct decoder *d, const cJSON *o, struct node_facts *f)
{
	const cJSON *status = object_field(d, NULL, o, "status");
	f->ready = json_condition_is(o, "Ready", "True");
	f->capacity = capacity_field(d, status, "capacity", &f->fault);
	f->allocatable = capacity_field(d, status, "allocatable", &f->fault);
	f->capacity_lent = figures_field(d, status, "capacity");
	f->allocatable_lent = figures_field(d, status, "allocatable");
}

static void read_annotations(struct decoder *d, const cJSON *o, struct node_facts *f)
{
	const struct path *at = PATH(PATH(NULL, "metadata"), "annotations");
	const cJSON *labels = json_object(meta_of(o), "labels"), *all = annotations_of(o);
	const char *sample = json_text(all, SAMPLE_ANNOTATION);
	f->reservation = reservation_field(d, all, &f->fault);
	f->own = layer_of_node(d, json_text(all, "node.koordinator.sh/colocation-strategy"),
		json_text(labels, "node.koordinator.sh/cpu-reclaim-ratio"),
		json_text(labels, "node.koordinator.sh/memory-reclaim-ratio"), &f->fault);
	if (!sample || !text_time(sample, &f->sample_ms))
		f->sample_ms = 0;
	struct faults_aside a = faults_aside(d);
	f->metrics_path = text_field(
		d, at, all, "metrics.k8s.io/resource-metrics-path", ANNOTATIONS_MAX_BYTES);
	if (faults_back(d, &a))
		f->metrics_path = "";
}

static int fill_node(struct decoder *d, const cJSON *o, struct err *e)
{
	const struct path *at = PATH(NULL, "spec");
	struct node_facts *f = parcel_array(&d->parcel, 1, sizeof(*f));
	const cJSON *spec = object_field(d, NULL, o, "spec");
	decode_uid(o, &f->uid);
	f->name = text_keep(d, PATH(NULL, "metadata"), decode_name(o), NAME_MAX_BYTES);
	f->deleting = meta_deleting(o);
	f->labels = labels_field(
		d, PATH(NULL, "metadata"), meta_of(o), "labels", LABELS_MAX, &f->nlabels);
	if (json_bool(spec, "unschedulable", &f->unschedulable) == ERR_INVALID)
		decoder_fault(d, PATH(at, "unschedulable"), "must be true or false");
	f->taints = taints_field(d, at, spec, "taints", TAINTS_MAX, &f->ntaints);
	read_status(d, o, f);
	read_annotations(d, o, f);
	return decoder_verdict(d, "Node", o, e);
}

DECODER(decode_node, node_facts, "Node", NODE_GUESS, fill_node)
