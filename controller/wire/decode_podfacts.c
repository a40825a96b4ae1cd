#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/cluster/pod.h"
#include "controller/wire/decode.h"
#include "controller/wire/decode_node.h"
#include "controller/wire/decode_parts.h"
#include "controller/wire/resources.h"
#include "sluice/keys.h"
#include "sluice/quantity.h"

/* The first guess at a Pod's size: one of one container takes about 900 bytes. */
#define POD_GUESS 2048
#define VALUE_MAX_BYTES 63 /* of a label */
#define RESOURCES_MAX 64   /* names in one pod */

_Static_assert((int)POD_GUARANTEED == (int)QOS_GUARANTEED &&
		       (int)POD_BURSTABLE == (int)QOS_BURSTABLE &&
		       (int)POD_BEST_EFFORT == (int)QOS_BEST_EFFORT,
	"one order for both");

/* Reads the class, which the API server sets when it takes the pod in; a pod out of a file has
 * none. */
static enum pod_qos qos_field(const cJSON *status, const struct pod_resources *pod)
{
	static const char *const names[] = {
		"Guaranteed", "Burstable", "BestEffort"}; /* enum pod_qos */
	const char *said = json_text(status, "qosClass");
	for (int i = 0; said && i < 3; i++)
		if (strcmp(said, names[i]) == 0)
			return (enum pod_qos)i;
	return (enum pod_qos)pod_qos_class(&(struct pod){.resources = *pod});
}

/* ---- what it asks for ------------------------------------------------------------------------ */

/* Adds an amount; false when it is neither cpu nor memory. */
static bool add_amount(struct load *to, const char *name, int64_t amount)
{
	bool cpu = strcmp(name, "cpu") == 0;
	int64_t *at = cpu ? &to->cpu_milli : &to->memory_bytes;
	if (!cpu && strcmp(name, "memory") != 0)
		return false;
	*at = quantity_add(*at, amount);
	return true;
}

/* Adds to `to` what a container asks for under lent names. */
static void add_lent(const struct resource_list *asked, struct load *to)
{
	const struct lent *lent;
	for (size_t i = 0; i < asked->count; i++)
		if ((lent = resources_lent(asked->item[i].name)))
			add_amount(
				to, lent->plain, quantity_times(asked->item[i].amount, lent->unit));
}

static void add_resource(const struct resource *r, struct pod_facts *f)
{
	const struct lent *lent;
	if (add_amount(&f->request, r->name, r->amount) || !(lent = resources_lent(r->name)))
		return;
	f->tier.asks_for_lent |= r->amount > 0;
	add_amount(lent->kind == LENDING_GOCRAN ? &f->gocran_asked : &f->batch_asked, lent->plain,
		quantity_times(r->amount, lent->unit));
}

/* ---- its containers -------------------------------------------------------------------------- */

/* Copies the 64 hex digits out of "containerd://97bd..."; false: there are none. */
static bool copy_id(const char *text, char ret[LENT_CONTAINER_ID_SIZE])
{
	const char *id = text ? strstr(text, "://") : NULL;
	if (!id || strlen(id + 3) != LENT_CONTAINER_ID_SIZE - 1)
		return false;
	memcpy(ret, id + 3, LENT_CONTAINER_ID_SIZE);
	return strspn(ret, "0123456789abcdef") == LENT_CONTAINER_ID_SIZE - 1;
}

static bool find_id(const cJSON *statuses, const char *name, char ret[LENT_CONTAINER_ID_SIZE])
{
	json_each(s, statuses)
		if (json_is(s, "name", name))
			return copy_id(json_text(s, "containerID"), ret);
	return false;
}

static size_t count_sidecars(const struct pod_resources *pod)
{
	size_t n = 0;
	for (size_t i = 0; i < pod->ninit_containers; i++)
		n += pod->init_containers[i].sidecar;
	return n;
}

/* Appends a container to those of f, where it asks for lent resources and has an id. */
static void add_container(const struct container *c, const cJSON *statuses,
	struct lent_container *all, struct pod_facts *f)
{
	struct lent_container *to = &all[f->ncontainers];
	add_lent(&c->requests, &to->asked);
	bool asks = to->asked.cpu_milli > 0 || to->asked.memory_bytes > 0;
	if (asks && find_id(statuses, c->name, to->id))
		f->ncontainers++;
	else
		*to = (struct lent_container){0};
}

/* Reads the containers that run side by side, where there are several. */
static void read_containers(
	struct decoder *d, const cJSON *o, const struct pod_resources *pod, struct pod_facts *f)
{
	const cJSON *status = json_object(o, "status");
	size_t n = pod->ncontainers + count_sidecars(pod);
	if (!f->tier.asks_for_lent || n < 2 || n > LENT_CONTAINERS_MAX)
		return;
	struct lent_container *all = parcel_array(&d->parcel, n, sizeof(*all));
	f->containers = all;
	for (size_t i = 0; i < pod->ncontainers; i++)
		add_container(&pod->containers[i], json_array(status, "containerStatuses"), all, f);
	for (size_t i = 0; i < pod->ninit_containers; i++)
		if (pod->init_containers[i].sidecar)
			add_container(&pod->init_containers[i],
				json_array(status, "initContainerStatuses"), all, f);
}

