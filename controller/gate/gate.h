/*
 * The gate: what the controller writes, and in which order. A deterministic state machine.
 *
 * Facts go in: a Job seen on the watch, an answer of the ledger or of the API server, the time.
 * Intents come out (a ledger batch, a PATCH, a GET), and notes for people. There are no sockets and
 * no clock in here: thin drivers carry the intents out. The simulation runs two gates at once
 * against models, under faults drawn from a seed.
 *
 * The life of an attempt (a phase each; phase.c alone moves a Job between them):
 *
 *   WAITING    no reservation. The queue library has it in its order.
 *   RESERVING  the queue chose it; RESERVE is on its way to the ledger.
 *   STARTING   RESERVE is durable. In a flavor with spec.provisioning an autoscaler is asked for nodes
 *              first (provision.h). Then the start PATCH is sent, and sent again, until it is known to
 *              have landed or to be impossible, or the server has failed at it for too long (failing.h).
 *   FENCING    the start is called off but one of its PATCHes may still be under way: a new story
 *              makes it harmless. Then VOID.
 *   RUNNING    the Job was seen unsuspended under our story; COMMIT.
 *   STOPPING   the stop PATCH is sent, and sent again. The reservation is kept.
 *   DRAINING   ended, stopped or deleted, but pods may be left: wait until there is proof that none
 *              is. Then RELEASE.
 *   EVICTING   another client let the Job run without a reservation: the stop PATCH is sent, and sent
 *              again. Then the Job waits.
 *
 * What is always true:
 *   - a start PATCH is only sent under a durable RESERVE of its attempt (ledger before cluster);
 *   - RELEASE only when no pod can be left, VOID only when the start can no longer land (cluster
 *     before ledger);
 *   - operations reach the ledger in the order they were made, one batch in flight at a time. A
 *     batch without an answer is sent again as it was, and nothing after it before it is answered.
 *     That order is why the queue may hand out freed quota at once;
 *   - every PATCH tests uid and story, a start also generation and queue label (story.h). So a later
 *     leader can tell whether a reserved attempt did start, and can call it off for good;
 *   - a Job whose status does not yet prove that the Job controller saw the start is not stopped:
 *     until then "no pods left" looks like "no pods yet";
 *   - a reservation is lowered only to the pods that are left. While the Job controller may not
 *     have read a lower parallelism, the pods are counted first (scale_down.c). It is raised before
 *     the Job is told to have more pods (growth.h);
 *   - a Job that a Job made is a Job like any other: it has a reservation of its own;
 *   - facts with an older version than the newest seen of that Job are ignored. But a complete list,
 *     or an answer, is never older than what was known when it was asked for. If one is, the API
 *     server's store was put back (gate_store_went_back): the process must end, and begin anew.
 *
 * A gate starts as a standby: it takes in facts, and with the first complete list of everything it
 * asks for the lease. With that it loads the open reservations, adopts each, and only then decides.
 * What runs although the ledger has lost its reservation is adopted by its own story (adoption.c).
 * A Job that ran before it was queued is adopted by an admin's word (newcomer.h).
 * A gate that learns that its epoch is over is finished (gate_deposed): its process must end, and
 * start again as a standby. Restart is the tested path.
 *
 * A new phase: job_reconcile(), and the table in docs/protocol.md. A new intent: intents.def.
 */
#ifndef SLUICE_CONTROLLER_GATE_GATE_H
#define SLUICE_CONTROLLER_GATE_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/uid.h"
#include "controller/gate/bill_labels.h"
#include "controller/gate/intent.h"
#include "controller/gate/trouble.h"
#include "controller/ledger/ledger.h"
#include "sluice/job.h"
#include "sluice/queue.h"

struct gate;

struct likely_start {
	int64_t at_ms;	  /* as likely as not; 0: not known */
	int64_t as_of_ms; /* when the forecast was made */
};

