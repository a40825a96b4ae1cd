#include "controller/common/status_patch.h"

#include <inttypes.h>

static void begin_step(struct json_writer *w, const char *op, const char *path)
{
	jw_object(w, NULL);
	jw_texts(w, "op", op, "path", path, NULL);
}

void status_patch(struct buf *out, const struct uid *uid, int64_t version, struct slice status)
{
	struct json_writer w = json_writer(out);
	jw_array(&w, NULL);
	begin_step(&w, "test", "/metadata/uid");
	uid_put(&w, "value", uid);
	jw_end(&w);
	if (version != 0) {
		begin_step(&w, "test", "/metadata/resourceVersion");
		jw_textf(&w, "value", "%" PRId64, version);
		jw_end(&w);
	}
	begin_step(&w, "add", "/status");
	jw_raw(&w, "value", status);
	jw_close(&w);
}

void status_put_condition(struct json_writer *w, const char *type, bool is, const char *reason,
	const char *message, const char *since, int64_t generation)
{
	jw_object(w, NULL);
	jw_texts(w, "type", type, "status", is ? "True" : "False", "reason",
		reason && reason[0] ? reason : "Unknown", "message", message, NULL);
	if (since)
		jw_text(w, "lastTransitionTime", since);
	jw_int(w, "observedGeneration", generation > 0 ? generation : 0);
	jw_end(w);
}
