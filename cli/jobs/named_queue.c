#include "cli/jobs/named_queue.h"

#include <string.h>

#include "base/similar.h"
#include "cli/commands.h"
#include "controller/common/path.h"

struct looking {
	const char *name;
	bool is_there;
	struct similar similar;
};

static void look_at(const cJSON *queue, void *ctx)
{
	struct looking *l = ctx;
	const char *name = text_of(json_object(queue, "metadata"), "name");
	l->is_there |= strcmp(name, l->name) == 0;
	similar_offer(&l->similar, name);
}

static int say_missing(const struct looking *l, const char *ns, struct err *e)
{
	const char *meant = similar_best(&l->similar);
	return err_set(e, ERR_GONE, "there is no LocalQueue \"%.253s\" in %s%.63s%s%s%s", l->name,
		ns ? "namespace " : "any namespace", ns ? ns : "", meant ? "; did you mean " : "",
		meant ? meant : "", meant ? "?" : "");
}

int jobs_named_queue_look(struct ev_loop *loop, struct kube_client *client, const char *ns,
	const char *name, struct err *e)
{
	struct looking l = {.name = name};
	struct json *json = json_new(QUESTION_TREE_MAX);
	struct buf path;
	similar_begin(&l.similar, name);
	buf_init(&path, PATH_MAX_BYTES);
	if (ns)
		path_format(&path, SLUICE_ROOT "/namespaces/%s/localqueues", ns);
	else
		buf_puts(&path, SLUICE_ROOT "/localqueues");
	int rc = question_each(loop, client, json, buf_text(&path), look_at, &l, NULL, e);
	if (rc < 0)
		rc = err_set(e, ERR_DENIED,
			"you may not list localqueues.sluice.dev there, so it is not known whether there is a LocalQueue \"%.253s\"",
			name);
	else if (!l.is_there)
		rc = say_missing(&l, ns, e);
	buf_done(&path);
	json_free(json);
	return rc;
}
