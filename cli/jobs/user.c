#include "cli/jobs/user.h"

#include <string.h>

#include "base/slice.h"
#include "cli/commands.h"

#define REVIEW "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"SelfSubjectReview\"}"

static int take_name(const cJSON *review, char *ret, struct err *e)
{
	const char *name =
		text_of(json_object(json_object(review, "status"), "userInfo"), "username");
	if (!name[0])
		return err_set(e, ERR_INVALID,
			"the API server does not say who you are (SelfSubjectReview without a username)");
	size_t len = slice_cut(name, SUBMITTER_MAX_BYTES);
	memcpy(ret, name, len);
	ret[len] = '\0';
	return 0;
}

int jobs_user_read(struct ev_loop *loop, struct kube_client *client,
	char ret[SUBMITTER_MAX_BYTES + 1], struct err *e)
{
	struct json *json = json_new(QUESTION_TREE_MAX);
	struct question_facts facts;
	const cJSON *root;
	const struct kube_request r = {.method = KUBE_POST,
		.path = "/apis/authentication.k8s.io/v1/selfsubjectreviews",
		.body = slice_of(REVIEW)};
	int rc = question_send(loop, client, &r, json, &root, &facts, e);
	if (rc == 0)
		rc = take_name(root, ret, e);
	json_free(json);
	return rc;
}
