/* Functions of queue.h that have no module yet. */
#include "sluice/queue.h"

int queue_set_calendar(struct queue *q, const struct calendar_spec *s, struct err *e)
{
	(void)q, (void)s, (void)e;
	return 0;
}
void queue_reject_calendar(struct queue *q, const char *name, const char *sentence)
{
	(void)q, (void)name, (void)sentence;
}
void queue_drop_calendar(struct queue *q, const char *name)
{
	(void)q, (void)name;
}
int queue_set_runpolicy(
	struct queue *q, const struct runpolicy_spec *s, bool *ret_again, struct err *e)
{
	(void)q, (void)s, (void)e;
	*ret_again = false;
	return 0;
}
void queue_reject_runpolicy(struct queue *q, const char *name, const char *sentence)
{
	(void)q, (void)name, (void)sentence;
}
void queue_drop_runpolicy(struct queue *q, const char *name)
{
	(void)q, (void)name;
}
int queue_set_priceplan(struct queue *q, const struct priceplan_spec *s, struct err *e)
{
	(void)q, (void)s, (void)e;
	return 0;
}
void queue_reject_priceplan(struct queue *q, const char *name, const char *sentence)
{
	(void)q, (void)name, (void)sentence;
}
void queue_drop_priceplan(struct queue *q, const char *name)
{
	(void)q, (void)name;
}
int queue_set_budget(struct queue *q, const struct budget_spec *s, struct err *e)
{
	(void)q, (void)s, (void)e;
	return 0;
}
void queue_reject_budget(struct queue *q, const char *name, const char *sentence)
{
	(void)q, (void)name, (void)sentence;
}
void queue_drop_budget(struct queue *q, const char *name)
{
	(void)q, (void)name;
}
void queue_recall_spent(struct queue *q, const char *clusterqueue, const char *ns,
	const char *localqueue, const char *currency, int64_t started_ms, int64_t cost)
{
	(void)q, (void)clusterqueue, (void)ns, (void)localqueue, (void)currency;
	(void)started_ms, (void)cost;
}
int64_t queue_recall_spent_since_ms(const struct queue *q, int64_t now_ms)
{
	(void)q, (void)now_ms;
	return 0;
}
bool queue_job_bill(struct queue *q, const struct uid *uid, int64_t now_ms, struct run_bill *ret)
{
	(void)q, (void)uid, (void)now_ms;
	*ret = (struct run_bill){0};
	return false;
}
bool queue_view_calendar(const struct queue *q, size_t index, struct calendar_view *ret)
{
	(void)q, (void)index, (void)ret;
	return false;
}
bool queue_view_runpolicy(const struct queue *q, size_t index, struct runpolicy_view *ret)
{
	(void)q, (void)index, (void)ret;
	return false;
}
bool queue_view_priceplan(const struct queue *q, size_t index, struct priceplan_view *ret)
{
	(void)q, (void)index, (void)ret;
	return false;
}
bool queue_view_budget(const struct queue *q, size_t index, struct budget_view *ret)
{
	(void)q, (void)index, (void)ret;
	return false;
}
