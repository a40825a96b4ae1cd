/*
 * Private to the gate: its own record of a Job. These parts have a file each that alone writes
 * them: attempt, stop, scale_down, growth, stop_notice, waiting_note, outcome_note, never, newcomer
 * and start_time. Other files use its functions. Of request and refusals several files write
 * fields.
 *
 * phase.c, attempt.c and requests.c never look at another Job; stop.c does only to name the Job
 * that needs the room.
 */
#ifndef SLUICE_CONTROLLER_GATE_RECORD_H
#define SLUICE_CONTROLLER_GATE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/uid.h"
#include "controller/gate/attempt.h"
#include "controller/gate/growth.h"
#include "controller/gate/never_starts.h"
#include "controller/gate/newcomer.h"
#include "controller/gate/outcome_note.h"
#include "controller/gate/phase.h"
#include "controller/gate/refusals.h"
#include "controller/gate/requests.h"
#include "controller/gate/scale_down.h"
#include "controller/gate/start_time.h"
#include "controller/gate/stop.h"
#include "controller/gate/stop_notice.h"
#include "controller/gate/waiting_note.h"
#include "sluice/job.h"
#include "sluice/queue.h"

struct failing;
struct label_set;
struct stuck;

/* What was observed last of a Job, reduced to what the protocol asks. */
struct facts {
	int64_t generation, version;
	bool suspend, by_person, deleting, finished, failed, has_annotations;
	bool resumed_by_other, redirected; /* as in struct job */
	bool uncontrolled;		   /* as in struct job */
	bool work_queue;	/* no completions: after a success the Job controller ends no pod */
	bool ends_when_stopped; /* job_ends_when_stopped() */
	bool cut_short;		/* job_was_cut_short() */
	bool managed;		/* ours, as the gate's options have it */
	bool quiet;		/* job_quiet() */
	bool ending; /* the work is over, and Kubernetes will end the Job: see struct job_status */
	bool cannot_end; /* ... but cannot: the Job was stopped before its start time was written */
	bool leaving;	 /* pods of an earlier run may be left, so no start is due */
	bool start_left; /* start_time_is_left() */
	bool start_seen; /* not suspended, and the status says the Job controller knows */
	enum story_state story_state;
	int32_t story_attempt, story_sizes;
	int64_t story_epoch;
	int32_t pods;	 /* job_pods() */
	int32_t kept_up; /* job_pods_kept_up() */
	int32_t present; /* active and terminating pods, needed or not */
	int32_t active; /* pods whose work a stop loses: as before the Job controller read of the stop */
	/* Pods whose work a deletion loses: active ones, and pods of this run that went before and
	 * had not ended well. A deleted namespace takes the pods first, and the Jobs when no pod is
	 * left. */
	int32_t at_work;
	int32_t succeeded;
	bool ready;    /* the Job runs, and all pods that it needs are ready, or have ended well */
	int32_t lacks; /* pods that a run needs and that are not ready now */
	int32_t parallelism, owner_parallelism, owner_completions; /* as in struct job */
	bool completions_follow;
	bool reapplied; /* as in struct job */
	bool ignores_disruption;
	bool at_backoff_limit; /* one more failed pod fails the Job */
	bool rewritable;       /* the Job may run on idle room, but need not */
	int64_t created_ms, start_ms;
	int64_t queued_ms;	    /* job_queued_ms() */
	struct job_history history; /* as the story tells it */
	int64_t stopping_at_ms;	    /* when the Job is told that it stops; 0: no stop is told */
	int64_t finished_ms, suspended_ms;
	bool held;			    /* the annotation sluice.dev/hold is there */
	enum dependency_failure on_failure; /* what its owner wants, should it never start */
	int32_t annotation_bytes;	    /* of its owner's */
	bool has_notice;
	enum wait_reason notice; /* WAIT_NOT: there is none, or not one of ours */
	int64_t booked_start_ms; /* the start that the Job is told; 0: none */
};

struct job_name {
	const char *ns, *name;
};

struct gate_job {
	struct uid uid;
	char *ns, *name;	      /* name lies behind ns, in one block */
	struct gate_job *prev, *next; /* all Jobs, in the order they were first seen */
	struct gate_job *namesake;    /* the next older Job of its name, or NULL */
	struct gate_job
		*next_dirty; /* those to reconcile in this pass; leave by being reconciled */
	bool dirty;

	struct facts seen;
	char *story;  /* the annotation's text, NULL when absent */
	char *queue;  /* the label's value */
	char *family; /* the name that Jobs of its kind share; NULL: there is none */
	char *labels; /* the labels that its bills carry, as JSON; NULL: it has none of them */
	char *submitted_by;	     /* the user's name; NULL when it is not known */
	struct label_set *label_set; /* its labels; NULL: none, or too many to be kept */
	char *finalizer;  /* what keeps a Job that is being deleted; NULL: nothing does */
	char *suspender;  /* who suspended it while it ran; NULL: nobody is named, or it runs */
	char *trouble;	  /* what kept the pods of its last run, as its story tells; or NULL */
	uint64_t in_list; /* number of the last complete list it was in */
	uint64_t told_in; /* number of the last list when an answer told of it last */
	bool lost;     /* not on the watch: deleted, or its label was taken off; a GET will tell */
	bool told_end; /* lost by an event: all that the Job became until then was seen */
	bool fetching; /* deferred until its turn came, and not read yet */
	bool gone;     /* a GET said that there is no such Job */
	bool adopted;  /* its reservation was lost, and made anew by its story, a moment ago */
	bool spared;   /* of a mass that is not stopped yet, or not gone yet (mass_stop.c) */

	enum phase phase;
	struct attempt attempt;
	struct stop stop;
	struct scale_down scale_down;
	struct growth growth;
	struct stop_notice stop_notice;
	struct waiting_note waiting_note;
	struct outcome_note outcome_note;
	struct never_starts never;
	struct newcomer newcomer;
	struct start_time start_time;
	uint64_t after_lease; /* number of the lease request whose yes it awaits before a write */
	bool need_read;	      /* what we know may be old: GET before the next write */
	struct refusals refusals;
	struct failing *failing; /* NULL: no request about it has failed */
	struct stuck *stuck;	 /* of a run that lacks pods (stuck.c); or NULL */
	bool well;		 /* all pods of this run were ready once since we know it */
	bool retell;		 /* the queue is to be told of the Job once more, news or not */
	int64_t waits_ms; /* since when it is in its phase, by tick_ms; 0: since before we came */
	bool ran_unseen; /* it ran unadmitted, and was stopped before the Job controller told of it */

	struct job_request request;
};

/* Tells whether the ledger has a reservation of the Job open, or will have. */
static inline bool job_has_reservation(const struct gate_job *j)
{
	return j->phase != PHASE_WAITING && j->phase != PHASE_EVICTING;
}

#endif
