#include "cli/whatif/answer.h"

#include "cli/visibility.h"

int whatif_answer_get(const struct changes_source *from, const struct changes *c,
	const struct whatif_patience *p, struct json *json, const cJSON **ret, struct err *e)
{
	struct buf path;
	buf_init(&path, CHANGES_QUERY_MAX_BYTES + 256);
	buf_puts(&path, VISIBILITY_ROOT "/whatifs?");
	int rc = changes_query(c, &path, e);
	if (rc == 0) {
		const struct visibility_request r = {.path = buf_text(&path),
			.resource = "whatifs",
			.is_played = true,
			.rounds = p->rounds,
			.pause_ms = p->pause_ms,
			.has_no_namespace = true};
		rc = visibility_ask(from->loop, from->client, &r, json, ret, e);
	}
	buf_done(&path);
	return rc;
}
