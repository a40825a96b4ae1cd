#include "controller/wire/provision_body.h"

#include <inttypes.h>

#include "controller/wire/decode_provision.h"
#include "sluice/keys.h"

static void put_metadata(const struct intent *i, struct json_writer *w)
{
	char uid[UID_TEXT_SIZE];
	uid_format(&i->uid, uid);
	jw_object(w, "metadata");
	jw_texts(w, "name", i->provision.name, "namespace", i->ns, NULL);
	jw_object_of(w, "labels", PROVISION_JOB_LABEL, uid, NULL);
	jw_object(w, "annotations");
	jw_textf(w, PROVISION_KEY_ANNOTATION, "%016" PRIx64, i->provision.key);
	jw_end(w);
	jw_array(w, "ownerReferences");
	jw_object_of(w, NULL, "apiVersion", "batch/v1", "kind", "Job", "name", i->name, "uid", uid,
		NULL);
	jw_end(w);
	jw_end(w);
}

struct json_writer provision_template_begin(const struct intent *i, struct buf *out)
{
	struct json_writer w = json_writer_object(out);
	jw_texts(&w, "apiVersion", "v1", "kind", "PodTemplate", NULL);
	put_metadata(i, &w);
	return w;
}

void provision_template_end(struct json_writer *w, struct slice template)
{
	jw_raw(w, "template", template);
	jw_close(w);
}

void provision_request_body(const struct intent *i, struct buf *out)
{
	const struct provision_ask *p = &i->provision;
	struct json_writer w = json_writer_object(out);
	jw_texts(&w, "apiVersion", "autoscaling.x-k8s.io/v1", "kind", "ProvisioningRequest", NULL);
	put_metadata(i, &w);
	jw_object(&w, "spec");
	jw_text(&w, "provisioningClassName", p->class_name);
	if (p->nparameters > 0)
		jw_object(&w, "parameters");
	for (size_t k = 0; k < p->nparameters; k++)
		jw_text(&w, p->parameters[k].key, p->parameters[k].value);
	if (p->nparameters > 0)
		jw_end(&w);
	jw_array(&w, "podSets");
	jw_object(&w, NULL);
	jw_object_of(&w, "podTemplateRef", "name", p->name, NULL);
	jw_int(&w, "count", p->pods);
	jw_close(&w);
}
