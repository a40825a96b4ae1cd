/*
 * A SummaryReport of the aggregated API: Jobs summed up, of a namespace or of all.
 */
#ifndef SLUICE_CLI_SUMMARY_H
#define SLUICE_CLI_SUMMARY_H

#include "cli/question.h"

/* Asks for the summary. ns NULL: of all namespaces. by: "queue", "user", "sweep" or "namespace".
 * Errors as visibility_ask(). */
int summary_ask(struct ev_loop *loop, struct kube_client *client, const char *ns, const char *by,
	struct json *json, const cJSON **ret_root, struct err *e);

/* Appends the nextStart of a summary or of a group: "in about 3h"; "-": not known. */
void summary_put_start(const cJSON *object, int64_t now_ms, struct buf *out);
/* Appends for how long the oldest of a group waits; "-": none does. */
void summary_put_oldest(const cJSON *object, int64_t now_ms, struct buf *out);
/* Appends "3 NoNodeSuits, 1 ErrImagePull": how many Jobs need attention, and why. Nothing where none
 * does. */
void summary_put_attention(const cJSON *summary, struct buf *out);

#endif
