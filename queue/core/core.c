#include "queue/core/core.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "base/symbol.h"
#include "queue/core/model/kept_start.h"
#include "queue/core/model/feature.h"
#include "queue/core/model/reservation.h"
#include "queue/core/preempt/victims.h"

static bool workload_is(const void *value, const void *key)
{
	return uid_cmp(&((const struct workload *)value)->key.uid, key) == 0;
}

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

void core_init(struct queue *q)
{
	must(FEATURE_COUNT <= 32); /* a bit each in clusterqueue.features */
	symbols_init(&q->symbols);
	quota_init(&q->quota, &q->symbols);
	quota_plan_init(&q->quota_plan, &q->quota);
	kept_starts_init(&q->kept_starts);
	flavors_init(&q->flavors);
	cohorts_init(&q->cohorts, &q->quota);
	clusterqueues_init(&q->clusterqueues, &q->quota, &q->cohorts, &q->flavors);
	queue_config_default(&q->config);
	accounting_init(&q->accounting);
	localqueues_init(&q->localqueues);
	overflow_init(&q->overflow);
	unread_init(&q->unread);
	priorities_init(&q->priorities);
	shapes_init(&q->shapes);
	groups_init(&q->groups, q);
	families_init(&q->families);
	disruptions_init(&q->disruptions);
	map_init(&q->workloads, workload_is);
	tree_init(&q->back_off, workload_back_off_order, NULL);
	nices_init(&q->nices);
	alarms_init(&q->alarms);
	reservations_init(q);
	usages_init(&q->usages);
	list_init(&q->dirty);
	list_init(&q->come_starts);
	list_init(&q->suspects);
	list_init(&q->unsettled_lines);
	q->counters.features_edits = 1;
	q->features_awake = features_without_sleep();
}

void core_drop_jobs(struct queue *q)
{
	size_t n = 0;
	struct workload *w;
	struct uid *all = mem_array(q->workloads.count, sizeof(*all));
	map_each(&q->workloads, i, w)
		all[n++] = w->key.uid;
	for (size_t i = 0; i < n; i++)
		if ((w = queue_find_workload(q, &all[i])))
			queue_forget_workload(q, w);
	free(all);
}

void core_done(struct queue *q)
{
	overflow_done(q);
	unread_done(&q->unread);
	arena_done(&q->sentences);
	must(q->nwaiting == 0 && q->workload_bytes == 0);
	disruptions_done(&q->disruptions);
	while (alarms_take(&q->alarms, INT64_MAX - 1))
		; /* alarms of ClusterQueues and Calendars */
	map_done(&q->workloads);
	reservations_done(q);
	families_done(&q->families);
	groups_done(&q->groups);
	shapes_done(&q->shapes);
	priorities_done(&q->priorities);
	localqueues_done(&q->localqueues);
	clusterqueues_done(&q->clusterqueues);
	cohorts_done(&q->cohorts);
	flavors_done(&q->flavors);
	map_done(&q->kept_starts);
	quota_plan_done(&q->quota_plan);
	quota_done(&q->quota);
	symbols_done(&q->symbols);
	accounting_done(&q->accounting);
	usages_done(&q->usages);
	arena_done(&q->config_memory);
	victims_done(q);
}
