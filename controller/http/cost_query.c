#include "controller/http/cost_query.h"

#include <string.h>

#include "controller/wire/decode_text.h"

static const char *const by_names[] = {"queue", "namespace", "owner", "user", "label"};

const char *cost_by_name(enum cost_by by)
{
	return by_names[by];
}

static int parse_by(const char *text, struct cost_query *q, struct err *e)
{
	static const char label[] = "label=";
	for (int by = COST_BY_QUEUE; by < COST_BY_LABEL; by++)
		if (strcmp(text, by_names[by]) == 0) {
			q->question.by = (enum cost_by)by;
			return 0;
		}
	size_t len = strlen(text);
	if (strncmp(text, label, strlen(label)) != 0 || len == strlen(label) ||
		len - strlen(label) >= sizeof(q->label))
		return err_set(e, ERR_INVALID,
			"by is \"%.60s\"; it must be queue, namespace, owner, user or label=KEY",
			text);
	strcpy(q->label, text + strlen(label));
	q->question.by = COST_BY_LABEL;
	q->question.label = q->label;
	return 0;
}

static bool parse_date(const char *text, int64_t *ret_ms)
{
	char whole[32];
	if (strlen(text) != strlen("2026-11-01"))
		return false;
	strcpy(whole, text);
	strcat(whole, "T00:00:00Z");
	return text_time(whole, ret_ms);
}

static int parse_moment(
	const char *name, const char *text, int64_t now_ms, int64_t *ret_ms, struct err *e)
{
	int64_t span_ms;
	if (text_time(text, ret_ms) || parse_date(text, ret_ms))
		return 0;
	if (text_long_span(text, &span_ms)) {
		*ret_ms = now_ms - span_ms;
		return 0;
	}
	return err_set(e, ERR_INVALID,
		"%s is \"%.60s\"; it must be an age such as 90m, 12h, 30d or 4w, a date such as 2026-11-01 (00:00 UTC), or a time such as 2026-11-01T08:00:00Z",
		name, text);
}

/* "" would ask for all of them. */
static int parse_namespace(const char *text, struct cost_query *q, struct err *e)
{
	size_t len = strlen(text);
	if (len == 0 || len >= sizeof(q->ns))
		return err_set(e, ERR_INVALID,
			"namespace is \"%.70s\"; it must be the name of one, of 1 to %zu characters",
			text, sizeof(q->ns) - 1);
	strcpy(q->ns, text);
	q->question.ns = q->ns;
	return 0;
}

int cost_query_parse(
	const struct cost_words *w, int64_t now_ms, struct cost_query *ret, struct err *e)
{
	struct cost_question *q = &ret->question;
	*ret = (struct cost_query){.question = {.label = ""}};
	int rc = parse_by(w->by ? w->by : "queue", ret, e);
	if (!rc && w->ns)
		rc = parse_namespace(w->ns, ret, e);
	if (!rc)
		rc = parse_moment("since", w->since ? w->since : "30d", now_ms, &q->from_ms, e);
	q->to_ms = now_ms + 1;
	if (!rc && w->until)
		rc = parse_moment("until", w->until, now_ms, &q->to_ms, e);
	if (!rc && q->from_ms >= q->to_ms)
		rc = err_set(e, ERR_INVALID,
			"there is no time between since and until; since must be before");
	return rc;
}
