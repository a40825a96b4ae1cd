#include "cli/jobs/pages.h"

#include <string.h>

#include "cli/commands.h"
#include "cli/visibility.h"
#include "controller/common/path.h"

#define PAGE "500"

/* Room for a label selector of 1024 characters and a token, each escaped. */
enum { QUERY_MAX_BYTES = 8192, SELECTOR_BYTES = 1024 };

/* Returns the state to ask for: the API takes one, so several are asked for as all. */
static const char *one_state(unsigned states)
{
	for (size_t i = 0; i < JOB_STATES; i++)
		if (states == 1U << i)
			return job_state_name(i);
	return NULL;
}

/* Appends a value, with a backslash before what a field selector takes for its own. */
static void put_value(struct buf *fields, const char *value)
{
	for (; *value; value++) {
		if (strchr("\\,=", *value))
			buf_putc(fields, '\\');
		buf_putc(fields, *value);
	}
}

static void put_field(struct buf *fields, const char *name, const char *value)
{
	if (!value)
		return;
	buf_printf(fields, "%s%s=", fields->len > 0 ? "," : "", name);
	put_value(fields, value);
}

static void put_field_selector(const struct jobs_options *o, const char *user, struct buf *path)
{
	struct buf fields;
	buf_init(&fields, SELECTOR_BYTES);
	put_field(&fields, "spec.queue", o->queue);
	put_field(&fields, "spec.submittedBy", user);
	put_field(&fields, "status.state", one_state(o->states));
	if (fields.len > 0)
		path_format(path, "&fieldSelector=%s", buf_text(&fields));
	buf_done(&fields);
}

struct choice {
	const char *ns, *user;
	const struct jobs_options *o;
};

/* Makes the path of a page. token: of the page before; "" for the first. */
static int put_path(const struct choice *c, const char *token, struct buf *path, struct err *e)
{
	const struct jobs_options *o = c->o;
	if (o->all_namespaces)
		buf_puts(path, VISIBILITY_ROOT "/queuedjobs?limit=" PAGE);
	else
		path_format(path, VISIBILITY_ROOT "/namespaces/%s/queuedjobs?limit=" PAGE, c->ns);
	put_field_selector(o, c->user, path);
	if (o->selector && o->selector[0])
		path_format(path, "&labelSelector=%s", o->selector);
	if (token[0])
		path_format(path, "&continue=%s", token);
	return path->failed ? err_set(e, ERR_INVALID, "-l is too long; shorten the selector") : 0;
}

static int read_all(struct ev_loop *loop, struct kube_client *client, const struct choice *c,
	struct jobs_report *report, struct err *e)
{
	struct json *json = json_new(QUESTION_TREE_MAX);
	struct buf path, token;
	int rc;
	buf_init(&path, QUERY_MAX_BYTES);
	buf_init(&token, QUERY_MAX_BYTES);
	do {
		const cJSON *list;
		buf_reset(&path);
		rc = put_path(c, buf_text(&token), &path, e);
		if (rc == 0)
			rc = visibility_ask(loop, client,
				&(struct visibility_request){buf_text(&path),
					c->o->all_namespaces ? NULL : c->ns, false},
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
	const char *user, const struct jobs_options *o, struct jobs_report *report, struct err *e)
{
	const struct choice choice = {ns, user, o};
	int rc = read_all(loop, client, &choice, report, e);
	if (rc == ERR_CONFLICT) {
		jobs_report_reset(report);
		rc = read_all(loop, client, &choice, report, e);
	}
	return rc == ERR_CONFLICT
		       ? err_set(e, ERR_BUSY,
				 "the controller forgot the list while it was read, twice; ask again, or for less: -n, -q, --state")
		       : rc;
}
