#include "controller/wire/provision_body.h"

#include <inttypes.h>

#include "controller/wire/decode_provision.h"
#include "sluice/keys.h"

static void put_metadata(const struct intent *i, struct buf *out)
{
	char uid[UID_TEXT_SIZE];
	uid_format(&i->uid, uid);
	buf_puts(out, "\"metadata\":{\"name\":");
	buf_json_string(out, i->provision.name);
	buf_puts(out, ",\"namespace\":");
	buf_json_string(out, i->ns);
	buf_printf(out, ",\"labels\":{\"%s\":\"%s\"},\"annotations\":{\"%s\":\"%016" PRIx64 "\"}",
		PROVISION_JOB_LABEL, uid, PROVISION_KEY_ANNOTATION, i->provision.key);
	buf_puts(out,
		",\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":");
	buf_json_string(out, i->name);
	buf_printf(out, ",\"uid\":\"%s\"}]}", uid);
}

void provision_template_head(const struct intent *i, struct buf *out)
{
	buf_puts(out, "{\"apiVersion\":\"v1\",\"kind\":\"PodTemplate\",");
	put_metadata(i, out);
	buf_puts(out, ",\"template\":");
}

void provision_template_tail(struct slice template, struct buf *out)
{
	buf_add(out, template.ptr, template.len);
	buf_putc(out, '}');
}

void provision_request_body(const struct intent *i, struct buf *out)
{
	const struct provision_ask *p = &i->provision;
	buf_puts(out,
		"{\"apiVersion\":\"autoscaling.x-k8s.io/v1\",\"kind\":\"ProvisioningRequest\",");
	put_metadata(i, out);
	buf_puts(out, ",\"spec\":{\"provisioningClassName\":");
	buf_json_string(out, p->class_name);
	for (size_t k = 0; k < p->nparameters; k++) {
		buf_puts(out, k ? "," : ",\"parameters\":{");
		buf_json_string(out, p->parameters[k].key);
		buf_putc(out, ':');
		buf_json_string(out, p->parameters[k].value);
	}
	buf_puts(out, p->nparameters > 0 ? "}" : "");
	buf_puts(out, ",\"podSets\":[{\"podTemplateRef\":{\"name\":");
	buf_json_string(out, p->name);
	buf_printf(out, "},\"count\":%" PRId32 "}]}}", p->pods);
}
