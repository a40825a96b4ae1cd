/* What queue.h promises of the cluster itself and nobody has written yet. Gone when the last is. */
#include "sluice/queue.h"

void queue_bind_pod(struct queue *q, const struct bound_pod *p)
{
	(void)q;
	(void)p;
}

void queue_unbind_pod(struct queue *q, const struct uid *uid)
{
	(void)q;
	(void)uid;
}

bool queue_wants_pods(const struct queue *q)
{
	(void)q;
	return false;
}

void queue_know_pods(struct queue *q, bool known)
{
	(void)q;
	(void)known;
}
