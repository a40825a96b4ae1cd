/*
 * A model of the API server, as far as Jobs go: objects with uid, generation and resourceVersion,
 * guarded PATCHes, and the history that watches read. No time and no chance in here; when a request
 * lands is decided by its carrier.
 *
 * Each write makes a snapshot, an immutable record that any number of late readers may hold. The
 * history is the snapshots in the order of their resourceVersion.
 */
#ifndef SLUICE_TEST_SIM_MODEL_API_H
#define SLUICE_TEST_SIM_MODEL_API_H

#include "queue/cluster/pod.h"
#include "controller/gate/gate.h"
#include "sluice/job.h"
#include "test/sim/pool.h"

#define JOB_RESOURCES 3 /* cpu, memory, gpu */
#define START_LINES 8

/* What let a Job run: a start of ours that landed, or another client's unsuspend. */
struct model_run {
	int32_t attempt;
	bool outside;
	bool raised;   /* ... for its owner raised it beyond what is reserved, while it ran */
	bool returned; /* ... for the API server went back to when it ran (restore.h) */
	bool mistaken; /* ... and nothing on the Job tells of that (restore.h) */
	struct quota_line line[START_LINES]; /* which flavor each resource got */
	size_t nlines;
	int64_t landed_ms;
};

struct snap {
	struct model_job *of;
	struct job job;		     /* borrows from the rest of this record */
	bool gone;		     /* the object is no more */
	const struct model_run *run; /* of a Job that is not suspended; the last one of others */
	bool failing, succeeding;    /* conditions FailureTarget, SuccessCriteriaMet */
	int32_t applied; /* what spec.parallelism is while job.owner_parallelism is set: decode.h
			    shows the owner's number of a suspended Job */
	struct container container;
	struct resource request[JOB_RESOURCES];
	char created_by[8];
	/* Of a Job that may run on idle room (lent.h): its Pod template, and the annotation that
	 * keeps what its owner wrote; NULL: none. */
	const char *template, *directives;
	bool templated; /* the cluster is asked about its pods (cluster.h): job.template is pod */
	struct pod pod;
};

struct model_job {
	size_t index;
	struct snap *now; /* the newest; never NULL */
	struct model_job *next;

	int32_t backoff_limit;
	int32_t wrote;	  /* spec.parallelism, as its owner wrote it last */
	bool lowered;	  /* by its owner, while it ran */
	int32_t unready;  /* stops for pods that were not ready, since a person last said to begin
			     anew */
	bool sickly;	  /* its pods never get ready */
	bool orphaned;	  /* deleted without its pods */
	bool hostile;	  /* a hostile tenant's (tenant.h); and of these: */
	bool child;	  /* a Job made it */
	bool kept;	  /* it was deleted, and a finalizer keeps it and its pods */
	bool external;	  /* spec.managedBy of a controller that is not there */
	bool unlabelled;  /* manualSelector: its pods do not say whose they are */
	uint64_t told[2]; /* the processes that were told that it is being deleted */
	uint64_t succeeded[2]; /* ... that a pod of it has succeeded (cut_short.h) */
	uint64_t
		read[2]; /* the processes that have read it as leader, as it was then (restore.h) */
	bool vandalized; /* our annotations were taken off */
	bool moved;	 /* its queue label was changed or taken off */
	bool plain;	 /* it never had a queue (newcomers.h) */
	int64_t welcome; /* the generation in which it ran and got its label (newcomers.h); or 0 */
	bool refused;	 /* its last pod was not let in */
	struct {	 /* by each controller, last */
		uint64_t life;
		enum decision_kind kind;
		int64_t start_ms; /* when it last decided on a start */
	} decided[2];

	/* The Job controller's: what it knows, and what it is about (model_jobs.c). */
	struct {
		const struct snap *view;
		int64_t must_see; /* its own last write; it waits until it sees that */
		int64_t informed_ms, pods_informed_ms; /* news arrive in order */
		bool pending, writing;
	} controller;
	bool doomed; /* the garbage collector is after its pods */
};

struct history {
	const struct snap *snap;
	bool was_queued, is_queued; /* had, has the queue label: what a watch by label tells */
};

struct model_api {
	struct pool *pool;
	struct model_job *first, **tail;
	size_t njobs;
	int64_t version;
	bool old_server;	 /* Kubernetes 1.34: a Job with a start time keeps its directives */
	struct history *history; /* grows; entry k is history[k] */
	size_t nhistory, room;
	void (*written)(struct model_api *api, const struct snap *now, void *ctx);
	/* A start lands: what else becomes of the Job; may be NULL. */
	void (*started)(struct model_api *api, struct snap *next, void *ctx);
	void *ctx;
};

void model_api_init(struct model_api *api, struct pool *pool);
void model_api_done(struct model_api *api);

/* A copy of the newest snapshot to change, then to write. respec: the spec changed, so that the
 * generation moves. */
struct snap *model_api_edit(struct model_api *api, const struct model_job *j);
const struct snap *model_api_write(struct model_api *api, struct snap *next, bool respec);
/* How much of a resource one pod of it asks for; of "pods" it is one. */
int64_t snap_asks(const struct snap *s, const char *resource);
/* Another client than the gate (un)suspends it. */
void snap_suspend(struct snap *s, bool suspend);
/* The owner's manifest is applied again to a run that goes on with fewer pods: the owner's numbers
 * are in the spec once more. False when it has no fewer. */
bool snap_reapply(struct snap *s);
/* The spec is the owner's own from now on, whatever the story said. */
void snap_disown(struct snap *s);
/* s describes the new Job; uid, generation and version are given here. */
struct model_job *model_api_create(struct model_api *api, const struct snap *s);
void model_api_remove(struct model_api *api, struct model_job *j);

/* The live object of that name, or NULL. */
struct model_job *model_api_find(const struct model_api *api, const char *ns, const char *name);
struct model_job *model_api_by_uid(const struct model_api *api, const struct uid *uid);

/* A PATCH or GET of a gate, now. Copies what it needs of i. *ret_snap: the Job as it is afterwards
 * (JOB_DONE; of a DELETE nothing). *ret_why: what a test found (JOB_REFUSED). unguarded: a planted
 * fault, the tests of story and generation, or a DELETE's of the version, are left out. */
enum job_outcome model_api_request(struct model_api *api, const struct intent *i, int64_t now_ms,
	bool unguarded, const struct snap **ret_snap, const char **ret_why);

#endif