struct gate_options {
	const char *identity; /* our name in the lease and in stories; copied */
	int64_t lease_ms;     /* how long the lease lasts unrenewed; asked for every third of it */
	int64_t drain_doubt_ms; /* how long a status that may predate the start is not believed */
	uint64_t seed;		/* spreads retries */
	int64_t note_after_ms;	/* a Job that has waited so long says why on itself; 0: never */
	int64_t stuck_after_ms; /* a pod is stuck when it is Pending for so long; 0: never */
	int64_t settle_ms; /* pause of starts after a takeover of a ledger that has lost something, or may
			      have (adoption.c): as long as the API server works at a request */
	int64_t mass_stop_after_ms; /* how long a new leader leaves a mass of Jobs alone that run
				       without a reservation (mass_stop.c); 0: not at all */
	/* Tells whether a Job is ours to manage (see job_scope.h). NULL: Jobs that name a queue
	 * are. All others are left alone, as if they were not there. */
	bool (*manages)(void *ctx, const struct job *j);
	/* Take what a forecast learns from; NULL: no forecast does. What they get is borrowed for
	 * the call, in which nothing may be told to the gate or the queue. */
	void (*came)(void *ctx, const struct job *j); /* a new Job that waits; not of a list */
	void (*ended_well)(void *ctx, const struct job_outline *o, int64_t ran_ms);
	/* Returns the likely start of a Job that x explains, for its waiting note, if a forecast
	 * that was made anyway has one. NULL: there is no forecast. */
	struct likely_start (*likely_start)(
		void *ctx, const struct uid *uid, const struct explanation *x);
	void *ctx;
	const struct bill_labels *bill_labels; /* borrowed as long as the gate lives; NULL: none */
};

/* Makes a standby. The queue stays the caller's, must outlive the gate, and hears of Jobs by the
 * gate alone (what admins describe the caller tells it). */
struct gate *gate_new(const struct gate_options *o, struct queue *q);
void gate_free(struct gate *g);

/* ---- Facts ----------------------------------------------------------------------------------- */

void gate_see_job(struct gate *g, const struct job *j);
/* Takes DELETED from the watch, which says so also when the queue label is taken off. */
void gate_lose_job(struct gate *g, const struct uid *uid);

/* Keeps what is known of a Job that is there but cannot be read now. NULL: any Job may be meant, so
 * none counts as lost in the list that is under way. */
void gate_keep_job(struct gate *g, const struct uid *uid);

/* A ProvisioningRequest that the gate had made for a Job (provision.h). */
enum provision_state {
	PROVISION_ASKED, /* no answer yet, or one that may change */
	PROVISION_PROVISIONED,
	PROVISION_FAILED,
	PROVISION_EXPIRED, /* BookingExpired: what was set aside is free again */
	PROVISION_REVOKED, /* CapacityRevoked */
};
struct provision_fact {
	struct uid job;
	const char *ns;
	int32_t number; /* the attempt that made it */
	uint64_t key;	/* of what the request asks for */
	enum provision_state state;
	const char *message;
};
void gate_see_provision(struct gate *g, const struct provision_fact *f);
void gate_lose_provision(struct gate *g, const struct uid *job, const char *ns, int32_t number);

/* Begin and end a complete list of Jobs: what was not seen or kept between the two is lost. */
void gate_begin_list(struct gate *g);
void gate_end_list(struct gate *g);

/* Has each Job of the next complete list looked at anew, changed or not, since requests are counted
 * differently, or other Jobs are managed. Call it before that list begins. */
void gate_retell(struct gate *g);

/* Says that Jobs, and what admins describe, have been listed once. */
void gate_set_synced(struct gate *g);

/* Says whether there is a watch of Jobs now. True until this is called. A standby without one does
 * not ask for the lease. */
void gate_set_following(struct gate *g, bool following);

/* ---- The pass -------------------------------------------------------------------------------- */

/* Does one pass: reconciles what the facts dirtied, decides, makes intents. now_ms is the clock on
 * the wall, which may step either way; tick_ms never goes back, and is more than 0. */
void gate_step(struct gate *g, int64_t now_ms, int64_t tick_ms);

/* When the next pass is due even if nothing happens: when either clock gets there (INT64_MAX:
 * never), or the wall clock has stepped. */
struct gate_wake {
	int64_t now_ms, tick_ms;
};
struct gate_wake gate_wake(const struct gate *g);

/* ---- Intents --------------------------------------------------------------------------------- */

/* Takes the next intent; NULL: there is none. It says all that is needed to carry it out, and is
 * valid, with all it points to, until the next call of any gate function; INTENT_BATCH until it is
 * answered. */
const struct intent *gate_take_intent(struct gate *g);

/* ---- Answers: each intent gets exactly one, unless the gate is freed first ------------------- */

void gate_answer_lease(
	struct gate *g, uint64_t id, enum ledger_outcome o, const struct ledger_lease *l);
void gate_answer_load(struct gate *g, uint64_t id, enum ledger_outcome o,
	const struct ledger_reservation *holds, size_t n);
/* Takes an answer: with LEDGER_DONE, a result for each operation of the batch, in order. */
void gate_answer_batch(struct gate *g, uint64_t id, enum ledger_outcome o,
	const struct ledger_result *results, size_t n);

