/*
 * The world that is simulated: a queue that knows what admins described, and the Jobs that will
 * come. The simulation alone knows when they come and how long they really run.
 *
 * The manifests, the live cluster and the trace build the world once. Then world_close() settles
 * what only the whole can tell: where time begins, which namespaces there are, which Job comes
 * when. Then the engine begins (engine.h). A Job is named by its index, which is the order of the
 * files; CronJobs add Jobs while the play goes on.
 *
 * Uids: a Job that has none gets one that is made of its index. So the same files give the same
 * uids, and a decision's uid leads to the Job without a look-up.
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
	/* A Job that is not played: others may wait for it. In a live cluster it names no queue, or
	 * cannot be in its queue. */
	SIM_JOB_OTHER,
};

struct sim_job {
	const struct job *record; /* the manifest's; NULL: of the trace */
	const char *name;	  /* of a Job that a CronJob made; NULL: the record's */
	size_t origin;		  /* index of the trace's Job, or of its CronJob */
	int64_t arrival_ms;	  /* NEVER_MS until world_close() when no manifest says */
	int64_t duration_ms;	  /* NEVER_MS: the Job does not end by itself */
	int64_t delete_ms;	  /* NEVER_MS: the Job is not deleted */
	int64_t step_ms;	  /* work is safe in multiples of this; 0: only when it ends */
	int64_t kept_ms;	  /* what earlier attempts left behind of duration_ms */
	int64_t since_ms;	  /* RUNNING: when this attempt began */
	int64_t sized_ms;	  /* RUNNING: since when there are so many pods */
	int64_t done_ms;	  /* RUNNING: what of duration_ms was done by then */
	int64_t ended_ms;	  /* GONE: when the Job finished, or was deleted */
	int32_t attempt;	  /* number of attempts, this one included */
	int32_t pods;		  /* RUNNING */
	int32_t full_pods; /* pods with which it takes duration_ms, with fewer longer; 0: any number */
	int32_t sizes;	   /* how often the number of pods changed, also to none */
	enum sim_job_state state;
	bool has_own_uid; /* else the uid is made of the index */
	bool fails;	  /* the work ends badly */
	bool deleted;	  /* GONE: before it finished */
	bool never_came;  /* GONE: the Job names no queue, or was deleted before it came */
	bool unreachable; /* SIM_EVENT_UNREACHABLE was told of the Job */
};

/* A Job that runs from the beginning, or is being stopped then. */
struct adoption {
	size_t sim_job;
	int64_t at_ms;
	int64_t before_ms; /* time that the Job ran before that, and held nothing */
	int32_t pods;	   /* pods that are left of those that its lines are for; 0: all */
	bool by_queue;	   /* no lines: the queue says what the Job holds (queue_intake()) */
	bool leaves;	   /* stopped: holds its lines until leaves_ms, and waits again */
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
	int64_t from_ms;   /* creation; NEVER_MS: the world's start */
	int64_t missed_ms; /* CRON_FORBID: latest time at which the last Job ran; 0 */
	size_t last;	   /* the Job that was made last; SIZE_MAX: none yet */
};

/* Terms of all Jobs of a trace, of time, money and size. */
struct trace_terms {
	int64_t deadline_ms; /* from submission; at least the Job's own run time; 0: no deadline */
	bool cheapest;
	bool exact; /* Jobs know how long they run; else what the trace says was asked for */
	/* Share of a Job's processors from which its min-parallelism is drawn, up to all of them,
	 * by the seed. 0: no Job has one. */
	double min_parallelism;
	bool grow; /* sluice.dev/grow */
	int64_t seed;
	/* One family for each user and application. Only for measuring forecasts
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
	struct zone **zone; /* named zones */
	size_t nzones;

	size_t *arrival; /* Jobs by time of arrival, then index */
	size_t narrivals;
	int64_t start_ms;
	int64_t settled_ms; /* latest start of an adopted Job: nothing is decided before it */
	size_t nunqueued;   /* Jobs that are left out, for they name no queue */

	/* The world is a live cluster's (live.h), in which an object of a file takes the place of
	 * the live one of its kind and name; false: of files alone. */
	bool live;
	int64_t now_ms;	    /* the cluster's time, at which the play begins */
	size_t nothers;	    /* Jobs that only others wait for */
	int64_t assumed_ms; /* in files: --assume-duration; 0: absent */
	size_t *endless;    /* Jobs without an expected end (ends.h): those that run first */
	size_t nendless, nendless_cronjobs;
	size_t nguessed; /* Jobs and CronJobs whose duration ends.h tells */

