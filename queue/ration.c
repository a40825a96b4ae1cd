#include "queue/ration.h"

#include <string.h>

#include "queue/lead.h"
#include "queue/regime.h"

static const struct window_quota_spec *set_of(
	const struct runpolicy *p, const struct quota_row *row)
{
	const char *shown = p->timetable ? p->timetable->state.window : NULL;
	for (size_t i = 0; shown && i < p->spec.nquotas; i++) {
		const struct window_quota_spec *x = &p->spec.quota[i];
		if (strcmp(x->window, shown) == 0 && strcmp(x->flavor, row->flavor) == 0 &&
			strcmp(x->resource, row->resource) == 0)
			return x;
	}
	return NULL;
}

const struct window_quota_spec *ration_set(
	const struct clusterqueue *cq, const struct quota_row *row)
{
	const struct window_quota_spec *x = NULL;
	for (size_t i = 0; !x && row->in_spec && i < cq->regime->npolicies; i++)
		x = set_of(cq->regime->policy[i], row);
	return x;
}

static struct quota_limits limits_of(const struct clusterqueue *cq, const struct quota_row *row)
{
	struct quota_limits l = row->said;
	const struct window_quota_spec *x = ration_set(cq, row);
	if (x) {
		l.nominal = x->nominal;
		l.borrowing = x->has_borrowing ? x->borrowing_limit : l.borrowing;
		l.lending = x->has_lending ? x->lending_limit : l.lending;
	}
	if (lead_is_on(cq))
		l.lending = 0;
	return l;
}

bool ration_apply(struct clusterqueue *cq)
{
	bool changed = false;
	for (size_t i = 0; i < cq->node->nrows; i++) {
		struct quota_row *row = cq->node->row[i];
		struct quota_limits l = limits_of(cq, row);
		if (row->nominal == l.nominal && row->borrowing_limit == l.borrowing &&
			row->lending_limit == l.lending)
			continue;
		quota_set_limits(row, row->in_spec, &l);
		changed = true;
	}
	return changed;
}
