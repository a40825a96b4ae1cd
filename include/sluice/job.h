/*
 * A Job as the gate and the queue see it: the few fields of a batch/v1 Job that matter, decoded.
 *
 * A struct job is a fact of one moment. It is made by a decoder (or by a test) in one block of
 * memory, handed around as const, and dropped at once; what is to be kept is copied.
 * Strings are never NULL unless the comment says so. Absent and zero differ.
 *
 * Amounts: milli-CPU for cpu, whole units for everything else.
 */
#ifndef SLUICE_JOB_H
#define SLUICE_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/uid.h"
#include "sluice/calendar.h"
#include "sluice/dependency.h"
#include "sluice/placement.h"

struct pod; /* queue/cluster/pod.h */

struct resource {
	const char *name;
	int64_t amount;
	uint8_t style; /* enum quantity_style, how it was written, to be shown so again */
};

struct resource_list {
	const struct resource *item; /* each name once; any order */
	size_t count;
};

struct container {
	struct resource_list requests, limits; /* as written */
	bool sidecar;			       /* an init container with restartPolicy Always */
	const char *name;		       /* NULL where it is not asked for */
};

/* What one pod asks for. */
struct pod_resources {
	const struct container *containers;
	size_t ncontainers;
	const struct container *init_containers; /* in order, which matters */
	size_t ninit_containers;
	struct resource_list overhead;
	struct resource_list pod_level; /* spec.resources.requests: overrides the sum where set */
	struct resource_list pod_level_limits;
	bool has_pod_level; /* spec.resources is there, be it empty */
	const char
		*runtime_class; /* its overhead counts where there is none above; "" when absent */
};

/* Job.status, and what of it says that pods are left. */
struct job_status {
	bool has_start_time; /* the Job controller has seen the start of this run */
	int64_t start_ms;
	bool suspended;	       /* condition Suspended=True: the Job controller has seen the stop */
	bool complete, failed; /* a terminal condition is True */
	/* SuccessCriteriaMet or FailureTarget is True, for good: no more pods are made, and the Job
	 * is complete or failed when none is left. Not before it has a start time, which a
	 * suspended Job gets only when it is let run. */
	bool ending;
	int64_t finished_ms; /* when it became complete or failed; 0 when it did not */
	const char *failure; /* why it failed: "BackoffLimitExceeded: ..."; or NULL */
	int32_t active, terminating, ready, succeeded;
	int32_t failed_pods;
	/* uncountedTerminatedPods: pods that ended and are not yet in succeeded or failed_pods. */
	int32_t uncounted, uncounted_failed;
	int32_t indexes_done; /* Indexed: size of completedIndexes and failedIndexes together */
};

/*
 * A time that the Job's owner wrote with the name of a zone: "2026-11-22 19:00 Europe/Berlin", or
 * "Mon 19:00 Europe/Berlin", the first such time after the Job's creation. decode_job() makes
 * milliseconds of it, and job_times_resolve() (controller/wire/job_times.h) does so anew for
 * another creation. While the zone is unknown the Job is invalid.
 */
struct zoned_time {
	const char *zone; /* NULL: there is none */
	struct wall_time when;
	const char *unknown; /* the sentence for when there is no such zone */
};

/* What the Job's owner asks of time and money (annotations; docs/money.md). Zero: nothing. */
struct job_terms {
	int64_t start_after_ms; /* sluice.dev/start-after; 0: at once */
	int64_t deadline_ms;	/* sluice.dev/deadline, by which it is to have ended; 0: none */
	bool hold_when_missed;	/* sluice.dev/on-missed-deadline: Hold; else RunAnyway */
	bool cheapest;		/* sluice.dev/start: Cheapest */
	bool has_max_price;	/* sluice.dev/max-price: "0.05", or "2.50 nvidia.com/gpu": */
	int64_t max_price;	/* millionths an hour, for a unit of: */
	const char *max_price_resource; /* as PricePlans name it: "cpu", "memory-gib", ... */
};