/* ---- what it asks for, all in all ------------------------------------------------------------ */

static void read_resources(
	struct decoder *d, const cJSON *o, const cJSON *spec, struct pod_facts *f)
{
	struct resource all[RESOURCES_MAX], *more = NULL;
	struct pod_resources pod = pod_field(d, PATH(NULL, "spec"), spec);
	size_t n = pod_requests(&pod, all, RESOURCES_MAX);
	if (n > RESOURCES_MAX) {
		more = mem_array(n, sizeof(*more));
		pod_requests(&pod, more, n);
	}
	for (size_t i = 0; i < n; i++)
		add_resource(more ? &more[i] : &all[i], f);
	free(more);
	read_containers(d, o, &pod, f);
	f->tier.qos = qos_field(json_object(o, "status"), &pod);
}

/* ---- the rest -------------------------------------------------------------------------------- */

/* Copies a word out of a label or an annotation; NULL when it is absent or no word. Annotations may
 * hold anything, and nothing we look for is longer. */
static const char *word_of(struct decoder *d, const cJSON *map, const char *key)
{
	const char *text = json_text(map, key);
	if (!text || !*text || strnlen(text, VALUE_MAX_BYTES + 1) > VALUE_MAX_BYTES)
		return NULL;
	for (const char *p = text; *p; p++)
		if (*p <= 0x20 || *p >= 0x7f)
			return NULL;
	return text_keep(d, NULL, text, VALUE_MAX_BYTES);
}

static const char *qos_word(struct decoder *d, const cJSON *labels, const cJSON *annotations)
{
	const char *said = word_of(d, labels, QOS_LABEL);
	if (!said)
		said = word_of(d, annotations, LEGACY_QOS_KEY);
	return said ? said : word_of(d, labels, LEGACY_QOS_KEY);
}

static void read_tier(struct decoder *d, const cJSON *o, const cJSON *spec, struct pod_facts *f)
{
	int64_t priority;
	const cJSON *labels = json_object(meta_of(o), "labels");
	f->tier.qos_label = qos_word(d, labels, annotations_of(o));
	f->tier.priority_label = word_of(d, labels, TIER_LABEL);
	f->tier.in_kube_system = strcmp(f->ns, "kube-system") == 0;
	if (json_i64(spec, "priority", &priority) == 0 && priority >= INT32_MIN &&
		priority <= INT32_MAX) {
		f->tier.has_priority = true;
		f->tier.priority = (int32_t)priority;
	}
}

static enum pod_phase phase_of(const cJSON *status)
{
	const char *phase = json_text(status, "phase");
	if (!phase || strcmp(phase, "Pending") == 0)
		return POD_PENDING;
	bool over = strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
	return over ? POD_OVER : POD_RUNNING; /* "Unknown" may well run */
}

/* Reads "-5"; what is no such number counts as absent, as upstream has it. */
static int32_t signed_value(const char *text)
{
	int64_t n = 0;
	bool negative = text && *text == '-';
	if (!text || !text_number(text + negative, INT32_MAX, &n))
		return 0;
	return (int32_t)(negative ? -n : n);
}

static int fill_pod(struct decoder *d, const cJSON *o, struct err *e)
{
	const struct path *meta = PATH(NULL, "metadata"), *at = PATH(NULL, "spec");
	struct pod_facts *f = parcel_array(&d->parcel, 1, sizeof(*f));
	const cJSON *spec = object_field(d, NULL, o, "spec");
	const cJSON *labels = json_object(meta_of(o), "labels");
	const cJSON *status = json_object(o, "status");
	decode_uid(o, &f->uid);
	f->ns = text_keep(d, meta, decode_namespace_of(o), NAME_MAX_BYTES);
	f->name = text_keep(d, meta, decode_name(o), NAME_MAX_BYTES);
	f->node = text_field(d, at, spec, "nodeName", NAME_MAX_BYTES);
	f->phase = phase_of(status);
	f->deleting = meta_deleting(o);
	f->has_owner_job = meta_owner_job(o, &f->owner_job);
	f->queued = json_get(labels, CLUSTERQUEUE_LABEL) != NULL;
	read_tier(d, o, spec, f);
	read_resources(d, o, spec, f);
	f->eviction_priority =
		signed_value(json_text(annotations_of(o), EVICTION_PRIORITY_ANNOTATION));
	f->looked_at = json_text(status, "startTime") != NULL;
	f->started_ms = f->looked_at ? json_instant(status, "startTime")
				     : json_instant(meta_of(o), "creationTimestamp");
	return decoder_verdict(d, "Pod", o, e);
}

DECODER(decode_pod, pod_facts, "Pod", POD_GUESS, fill_pod)
