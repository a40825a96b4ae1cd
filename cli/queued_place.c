#include "cli/queued_place.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/visibility.h"
#include "controller/common/path.h"

enum { TRIES = 8, PAUSE_MS = 200 };

static void read_place(const cJSON *queued_job, struct queued_place *ret)
{
	const cJSON *status = json_object(queued_job, "status");
	const char *state = text_of(status, "state");
	*ret = (struct queued_place){.waits = strcmp(state, "Waiting") == 0,
		.starts = strcmp(state, "Starting") == 0 || strcmp(state, "Running") == 0,
		.position = number_of(status, "position"),
		.priority = number_of(json_object(queued_job, "spec"), "priority")};
	snprintf(ret->waits_for, sizeof(ret->waits_for), "%s", text_of(status, "waitsFor"));
}

bool queued_place_ask(const struct job_asked *a,
	bool (*seen)(const cJSON *queued_job, const void *ctx), const void *ctx,
	struct queued_place *ret)
{
	struct buf path;
	bool known = false;
	int rc = 0;
	buf_init(&path, PATH_MAX_BYTES);
	path_format(&path, VISIBILITY_ROOT "/namespaces/%s/queuedjobs/%s", a->ns, a->name);
	for (int i = 0; i < TRIES && rc == 0 && !known; i++) {
		struct json *json = json_new(QUESTION_TREE_MAX);
		const cJSON *queued_job;
		struct err unheard;
		if (i > 0)
			question_pause(PAUSE_MS);
		rc = visibility_ask(a->loop, a->client,
			&(struct visibility_request){buf_text(&path), a->ns, true}, json,
			&queued_job, &unheard);
		known = rc == 0 && seen(queued_job, ctx);
		if (known)
			read_place(queued_job, ret);
		json_free(json);
	}
	buf_done(&path);
	return known;
}

void queued_place_tell(const struct queued_place *p, struct buf *out)
{
	if (p->starts)
		buf_puts(out, "; it is starting");
	else if (p->waits && p->position == 1)
		buf_puts(out, ", and is the next in line");
	else if (p->waits && p->position > 1)
		buf_printf(out, ", %" PRId64 " Job%s ahead of it", p->position - 1,
			p->position == 2 ? " is" : "s are");
	else if (p->waits && *p->waits_for)
		buf_printf(out, "; it waits (%s)", p->waits_for);
}