enum job_outcome {
	JOB_DONE,     /* 2xx: the PATCH landed, the GET has it */
	JOB_REFUSED,  /* a test failed (or 409): this PATCH did not and cannot land */
	JOB_GONE,     /* 404: no such Job */
	JOB_BUSY,     /* 429, 503 and the like: not applied, come again after retry_ms */
	JOB_DENIED,   /* 403 or rejected as invalid: not applied, asking again does not help */
	JOB_IN_DOUBT, /* no answer: the PATCH may have landed, or may still land */
};

struct job_answer {
	enum job_outcome outcome;
	int64_t retry_ms; /* JOB_BUSY */
	const struct job
		*job; /* JOB_DONE: the Job as it now is (NULL for INTENT_PODS and _NAMESPACE) */
	size_t pods;  /* INTENT_PODS, JOB_DONE */
	/* INTENT_PODS with_nodes: the node of each pod that the Job controls, except pods that have
	 * none or are being deleted. */
	const char *const *node;
	size_t nnodes;
	int64_t adopt_begun_by_ms; /* INTENT_NAMESPACE, JOB_DONE: of ADOPT_ANNOTATION; 0: nothing */
	const char *sentence;	   /* the server's, with another outcome than JOB_DONE; or NULL */
};

void gate_answer_job(struct gate *g, uint64_t id, const struct job_answer *a);

/* ---- What people and operators ask ----------------------------------------------------------- */

bool gate_deposed(const struct gate *g); /* our epoch is over: end the process */
/* Tells whether a list or an answer had a Job older than it was known: nothing known here holds. */
bool gate_store_went_back(const struct gate *g);
bool gate_leading(const struct gate *g); /* holds adopted, deciding */
int64_t gate_epoch(const struct gate *g);

enum note_kind {
#define NOTE(kind, ...) NOTE_##kind,
#include "controller/gate/notes.def"
};

const char *note_kind_name(enum note_kind k);

struct note {
	enum note_kind kind;
	int64_t at_ms;
	struct uid uid;
	const char *ns, *name, *clusterqueue; /* "" when the note is about no Job */
	int32_t attempt;
	int64_t waited_ms;  /* NOTE_START: since the Job was queued */
	const char *reason; /* NOTE_STOP, NOTE_WARN, NOTE_CUT_SHORT: one word, static: "Preempted",
				   "PodsReadyTimeout", "Deleted" ...; NOTE_TROUBLE, NOTE_TROUBLE_OVER:
				   a word of trouble.h; NOTE_REFUSE: "RefusedByServer", or "" where the
				   ledger refused; NOTE_WAIT: why, unless as last told; else "" */
	const char *preemption; /* NOTE_STOP: why the run was preempted, static; else "" */
	const char *preempting; /* NOTE_STOP: the ClusterQueue it was preempted for; else "" */
	bool on_hold;	 /* NOTE_STOP: the Job does not come back by itself (sluice.dev/hold) */
	int64_t lost_ms; /* NOTE_STOP: pod-milliseconds of work lost; NOTE_WARN: that the stop
				   will lose */
	int64_t cost;	 /* NOTE_RELEASE: what the run cost, in millionths */
	const char *currency; /* of cost, the queue's string; "" when the run has no price */
	char text[800];	      /* plain words */
};

/* Takes the next note, valid until the next call of any gate function; or NULL. */
const struct note *gate_take_note(struct gate *g);

struct gate_counts {
	size_t jobs;	    /* known, whatever the phase */
	size_t by_phase[8]; /* in the order of the phases above */
	uint64_t starts, stops, finishes, voids, refusals, held, batches, operations;
	/* Jobs that can never start (sluice.dev/on-dependency-failure). */
	uint64_t never_held, never_deleted;
	uint64_t queued_operations; /* made, not yet durable */
};
void gate_count(const struct gate *g, struct gate_counts *ret);

/* A mass of Jobs that run without a reservation, and are left alone for now; nothing starts. */
struct gate_mass_stop {
	size_t jobs, running; /* these Jobs; all that run */
	int64_t left_ms;      /* until the mass is stopped */
};
bool gate_mass_stop(const struct gate *g, struct gate_mass_stop *ret);

/* Tells whether nothing starts for a while, since the ledger failed over or was restored
 * (adoption.c). */
bool gate_settling(const struct gate *g, int64_t *ret_left_ms);

/* Says that the ledger is away since then (wall clock; the first of several calls counts), or with
 * 0 that it is there. Jobs that wait are explained by that, unless a person must change something
 * anyway. */
void gate_tell_ledger_down(struct gate *g, int64_t since_ms);
int64_t gate_ledger_down_ms(const struct gate *g); /* since when; 0: the ledger is there */

