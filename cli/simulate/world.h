/*
 * The world that is simulated: a queue that knows what admins described, and the Jobs that will
 * come, with what the simulation alone knows of them (when they come, how long they really run).
 *
 * Built once, by the manifests and the trace; then world_close() settles what only the whole can
 * tell (where time begins, which namespaces there are, which Job comes when), and the engine
 * (engine.h) begins. A Job is named by its index, which is the order of the files; CronJobs add
 * Jobs while the play goes on.
 *
 * Uids: a Job that has none gets one that is made of its index, so that the same files give the
 * same uids, and a decision's uid leads to the Job without a look-up.
 */
#ifndef SLUICE_CLI_SIMULATE_WORLD_H
#define SLUICE_CLI_SIMULATE_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "queue/calendar/cron.h"
#include "cli/simulate/node_specs.h"
#include "cli/simulate/policy_specs.h"
#include "cli/simulate/trace.h"
#include "controller/wire/decode.h"
#include "sluice/queue.h"

#define NEVER_MS INT64_MAX

enum sim_job_state {
	SIM_JOB_COMING,
	SIM_JOB_WAITING,
	SIM_JOB_RUNNING,
	SIM_JOB_GONE, /* finished, deleted, or never ours */
	/* Others may wait for it, and nothing happens to it. Of a live cluster: it names no queue. */
	SIM_JOB_OTHER,
};

/* A Job of the simulation. */
struct sim_job {
	const struct job *record; /* of a manifest; NULL: of the trace */
	const char *name;	  /* of those a CronJob made, else NULL: the record's */
	size_t origin;		  /* which of the trace's Jobs; which CronJob made it */
	int64_t arrival_ms;	  /* NEVER_MS until world_close() when no manifest says */
	int64_t duration_ms;	  /* NEVER_MS: it does not end by itself */
	int64_t delete_ms;	  /* NEVER_MS: it is not deleted */
	int64_t step_ms;	  /* its work is safe in multiples of this; 0: only when it ends */
	int64_t kept_ms;	  /* of duration_ms, what earlier attempts have left behind */
	int64_t since_ms;	  /* RUNNING: when this attempt began */
	int64_t sized_ms;	  /* RUNNING: since when it has so many pods */
	int64_t done_ms;	  /* RUNNING: of duration_ms, what was done by then */
	int64_t ended_ms;	  /* GONE: when it finished, or was deleted */
	int32_t attempt;	  /* how many there were, this one included */
	int32_t pods;		  /* RUNNING */
	int32_t full_pods; /* with so many it takes duration_ms, with fewer longer; 0: with any
				     number it takes as long */
	int32_t sizes;	   /* how often its pods became so many, or none */
	enum sim_job_state state;
	bool has_own_uid; /* else it is made of its index */
	bool fails;	  /* its work ends badly */
	bool deleted;	  /* GONE: before it finished */
	bool never_came;  /* GONE: it names no queue, or was deleted before it came */
	bool unreachable; /* it was told that it cannot meet its deadline */
};

/* A Job that runs from the beginning, or is being stopped then. */
struct adoption {
	size_t sim_job;
	int64_t at_ms;
	int64_t before_ms; /* so long it ran before that, and held nothing */
	int32_t pods;	   /* that are left of those that its lines are for; 0: all */
	bool by_queue;	   /* it has no lines: the queue says what it holds (queue_intake()) */
	bool leaves;	   /* it was stopped: it holds its lines until leaves_ms, and waits again */
	int64_t leaves_ms;
	const char *clusterqueue;
	struct quota_line *lines;
	size_t nlines;
	const char *where; /* file and line that says so */
};

enum cron_policy { CRON_ALLOW, CRON_FORBID, CRON_REPLACE };

struct cronjob {
	const struct job *record; /* what it makes, but for name and uid */
	char *name;
	struct cron cron;
	const struct zone *zone; /* kept by the world, shared */
	enum cron_policy policy;
	int64_t duration_ms, step_ms;
	bool fails;
	int64_t from_ms;   /* its creation; NEVER_MS: the world's start */
	int64_t missed_ms; /* CRON_FORBID: the latest time at which the last one still ran; 0 */
	size_t last;	   /* the actor made last; SIZE_MAX: none yet */
};

/* What all Jobs of a trace ask of time and money, and of their size. */
struct trace_terms {
	int64_t deadline_ms; /* to have ended so long after submission, or their own run time if
				that is longer; 0: none */
	bool cheapest;
	bool exact; /* they know how long they run; else what the trace says was asked for */
	/* Each has a min-parallelism, drawn from the seed: from this part of its processors to all
	 * of them. 0: none has. */
	double min_parallelism;
	bool grow; /* sluice.dev/grow */
	int64_t seed;
	/* Those of one user and application are of one family. For the yardstick of forecasts
	 * (test/bench/eta.c): a trace's Jobs say how long they run, so the queue asks no family. */
	bool families;
};

struct entry; /* a name that is known, with what is known of it */

struct world {
	struct queue *queue;
	bool uncounted_claims; /* struct job_context */
	struct sim_job *sim_job;
	size_t nsim_jobs, room;
	struct adoption *adoption;
	size_t nadoptions;
	struct cronjob *cronjob;
	size_t ncronjobs;
	struct trace trace;
	const char *trace_ns, *trace_queue; /* NULL: LocalQueue user-N in `default` */
	struct trace_terms trace_terms;
	struct policy_specs policy_specs;
	struct node_specs node_specs;
	struct zone **zone; /* that were named */
	size_t nzones;

