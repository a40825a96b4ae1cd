/*
 * The configuration of lending, in its two forms.
 *
 * The ConfigMap has two keys, each with a list of entries for some of the nodes. One entry of each
 * may select a node, so they become one list, in which the first that selects a node holds:
 *
 * - each entry of colocation-config together with each of resource-threshold-config, then alone;
 * - at last the entries of resource-threshold-config alone.
 *
 * Bounds keep that product small.
 */
#include <stdio.h>
#include <string.h>

#include "controller/wire/decode.h"
#include "controller/wire/decode_aside.h"
#include "controller/wire/decode_node.h"
#include "controller/wire/decode_parts.h"
#include "controller/wire/decode_qos.h"
#include "controller/wire/decode_strategy.h"

#define COLOCATION "colocation-config"
#define THRESHOLD "resource-threshold-config"
#define QOS "resource-qos-config"
#define QOS_FAULT "its fault" /* in its place: no key has a blank */
#define NODE_CONFIGS_MAX 256
#define NODE_STRATEGIES_MAX 32
#define TREE_MAX (64 << 20) /* of a ConfigMap, which has a MiB at most */
#define CONFIG_GUESS 4096
#define NODE_OVERCOMMIT_GUESS 2048

/* ---- entries for some of the nodes ----------------------------------------------------------- */

static const char *entry_name(struct decoder *d, const struct path *at, const cJSON *item)
{
	char made[64];
	const char *name = text_field(d, at, item, "name", NAME_MAX_BYTES);
	if (*name)
		return name;
	snprintf(made, sizeof(made), "%s[%zu]", at->up->key, at->index);
	return text_keep(d, at, made, sizeof(made));
}

/* Reads one entry. A wrong entry says nothing, but still holds for its nodes if its selector can be
 * read: they get what the cluster has (upstream's way), not what the next entry says. */
static struct node_strategy entry_value(
	struct decoder *d, const struct path *at, const cJSON *item, enum strategy_field enable)
{
	struct node_strategy s = {0};
	struct faults_aside a = faults_aside(d);
	const cJSON *selector = object_field(d, at, item, "nodeSelector");
	s.name = entry_name(d, at, item);
	s.selector = label_selector(d, PATH(at, "nodeSelector"), selector);
	if (s.selector.nrequirements == 0)
		decoder_fault(d, PATH(at, "nodeSelector"),
			"selects by nothing; write matchLabels or matchExpressions");
	bool selects = !d->faulty;
	s.layer = layer_field(d, at, item, enable);
	s.fault = faults_back(d, &a);
	if (s.fault)
		s.layer.says = 0;
	if (!selects) { /* in no values: holds for no node */
		struct requirement *none = parcel_array(&d->parcel, 1, sizeof(*none));
		*none = (struct requirement){"", SELECTOR_IN, NULL, 0};
		s.selector = (struct selector_term){none, 1};
	}
	return s;
}

struct entries {
	struct node_strategy *item;
	size_t count;
};

static struct entries entries_field(struct decoder *d, const struct path *up, const cJSON *object,
	const char *key, size_t max, enum strategy_field enable)
{
	size_t n = 0;
	struct entries all = {0};
	const cJSON *list = objects_field(d, up, object, key, max, &all.count);
	all.item = parcel_array(&d->parcel, all.count, sizeof(*all.item));
	json_each(item, list) {
		all.item[n] = entry_value(d, PATH_INDEX(PATH(up, key), n), item, enable);
		n++;
	}
	return all;
}

static struct selector_term selector_join(
	struct decoder *d, const struct selector_term *a, const struct selector_term *b)
{
	size_t n = a->nrequirements + b->nrequirements;
	struct requirement *all = parcel_array(&d->parcel, n, sizeof(*all));
	for (size_t i = 0; i < n; i++)
		all[i] = i < a->nrequirements ? a->requirements[i]
					      : b->requirements[i - a->nrequirements];
	return (struct selector_term){all, n};
}

/* Joins two entries. If one is wrong, the other counts all the same; its fault is at its own. */
static struct node_strategy entry_join(
	struct decoder *d, const struct node_strategy *a, const struct node_strategy *b)
{
	size_t size = strlen(a->name) + strlen(b->name) + sizeof(" and ");
	char *name = parcel_bytes(&d->parcel, size);
	snprintf(name, size, "%s and %s", a->name, b->name);
	return (struct node_strategy){
		.name = name,
		.selector = selector_join(d, &a->selector, &b->selector),
		.layer = layer_join(&a->layer, &b->layer),
	};
}

static void join_entries(struct decoder *d, const struct entries *a, const struct entries *b,
	struct overcommit_config *c)
{
	struct node_strategy *all =
		parcel_array(&d->parcel, (a->count + 1) * (b->count + 1) - 1, sizeof(*all));
	for (size_t i = 0; i < a->count; i++) {
		for (size_t k = 0; k < b->count; k++)
			all[c->nnodes++] = entry_join(d, &a->item[i], &b->item[k]);
		all[c->nnodes++] = a->item[i];
	}
	for (size_t k = 0; k < b->count; k++)
		all[c->nnodes++] = b->item[k];
	c->nodes = all;
}

/* ---- the ConfigMap --------------------------------------------------------------------------- */

