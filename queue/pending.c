/* Being built: each of these moves to its module, and this file goes. */
#include <string.h>

#include "sluice/queue.h"

void queue_config_default(struct queue_config *c)
{
	*c = (struct queue_config){.fair_strategy = {FAIR_LESS_THAN_OR_EQUAL_TO_FINAL_SHARE,
					   FAIR_LESS_THAN_INITIAL_SHARE},
		.nfair_strategies = 2,
		.usage_half_life_ms = 86400000,
		.back_off_base_ms = 60000,
		.back_off_max_ms = 3600000,
		.back_off_limit = -1};
}
void queue_configure(struct queue *q, const struct queue_config *c)
{
	(void)q;
	(void)c;
}
int queue_set_cohort(struct queue *q, const struct cohort_spec *s, struct err *e)
{
	(void)q;
	(void)s;
	(void)e;
	return 0;
}
void queue_reject_cohort(struct queue *q, const char *name, const char *sentence)
{
	(void)q;
	(void)name;
	(void)sentence;
}
void queue_drop_cohort(struct queue *q, const char *name)
{
	(void)q;
	(void)name;
}
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
bool queue_view_cohort(const struct queue *q, size_t index, struct cohort_view *ret)
{
	(void)q;
	(void)index;
	(void)ret;
	return false;
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
