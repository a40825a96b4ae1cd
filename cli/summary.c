#include "cli/summary.h"

#include <inttypes.h>

#include "base/span.h"
#include "cli/commands.h"
#include "cli/start_words.h"
#include "cli/visibility.h"
#include "controller/common/path.h"

int summary_ask(struct ev_loop *loop, struct kube_client *client, const char *ns, const char *by,
	struct json *json, const cJSON **ret_root, struct err *e)
{
	struct buf path;
	buf_init(&path, PATH_MAX_BYTES);
	if (ns)
		path_format(&path, VISIBILITY_ROOT "/namespaces/%s/summaries?by=%s", ns, by);
	else
		path_format(&path, VISIBILITY_ROOT "/summaries?by=%s", by);
	const struct visibility_request r = {
		.path = buf_text(&path), .ns = ns, .resource = "summaries"};
	int rc = visibility_ask(loop, client, &r, json, ret_root, e);
	buf_done(&path);
	return rc;
}

void summary_put_start(const cJSON *object, int64_t now_ms, struct buf *out)
{
	const cJSON *next = json_object(object, "nextStart");
	int64_t at_ms;
	if (instant_of(next, "at", &at_ms))
		start_words_put(at_ms - now_ms, !json_get(next, "p90"), out);
	else
		buf_puts(out, "-");
}

void summary_put_oldest(const cJSON *object, int64_t now_ms, struct buf *out)
{
	int64_t at_ms;
	bool known = instant_of(object, "oldestQueuedAt", &at_ms);
	buf_puts(out, known ? span_short(now_ms - at_ms).s : "-");
}

void summary_put_attention(const cJSON *summary, struct buf *out)
{
	bool is_first = true;
	json_each(w, json_array(summary, "attentionWords")) {
		buf_printf(out, "%s%" PRId64 " ", is_first ? "" : ", ", number_of(w, "jobs"));
		text_render(text_of(w, "word"), out);
		is_first = false;
	}
}
