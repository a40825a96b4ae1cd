/* Being built: each of these moves to its module, and this file goes. */
#include <string.h>

#include "queue/share.h"
#include "queue/victims.h"
#include "sluice/queue.h"

bool queue_set_limit_range(struct queue *q, const struct limit_range_spec *s)
{
	(void)q;
	(void)s;
	return false;
}
bool queue_drop_limit_range(struct queue *q, const char *ns, const char *name)
{
	(void)q;
	(void)ns;
	(void)name;
	return false;
}
bool queue_set_runtime_class(struct queue *q, const struct runtime_class_spec *s)
{
	(void)q;
	(void)s;
	return false;
}
bool queue_drop_runtime_class(struct queue *q, const char *name)
{
	(void)q;
	(void)name;
	return false;
}
void queue_ready_job(struct queue *q, const struct uid *uid, bool ready, int64_t now_ms)
{
	(void)q;
	(void)uid;
	(void)ready;
	(void)now_ms;
}
void queue_job_history(
	const struct queue *q, const struct uid *uid, int64_t now_ms, struct job_history *ret)
{
	(void)q;
	(void)uid;
	(void)now_ms;
	*ret = (struct job_history){0};
}
void queue_recall_run(struct queue *q, const char *ns, const char *localqueue,
	const struct quota_line *lines, size_t n, int64_t from_ms, int64_t to_ms)
{
	(void)q;
	(void)ns;
	(void)localqueue;
	(void)lines;
	(void)n;
	(void)from_ms;
	(void)to_ms;
}
size_t victims_find(struct queue *q, const struct demand *d, const struct victim **ret)
{
	(void)q;
	(void)d;
	(void)ret;
	return 0;
}
bool victims_possible(const struct queue *q, const struct clusterqueue *cq, int32_t priority)
{
	(void)q;
	(void)cq;
	(void)priority;
	return false;
}
struct share share_of(const struct quota_node *node)
{
	(void)node;
	return (struct share){0};
}
int64_t share_shown(const struct share *s)
{
	(void)s;
	return 0;
}
