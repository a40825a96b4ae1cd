/* Being built: each of these moves to its module, and this file goes. */
#include <string.h>

#include "queue/share.h"
#include "queue/victims.h"
#include "sluice/queue.h"

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
