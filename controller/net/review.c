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
	struct json_writer w = json_writer_object(out);
	jw_texts(&w, "apiVersion", "authentication.k8s.io/v1", "kind", "TokenReview", NULL);
	jw_object(&w, "spec");
	jw_text(&w, "token", token);
	if (audience)
		jw_array_of(&w, "audiences", &audience, 1);
	jw_close(&w);
}

/* Whether the token is for the audience. An authenticator without audiences says none: then the
 * token may be for any. */
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

static void put_member(struct json_writer *w, const char *key, const cJSON *value)
{
	if (value)
		json_put(w, key, value);
}

void review_put_user(struct buf *out, const cJSON *user)
{
	struct json_writer w = json_writer_object(out);
	jw_text(&w, "user", json_text(user, "username"));
	put_member(&w, "uid", json_get(user, "uid"));
	put_member(&w, "groups", json_array(user, "groups"));
	put_member(&w, "extra", json_object(user, "extra"));
	jw_close(&w);
}

void review_ask_access(struct buf *out, const char *user, const struct right *r)
{
	struct json_writer w = json_writer_object(out);
	jw_texts(&w, "apiVersion", "authorization.k8s.io/v1", "kind", "SubjectAccessReview", NULL);
	jw_object(&w, "spec");
	jw_object(&w, "resourceAttributes");
	jw_texts(&w, "group", r->group, "resource", r->resource, "verb", r->verb, NULL);
	if (r->ns[0])
		jw_text(&w, "namespace", r->ns);
	jw_end(&w);
	jw_members(&w, slice_of(user));
	jw_close(&w);
}

bool review_allows(const cJSON *answer)
{
	bool allowed = false;
	return json_bool(json_object(answer, "status"), "allowed", &allowed) == 0 && allowed;
}