/* Where the expected duration of a Job comes from: the first of these that there is. */
enum duration_source {
	DURATION_UNKNOWN,
	DURATION_ANNOTATION, /* sluice.dev/expected-duration */
	DURATION_DEADLINE,   /* activeDeadlineSeconds */
	DURATION_HISTORY,    /* p95 of the last runs of its family, which the queue knows */
};

/* What became of the Job's last attempt by its story: the annotation sluice.dev/admission
 * (controller/gate/story.h). */
enum story_state {
	STORY_NONE,    /* never started by us */
	STORY_STARTED, /* the run `attempt` was let in */
	STORY_STOPPED, /* the run was let in, and stopped again by us */
	STORY_FENCED,  /* the start was called off before the run began */
};

/* How long a Job runs; 0 when absent. */
struct job_durations {
	int64_t max_run_ms;	    /* annotation sluice.dev/max-run-seconds */
	int64_t expected_ms;	    /* annotation sluice.dev/expected-duration */
	int64_t active_deadline_ms; /* spec.activeDeadlineSeconds */
};

/* What the annotation sluice.dev/admission says: the controller's own word on this Job. */
struct job_admission {
	const char *story; /* its text as read; NULL when absent */
	enum story_state state;
	int32_t attempt;     /* 0 when never started */
	int64_t told_ms;     /* when the story was written; 0: it does not say */
	int32_t sizes;	     /* how often the size of that run had changed; 0: never */
	int64_t epoch;	     /* of the leader that wrote the story; 0: it does not say */
	const char *trouble; /* what kept the pods of its last run; or NULL */
	/* What the Job's owner wrote, while the spec has the smaller numbers of a run that was let
	 * in with fewer pods; 0 when the spec is the owner's own. A suspended Job has the owner's
	 * numbers in parallelism and completions all the same: it asks for those. */
	int32_t owner_parallelism, owner_completions;
	int32_t run_pods; /* of its last run, where these were fewer than its owner wrote; else 0 */
	/* The Job runs with fewer pods, but parallelism is what its owner wrote: the manifest was
	 * applied again. */
	bool reapplied;
	/* What earlier attempts left behind; a fact for the queue when it sees the Job for the
	 * first time. */
	struct job_history {
		int32_t requeues;	  /* stops because the pods were not ready in time */
		int64_t not_before_ms;	  /* back-off; 0 when none */
		int64_t ran_ms;		  /* run time that counts towards max_run_ms */
		int64_t evicted_ms;	  /* the last stop of `requeues`: its place in the order */
		int32_t suspensions;	  /* stops because a window closed or the price rose */
		int64_t reclaims_paid_ms; /* of stops for idle resources: queue/job/stop_rate.h */
	} history;
};

/* A Job's annotations, but for those of the other structs here. */
struct job_annotations {
	int32_t bytes;		 /* of all but those that Sluice writes */
	bool present;		 /* the map metadata.annotations exists */
	const char *waiting;	 /* sluice.dev/waiting, its beginning; NULL when absent */
	int64_t stopping_at_ms;	 /* sluice.dev/stopping-at, our notice of a stop; 0: none */
	int64_t booked_start_ms; /* sluice.dev/booked-start, the start that start: Cheapest booked;
				    0: none */
};

/* The longest grace of a Job's pods: with a longer one, which would keep quota for too long after a
 * stop, the Job is invalid. */
#define JOB_GRACE_MAX_S 3600

#define SUBMITTER_MAX_BYTES 253
#define NICE_MAX 100 /* and -NICE_MAX is the least */

/* Whether a Job's run takes more pods. */
enum job_grow {
	GROW_AS_QUEUE, /* as its ClusterQueue says (spec.growByDefault) */
	GROW_YES,
	GROW_NO,
};

