#include "controller/review.h"

void review_ask_token(struct buf *out, const char *token)
{
	buf_puts(out, "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenReview\","
		      "\"spec\":{\"token\":");
	buf_json_string(out, token);
	buf_puts(out, "}}");
}

const cJSON *review_user(const cJSON *answer)
{
	bool known = false;
	const cJSON *status = json_object(answer, "status");
	const cJSON *user = json_object(status, "user");
	if (json_bool(status, "authenticated", &known) != 0 || !known)
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

void review_ask_access(struct buf *out, const cJSON *user)
{
	buf_puts(out,
		"{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SubjectAccessReview\","
		"\"spec\":{\"resourceAttributes\":{\"group\":\"sluice.dev\",\"resource\":"
		"\"clusterqueues\",\"verb\":\"get\"}");
	buf_puts(out, ",\"user\":");
	buf_json_string(out, json_text(user, "username"));
	put_member(out, "uid", json_get(user, "uid"));
	put_member(out, "groups", json_array(user, "groups"));
	put_member(out, "extra", json_object(user, "extra"));
	buf_puts(out, "}}");
}

bool review_allows(const cJSON *answer)
{
	bool allowed = false;
	return json_bool(json_object(answer, "status"), "allowed", &allowed) == 0 && allowed;
}