	struct map by_uid;	  /* struct owner: Jobs that have a uid of their own */
	struct map names;	  /* struct entry: "Job ns/name", "LocalQueue ns/name", ... */
	struct entry *namespaces; /* namespaces in use, described or not */
	void **block;		  /* freed with the world */
	size_t nblocks;
};

void world_init(struct world *w, const struct queue_config *config);
void world_done(struct world *w);

/* ---- building: the records become the world's ------------------------------------------------ */

struct job_plan { /* the simulation's annotations of a Job */
	bool has_own_uid, has_arrival;
	int64_t duration_ms, delete_ms; /* NEVER_MS */
	int64_t step_ms;		/* 0 */
	bool fails;
	int32_t attempt; /* runs so far, without one that goes on from the beginning */
};
/* Adds a Job. ERR_CONFLICT: there is one of that name, or of that uid; j stays the caller's
 * then. */
int world_add_job(struct world *w, struct job *j, const struct job_plan *plan, struct err *e);
void world_add_adoption(struct world *w, const struct adoption *a);
/* Adds a Job that only others wait for: it has ended, or names no queue. Takes j. */
void world_add_other(struct world *w, struct job *j);
/* Links a Job to the CronJob that made it, if that is there, for its concurrencyPolicy. */
void world_link_cronjob(struct world *w, size_t sim_job);
/* Note that a file describes the object; say whether one does. */
void world_describe(struct world *w, const char *kind, const char *ns, const char *name);
bool world_is_described(const struct world *w, const char *kind, const char *ns, const char *name);
void world_add_cronjob(struct world *w, const struct cronjob *c);
int world_add_clusterqueue(struct world *w, const struct clusterqueue_spec *s, struct err *e);
int world_add_flavor(struct world *w, const struct flavor_spec *s, struct err *e);
int world_add_localqueue(struct world *w, const struct localqueue_spec *s, struct err *e);
void world_add_namespace(struct world *w, const struct namespace_spec *s);
/* Adds the trace, its Jobs for NS/NAME, or for user-N in `default` when queue is NULL. */
int world_add_trace(struct world *w, struct trace *t, const char *queue,
	const struct trace_terms *terms, struct err *e);
/* Finds a zone, which the world keeps and shares. Errors as tzdata_load(). */
int world_zone(struct world *w, const char *name, const struct zone **ret, struct err *e);
/* Returns the context for decode_job(); the world keeps the zones. */
struct job_context world_job_context(struct world *w);
/* Resolves the Job's times once more, for another creation. */
void world_resolve_times(const struct world *w, struct job *j);
/* Keeps a block of memory (malloc) until the world's end. */
void *world_keep(struct world *w, void *block);
/* Joins the two texts, and keeps the result. */
char *world_keep_text(struct world *w, const char *prefix, const char *text);

/* Makes the uid for a Job that has none and is added next. */
struct uid world_next_uid(const struct world *w);

/* Closes the world. ERR_GONE: a Job runs in a ClusterQueue or flavor that no file describes. In a
 * live cluster it may. */
int world_close(struct world *w, struct err *e);

/* ---- asking ---------------------------------------------------------------------------------- */

/* What a Job of a trace needs beside the world. */
struct job_scratch {
	char name[24], queue[32], family[64];
	struct resource cpu;
	struct container container;
};
struct job world_job(const struct world *w, size_t sim_job, struct job_scratch *scratch);

struct uid world_uid(const struct world *w, size_t sim_job);
size_t world_find(const struct world *w, const struct uid *uid); /* SIZE_MAX when unknown */
/* Returns the deadline of a Job; 0: none. */
int64_t world_deadline_ms(const struct world *w, size_t sim_job);
/* Returns how much of a RUNNING Job's duration is done by now_ms. */
int64_t world_done_ms(const struct sim_job *a, int64_t now_ms);
/* Returns how long a RUNNING Job goes on with the pods that it has; NEVER_MS. */
int64_t world_left_ms(const struct sim_job *a);
/* Returns how much of the duration would be left behind if the Job stopped at now_ms. */
int64_t world_kept_ms(const struct world *w, size_t sim_job, int64_t now_ms);
/* Writes "ns/name" into text. Returns text. */
const char *world_name(const struct world *w, size_t sim_job, char *text, size_t size);
/* Returns the ClusterQueue of a LocalQueue, "" when there is none. */
const char *world_clusterqueue(const struct world *w, const char *ns, const char *localqueue);

/* Adds the Job that the CronJob makes for that time; returns its index. */
size_t world_fire(struct world *w, size_t cronjob, int64_t at_ms, int64_t now_ms);

#endif
