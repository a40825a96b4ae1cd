#include "queue/core/preempt/giver.h"

#include "queue/core/model/shrink.h"

struct giver giver_of(struct reservation *r)
{
	int32_t pods = reservation_pods_then(r);
	struct giver g = {.r = r, .most = pods, .keeps = pods};
	if (!giving_may(r, &g.least))
		g.least = 0;
	return g;
}

void giver_keep(struct giver *g, int32_t pods)
{
	for (size_t i = 0; i < g->r->nlines; i++) {
		struct quota_row *row = g->r->line[i].row;
		int64_t was = reservation_then(g->r, i, g->keeps);
		int64_t is = reservation_then(g->r, i, pods);
		if (is > was)
			quota_take(row, QUOTA_THEN, is - was);
		else
			quota_give(row, QUOTA_THEN, was - is);
	}
	g->keeps = pods;
}

void giver_keep_most(struct giver *g, int32_t low,
	bool (*suits)(const void *search, const struct giver *g), const void *search)
{
	int32_t high = g->most;
	while (low < high) {
		int32_t pods = low + (high - low + 1) / 2;
		giver_keep(g, pods);
		if (suits(search, g))
			low = pods;
		else
			high = pods - 1;
	}
	giver_keep(g, low);
}
