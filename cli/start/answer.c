#include "cli/start/answer.h"

#include "cli/start/report.h"
#include "cli/visibility.h"
#include "controller/common/path.h"

static int say_unknown(const struct start_question *q, struct err *e)
{
	return err_set(e, ERR_GONE,
		"no Job %.253s is queued in namespace %.63s (another namespace: -n); sluice explain job/%.253s -n %.63s says what became of it",
		q->name, q->ns, q->name, q->ns);
}

int start_answer_get(struct ev_loop *loop, struct kube_client *client,
	const struct start_question *q, struct json *json, const cJSON **ret_job, struct err *e)
{
	struct buf path;
	int rc;
	buf_init(&path, PATH_MAX_BYTES);
	path_format(&path, VISIBILITY_ROOT "/namespaces/%s/queuedjobs/%s", q->ns, q->name);
	const struct visibility_request r = {.path = buf_text(&path), .ns = q->ns, .one = true};
	for (int round = 0;; round++) {
		rc = visibility_ask(loop, client, &r, json, ret_job, e);
		if (rc < 0 || round == q->rounds || !start_report_is_to_come(*ret_job))
			break;
		json_reset(json);
		question_pause(q->pause_ms);
	}
	buf_done(&path);
	return rc == ERR_GONE ? say_unknown(q, e) : rc;
}

int start_review_get(struct ev_loop *loop, struct kube_client *client,
	const struct start_question *q, struct json *json, const cJSON **ret_review, struct err *e)
{
	struct buf path;
	buf_init(&path, PATH_MAX_BYTES);
	path_format(&path, VISIBILITY_ROOT "/namespaces/%s/queuedjobs/%s/start", q->ns, q->name);
	const struct visibility_request r = {.path = buf_text(&path),
		.ns = q->ns,
		.one = true,
		.resource = "queuedjobs/start",
		.is_played = true,
		.rounds = q->rounds,
		.pause_ms = q->pause_ms};
	int rc = visibility_ask(loop, client, &r, json, ret_review, e);
	buf_done(&path);
	return rc == ERR_GONE ? say_unknown(q, e) : rc;
}