static const cJSON *document_of(struct decoder *d, const cJSON *both, const char *key)
{
	const cJSON *o = cJSON_GetObjectItemCaseSensitive(both, key);
	if (o && !cJSON_IsObject(o))
		decoder_fault(d, PATH(NULL, key), "must be a JSON object");
	return cJSON_IsObject(o) ? o : NULL;
}

/* Reads resource-qos-config. Whatever is wrong with it, it refuses nothing. */
static struct qos_config qos_of(struct decoder *d, const cJSON *both)
{
	const cJSON *root = cJSON_GetObjectItemCaseSensitive(both, QOS);
	const char *fault = json_text(both, QOS_FAULT);
	if (fault)
		return qos_fault(d, fault);
	if (root && !cJSON_IsObject(root))
		return qos_fault(d, "it must be a JSON object");
	return qos_field(d, root);
}

static int fill_config(struct decoder *d, const cJSON *both, struct err *e)
{
	const struct path *of = PATH(NULL, COLOCATION), *with = PATH(NULL, THRESHOLD);
	struct overcommit_config *c = parcel_array(&d->parcel, 1, sizeof(*c));
	const cJSON *colocation = document_of(d, both, COLOCATION);
	const cJSON *threshold = document_of(d, both, THRESHOLD);
	struct strategy_layer lend = layer_field(d, of, colocation, FIELD_ENABLE);
	struct strategy_layer back = layer_field(d, PATH(with, "clusterStrategy"),
		object_field(d, with, threshold, "clusterStrategy"), FIELD_RECLAIM);
	struct entries a =
		entries_field(d, of, colocation, "nodeConfigs", NODE_CONFIGS_MAX, FIELD_ENABLE);
	struct entries b = entries_field(
		d, with, threshold, "nodeStrategies", NODE_STRATEGIES_MAX, FIELD_RECLAIM);
	c->cluster = layer_join(&lend, &back);
	join_entries(d, &a, &b, c);
	c->qos = qos_of(d, both);
	if (!d->faulty)
		return 0;
	return err_set(e, ERR_INVALID, "%s", d->fault.text);
}

/* Reads text as the document under key: a copy of its root in *ret, or nothing when it is empty. */
static int read_document(struct json *json, struct slice text, const char *key, cJSON *parent,
	cJSON *ret, struct err *e)
{
	const cJSON *root = NULL;
	if (text.len == 0)
		return 0;
	if (json_parse(json, text, &root, e) < 0) {
		err_wrap(e, "%s", key);
		return ERR_INVALID;
	}
	*ret = *root;
	ret->string = (char *)(uintptr_t)key;
	ret->next = parent->child;
	parent->child = ret;
	return 0;
}

/* Makes a member of the fault of a document that is none. */
static void put_fault(const char *text, cJSON *parent, cJSON *ret)
{
	*ret = (cJSON){.type = cJSON_String,
		.valuestring = (char *)(uintptr_t)text,
		.string = (char *)(uintptr_t)QOS_FAULT,
		.next = parent->child};
	parent->child = ret;
}

/* Makes the documents members of one object, copying only their roots. */
int decode_overcommit_config(struct slice colocation, struct slice threshold, struct slice qos,
	struct overcommit_config **ret, struct err *e)
{
	void *block;
	struct err qos_fault = {""};
	cJSON all = {.type = cJSON_Object}, member[3];
	struct json *a = json_new(TREE_MAX), *b = json_new(TREE_MAX), *c = json_new(TREE_MAX);
	int rc = read_document(a, colocation, COLOCATION, &all, &member[0], e);
	if (rc == 0)
		rc = read_document(b, threshold, THRESHOLD, &all, &member[1], e);
	if (rc == 0 && read_document(c, qos, QOS, &all, &member[2], &qos_fault) < 0)
		put_fault(qos_fault.text, &all, &member[2]);
	if (rc == 0)
		rc = decode_in_block(&all, CONFIG_GUESS, fill_config, &block, e);
	if (rc == 0)
		*ret = block;
	json_free(a);
	json_free(b);
	json_free(c);
	return rc;
}

/* ---- NodeOvercommit -------------------------------------------------------------------------- */

static int fill_node_overcommit(struct decoder *d, const cJSON *o, struct err *e)
{
	const struct path *at = PATH(NULL, "spec");
	struct node_overcommit *n = parcel_array(&d->parcel, 1, sizeof(*n));
	const cJSON *spec = object_field(d, NULL, o, "spec");
	n->name = text_keep(d, PATH(NULL, "metadata"), decode_name(o), NAME_MAX_BYTES);
	decode_uid(o, &n->uid);
	n->generation = meta_generation(o);
	n->deleting = meta_deleting(o);
	n->selector = label_selector(
		d, PATH(at, "nodeSelector"), object_field(d, at, spec, "nodeSelector"));
	n->layer = layer_field(d, at, spec, FIELD_ENABLE);
	if (!(n->layer.says >> FIELD_ENABLE & 1))
		n->layer.value.enable = true;
	n->layer.says |= UINT64_C(1) << FIELD_ENABLE;
	return decoder_verdict(d, "NodeOvercommit", o, e);
}

DECODER(decode_node_overcommit, node_overcommit, "NodeOvercommit", NODE_OVERCOMMIT_GUESS,
	fill_node_overcommit)
