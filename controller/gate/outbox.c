#include "controller/gate/outbox.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct outbox_item {
	struct outbox_item *next;
	struct ledger_op op;
	/* Copies that op points to: labels may change any time, a bill lasts a moment, and a Job that
	 * was adopted may be forgotten before the ledger hears of it. */
	char *ns, *name, *localqueue, *owner, *labels, *submitted_by, *price, *preemptor;
	struct quota_line lines[]; /* op.lines points here */
};

static void item_free(struct outbox_item *item)
{
	free(item->ns);
	free(item->name);
	free(item->localqueue);
	free(item->owner);
	free(item->labels);
	free(item->submitted_by);
	free(item->price);
	free(item->preemptor);
	free(item);
}

void outbox_init(struct outbox *b)
{
	*b = (struct outbox){.ops = mem_array(OUTBOX_BATCH_MAX, sizeof(struct ledger_op)),
		.items = mem_array(OUTBOX_BATCH_MAX, sizeof(struct outbox_item *))};
	b->tail = &b->head;
}

void outbox_done(struct outbox *b)
{
	outbox_drop_batch(b);
	while (b->head) {
		struct outbox_item *item = b->head;
		b->head = item->next;
		item_free(item);
	}
	free(b->ops);
	free(b->items);
}

void outbox_add(struct outbox *b, const struct ledger_op *op)
{
	size_t bytes = op->nlines * sizeof(struct quota_line);
	struct outbox_item *item = mem_alloc(sizeof(*item) + bytes);
	item->op = *op;
	item->op.lines = item->lines;
	item->op.ns = item->ns = mem_strdup(op->ns);
	item->op.name = item->name = mem_strdup(op->name);
	item->op.localqueue = item->localqueue = mem_strdup(op->localqueue);
	item->op.owner = item->owner = mem_strdup(op->owner);
	item->op.labels = item->labels = mem_strdup(op->labels);
	item->op.submitted_by = item->submitted_by = mem_strdup(op->submitted_by);
	item->op.price = item->price = mem_strdup(op->price);
	item->op.preemptor = item->preemptor = mem_strdup(op->preemptor);
	if (bytes > 0)
		memcpy(item->lines, op->lines, bytes);
	*b->tail = item;
	b->tail = &item->next;
	b->waiting++;
}

bool outbox_form_batch(struct outbox *b)
{
	if (b->nops > 0 || !b->head)
		return false;
	while (b->head && b->nops < OUTBOX_BATCH_MAX) {
		struct outbox_item *item = b->head;
		b->head = item->next;
		b->items[b->nops] = item;
		b->ops[b->nops++] = item->op;
		b->waiting--;
	}
	if (!b->head)
		b->tail = &b->head;
	return true;
}

void outbox_drop_batch(struct outbox *b)
{
	for (size_t i = 0; i < b->nops; i++)
		item_free(b->items[i]);
	b->nops = 0;
}
