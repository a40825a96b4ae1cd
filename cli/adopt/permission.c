#include "cli/adopt/permission.h"

#include <ev.h>
#include <stdio.h>
#include <string.h>

#include "base/instant.h"
#include "cli/question.h"
#include "sluice/keys.h"

#define POINTER "/metadata/annotations/sluice.dev~1adopt-begun-by"

enum { BODY_MAX = 4096, PATH_SIZE = 400, UNPROCESSABLE = 422 };

static void put_path(const char *namespace_name, char ret_path[PATH_SIZE])
{
	snprintf(ret_path, PATH_SIZE, "/api/v1/namespaces/%.63s", namespace_name);
}

bool adopt_permission_read(const char *text, int64_t *ret_ms)
{
	int64_t ms;
	if (!instant_parse(slice_of(text), &ms))
		return false;
	bool same = strcmp(instant_seconds(ms).s, text) == 0;
	if (same)
		*ret_ms = ms;
	return same;
}

/* Reads the permission that is there. *ret_ms is 0 where nothing is permitted. */
static int ask(struct ev_loop *loop, struct kube_client *client, const char *path,
	struct adopt_permission *ret, int64_t *ret_ms, struct err *e)
{
	struct json *json = json_new(QUESTION_TREE_MAX);
	const cJSON *root;
	int rc = question_ask(loop, client, path, json, &root, e);
	const char *text =
		rc < 0 ? NULL
		       : json_text(json_object(json_object(root, "metadata"), "annotations"),
				 ADOPT_ANNOTATION);
	*ret_ms = 0;
	if (text && adopt_permission_read(text, ret_ms))
		snprintf(ret->text, sizeof(ret->text), "%s", text);
	json_free(json);
	return rc;
}

int adopt_permission_give(struct ev_loop *loop, struct kube_client *client,
	const char *namespace_name, int64_t begun_by_ms, struct adopt_permission *ret,
	struct err *e)
{
	char path[PATH_SIZE];
	int64_t there_ms;
	struct buf body;
	*ret = (struct adopt_permission){0};
	put_path(namespace_name, path);
	int rc = ask(loop, client, path, ret, &there_ms, e);
	if (rc < 0 || there_ms >= begun_by_ms)
		return rc;
	*ret = (struct adopt_permission){.ours = true};
	snprintf(ret->text, sizeof(ret->text), "%s", instant_seconds(begun_by_ms).s);
	buf_init(&body, BODY_MAX);
	struct json_writer w = json_writer_object(&body);
	jw_object(&w, "metadata");
	jw_object_of(&w, "annotations", ADOPT_ANNOTATION, ret->text, NULL);
	jw_close(&w);
	rc = question_patch(loop, client, path, KUBE_MERGE_PATCH, &body, NULL, e);
	if (rc < 0)
		err_wrap(e, "who adopts writes the annotation " ADOPT_ANNOTATION
			    " of the Namespace, which cluster admins may");
	buf_done(&body);
	return rc;
}

int adopt_permission_take_back(struct ev_loop *loop, struct kube_client *client,
	const char *namespace_name, const struct adopt_permission *given, bool *ret_gone,
	struct err *e)
{
	char path[PATH_SIZE];
	struct buf body;
	struct question_facts facts;
	put_path(namespace_name, path);
	buf_init(&body, BODY_MAX);
	struct json_writer w = json_writer(&body);
	jw_array(&w, NULL);
	jw_object_of(&w, NULL, "op", "test", "path", POINTER, "value", given->text, NULL);
	jw_object_of(&w, NULL, "op", "remove", "path", POINTER, NULL);
	jw_close(&w);
	int rc = question_patch(loop, client, path, KUBE_JSON_PATCH, &body, &facts, e);
	buf_done(&body);
	*ret_gone = rc == 0;
	/* 422: the API server's answer to a test of the patch that does not hold */
	return rc < 0 && facts.http_status == UNPROCESSABLE ? 0 : rc;
}