struct job {
	struct uid uid;
	const char *ns, *name;
	int64_t generation; /* moves with every change of the spec, suspend included */
	int64_t version; /* resourceVersion as a number: moves with every write; orders observations
			  */
	int64_t created_ms; /* metadata.creationTimestamp: whole seconds */
	/* Annotation sluice.dev/queued-at: when a Job that was created without a queue label got
	 * one; 0: absent. Whole seconds. To be trusted where the mutating policies are
	 * installed. */
	int64_t queued_at_ms;
	bool deleting; /* has a deletionTimestamp */
	/* The finalizer that keeps a Job that is being deleted, "orphan" if that is among several.
	 * NULL: none, or only the garbage collector's that takes its pods away first. */
	const char *finalizer;
	/* spec.selector (manualSelector) or spec.managedBy is such that the Job's pods could not be
	 * counted or stopped. The Job is invalid, too. */
	bool uncontrolled;

	const char *queue;		/* label sluice.dev/queue-name, "" when absent */
	const char *priority_class;	/* label sluice.dev/priority-class, "" when absent */
	const char *pod_priority_class; /* spec.template.spec.priorityClassName, "" when absent */
	const char *hold; /* annotation sluice.dev/hold; NULL when absent or "false" */
	struct job_durations durations;
	struct job_terms terms;
	struct zoned_time start_after, deadline; /* as written; terms has their milliseconds */
	struct dependencies after;		 /* annotation sluice.dev/after */
	int32_t nice; /* annotation sluice.dev/nice: of its submitter's Jobs the lower goes first */
	/* What Jobs of one making have in common: "CronJob/nightly", or generateName; "" for a Job
	 * that is one of a kind. Durations of earlier ones tell what to expect of the next. */
	const char *family;
	const struct label *labels; /* metadata.labels */
	size_t nlabels;
	/* Annotation sluice.dev/submitted-by, the user's name, its first SUBMITTER_MAX_BYTES; NULL when
	 * absent. To be trusted where the policies are installed: they let nobody write another's
	 * name. */
	const char *submitted_by;

	bool suspend;
	/* The Job is suspended though its story says that it runs: a person did that, as far as
	 * metadata.managedFields tell. */
	bool suspended_by_person;
	/* The field manager (a person's, or a tool's) that suspended such a Job, and when it wrote
	 * last. NULL and 0: nobody is named. */
	const char *suspender;
	int64_t suspended_ms;
	/* The Job runs, and another client than Sluice unsuspended it last, whatever its story
	 * says: that client may have changed the template before. As far as metadata.managedFields
	 * tell. */
	bool resumed_by_other;
	/* The Job runs, and the node selector, tolerations or node affinity of its pods are not
	 * what its start wrote (sluice.dev/original-directives). False where a start kept nothing
	 * of these. */
	bool redirected;
	int32_t parallelism;  /* default 1 */
	bool has_completions; /* absent: a work queue, finished by any success */
	int32_t completions;
	bool indexed;

	/* What the scheduler and ResourceQuotas will look at in the Job's pods
	 * (queue/cluster/pod.h), as its owner wrote it: node selector and tolerations without what
	 * a flavor added, as in `placement`. Of resources `pod` counts instead. NULL, for tests
	 * that do not care: nothing of the cluster is asked. */
	const struct pod *template;
	/* How long a stop may take: terminationGracePeriodSeconds of the pods, 30 s when absent. 0,
	 * for tests that do not care. */
	int64_t grace_ms;
	struct pod_resources pod;
	struct placement placement; /* the user's own directives, without what a flavor added */
	struct template_metadata metadata; /* of the pod template: keys alone */
	/* The labels that its start added to the pods of a run. They are not in `template`. */
	const struct label *added_labels;
	size_t nadded_labels;

	/* The kinds of flavors in which the Job may run: a set (1 << enum lending). As a rule the
	 * ordinary ones; with sluice.dev/preemptible: "true" also those whose quota is lent
	 * (docs/idle.md); only lent ones when its pods ask for lent resources themselves. 0, for
	 * tests that do not care, is the ordinary ones. `pod` has what the owner wrote. */
	uint8_t lending;
	/* What the containers ask for as the owner wrote it, opaque (controller/wire/resources.h);
	 * NULL: a start never writes their resources. */
	const char *resources;
	int32_t backoff_limit;	 /* failed pods that the Job bears: it fails of one more */
	bool ignores_disruption; /* its podFailurePolicy ignores DisruptionTarget: an eviction does
				    not count as a failure */

