/* Jobs that wait for Jobs, for tests in C: followers of one CPU each in team-a/main, and what the queue is
 * told of those that they wait for. */
#ifndef SLUICE_TEST_QUEUE_FOLLOWERS_H
#define SLUICE_TEST_QUEUE_FOLLOWERS_H

#include "worlds.h"
#include "test/unit/core/inside.h"
#include "test/sim/rng.h"

static const struct resource cpu_of_one = {"cpu", 1000};
static const struct container one_cpu = {.requests = {&cpu_of_one, 1}};

static inline struct dependency after_name(enum dependency_kind k, const char *name)
{
	return (struct dependency){.kind = k, .name = name, .text = name};
}

static inline const struct workload *workload(const struct queue *q, uint32_t n)
{
	struct uid uid = fixture_uid(n);
	return inside_workload(q, &uid);
}

/* A follower that waits for the items. */
static inline void set_follower(struct queue *q, uint32_t n, const char *name, int64_t created_ms,
	const struct dependency *item, size_t count)
{
	struct job j = fixture_job(n, &one_cpu);
	j.name = name;
	j.created_ms = created_ms;
	j.after.item = item;
	j.after.count = count;
	queue_set_job(q, &j);
}

static inline struct predecessor seen(uint32_t n, const char *name, enum predecessor_state state)
{
	bool ended = state == PREDECESSOR_SUCCEEDED || state == PREDECESSOR_FAILED;
	return (struct predecessor){.uid = fixture_uid(n),
		.ns = "team-a",
		.name = name,
		.created_ms = 1000,
		.state = state,
		.ended_ms = ended ? 2000 : 0,
		.failure = "",
		.followed = true};
}

#endif
