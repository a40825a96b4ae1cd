#include "controller/recall.h"

#define PAGE 1000

bool recall_ask(struct recall *r, const struct queue *q, struct pg *pg, uint64_t id, int64_t epoch,
	int64_t now_ms)
{
	if (!r->begun) {
		int64_t back_ms = queue_recall_ms(q);
		r->begun = true;
		r->over = back_ms == 0;
		r->mark = ledger_mark_since(now_ms - back_ms);
	}
	if (r->over)
		return false;
	pg_recall(pg, id, epoch, &r->mark, PAGE);
	return true;
}

void recall_take(struct recall *r, struct queue *q, const struct ledger_run *runs, size_t n,
	const struct ledger_mark *next)
{
	for (size_t i = 0; i < n; i++)
		queue_recall_run(q, runs[i].ns, runs[i].localqueue, runs[i].lines, runs[i].nlines,
			runs[i].from_ms, runs[i].to_ms);
	r->runs += n;
	r->over = n == 0;
	if (!r->over)
		r->mark = *next;
}
