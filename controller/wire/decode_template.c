#include "controller/wire/decode_template.h"

#include <string.h>

#include "controller/wire/decode.h"
#include "controller/wire/decode_company.h"
#include "controller/wire/decode_parts.h"

#define TEMPLATE_GUESS 4096
#define NODE_GUESS 4096
#define LABELS_MAX 4096
#define TAINTS_MAX 1024
#define CONTAINERS_MAX 512
#define PORTS_MAX 4096 /* of a pod */

/* ---- where it may run ------------------------------------------------------------------------ */

static bool covers(const struct toleration *t, const char *key)
{
	return (strcmp(t->key, key) == 0 || !*t->key) &&
	       (t->effect == TAINT_NO_EXECUTE || t->effect == TAINT_ANY);
}

/* Adds a toleration as DefaultTolerationSeconds does, unless the pod itself says something about
 * such a taint. */
static void tolerate(struct toleration *all, size_t *n, const char *key)
{
	for (size_t i = 0; i < *n; i++)
		if (covers(&all[i], key))
			return;
	all[(*n)++] = (struct toleration){.key = key,
		.value = "",
		.op = TOLERATION_EXISTS,
		.effect = TAINT_NO_EXECUTE,
		.has_seconds = true,
		.seconds = 300};
}

static void keep_tolerations(struct decoder *d, const struct path *at, const struct toleration *own,
	size_t n, struct pod *p)
{
	struct toleration *all = parcel_array(&d->parcel, n + 2, sizeof(*all));
	for (size_t i = 0; i < n; i++)
		all[i] = own[i];
	const char *not_ready = text_keep(d, at, "node.kubernetes.io/not-ready", NAME_MAX_BYTES);
	const char *unreachable =
		text_keep(d, at, "node.kubernetes.io/unreachable", NAME_MAX_BYTES);
	tolerate(all, &n, not_ready);
	tolerate(all, &n, unreachable);
	p->tolerations = all;
	p->ntolerations = n;
}

static void read_node_affinity(
	struct decoder *d, const struct path *up, const cJSON *affinity, struct pod *p)
{
	static const char required[] = "requiredDuringSchedulingIgnoredDuringExecution";
	static const char key[] = "nodeSelectorTerms";
	size_t n = 0;
	const struct path *node = PATH(up, "nodeAffinity"), *at = PATH(node, required);
	const cJSON *o = object_field(d, up, affinity, "nodeAffinity");
	o = object_field(d, node, o, required);
	const cJSON *list = objects_field(d, at, o, key, TERMS_MAX, &p->nterms);
	struct node_term *all = parcel_array(&d->parcel, p->nterms, sizeof(*all));
	json_each(item, list) {
		const struct path *here = PATH_INDEX(PATH(at, key), n);
		all[n].labels = requirements_field(d, here, item, "matchExpressions");
		all[n].fields = requirements_field(d, here, item, "matchFields");
		n++;
	}
	p->has_terms = o != NULL;
	p->terms = all;
}

static void read_affinity(
	struct decoder *d, const struct path *at, const cJSON *spec, struct pod *p)
{
	const struct path *here = PATH(at, "affinity");
	const cJSON *o = object_field(d, at, spec, "affinity");
	read_node_affinity(d, here, o, p);
	p->affinity = affinity_terms_field(d, here, o, "podAffinity", p, &p->naffinity);
	p->anti_affinity =
		affinity_terms_field(d, here, o, "podAntiAffinity", p, &p->nanti_affinity);
	p->crosses_namespaces = affinity_crosses_namespaces(o);
}

/* ---- ports of the host ----------------------------------------------------------------------- */

struct ports {
	struct host_port *all;
	size_t n;
	bool host_network; /* each port is the host's */
};

static size_t count_ports(const cJSON *spec, const char *key)
{
	size_t n = 0;
	json_each(c, json_array(spec, key))
		n += (size_t)cJSON_GetArraySize(json_array(c, "ports"));
	return n;
}