/* Explains a Job by name with the phase taken into account: while the Job starts, stops or drains
 * the gate knows more than the queue. False when unknown. */
bool gate_explain(const struct gate *g, const char *ns, const char *name, int64_t now_ms,
	struct explanation *ret);

/* Names the state of a Job that gate_explain() knows: "Waiting", "Starting", "Running", "Stopping",
 * "Deleting" or "Ended". */
const char *gate_state(const struct gate *g, const char *ns, const char *name);

/* A Job that is managed and has not ended: gate_explain() knows it, but in its first moments. */
struct gate_listed {
	struct uid uid;
	const char *ns, *name;
	const char *state;		/* as gate_state() */
	int64_t created_ms, started_ms; /* 0: not known; when its run began, if it has one */
	const struct label_set *labels; /* NULL: none, or too many to be kept */
	const char *submitted_by;	/* the user's name; NULL when it is not known */
	int64_t overdue_ms; /* when its run ended, if pods of it should long be gone; else 0 */
};
/* Calls each for every such Job, in no order. What j points to is good as long as nothing is told
 * to the gate. */
void gate_each_job(const struct gate *g,
	void (*each)(const struct gate_listed *j, bool is_deferred, void *ctx), void *ctx);
/* Finds the newest of that name. False where gate_explain() knows none, or it has ended. */
bool gate_find_listed(
	const struct gate *g, const char *ns, const char *name, struct gate_listed *ret);

/* Tells what the Job's run has cost. False when the Job does not run, or is unknown. */
bool gate_bill(const struct gate *g, const char *ns, const char *name, int64_t now_ms,
	struct run_bill *ret);

/* A run that has started and still holds its quota, with what it has cost so far. */
struct gate_run {
	const char *ns, *name, *clusterqueue, *localqueue;
	const char *owner, *labels; /* as RESERVE has them: labels is JSON, or NULL */
	const char *submitted_by;   /* the user's name; NULL when it is not known */
	int64_t started_ms, ran_ms;
	int64_t lost_ms; /* the work that its stop loses; 0: it was not stopped */
	bool estimated;	 /* when it began is not known, nor what it costs */
	struct run_cost bill;
};
/* The runs that are asked for: all that started in [from_ms, to_ms). Tenants ask again and again
 * for those of their namespace, so no other run is billed for the answer. */
struct gate_runs_asked {
	const char *ns; /* NULL: all namespaces */
	int64_t from_ms, to_ms;
	int64_t now_ms;
};
/* Calls each for every such run, in the order in which their Jobs were first seen; for none unless
 * it leads. What run points to is good for the call. */
void gate_each_run(struct gate *g, const struct gate_runs_asked *a,
	void (*each)(const struct gate_run *run, void *ctx), void *ctx);

/* ---- Pods that are stuck ---------------------------------------------------------------------
 *
 * Facts about pods and refusals go straight into the gate's troubles (trouble.h). They are wanted
 * while the gate leads and some run has lacked pods for a while; else they need not be followed. */

struct troubles *gate_troubles(struct gate *g);
/* Keeps the refusal of a Job that starts or runs; drops all others. */
void gate_see_refusal(struct gate *g, const struct trouble_refusal *r);
bool gate_wants_pods(const struct gate *g);
bool gate_wants_refusals(const struct gate *g);

struct gate_trouble {
	const char *ns, *name, *clusterqueue;
	enum trouble_word word;
	int32_t pods, of; /* pods that are stuck; pods that the run needs */
	int64_t since_ms;
	const char *message;
};
/* Finds the trouble of a Job's run. False: none is known, or the Job is not. */
bool gate_job_trouble(
	const struct gate *g, const char *ns, const char *name, struct gate_trouble *ret);
/* Calls each for runs in trouble, in the order in which they began to lack pods. What x points to
 * is good for the call. */
void gate_each_trouble(
	const struct gate *g, void (*each)(const struct gate_trouble *x, void *ctx), void *ctx);

/* Tells whether a Job is on the watch, has not ended, and is told to the queue
 * (queue_see_predecessor()). */
bool gate_follows_job(const struct gate *g, const struct uid *uid);

/* Tells whether evicted pods are no failures of the Job (its podFailurePolicy ignores
 * DisruptionTarget). False if it is unknown. */
bool gate_job_ignores_disruption(const struct gate *g, const struct uid *uid);

/* Returns a Job's story annotation as last seen, valid until the next call; NULL: none, or
 * unknown. */
const char *gate_story(const struct gate *g, const char *ns, const char *name);

#endif
