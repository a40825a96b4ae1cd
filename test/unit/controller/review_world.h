/* Worlds and Jobs of JSON, for tests of reviews. Single quotes stand for double ones. */
#ifndef SLUICE_TEST_CONTROLLER_REVIEW_WORLD_H
#define SLUICE_TEST_CONTROLLER_REVIEW_WORLD_H

#include <stdlib.h>

#include "base/json.h"
#include "controller/answers/whatif_specs.h"
#include "controller/watch/time_specs.h"
#include "controller/wire/decode.h"
#include "test/unit/forecast/fixture.h"
#include "base/must.h"

static inline char *quoted(const char *text)
{
	char *copy = mem_strdup(text);
	for (char *at = copy; (at = strchr(at, '\''));)
		*at = '"';
	return copy;
}

static inline int add_text(struct whatif_specs *s, const char *text, struct err *e)
{
	char *json = quoted(text);
	int rc = whatif_specs_add(s, json, e);
	free(json);
	return rc;
}

/* Of objects; NULL ends them. */
static inline struct queue *world_of_json(const char *const *objects)
{
	struct queue *q = queue_new();
	struct whatif_specs *s = whatif_specs_new();
	struct err e = {""};
	for (; *objects; objects++)
		if (add_text(s, *objects, &e) != 0)
			fail_msg("%s", e.text);
	if (whatif_specs_apply(s, q, NULL, &e) != 0)
		fail_msg("%s", e.text);
	whatif_specs_free(s);
	return q;
}

#define OBJECT(kind, name, rest)                                                                   \
	"{'apiVersion':'sluice.dev/v1alpha1','kind':'" kind "','metadata':{'name':'" name          \
	"'}," rest "}"
#define FLAVOR(name, spec) OBJECT("ResourceFlavor", name, "'spec':{" spec "}")
#define CLASS(name, value) OBJECT("WorkloadPriorityClass", name, "'value':" value)
#define LOCALQUEUE(ns, name, clusterqueue)                                                         \
	"{'apiVersion':'sluice.dev/v1alpha1','kind':'LocalQueue','metadata':{'namespace':'" ns     \
	"','name':'" name "'},'spec':{'clusterQueue':'" clusterqueue "'}}"
#define QUOTA(flavor, cpu)                                                                         \
	"{'name':'" flavor "','resources':[{'name':'cpu','nominalQuota':'" cpu "'}]}"
#define CLUSTERQUEUE(name, rest, flavors)                                                          \
	OBJECT("ClusterQueue", name,                                                               \
		"'spec':{'namespaceSelector':{}," rest                                             \
		"'resourceGroups':[{'coveredResources':['cpu'],'flavors':[" flavors "]}]}")

/* A Job of team-a with that spec (beside its template), annotations and pod spec. */
static inline struct job *job_of_json(
	uint32_t n, const char *queue, const char *annotations, const char *spec, const char *pod)
{
	struct json *j = json_new(1 << 20);
	struct buf text;
	struct job *job = NULL;
	struct err e = {""};
	const cJSON *root;
	buf_init(&text, 1 << 16);
	buf_printf(&text,
		"{'apiVersion':'batch/v1','kind':'Job','metadata':{'namespace':'team-a','name':'job-%u',"
		"'uid':'00000000-0000-0000-0000-0000%08x','creationTimestamp':'2026-01-01T00:00:00Z',"
		"'resourceVersion':'1','labels':{'sluice.dev/queue-name':'%s'},'annotations':{%s}},"
		"'spec':{'suspend':true,%s'template':{'spec':{%s'containers':[{'name':'c','image':'i',"
		"'resources':{'requests':{'cpu':'1'}}}]}}}}",
		n, n, queue, annotations, spec, pod);
	char *json = quoted(buf_text(&text));
	if (json_parse(j, slice_of(json), &root, &e) != 0 || decode_job(root, NULL, &job, &e) != 0)
		fail_msg("%s: %s", e.text, json);
	free(json);
	buf_done(&text);
	json_free(j);
	must(job);
	assert_null(job->invalid);
	return job;
}

#endif