static void read_port(struct decoder *d, const struct path *at, const cJSON *o, struct ports *ports)
{
	int32_t port = int32_field(d, at, o, "hostPort", 0, 0);
	if (port == 0 && ports->host_network)
		port = int32_field(d, at, o, "containerPort", 0, 0);
	if (port == 0)
		return;
	const char *protocol = text_field(d, at, o, "protocol", NAME_MAX_BYTES);
	const char *ip = text_field(d, at, o, "hostIP", NAME_MAX_BYTES);
	ports->all[ports->n++] = (struct host_port){
		.protocol = *protocol ? protocol : text_keep(d, at, "TCP", NAME_MAX_BYTES),
		.ip = *ip ? ip : text_keep(d, at, "0.0.0.0", NAME_MAX_BYTES),
		.port = port,
	};
}

/* Reads host ports of containers. Init containers hold theirs only if they go on running. */
static void read_ports_of(struct decoder *d, const struct path *up, const cJSON *spec,
	const char *key, bool sidecars_only, struct ports *ports)
{
	size_t n = 0, given;
	const cJSON *list = objects_field(d, up, spec, key, CONTAINERS_MAX, &given);
	json_each(c, list) {
		const struct path *at = PATH_INDEX(PATH(up, key), n++);
		size_t i = 0, count;
		if (sidecars_only && !json_is(c, "restartPolicy", "Always"))
			continue;
		const cJSON *of = objects_field(d, at, c, "ports", PORTS_MAX, &count);
		json_each(port, of)
			read_port(d, PATH_INDEX(PATH(at, "ports"), i++), port, ports);
	}
}

static void read_ports(struct decoder *d, const struct path *at, const cJSON *spec, struct pod *p)
{
	struct ports ports = {0};
	size_t most = count_ports(spec, "initContainers") + count_ports(spec, "containers");
	if (json_bool(spec, "hostNetwork", &ports.host_network) == ERR_INVALID)
		decoder_fault(d, PATH(at, "hostNetwork"), "must be true or false");
	if (most > PORTS_MAX) {
		decoder_fault(d, at, "has %zu ports; at most %d are supported", most, PORTS_MAX);
		return;
	}
	ports.all = parcel_array(&d->parcel, most, sizeof(*ports.all));
	read_ports_of(d, at, spec, "initContainers", true, &ports);
	read_ports_of(d, at, spec, "containers", false, &ports);
	p->host_ports = ports.all;
	p->nhost_ports = ports.n;
}

/* ---- a template ------------------------------------------------------------------------------ */

static struct own_parts own_parts(struct decoder *d, const struct path *at, const cJSON *spec)
{
	struct own_parts own = {.resources = pod_field(d, at, spec)};
	struct placement *p = &own.placement;
	p->node_selector =
		labels_field(d, at, spec, "nodeSelector", NODE_SELECTOR_MAX, &p->nnode_selector);
	p->tolerations = tolerations_field(d, at, spec, TOLERATIONS_MAX, &p->ntolerations);
	return own;
}

/* Reads the labels, but those that an earlier start has added. */
static const struct label *own_labels(struct decoder *d, const struct path *meta, const cJSON *o,
	const struct own_parts *own, size_t *ret_count)
{
	size_t given, n = 0;
	const struct label *all = labels_field(d, meta, o, "labels", LABELS_MAX, &given);
	struct label *kept = parcel_array(&d->parcel, own->labels.nold ? given : 0, sizeof(*kept));
	*ret_count = given;
	if (own->labels.nold == 0)
		return all;
	for (size_t i = 0; i < given; i++) {
		bool old = false;
		for (size_t k = 0; k < own->labels.nold; k++)
			old = old || strcmp(own->labels.old[k], all[i].key) == 0;
		if (!old)
			kept[n++] = all[i];
	}
	*ret_count = n;
	return kept;
}

static void read_spec(struct decoder *d, const struct path *at, const cJSON *spec, struct pod *p)
{
	p->priority_class = text_field(d, at, spec, "priorityClassName", NAME_MAX_BYTES);
	p->terminating = json_get(spec, "activeDeadlineSeconds") != NULL;
	p->node_name = text_field(d, at, spec, "nodeName", NAME_MAX_BYTES);
	p->scheduler = text_field(d, at, spec, "schedulerName", NAME_MAX_BYTES);
	if (!*p->scheduler)
		p->scheduler = text_keep(d, at, "default-scheduler", NAME_MAX_BYTES);
	read_affinity(d, at, spec, p);
	p->spread = spread_field(d, at, spec, p, &p->nspread);
	read_ports(d, at, spec, p);
}

