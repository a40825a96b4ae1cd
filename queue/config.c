/* What holds for all queues. */
#include "queue/core.h"
#include "queue/job/resources.h"
#include "queue/tell.h"

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

static const char *const *copy_strings(struct arena *a, const char *const *from, size_t n)
{
	const char **to = arena_take(a, n, sizeof(*to));
	for (size_t i = 0; i < n; i++)
		to[i] = arena_string(a, from[i]);
	return to;
}

static const struct transformation_spec *copy_transformations(
	struct arena *a, const struct transformation_spec *from, size_t n)
{
	struct transformation_spec *to = arena_take(a, n, sizeof(*to));
	for (size_t i = 0; i < n; i++) {
		struct resource_list outputs = {from[i].output, from[i].noutputs};
		to[i] = from[i];
		to[i].input = arena_string(a, from[i].input);
		to[i].multiply_by = arena_string(a, from[i].multiply_by);
		to[i].output = resources_copy(a, &outputs).item;
	}
	return to;
}

void queue_configure(struct queue *q, const struct queue_config *c)
{
	queue_tell(q, CONFIGURE, .config = c);
	struct arena memory = {0};
	struct resource_list weights = {c->usage_weight, c->nusage_weights};
	q->config = *c;
	q->config.usage_weight = resources_copy(&memory, &weights).item;
	q->config.excluded_prefixes =
		copy_strings(&memory, c->excluded_prefixes, c->nexcluded_prefixes);
	q->config.transformation =
		copy_transformations(&memory, c->transformation, c->ntransformations);
	arena_done(&q->config_memory);
	q->config_memory = memory;
	q->clusterqueues.ignore_undeclared = c->ignore_undeclared;
}
