#include "cli/past/show.h"

#include <stdio.h>
#include <string.h>

#include "cli/past/cells.h"
#include "cli/visibility.h"
#include "controller/common/path.h"
#include "controller/common/visibility_names.h"

/* ---- the question ---------------------------------------------------------------------------- */

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

/* ---- the answer ------------------------------------------------------------------------------ */

/* Says that only one namespace is shown, wherever a person looks: that is no sum of all. */
static void put_narrowed(enum past_kind kind, const cJSON *root, struct buf *out)
{
	buf_printf(out,
		"You may not list %s." VISIBILITY_GROUP
		" of all namespaces: those of namespace %.63s are shown. Name another with -n.\n",
		past_resource_name(kind), text_of(root, "namespace"));
}

void past_show(const struct past_view *v, enum output output, const cJSON *root, bool narrowed)
{
	struct style style = style_of(stdout);
	struct buf text, aside;
	buf_init(&text, PAST_OUTPUT_MAX);
	buf_init(&aside, PAST_OUTPUT_MAX);
	if (output == OUTPUT_JSON) {
		json_print(&text, root);
		buf_putc(&text, '\n');
	} else if (output == OUTPUT_CSV) {
		v->csv(root, &text);
		past_put_note(root, NULL, &aside);
	} else {
		v->table(root, &style, &text);
	}
	if (narrowed)
		put_narrowed(v->kind, root, output == OUTPUT_TABLE ? &text : &aside);
	fputs(buf_text(&text), stdout);
	fputs(buf_text(&aside), stderr);
	buf_done(&text);
	buf_done(&aside);
}

static int show_checked(
	const struct past_command *c, const cJSON *root, bool narrowed, struct err *e)
{
	int rc = c->view->check ? c->view->check(root, e) : 0;
	if (rc == 0 || c->output != OUTPUT_TABLE) /* a program reads the list, empty or not */
		past_show(c->view, c->output, root, narrowed);
	return rc;
}

int past_command_ask(struct ev_loop *loop, struct kube_client *client, const char *ns, void *ctx)
{
	const struct past_command *c = ctx;
	struct err e = {""};
	struct json *json = json_new(PAST_TREE_MAX);
	struct past_answer_question q = {.words = c->words, .home = c->all_namespaces ? NULL : ns};
	const cJSON *root;
	bool narrowed;
	if (q.words.job && !q.words.ns)
		q.words.ns = q.home;
	int rc = past_answer_get(loop, client, &q, json, &root, &narrowed, &e);
	if (rc == 0)
		rc = show_checked(c, root, narrowed, &e);
	json_free(json);
	return rc ? command_fail(rc, &e) : CLI_OK;
}

int past_command_run(const struct past_command_options *o, const struct past_view *view)
{
	struct past_command c = {.view = view,
		.words = o->words,
		.all_namespaces = o->all_namespaces,
		.output = o->output};
	return question_command(&o->kube, NULL, false, past_command_ask, &c);
}
