/*
 * Any bytes as a ResourceQuota, or as a list of such, or of such and Pods: records that hold what
 * they promise, or a sentence that is safe to print. Each pod is asked of each quota, with all that
 * may be reserved: nothing overflows, and what is refused is refused in words.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/cluster/quota_flight.h"
#include "base/json.h"
#include "controller/wire/decode_template.h"
#include "test/fuzz/outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_list(const struct resource_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		char text[QUANTITY_TEXT_SIZE];
		const struct resource *r = &list->item[i];
		check_text(r->name);
		must(r->amount >= 0 && r->style <= QUANTITY_EXPONENT);
		quantity_canonical(
			r->amount, quota_unit_of(r->name), (enum quantity_style)r->style, text);
		must(*text);
	}
}

static void check_quota(const struct resource_quota *q)
{
	check_text(q->ns);
	check_text(q->name);
	must(q->version >= 0);
	check_list(&q->hard);
	check_list(&q->used);
	for (size_t i = 0; i < q->nscopes; i++)
		must(q->scopes[i].scope <= SCOPE_OTHER && q->scopes[i].op <= SELECTOR_LT);
}

static void fly(const struct resource_quota *q, const struct pod *p, int64_t *ret_reserved)
{
	struct quota_flight *f = quota_flight_new();
	struct pod here = *p;
	here.ns = q->ns;
	for (uint8_t i = 0; i < 3; i++)
		quota_flight_set(f, &(struct quota_run){.uid = {{i}},
					    .pod = &here,
					    .pods = {INT32_MAX - i, INT32_MAX},
					    .made = i,
					    .version = i});
	quota_flight_seen(f, NULL, 1);
	quota_flight_reserved(f, q, ret_reserved);
	for (size_t i = 0; i < q->hard.count; i++)
		must(ret_reserved[i] >= 0);
	quota_flight_free(f);
}

static void ask(const struct resource_quota *q, const struct pod *p)
{
	static char sentence[1 << 20];
	int64_t *reserved = mem_array(q->hard.count + 1, sizeof(*reserved));
	fly(q, p, reserved);
	for (int32_t pods = 1; pods > 0; pods = pods == 1 ? INT32_MAX : 0) {
		struct quota_state s = {q, pods == 1 ? NULL : reserved};
		struct pod_count count = {pods, pods};
		bool may = resource_quota_admits(&s, 1, p, count, sentence, sizeof(sentence));
		must(may == !*sentence);
		check_text(sentence);
		resource_quota_admits(&s, 1, p, count, sentence, 100);
		check_text(sentence);
	}
	free(reserved);
}

static void try_quota(const cJSON *o, const cJSON *all)
{
	struct resource_quota *q = NULL;
	struct err e = {""};
	int rc = decode_resource_quota(o, &q, &e);
	check_outcome(rc, q, &e);
	if (q)
		check_quota(q);
	json_each(item, q ? all : NULL) {
		struct pod *p = NULL;
		rc = decode_template("team", item, &p, &e);
		check_outcome(rc, p, &e);
		if (p)
			ask(q, p);
		free(p);
	}
	free(q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json *json = json_new(64 << 20);
	const cJSON *o;
	if (json_parse(json, (struct slice){(const char *)data, size}, &o, NULL) == 0) {
		if (!cJSON_IsArray(o))
			try_quota(o, o);
		else if (cJSON_GetArraySize(o) <= 16)
			json_each(item, o)
				try_quota(item, o);
	}
	json_free(json);
	return 0;
}
