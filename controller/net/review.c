#include "controller/net/review.h"

#include <string.h>

bool right_same(const struct right *a, const struct right *b)
{
	return strcmp(a->verb, b->verb) == 0 && strcmp(a->group, b->group) == 0 &&
	       strcmp(a->resource, b->resource) == 0 && strcmp(a->ns, b->ns) == 0;
}

void right_describe(const struct right *r, struct buf *out)
{
	buf_printf(out, "%s %s.%s", r->verb, r->resource, r->group);
	if (r->ns[0])
		buf_printf(out, " in namespace %s", r->ns);
}

void review_ask_token(struct buf *out, const char *token, const char *audience)
{
	buf_puts(out, "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenReview\","
		      "\"spec\":{\"token\":");
	buf_json_string(out, token);
	if (audience) {
		buf_puts(out, ",\"audiences\":[");
		buf_json_string(out, audience);
		buf_putc(out, ']');
	}
	buf_puts(out, "}}");
}

/* An authenticator without audiences says none: then the token may be for any audience. */
static bool is_for(const cJSON *status, const char *audience)
{
	if (!audience)
		return true;
	json_each(a, json_array(status, "audiences")) {
		const char *text = cJSON_GetStringValue(a);
		if (text && strcmp(text, audience) == 0)
			return true;
	}
	return false;
}

const cJSON *review_user(const cJSON *answer, const char *audience)
{
	bool known = false;
	const cJSON *status = json_object(answer, "status");
	const cJSON *user = json_object(status, "user");
	if (json_bool(status, "authenticated", &known) != 0 || !known || !is_for(status, audience))
		return NULL;
	return json_text(user, "username") ? user : NULL;
}

static void put_member(struct buf *out, const char *key, const cJSON *value)
{
	if (!value)
		return;
	buf_printf(out, ",\"%s\":", key);
	json_print(out, value);
}

void review_put_user(struct buf *out, const cJSON *user)
{
	buf_puts(out, ",\"user\":");
	buf_json_string(out, json_text(user, "username"));
	put_member(out, "uid", json_get(user, "uid"));
	put_member(out, "groups", json_array(user, "groups"));
	put_member(out, "extra", json_object(user, "extra"));
}

void review_ask_access(struct buf *out, const char *user_members, const struct right *r)
{
	buf_printf(out,
		"{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SubjectAccessReview\","
		"\"spec\":{\"resourceAttributes\":{\"group\":\"%s\",\"resource\":\"%s\","
		"\"verb\":\"%s\"",
		r->group, r->resource, r->verb);
	if (r->ns[0]) {
		buf_puts(out, ",\"namespace\":");
		buf_json_string(out, r->ns);
	}
	buf_putc(out, '}');
	buf_puts(out, user_members);
	buf_puts(out, "}}");
}

bool review_allows(const cJSON *answer)
{
	bool allowed = false;
	return json_bool(json_object(answer, "status"), "allowed", &allowed) == 0 && allowed;
}
