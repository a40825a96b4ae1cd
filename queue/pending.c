/* Functions of queue.h that have no module yet. */
#include "sluice/queue.h"

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