	size_t *arrival; /* actors by time of arrival, then index */
	size_t narrivals;
	int64_t start_ms;
	int64_t settled_ms; /* the latest time at which an adopted Job was admitted: nothing is
			       decided before it */
	size_t nunqueued;   /* Jobs left out, for they name no queue */

	/* Of a live cluster (live.h); false: files alone. What a file describes is there in place of the live
	 * object of the same kind and name. */
	bool live;
	int64_t now_ms;	    /* its time: time begins then, whenever its Jobs came and began */
	size_t nothers;	    /* Jobs that are known for those that wait for them, and not played */
	int64_t assumed_ms; /* of files: --assume-duration; 0: absent */
	size_t *endless; /* Jobs without an expected end (ends.h): those that run, then the others */
	size_t nendless, nendless_cronjobs;
	size_t nguessed; /* Jobs and CronJobs of which something else tells how long they take */

	struct map by_uid;	  /* struct owner: of Jobs that have a uid of their own */
	struct map names;	  /* struct entry: "Job ns/name", "LocalQueue ns/name", ... */
	struct entry *namespaces; /* those in use, described or not */
	void **block;		  /* what is freed with the world */
	size_t nblocks;
};

void world_init(struct world *w, const struct queue_config *config);
void world_done(struct world *w);

/* ---- building: the records become the world's ------------------------------------------------ */

struct job_plan { /* what annotations say of a Job of the simulation */
	bool has_own_uid, has_arrival;
	int64_t duration_ms, delete_ms; /* NEVER_MS */
	int64_t step_ms;		/* 0 */
	bool fails;
	int32_t attempt; /* how many runs it had; one that runs from the beginning: before that one */
};
/* ERR_CONFLICT: there is one of that name, or of that uid; j stays the caller's then. */
int world_add_job(struct world *w, struct job *j, const struct job_plan *plan, struct err *e);
void world_add_adoption(struct world *w, const struct adoption *a);
/* A Job that others may wait for: one that has ended, or that names no queue. Takes j. */
void world_add_other(struct world *w, struct job *j);
/* It was made by that CronJob, if there is such a one: that counts for its concurrencyPolicy. */
void world_link_cronjob(struct world *w, size_t sim_job);
/* Notes that a file describes it, and says whether one does. */
void world_describe(struct world *w, const char *kind, const char *ns, const char *name);
bool world_is_described(const struct world *w, const char *kind, const char *ns, const char *name);
void world_add_cronjob(struct world *w, const struct cronjob *c);
int world_add_clusterqueue(struct world *w, const struct clusterqueue_spec *s, struct err *e);
int world_add_flavor(struct world *w, const struct flavor_spec *s, struct err *e);
int world_add_localqueue(struct world *w, const struct localqueue_spec *s, struct err *e);
void world_add_namespace(struct world *w, const struct namespace_spec *s);
/* The trace's Jobs for NS/NAME, or for user-N in `default` when queue is NULL. */
int world_add_trace(struct world *w, struct trace *t, const char *queue,
	const struct trace_terms *terms, struct err *e);
/* The sentence of tzdata_load(). Kept by the world, shared. */
int world_zone(struct world *w, const char *name, const struct zone **ret, struct err *e);
/* For decode_job(): the zones that Jobs name are the world's then. */
struct job_context world_job_context(struct world *w);
/* Once more, for another creation. */
void world_resolve_times(const struct world *w, struct job *j);
/* Keeps a block of memory (malloc) until the world's end. */
void *world_keep(struct world *w, void *block);
/* The two texts as one, so kept. */
char *world_keep_text(struct world *w, const char *prefix, const char *text);

/* For a Job that has none and is added next. */
struct uid world_next_uid(const struct world *w);

/* ERR_GONE: a Job runs in a ClusterQueue or flavor that no file describes. A live one may. */
int world_close(struct world *w, struct err *e);

/* ---- asking ---------------------------------------------------------------------------------- */

/* A Job for the queue; what it needs beside the world is in scratch. */
struct job_scratch {
	char name[24], queue[32], family[64];
	struct resource cpu;
	struct container container;
};
struct job world_job(const struct world *w, size_t sim_job, struct job_scratch *scratch);

struct uid world_uid(const struct world *w, size_t sim_job);
size_t world_find(const struct world *w, const struct uid *uid); /* SIZE_MAX when unknown */
/* 0: none. */
int64_t world_deadline_ms(const struct world *w, size_t sim_job);
/* RUNNING: of its duration, what is done by now_ms. */
int64_t world_done_ms(const struct sim_job *a, int64_t now_ms);
/* RUNNING: how long it goes on with the pods that it has; NEVER_MS. */
int64_t world_left_ms(const struct sim_job *a);
/* Of its duration what would be left behind if it stopped at now_ms. */
int64_t world_kept_ms(const struct world *w, size_t sim_job, int64_t now_ms);
/* "ns/name", in text. Returns text. */
const char *world_name(const struct world *w, size_t sim_job, char *text, size_t size);
/* Of the LocalQueue, "" when there is none. */
const char *world_clusterqueue(const struct world *w, const char *ns, const char *localqueue);

/* A Job that the CronJob makes for that time; its index. */
size_t world_fire(struct world *w, size_t cronjob, int64_t at_ms, int64_t now_ms);

#endif
