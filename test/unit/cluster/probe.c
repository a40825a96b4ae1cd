/*
 * A cluster by pipe, for test/e2e/test_fit.py: one JSON object a line in, for each question one
 * line out. The objects are as the API server writes them.
 *
 *   {"node": NODE}  {"drop": "name"}  {"namespace": NAMESPACE}  {"runtimeClass": RUNTIMECLASS}
 *   {"deviceClass": DEVICECLASS}
 *   {"bind": POD}   by its uid; a pod without spec.nodeName, or one that ended, is unbound
 *   {"unbind": "uid"}
 *   {"ask": POD, "enough": 1}
 *       -> {"fit": "NEVER", "nodes": 3, "suitable": 0, "room": 0, "sentence": ".."}
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "base/json.h"
#include "controller/wire/decode.h"
#include "controller/wire/decode_parts.h"
#include "controller/wire/decode_template.h"

static _Noreturn void give_up(const char *text, const struct err *e)
{
	fprintf(stderr, "%s\n%s\n", text, e->text);
	exit(1);
}

static void set_node(struct nodes *n, const cJSON *o, const char *text)
{
	struct err e;
	struct node_spec *s;
	if (decode_node_spec(o, &s, &e) < 0)
		give_up(text, &e);
	nodes_set(n, s);
	free(s);
}

static void set_namespace(struct nodes *n, const cJSON *o, const char *text)
{
	struct err e;
	struct namespace_spec *s;
	if (decode_namespace(o, &s, &e) < 0)
		give_up(text, &e);
	nodes_set_namespace(n, s->name, s->labels, s->nlabels);
	free(s);
}

static void set_runtime_class(struct nodes *n, const cJSON *o, const char *text)
{
	struct err e;
	struct runtime_class_spec *s;
	if (decode_runtime_class(o, &s, &e) < 0)
		give_up(text, &e);
	nodes_set_runtime_class(n, s);
	free(s);
}

static void set_device_class(struct nodes *n, const cJSON *o, const char *text)
{
	struct err e;
	struct device_class_spec *s;
	if (decode_device_class(o, &s, &e) < 0)
		give_up(text, &e);
	nodes_set_device_class(n, s);
	free(s);
}

static struct pod *pod_of(const cJSON *o, const char *text)
{
	struct err e;
	struct pod *p;
	if (decode_template(decode_namespace_of(o), o, &p, &e) < 0)
		give_up(text, &e);
	return p;
}

static bool ended(const cJSON *o)
{
	const char *phase = json_text(json_object(o, "status"), "phase");
	return phase && (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0);
}

static void bind(struct nodes *n, const cJSON *o, const char *text)
{
	struct pod *p = pod_of(o, text);
	struct bound_pod b = {.node = p->node_name, .pod = p, .deleting = meta_deleting(o)};
	must(decode_uid(o, &b.uid));
	if (*p->node_name && !ended(o))
		nodes_bind(n, &b);
	else
		nodes_unbind(n, &b.uid);
	free(p);
}

static void ask(struct nodes *n, const cJSON *o, const cJSON *line, const char *text)
{
	static const char *const words[] = {"NEVER", "NOT_NOW", "NOW"};
	struct pod *p = pod_of(o, text);
	struct fit_answer a;
	struct buf b;
	int64_t enough = 1;
	json_i64(line, "enough", &enough);
	nodes_fit(n, p, &a);
	buf_init(&b, 1 << 16);
	buf_printf(&b,
		"{\"fit\": \"%s\", \"nodes\": %zu, \"suitable\": %zu, \"room\": %d, \"sentence\": ",
		words[a.fit], a.nodes, a.suitable, (int)nodes_room(n, p, (int32_t)enough));
	buf_json_string(&b, a.sentence);
	printf("%s}\n", buf_text(&b));
	fflush(stdout);
	buf_done(&b);
	free(p);
}

static void obey(struct nodes *n, const cJSON *line, const char *text)
{
	const cJSON *o;
	struct uid uid;
	if ((o = json_object(line, "node")))
		set_node(n, o, text);
	else if (json_text(line, "drop"))
		nodes_drop(n, json_text(line, "drop"));
	else if ((o = json_object(line, "namespace")))
		set_namespace(n, o, text);
	else if ((o = json_object(line, "runtimeClass")))
		set_runtime_class(n, o, text);
	else if ((o = json_object(line, "deviceClass")))
		set_device_class(n, o, text);
	else if ((o = json_object(line, "bind")))
		bind(n, o, text);
	else if (json_text(line, "unbind") && uid_parse(json_text(line, "unbind"), &uid))
		nodes_unbind(n, &uid);
	else if ((o = json_object(line, "ask")))
		ask(n, o, line, text);
	else
		give_up(text, &(struct err){"is no line that this program knows"});
}

int main(void)
{
	struct nodes *n = nodes_new();
	struct json *json = json_new(64 << 20);
	struct err e;
	char *text = NULL;
	size_t room = 0;
	ssize_t len;
	while ((len = getline(&text, &room, stdin)) > 0) {
		const cJSON *line;
		if (json_parse(json, (struct slice){text, (size_t)len}, &line, &e) < 0)
			give_up(text, &e);
		obey(n, line, text);
	}
	free(text);
	json_free(json);
	nodes_free(n);
	return 0;
}
