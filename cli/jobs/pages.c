#include "cli/jobs/pages.h"

#include <string.h>

#include "cli/commands.h"
#include "cli/visibility.h"
#include "controller/common/path.h"

#define PAGE "500"

/* A label selector of 1024 characters and a token, each escaped. */
enum { QUERY_MAX_BYTES = 8192, SELECTOR_BYTES = 1024 };

/* The API takes one state; of several it is asked for all. */
static const char *one_state(unsigned states)
{
	for (size_t i = 0; i < JOB_STATES; i++)
		if (states == 1U << i)
			return job_state_name(i);
	return NULL;
}

static void put_field_selector(const struct jobs_options *o, struct buf *path)
{
	const char *state = one_state(o->states);
	struct buf fields;
	buf_init(&fields, SELECTOR_BYTES);
	if (o->queue)
		buf_printf(&fields, "spec.queue=%s", o->queue);
	if (state)
		buf_printf(&fields, "%sstatus.state=%s", o->queue ? "," : "", state);
	if (fields.len > 0)
		path_format(path, "&fieldSelector=%s", buf_text(&fields));
	buf_done(&fields);
}

/* token: of the page before; "" for the first. */
static int put_path(const char *ns, const struct jobs_options *o, const char *token,
	struct buf *path, struct err *e)
{
	if (o->all_namespaces)
		buf_puts(path, VISIBILITY_ROOT "/queuedjobs?limit=" PAGE);
	else
		path_format(path, VISIBILITY_ROOT "/namespaces/%s/queuedjobs?limit=" PAGE, ns);
	put_field_selector(o, path);
	if (o->selector && o->selector[0])
		path_format(path, "&labelSelector=%s", o->selector);
	if (token[0])
		path_format(path, "&continue=%s", token);
	return path->failed ? err_set(e, ERR_INVALID, "-l is too long; shorten the selector") : 0;
}

static int read_all(struct ev_loop *loop, struct kube_client *client, const char *ns,
	const struct jobs_options *o, struct jobs_report *report, struct err *e)
{
	struct json *json = json_new(QUESTION_TREE_MAX);
	struct buf path, token;
	int rc;
	buf_init(&path, QUERY_MAX_BYTES);
	buf_init(&token, QUERY_MAX_BYTES);
	do {
		const cJSON *list;
		buf_reset(&path);
		rc = put_path(ns, o, buf_text(&token), &path, e);
		if (rc == 0)
			rc = visibility_ask(loop, client,
				&(struct visibility_request){
					buf_text(&path), o->all_namespaces ? NULL : ns, false},
				json, &list, e);
		if (rc < 0)
			break;
		jobs_report_add(report, list);
		buf_reset(&token);
		buf_puts(&token, text_of(json_object(list, "metadata"), "continue"));
	} while (token.len > 0);
	buf_done(&path);
	buf_done(&token);
	json_free(json);
	return rc;
}

int jobs_pages_read(struct ev_loop *loop, struct kube_client *client, const char *ns,
	const struct jobs_options *o, struct jobs_report *report, struct err *e)
{
	int rc = read_all(loop, client, ns, o, report, e);
	if (rc == ERR_CONFLICT) {
		jobs_report_reset(report);
		rc = read_all(loop, client, ns, o, report, e);
	}
	return rc == ERR_CONFLICT
		       ? err_set(e, ERR_BUSY,
				 "the controller forgot the list while it was read, twice; ask again, or for less: -n, -q, --state")
		       : rc;
}
