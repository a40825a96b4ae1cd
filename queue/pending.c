/* What queue.h promises and nobody has written yet. Gone when the last of it is. */
#include "sluice/queue.h"

void queue_set_idle_pool(struct queue *q, const struct idle_pool *p)
{
	(void)q;
	(void)p;
}

bool queue_reclaim_job(struct queue *q, const struct uid *uid, int32_t pods, const char *why)
{
	(void)q;
	(void)uid;
	(void)pods;
	(void)why;
	return false;
}

bool queue_job_borrows(const struct queue *q, const struct uid *uid)
{
	(void)q;
	(void)uid;
	return false;
}

enum lending queue_job_lending(const struct queue *q, const struct uid *uid)
{
	(void)q;
	(void)uid;
	return LENDING_NONE;
}

const char *queue_job_resources(const struct queue *q, const struct uid *uid)
{
	(void)q;
	(void)uid;
	return NULL;
}

const char *lending_name(enum lending l, const char *resource)
{
	(void)l;
	return resource;
}
