/* Facts about Jobs: from the first sight to the release of their room. */
#include <stdlib.h>

#include "base/must.h"
#include "queue/core.h"
#include "queue/reclaim.h"
#include "queue/room.h"
#include "queue/run.h"
#include "sluice/quantity.h"

struct workload *queue_find_workload(const struct queue *q, const struct uid *uid)
{
	return map_get(&q->workloads, uid_hash(uid), uid);
}

/* In a StrictFIFO queue one that makes room is before those behind it; now it may return no more.
 */
static void wake_behind_leaving(struct queue *q, const struct workload *w)
{
	const struct room *r = w->room;
	if (r && r->state == ROOM_LEAVING && r->cq->strategy == STRICT_FIFO)
		queue_touch_room(q, r->cq);
}

static void take_job(
	struct queue *q, struct workload *w, const struct job *j, const struct account *account)
{
	if (!w) {
		w = workload_new(q, j);
		past_recall(q, w, &j->history);
	}
	workload_unplace(q, w);
	workload_take(q, w, j, account);
	workload_place(q, w);
	if (w->room)
		room_heed(q, w->room);
	wake_behind_leaving(q, w);
	if (w->room && w->held)
		room_suspect(q, w->room);
	if (w->room)
		run_arm(q, w->room);
	q->version++;
}

/* What its labels and our notice say of windows: no place follows from it. */
static void heed_marks(struct queue *q, struct workload *w, const struct job *j)
{
	uint64_t exempt = runpolicies_exempt(q, j);
	bool again = exempt != w->exempt && w->room;
	w->exempt = exempt;
	w->stopping_at_ms = j->stopping_at_ms;
	nsquota_see(q, w, j);
	if (!again)
		return;
	room_suspect(q, w->room);
	q->version++; /* its RunPolicy counts those that it spares */
}

void queue_set_job(struct queue *q, const struct job *j)
{
	struct workload *w = queue_find_workload(q, &j->uid);
	struct account account;
	account_open(&account, &q->accounting, &q->config, j);
	if (!w)
		queue_undefer_job(q, &j->uid);
	if (!w || workload_differs(q, w, j, &account))
		take_job(q, w, j, &account);
	account_done(&account);
	w = queue_find_workload(q, &j->uid);
	heed_marks(q, w, j);
	disruption_see(q, w, j);
}

void queue_drop_job(struct queue *q, const struct uid *uid)
{
	struct workload *w = queue_find_workload(q, uid);
	if (!w)
		return;
	workload_unplace(q, w);
	room_forget_promise(q, w);
	if (w->room)
		room_end(q, w);
	workload_free(q, w);
	q->version++;
}

bool queue_adopt_job(struct queue *q, const struct uid *uid, const struct quota_line *lines,
	size_t n, int64_t reserved_ms)
{
	struct workload *w = queue_find_workload(q, uid);
	if (!w)
		return false;
	workload_unplace(q, w);
	room_forget_promise(q, w);
	if (w->room)
		room_end(q, w);
	room_adopt(q, w, lines, n, reserved_ms);
	workload_place(q, w);
	q->version++;
	return true;
}

bool queue_start_stands(const struct queue *q, const struct uid *uid)
{
	const struct workload *w = queue_find_workload(q, uid);
	return !w || !w->room || w->room->confirmed || regime_of(w->lq)->open;
}

void queue_confirm_job(struct queue *q, const struct uid *uid, int64_t now_ms)
{
	struct workload *w = queue_find_workload(q, uid);
	if (!w || !w->room)
		return;
	room_confirm(w->room, now_ms);
	bill_expect(q, w->room);
	budget_changed(q, w->room);
	if (w->terms || budget_concerns(w->room))
		room_suspect(q, w->room); /* a price or a Budget may be against it by now */
	run_arm(q, w->room);
	q->version++;
}

void queue_ready_job(struct queue *q, const struct uid *uid, bool ready, int64_t now_ms)
{
	struct workload *w = queue_find_workload(q, uid);
	if (w && w->room)
		run_ready(q, w->room, ready, now_ms);
}

static void recall(struct queue *q, const struct uid *uid, const struct job_history *h,
	void (*take)(struct queue *q, struct workload *w, const struct job_history *h))
{
	struct workload *w = queue_find_workload(q, uid);
	if (!w)
		return;
	workload_unplace(q, w);
	take(q, w, h);
	workload_place(q, w);
	q->version++;
}

void queue_recall_history(struct queue *q, const struct uid *uid, const struct job_history *h)
{
	recall(q, uid, h, past_recall);
}

void queue_recall_past(struct queue *q, const struct uid *uid, const struct job_history *h)
{
	recall(q, uid, h, past_recall_before);
}