	struct job_admission admission;
	struct job_annotations annotations;

	/* Partial admission: annotations sluice.dev/min-parallelism, 0 when absent,
	 * and sluice.dev/completions-equal-parallelism. */
	int32_t min_parallelism;
	/* sluice.dev/grow: the run takes more pods when there is room, up to what the owner asked
	 * for. Only of a Job with min_parallelism. */
	enum job_grow grow;
	bool completions_follow;

	const char *invalid; /* NULL, or a sentence: why this Job can never be started as it is */

	struct job_status status;
};

/* Counts the pods a Job holds quota for while it runs: min(parallelism, what is left to complete);
 * 0 when all work is done. With status all zero: the pods of a fresh start. (Kueue: reclaimable
 * pods, KEP-78.) */
int32_t job_pods(const struct job *j);

/*
 * Counts the pods that the Job controller keeps up (job_controller.go, manageJob): job_pods() as a
 * rule. Once a pod of a work queue has succeeded, the controller makes and ends none: the active
 * ones count. Such a Job holds quota for job_pods() all the same: its status may not count a pod
 * yet that was made before the success.
 */
int32_t job_pods_kept_up(const struct job *j);

/* Counts what is done for good: the indexes that are completed or have failed; of other Jobs, the pods
 * that succeeded. */
int64_t job_done(const struct job *j);

/* Tells whether as many pods are ready, or done, as a fresh start of the Job would have. So a run is
 * ready between one pod and its successor, too (as in Kueue). Always true of a Job of which no pod is
 * made any more. */
bool job_pods_ready(const struct job *j);

/* Tells whether a stop would end the Job as Complete: a work queue of which a pod has succeeded.
 * The Job controller calls it Complete as soon as no pod is active, whatever ended the others. */
bool job_ends_when_stopped(const struct job *j);

/* Tells whether a stop has ended the Job as Complete: a work queue is Complete, fewer of its pods
 * succeeded than its last run had, and it was stopped before: its story says so (anybody may take
 * the suspension back), or it is suspended and not known to have been so only after its end. */
bool job_was_cut_short(const struct job *j);

/* The end of a sentence about a Job of which job_ends_when_stopped() is true. */
extern const char JOB_ENDS_WHEN_STOPPED[];
/* The end of a sentence about such a Job that is being stopped. */
extern const char JOB_ENDS_AS_COMPLETE[];
/* The sentence about a Job of which job_was_cut_short() is true. */
extern const char JOB_CUT_SHORT[];

/* Counts the pods that a run would have if it grew: as its owner wrote it, less what is done. 0: it
 * may not grow as it is now. */
int32_t job_pods_wanted(const struct job *j);

/* Tells whether the status, read after the Job controller saw the end or the stop, says that no pod
 * is left: finished or Suspended, active == 0 and terminating == 0. */
bool job_quiet(const struct job *j);

bool job_finished(const struct job *j);

/* Returns since when a Job stands in line: its creation, or sluice.dev/queued-at if that is later.
 * So the annotation never takes a Job forward. */
int64_t job_queued_ms(const struct job *j);

/* Writes the requests of one pod exactly as the scheduler counts them: max(sum of containers and
 * sidecars, each init container with the sidecars before it), the pod-level request instead where
 * it is set, plus overhead. A limit stands in for a request that is missing. Each resource that is
 * asked for comes once, sorted by name; a request of zero is one, too, and negative counts as zero.
 * Returns how many there are: if more than cap, the first cap were written. Sums saturate at
 * INT64_MAX. */
size_t pod_requests(const struct pod_resources *pod, struct resource *ret, size_t cap);

/* Writes the limits of one pod as the API server's quotas count them, like pod_requests(): no
 * request stands in for a limit, the pod-level limit goes instead of the sum, and overhead comes on
 * top of those that are not zero. Where every container has a limit and the pod has none, the
 * pod-level request counts if it is more than their sum (from Kubernetes 1.37 on). */
size_t pod_limits(const struct pod_resources *pod, struct resource *ret, size_t cap);

#endif
