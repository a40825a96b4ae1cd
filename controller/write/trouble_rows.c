#include "controller/write/trouble_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Finds or adds a row. There are few: as many as ClusterQueues, times a handful of words. */
static struct trouble_row *row_of(struct trouble_rows *r, const struct gate_trouble *x)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->row[i].word == x->word &&
			strcmp(r->row[i].clusterqueue, x->clusterqueue) == 0)
			return &r->row[i];
	r->row = mem_grow(r->row, r->n + 1, sizeof(*r->row));
	struct trouble_row *row = &r->row[r->n++];
	*row = (struct trouble_row){x->clusterqueue, x->word, 0, x->since_ms};
	return row;
}

static void add(const struct gate_trouble *x, void *ctx)
{
	struct trouble_row *row = row_of(ctx, x);
	row->jobs++;
	if (x->since_ms < row->since_ms)
		row->since_ms = x->since_ms;
}

struct trouble_rows trouble_rows_of(const struct gate *g)
{
	struct trouble_rows r = {NULL, 0};
	gate_each_trouble(g, add, &r);
	return r;
}

void trouble_rows_done(struct trouble_rows *r)
{
	free(r->row);
	*r = (struct trouble_rows){NULL, 0};
}
