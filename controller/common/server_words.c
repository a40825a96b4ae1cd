#include "controller/common/server_words.h"

#include <string.h>

static const struct {
	const char *words, *then; /* NULL, or what comes somewhere behind the words */
} rows[] = {
	/* Answers a PATCH of what a Job's containers ask for. Else: as any other refusal of a
	 * start. */
	[SERVER_FIELD_IS_IMMUTABLE] = {"immutable", NULL},
	/* Said by the API server of all annotations, and by etcd of the object. Else: a story that
	 * does not fit is shortened once, and not twice. */
	[SERVER_ANNOTATIONS_TOO_LONG] = {"metadata.annotations: Too long", NULL},
	[SERVER_OBJECT_TOO_LARGE] = {"too large", NULL},
	/* Said by etcd, with status 500. Else: the write counts as one that may have been
	 * applied. */
	[SERVER_REQUEST_TOO_LARGE] = {"request is too large", NULL},
	/* Said of a pod that the Job controller may not make. Else: the cure names no
	 * ResourceQuota. */
	[SERVER_QUOTA_EXCEEDED] = {"exceeded quota", NULL},
	/* Said by RBAC, with status 403: `User "x" cannot patch resource ...`. Else: the Job is
	 * called off for a while. */
	[SERVER_NO_RIGHT] = {"is forbidden: User \"", "\" cannot "},
	/* Said with a status of 500 or the one that the webhook chose. Else: as for etcd. */
	[SERVER_WEBHOOK_FAILED] = {"failed calling webhook", NULL},
	[SERVER_WEBHOOK_REFUSED] = {"admission webhook ", " denied the request"},
};

bool server_says(struct slice text, enum server_words what)
{
	const char *words = rows[what].words, *then = rows[what].then;
	const char *at = memmem(text.ptr, text.len, words, strlen(words));
	if (!at || !then)
		return at;
	at += strlen(words);
	return memmem(at, (size_t)(text.ptr + text.len - at), then, strlen(then));
}
