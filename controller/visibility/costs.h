/*
 * What runs cost, of all namespaces or of one, for those whom the API server lets ask:
 *
 *   /apis/visibility.sluice.dev/v1alpha1/costs[?by=...&since=...&until=...]
 *   /apis/visibility.sluice.dev/v1alpha1/namespaces/NS/costs
 *
 * The right is `list` of costs, in all namespaces or in that one. The answer is that of /api/v1/cost
 * (http/cost.h) as an object of the kind CostReport; of one namespace it has nothing that another
 * could be told by. It is no list, and has no Table.
 *
 * Left to others: the question and the connection (http/cost_api.h), and who leads (answers.c).
 */
#ifndef SLUICE_CONTROLLER_VISIBILITY_COSTS_H
#define SLUICE_CONTROLLER_VISIBILITY_COSTS_H

#include <stdbool.h>

#include "controller/http/http.h"
#include "controller/parts.h"

#define COSTS_NAMESPACE_SIZE 64

/* Is it a path of costs? Then ret_ns is the namespace that it names; "": all. */
bool costs_path(const char *path, char ret_ns[COSTS_NAMESPACE_SIZE]);

/* http_answer() is called for q, once, now or later from the loop. */
void costs_take(const struct parts *parts, struct http_question *q, const char *ns);
/* Questions that have no answer yet get none. */
void costs_drop(const struct parts *parts);

#endif
