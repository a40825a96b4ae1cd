#include "cli/past/answer.h"

#include <string.h>

#include "cli/visibility.h"
#include "controller/common/path.h"

static void put_parameter(struct buf *path, const char *name, const char *value)
{
	if (!value)
		return;
	buf_printf(path, "%c%s=", strchr(buf_text(path), '?') ? '&' : '?', name);
	path_escape(path, value);
}

static void put_parameters(const struct past_words *w, struct buf *path)
{
	put_parameter(path, "by", w->by);
	put_parameter(path, "job", w->job);
	put_parameter(path, "user", w->submitter);
	put_parameter(path, "since", w->since);
	put_parameter(path, "until", w->until);
}

/* ns NULL: of all. */
static int ask(struct ev_loop *loop, struct kube_client *client, const struct past_words *w,
	const char *ns, struct json *json, const cJSON **ret_root, struct err *e)
{
	const char *resource = past_resource_name(w->kind);
	struct buf path;
	buf_init(&path, PATH_MAX_BYTES);
	if (ns)
		path_format(&path, VISIBILITY_ROOT "/namespaces/%s/%s", ns, resource);
	else
		path_format(&path, VISIBILITY_ROOT "/%s", resource);
	put_parameters(w, &path);
	int rc = visibility_ask(loop, client,
		&(struct visibility_request){buf_text(&path), ns, false, resource}, json, ret_root,
		e);
	buf_done(&path);
	return rc;
}

int past_answer_get(struct ev_loop *loop, struct kube_client *client,
	const struct past_answer_question *q, struct json *json, const cJSON **ret_root,
	bool *ret_narrowed, struct err *e)
{
	int rc = ask(loop, client, &q->words, q->words.ns, json, ret_root, e);
	*ret_narrowed = rc == ERR_DENIED && !q->words.ns && q->home;
	return *ret_narrowed ? ask(loop, client, &q->words, q->home, json, ret_root, e) : rc;
}
