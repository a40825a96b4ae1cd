#include "queue/features/windows/window_quota.h"

#include <string.h>

#include "queue/core/model/clusterqueue.h"
#include "queue/features/windows/window_state.h"

const struct window_quota_spec *window_quota_in(
	const struct runpolicy *p, const char *window, const struct quota_row *row)
{
	for (size_t i = 0; window && i < p->spec.nquotas; i++) {
		const struct window_quota_spec *x = &p->spec.quota[i];
		if (strcmp(x->window, window) == 0 && strcmp(x->flavor, row->flavor) == 0 &&
			strcmp(x->resource, row->resource) == 0)
			return x;
	}
	return NULL;
}

const struct window_quota_spec *window_quota_now(
	const struct clusterqueue *cq, const struct quota_row *row)
{
	const struct window_quota_spec *x = NULL;
	for (size_t i = 0; !x && row->in_spec && i < cq->window_state->npolicies; i++) {
		const struct runpolicy *p = cq->window_state->policy[i];
		x = window_quota_in(p, p->calendar_ref ? p->calendar_ref->state.window : NULL, row);
	}
	return x;
}

struct quota_limits window_quota_with(
	const struct quota_row *row, const struct window_quota_spec *x)
{
	struct quota_limits l = row->said;
	if (x) {
		l.nominal = x->nominal;
		l.borrowing = x->has_borrowing ? x->borrowing_limit : l.borrowing;
		l.lending = x->has_lending ? x->lending_limit : l.lending;
	}
	return l;
}
