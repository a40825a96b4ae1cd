/* What holds for all queues. */
#include "queue/core.h"

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
	q->config = *c;
}
