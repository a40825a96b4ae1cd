#include "queue/holders.h"

#include "queue/displacement.h"

static struct room_line *line_of(const struct tree_node *n)
{
	return container_of((struct tree_node *)(uintptr_t)n, struct room_line, holder);
}

struct room *holder_room(const struct tree_node *n)
{
	return line_of(n)->room;
}

/* A room that the ledger remembered may have two lines of one row. */
static int holder_order(const struct tree_node *a, const struct tree_node *b)
{
	int order = room_cmp(holder_room(a), holder_room(b));
	return order ? order : (line_of(a) > line_of(b)) - (line_of(a) < line_of(b));
}

static void line_join(struct room_line *l)
{
	if (l->row->ranked && !tree_in(&l->holder))
		tree_insert(&l->row->holders, &l->holder, l->room->serial);
}

void holders_join(struct room *r)
{
	for (size_t i = 0; r->state == ROOM_HELD && i < r->nlines; i++)
		line_join(&r->line[i]);
}

void holders_leave(struct room *r)
{
	for (size_t i = 0; i < r->nlines; i++)
		if (tree_in(&r->line[i].holder))
			tree_remove(&r->line[i].row->holders, &r->line[i].holder);
}

static void rank(struct clusterqueue *cq, struct quota_row *row)
{
	row->ranked = true;
	tree_init(&row->holders, holder_order, NULL);
	list_each(&cq->rooms, l) holders_join(container_of(l, struct room, of_clusterqueue));
}

struct tree_node *holders_first(struct clusterqueue *cq, struct quota_row *row)
{
	if (!row->ranked)
		rank(cq, row);
	return tree_first(&row->holders);
}
