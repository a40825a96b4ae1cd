/* Many Jobs that run, and a controller that ends and begins anew: for tests of what a new leader
 * finds. The first Job is the world's own, more are made here. */
#ifndef SLUICE_TEST_GATE_CROWD_H
#define SLUICE_TEST_GATE_CROWD_H

#include "world.h"

#define JOBS_MAX 64

struct crowd {
	struct world w;
	struct model_job *job[JOBS_MAX];
	size_t n;
};

static inline void write_of(struct crowd *c, struct model_job *j, struct snap *s, bool respec)
{
	model_api_write(&c->w.api, s, respec);
	gate_see_job(c->w.gate, &j->now->job);
}

static inline struct model_job *submit_of(
	struct crowd *c, const char *ns, const char *priority_class)
{
	struct snap n = {0};
	char name[32];
	snprintf(name, sizeof(name), "train-%zu", c->n);
	n.request[0] = (struct resource){"cpu", 10};
	n.container.requests = (struct resource_list){n.request, 1};
	n.job = (struct job){.ns = ns,
		.name = pool_strdup(&c->w.pool, name),
		.queue = "main",
		.priority_class = priority_class,
		.pod_priority_class = "",
		.family = "",
		.suspend = true,
		.parallelism = 1,
		.completions = 1,
		.has_completions = true};
	struct model_job *j = c->job[c->n++] = model_api_create(&c->w.api, &n);
	gate_see_job(c->w.gate, &j->now->job);
	turn(&c->w);
	return j;
}

static inline void submit_one(struct crowd *c)
{
	submit_of(c, "team-a", "");
}

static inline void see_it_run(struct crowd *c, struct model_job *j)
{
	assert_false(j->now->job.suspend);
	struct snap *s = model_api_edit(&c->w.api, j);
	s->job.status = (struct job_status){
		.has_start_time = true, .start_ms = c->w.now_ms, .active = 1, .ready = 1};
	write_of(c, j, s, false);
}

static inline void open_crowd(struct crowd *c, size_t n, int64_t after_ms)
{
	*c = (struct crowd){0};
	world_init(&c->w);
	c->w.mass_stop_after_ms = after_ms;
	turn(&c->w);
	for (size_t i = 0; i < n; i++)
		submit_one(c);
	for (size_t i = 0; i < n; i++)
		see_it_run(c, c->job[i]);
	turn(&c->w);
	c->w.notes[0] = '\0';
}

/* The controller ends, and another one begins. */
static inline void restart(struct crowd *c)
{
	gate_free(c->w.gate);
	queue_free(c->w.queue);
	c->w.now_ms += 60000;
	c->w.tick_ms += 60000;
	gate_up(&c->w);
	gate_begin_list(c->w.gate);
	for (size_t i = 0; i < c->n; i++)
		gate_see_job(c->w.gate, &c->job[i]->now->job);
	gate_end_list(c->w.gate);
	turn(&c->w);
}

static inline size_t running(const struct crowd *c)
{
	size_t n = 0;
	for (size_t i = 0; i < c->n; i++)
		n += !c->job[i]->now->job.suspend;
	return n;
}

/* Their pods are gone as soon as the Job controller hears of the stop. */
static inline void end_pods(struct crowd *c)
{
	for (size_t i = 0; i < c->n; i++) {
		if (!c->job[i]->now->job.suspend || !c->job[i]->now->job.status.has_start_time)
			continue;
		struct snap *s = model_api_edit(&c->w.api, c->job[i]);
		s->job.status = (struct job_status){.suspended = true};
		write_of(c, c->job[i], s, false);
	}
	turn(&c->w);
}

static inline void pass_time(struct crowd *c, int64_t ms)
{
	for (int64_t end_ms = c->w.now_ms + ms; c->w.now_ms < end_ms;)
		at(&c->w, c->w.now_ms + 1000);
}

static inline size_t count_notes(const struct crowd *c, const char *text)
{
	size_t n = 0;
	for (const char *p = c->w.notes; (p = strstr(p, text)); p++)
		n++;
	return n;
}

#endif
