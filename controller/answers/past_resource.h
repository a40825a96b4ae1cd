/*
 * The past, of all namespaces or of one, for those whom the API server lets ask:
 *
 *   /apis/visibility.sluice.dev/v1alpha1/[namespaces/NS/]costs[?by=...&since=...&until=...]
 *   /apis/visibility.sluice.dev/v1alpha1/[namespaces/NS/]reports[?by=...&since=...&until=...]
 *   /apis/visibility.sluice.dev/v1alpha1/[namespaces/NS/]histories[?job=...&user=...&since=...&until=...]
 *
 * The right is `list` of that resource, in all namespaces or in that one. The answer is an object of the
 * kind CostReport, UsageReport or JobHistory. One about a namespace names no Job of another. It is no list,
 * and has no Table: kubectl get, which wants one and would print <unknown>, is told what to do instead.
 *
 * Left to others: the question and the connection (past/past_questions.h), and who leads (answers.c).
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_PAST_RESOURCE_H
#define SLUICE_CONTROLLER_ANSWERS_PAST_RESOURCE_H

#include <stdbool.h>

#include "controller/net/http.h"
#include "controller/parts.h"
#include "controller/past/past_query.h"

#define PAST_NAMESPACE_SIZE 64

struct past_resource {
	enum past_kind kind;
	char ns[PAST_NAMESPACE_SIZE]; /* that the path names; "": all */
};

/* Is it the path of one? */
bool past_resource_path(const char *path, struct past_resource *ret);

/* Does this header Accept ask for a Table before all else, as that of kubectl get does? */
bool past_resource_wants_table(const char *accept);

/* http_answer() is called for q, once, now or later from the loop; never after past_questions_forget() of
 * its port (http_of()). */
void past_resource_take(
	const struct parts *parts, struct http_question *q, const struct past_resource *r);

#endif
