/* NodePools of Karpenter (karpenter.sh/v1): which nodes they make. */
#include "controller/wire/decode.h"
#include "controller/wire/decode_parts.h"

#define LABELS_MAX 256

/* Whether a pool makes nodes for pods: it is not being deleted, and has no fixed number of
 * nodes. */
static bool makes_nodes(const cJSON *o, const cJSON *spec)
{
	return !meta_deleting(o) && !json_get(spec, "replicas");
}

static int fill_made_nodes(struct decoder *d, const cJSON *o, struct err *e)
{
	struct made_nodes_spec *s = parcel_array(&d->parcel, 1, sizeof(*s));
	const struct path *at = PATH(NULL, "spec"), *of = PATH(at, "template"),
			  *meta = PATH(of, "metadata"), *node = PATH(of, "spec");
	const cJSON *spec = object_field(d, NULL, o, "spec");
	const cJSON *template = object_field(d, at, spec, "template");
	s->name = makes_nodes(o, spec) ? text_keep(d, NULL, decode_name(o), NAME_MAX_BYTES) : NULL;
	s->labels = labels_field(d, meta, object_field(d, of, template, "metadata"), "labels",
		LABELS_MAX, &s->nlabels);
	s->requirements =
		requirements_field(d, node, object_field(d, of, template, "spec"), "requirements");
	return decoder_verdict(d, "NodePool", o, e);
}

DECODER(decode_made_nodes, made_nodes_spec, "NodePool", 1024, fill_made_nodes)