struct pod *template_field(struct decoder *d, const char *ns, const struct path *up, const cJSON *o,
	const struct own_parts *own)
{
	const struct path *meta = PATH(up, "metadata"), *at = PATH(up, "spec");
	struct pod *p = parcel_array(&d->parcel, 1, sizeof(*p));
	const cJSON *spec = object_field(d, up, o, "spec");
	struct own_parts parts = own ? *own : own_parts(d, at, spec);
	p->ns = text_keep(d, meta, ns, NAME_MAX_BYTES);
	p->labels = own_labels(d, meta, object_field(d, up, o, "metadata"), &parts, &p->nlabels);
	p->resources = parts.resources;
	p->node_selector = parts.placement.node_selector;
	p->nnode_selector = parts.placement.nnode_selector;
	keep_tolerations(d, at, parts.placement.tolerations, parts.placement.ntolerations, p);
	read_spec(d, at, spec, p);
	if (parts.restored_affinity) {
		p->terms = parts.placement.terms;
		p->nterms = parts.placement.nterms;
		p->has_terms = p->nterms > 0;
	}
	return p;
}

static int fill_template(struct decoder *d, const cJSON *o, struct err *e)
{
	template_field(d, d->ns, NULL, o, NULL);
	return d->faulty ? err_set(e, ERR_INVALID, "pod template: %s", d->fault.text) : 0;
}

int decode_template(const char *ns, const cJSON *o, struct pod **ret, struct err *e)
{
	void *block;
	if (!cJSON_IsObject(o))
		return err_set(e, ERR_INVALID, "pod template: must be an object");
	int rc = decode_in_namespace(ns, o, TEMPLATE_GUESS, fill_template, &block, e);
	if (rc == 0)
		*ret = block;
	return rc;
}

/* ---- a pod that is bound --------------------------------------------------------------------- */

static int fill_bound_pod(struct decoder *d, const cJSON *o, struct err *e)
{
	struct bound_pod *b = parcel_array(&d->parcel, 1, sizeof(*b));
	if (!decode_uid(o, &b->uid))
		decoder_fault(d, PATH(PATH(NULL, "metadata"), "uid"), "is not a UUID");
	struct pod *p = template_field(d, decode_namespace_of(o), NULL, o, NULL);
	b->pod = p;
	b->node = p->node_name;
	b->deleting = meta_deleting(o);
	if (!meta_owner_job(o, &b->owner))
		b->owner = (struct uid){{0}};
	return decoder_verdict(d, "Pod", o, e);
}

DECODER(decode_bound_pod, bound_pod, "Pod", TEMPLATE_GUESS, fill_bound_pod)

/* ---- a Node ---------------------------------------------------------------------------------- */

static int fill_node_spec(struct decoder *d, const cJSON *o, struct err *e)
{
	const struct path *meta = PATH(NULL, "metadata"), *at = PATH(NULL, "spec");
	struct node_spec *s = parcel_array(&d->parcel, 1, sizeof(*s));
	const cJSON *spec = object_field(d, NULL, o, "spec");
	const cJSON *status = object_field(d, NULL, o, "status");
	s->name = text_keep(d, meta, decode_name(o), NAME_MAX_BYTES);
	s->labels = labels_field(d, meta, meta_of(o), "labels", LABELS_MAX, &s->nlabels);
	s->taints = taints_field(d, at, spec, "taints", TAINTS_MAX, &s->ntaints);
	if (json_bool(spec, "unschedulable", &s->unschedulable) == ERR_INVALID)
		decoder_fault(d, PATH(at, "unschedulable"), "must be true or false");
	s->allocatable = amounts_field(d, PATH(NULL, "status"), status, "allocatable");
	return decoder_verdict(d, "Node", o, e);
}

DECODER(decode_node_spec, node_spec, "Node", NODE_GUESS, fill_node_spec)