void queue_job_history(
	const struct queue *q, const struct uid *uid, int64_t now_ms, struct job_history *ret)
{
	const struct workload *w = queue_find_workload(q, uid);
	*ret = w ? past_history(q, w, now_ms) : (struct job_history){0};
}

bool queue_shrink_job(struct queue *q, const struct uid *uid, int32_t pods, int64_t now_ms)
{
	struct workload *w = queue_find_workload(q, uid);
	if (!w || !w->room)
		return false;
	bill_settle(q, w->room, now_ms);
	bool freed = room_shrink(q, w->room, pods);
	bill_expect(q, w->room);
	budget_changed(q, w->room);
	if (!freed)
		return false;
	q->version++;
	return true;
}

bool queue_job_outgrows(const struct queue *q, const struct uid *uid, int32_t pods)
{
	const struct workload *w = queue_find_workload(q, uid);
	const struct room *r = w ? w->room : NULL;
	for (size_t i = 0; r && i < r->nlines; i++) {
		int64_t each = shape_amount(w->shape, r->line[i].row->resource);
		if (quantity_times(each, pods) > r->line[i].amount)
			return true;
	}
	return false;
}

int32_t queue_job_pods(const struct queue *q, const struct uid *uid)
{
	const struct workload *w = queue_find_workload(q, uid);
	return w && w->room ? w->room->pods : 0;
}

bool queue_job_pods_guessed(const struct queue *q, const struct uid *uid)
{
	const struct workload *w = queue_find_workload(q, uid);
	return w && w->room && w->room->guessed;
}

bool queue_reclaim_job(struct queue *q, const struct uid *uid, int32_t pods, const char *why)
{
	struct workload *w = queue_find_workload(q, uid);
	if (!w || !w->room || !reclaim_ask(q, w->room, pods, why))
		return false;
	q->version++;
	return true;
}

int32_t queue_job_keeps(const struct queue *q, const struct uid *uid)
{
	const struct workload *w = queue_find_workload(q, uid);
	return w && w->room ? w->room->keeps_pods : 0;
}

bool queue_job_borrows(const struct queue *q, const struct uid *uid)
{
	const struct workload *w = queue_find_workload(q, uid);
	const struct room *r = w ? w->room : NULL;
	for (size_t i = 0; r && i < r->nlines; i++)
		if (r->line[i].amount > 0 && quota_borrows(r->line[i].row, QUOTA_NOW))
			return true;
	return false;
}

enum lending queue_job_lending(const struct queue *q, const struct uid *uid)
{
	const struct workload *w = queue_find_workload(q, uid);
	return w && w->room ? room_lending(q, w->room) : LENDING_NONE;
}

const char *queue_job_resources(const struct queue *q, const struct uid *uid)
{
	const struct workload *w = queue_find_workload(q, uid);
	if (!w)
		return NULL;
	return (w->room ? w->room->shape : w->shape)->directives->resources;
}

void queue_block_job(struct queue *q, const struct uid *uid, const char *why)
{
	struct workload *w = queue_find_workload(q, uid);
	if (!w || w->blocked == why)
		return;
	w->blocked = why;
	workload_replace(q, w);
	wake_behind_leaving(q, w);
	q->version++;
}

void queue_keep_active(struct queue *q, const struct uid *uid)
{
	struct workload *w = queue_find_workload(q, uid);
	if (w)
		past_keep_active(q, w);
}

void queue_ending_job(struct queue *q, const struct uid *uid)
{
	struct workload *w = queue_find_workload(q, uid);
	if (!w || !w->room)
		return;
	room_ends(w->room);
	run_disarm(q, w->room);
}

void queue_release_job(
	struct queue *q, const struct uid *uid, int64_t now_ms, int64_t not_before_ms)
{
	struct workload *w = queue_find_workload(q, uid);
	if (!w || !w->room)
		return;
	workload_unplace(q, w);
	w->not_before_ms = not_before_ms;
	run_end(q, w->room, now_ms);
	budget_ended(q, w->room, bill_cost(q, w->room, now_ms));
	room_end(q, w);
	workload_place(q, w);
	q->version++;
}

size_t queue_job_lines(
	const struct queue *q, const struct uid *uid, struct quota_line ret_lines[QUEUE_LINES_MAX])
{
	const struct workload *w = queue_find_workload(q, uid);
	if (!w || !w->room)
		return 0;
	size_t n = w->room->nlines < QUEUE_LINES_MAX ? w->room->nlines : QUEUE_LINES_MAX;
	for (size_t i = 0; i < n; i++) {
		const struct room_line *l = &w->room->line[i];
		ret_lines[i] = (struct quota_line){
			l->row->node->name, l->row->flavor, l->row->resource, l->amount};
	}
	return n;
}
