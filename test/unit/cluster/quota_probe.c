/*
 * Answers of queue/cluster about pods and ResourceQuotas, by pipe, for
 * test/e2e/test_resource_quota.py. Each line in is a JSON object, and so is each line out:
 *
 *   {"pod": {...}, "quotas": [{...}, ...]}
 *       -> {"qosClass": "Burstable", "admits": false, "sentence": "exceeded quota: ..."}
 *
 * The pod and the quotas are as the API server takes and gives them; quotas are sorted by name
 * here. What cannot be read: {"error": "..."}.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/json.h"
#include "controller/wire/decode_template.h"

static int by_name(const void *a, const void *b)
{
	return strcmp((*(struct resource_quota *const *)a)->name,
		(*(struct resource_quota *const *)b)->name);
}

static int read_quotas(const cJSON *list, struct resource_quota **ret, struct err *e)
{
	size_t n = 0;
	int rc = 0;
	json_each(item, list) {
		if (rc == 0)
			rc = decode_resource_quota(item, &ret[n++], e);
	}
	if (rc == 0)
		qsort(ret, n, sizeof(*ret), by_name);
	return rc;
}

static void answer(const struct pod *p, struct resource_quota **quota, size_t n, struct buf *out)
{
	static char sentence[64 * 1024];
	struct quota_state *all = mem_array(n + 1, sizeof(*all));
	for (size_t i = 0; i < n; i++)
		all[i].quota = quota[i];
	bool admits = resource_quota_admits(
		all, n, p, (struct pod_count){1, 1}, sentence, sizeof(sentence));
	buf_puts(out, "{\"qosClass\":");
	buf_json_string(out, qos_class_name(pod_qos_class(p)));
	buf_printf(out, ",\"admits\":%s,\"sentence\":", admits ? "true" : "false");
	buf_json_string(out, sentence);
	buf_puts(out, "}");
	free(all);
}

static void ask(const cJSON *o, struct buf *out)
{
	struct err e = {""};
	struct pod *pod = NULL;
	const cJSON *quotas = json_array(o, "quotas");
	size_t n = (size_t)cJSON_GetArraySize(quotas);
	struct resource_quota **quota = mem_array(n + 1, sizeof(*quota));
	const char *ns = json_text(json_object(json_object(o, "pod"), "metadata"), "namespace");
	int rc = decode_template(ns ? ns : "default", json_object(o, "pod"), &pod, &e);
	if (rc == 0)
		rc = read_quotas(quotas, quota, &e);
	if (rc == 0) {
		answer(pod, quota, n, out);
	} else {
		buf_puts(out, "{\"error\":");
		buf_json_string(out, e.text);
		buf_puts(out, "}");
	}
	for (size_t i = 0; i < n; i++)
		free(quota[i]);
	free(quota);
	free(pod);
}

int main(void)
{
	struct json *json = json_new(64 << 20);
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	while ((len = getline(&line, &room, stdin)) > 0) {
		const cJSON *o;
		struct err e = {""};
		struct buf out;
		buf_init(&out, 1 << 20);
		if (json_parse(json, (struct slice){line, (size_t)len}, &o, &e) == 0)
			ask(o, &out);
		else
			buf_puts(&out, "{\"error\":\"no JSON\"}");
		puts(buf_text(&out));
		fflush(stdout);
		buf_done(&out);
	}
	free(line);
	json_free(json);
	return 0;
}
