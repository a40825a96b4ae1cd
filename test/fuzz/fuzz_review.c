/*
 * Any bytes as the API server's answer to a TokenReview and to a SubjectAccessReview, and as a
 * token: what is asked next is JSON and about that user and no other.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "controller/net/review.h"

enum { CEILING = 256 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* That value printed, or "" when there is none. */
static void print(const cJSON *value, struct buf *out)
{
	buf_init(out, 4 * CEILING);
	if (value)
		json_print(out, value);
	must(!out->failed);
}

static void must_be_same(const cJSON *a, const cJSON *b)
{
	struct buf x, y;
	print(a, &x);
	print(b, &y);
	must(slice_eq(buf_slice(&x), buf_slice(&y)));
	buf_done(&x);
	buf_done(&y);
}

static void check_access(const cJSON *user)
{
	static const struct right right = {"get", "batch", "jobs", "team-a"};
	struct buf asked, members;
	const cJSON *root;
	struct json *j = json_new(8 * CEILING);
	buf_init(&asked, CEILING);
	buf_init(&members, CEILING);
	review_put_user(&members, user);
	if (!members.failed)
		review_ask_access(&asked, buf_text(&members), &right);
	if (!members.failed && !asked.failed &&
		json_parse(j, buf_slice(&asked), &root, NULL) == 0) {
		const cJSON *spec = json_object(root, "spec");
		const cJSON *what = json_object(spec, "resourceAttributes");
		must(strcmp(json_text(spec, "user"), json_text(user, "username")) == 0);
		must(strcmp(json_text(what, "resource"), "jobs") == 0);
		must(strcmp(json_text(what, "verb"), "get") == 0);
		must(strcmp(json_text(what, "group"), "batch") == 0);
		must(strcmp(json_text(what, "namespace"), "team-a") == 0);
		must_be_same(json_get(spec, "uid"), json_get(user, "uid"));
		must_be_same(json_array(spec, "groups"), json_array(user, "groups"));
		must_be_same(json_object(spec, "extra"), json_object(user, "extra"));
	}
	buf_done(&asked);
	buf_done(&members);
	json_free(j);
}

/* A header's value: no control characters, any other bytes. */
static void check_token(const uint8_t *data, size_t size)
{
	struct buf asked;
	const cJSON *root;
	struct json *j = json_new(8 * CEILING);
	char *token = mem_strndup((const char *)data, size);
	buf_init(&asked, CEILING);
	review_ask_token(&asked, token, "sluice");
	if (!asked.failed) {
		must(json_parse(j, buf_slice(&asked), &root, NULL) == 0);
		const char *sent = json_text(json_object(root, "spec"), "token");
		must(sent && (!slice_utf8(slice_of(token)) || strcmp(sent, token) == 0));
	}
	free(token);
	buf_done(&asked);
	json_free(j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const cJSON *root, *user;
	struct json *j = json_new(4 * CEILING);
	if (json_parse(j, (struct slice){(const char *)data, size}, &root, NULL) == 0) {
		user = review_user(root, NULL);
		if (user)
			check_access(user);
		review_allows(root);
	}
	check_token(data, size);
	json_free(j);
	return 0;
}
