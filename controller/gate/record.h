/*
 * Private to the gate: its own record of a Job, and what its files share.
 *
 * gate.c is the life of the gate (lease, takeover, pass, routing of answers); observe.c is what is
 * seen of Jobs; phase.c is the life of an attempt, of which attempt.c opens and closes the books,
 * stop_reason.c has the reasons and requests.c the talk with the API server. Those four never look
 * at another Job, the others never at a phase's details. scale_down.c is of a run that goes on with
 * fewer pods; note.c and view.c are for people.
 */
#ifndef SLUICE_CONTROLLER_GATE_RECORD_H
#define SLUICE_CONTROLLER_GATE_RECORD_H

#include "base/map.h"
#include "controller/gate/due.h"
#include "controller/gate/gate.h"
#include "controller/gate/outbox.h"

enum phase {
	PHASE_WAITING,
	PHASE_RESERVING,
	PHASE_STARTING,
	PHASE_FENCING,
	PHASE_RUNNING,
	PHASE_STOPPING,
	PHASE_DRAINING,
	PHASES
};

/* The newest that was observed of a Job, reduced to what the protocol asks. */
struct facts {
	int64_t generation, version;
	bool suspend, by_person, resumed_by_other, deleting, finished, failed, has_annotations;
	bool uncontrolled; /* as in struct job */
	bool work_queue;   /* no completions: after a success the Job controller ends no pod */
	bool managed;	   /* ours, as the gate's options have it */
	bool quiet;	   /* job_quiet() */
	/* Of a run that was, pods may be left: it is not started anew until then. */
	bool leaving;
	bool start_seen; /* not suspended, and the status says the Job controller knows */
	enum story_state story_state;
	int32_t story_attempt;
	int32_t pods;	 /* job_pods() */
	int32_t present; /* active and terminating: pods there are, needed or not */
	int32_t active;	 /* before the Job controller read of a stop: the work that loses */
	bool ready;	 /* it runs, and as many pods as it needs are ready, or have ended well */
	int32_t lacks;	 /* it runs, and so many pods of those it needs are not ready now */
	int32_t parallelism, owner_parallelism, owner_completions; /* as in struct job */
	bool completions_follow;
	bool reapplied; /* as in struct job */
	bool ignores_disruption;
	bool rewritable; /* it may run on idle room, but need not */
	int64_t created_ms, start_ms;
	struct job_history history; /* as the story tells it */
	int64_t stopping_at_ms;	    /* what it was told of its stop; 0: nothing */
	int64_t finished_ms;
	bool held;		  /* the annotation sluice.dev/hold is there */
	int32_t annotation_bytes; /* of its owner's */
	bool has_notice;
	enum wait_reason notice; /* its kind; WAIT_NOT when there is none, or not one of ours */
};

struct gate_job {
	struct uid uid;
	char *ns, *name;	  /* name lies behind ns, in one block */
	const char *clusterqueue; /* of the current or last attempt; the queue's string, or "" */
	struct gate_job *prev, *next; /* all Jobs, in the order they were first seen */
	struct gate_job
		*next_dirty; /* those to reconcile in this pass; leave by being reconciled */
	bool dirty;

	struct facts seen;
	char *story;	  /* the annotation's text, NULL when absent */
	char *queue;	  /* the label's value */
	char *family;	  /* what it and its like have in common; NULL when it is one of a kind */
	char *labels;	  /* those that its bills carry, as JSON; NULL when it has none of them */
	char *finalizer;  /* it is being deleted, and that keeps it; NULL: nothing does */
	char *trouble;	  /* what its story tells of it; NULL: it stopped without, or runs */
	uint64_t in_list; /* number of the last complete list it was in */
	bool lost;     /* not on the watch: deleted, or its label was taken off; a GET will tell */
	bool fetching; /* it was deferred, has its turn, and nothing of it was read yet */
	bool gone;     /* a GET said that there is no such Job */
	bool spared;   /* it is of a mass that is not stopped yet, or not gone yet (mass_stop.c) */

	enum phase phase;
	int32_t attempt;      /* the current one, or the last */
	bool has_reservation; /* the ledger has, or will have, an open reservation for `attempt` */
	bool committed;	      /* COMMIT was made */
	uint64_t after_lease; /* not to be written to before this many lease requests were confirmed
			       */
	bool acked;	      /* the Job controller has seen the start of this attempt */
	bool sent;	      /* a start PATCH of this attempt went out */
	bool doubt;	      /* one of them may still land */
	bool told_ledger;     /* STOP was made */
	bool call_off;	      /* somebody wants it not to run */
	bool need_read;	      /* what we know may be old: GET before the next write */
	int32_t held_pods;    /* how many pods the reservation is for */
	int64_t generation;   /* the decision was made on */
	bool moved;	      /* the queue label or the story changed since the decision */
	const char *reason;   /* why it ends; static text, "" while it goes on */
	const char *actor;    /* who ended it */
	const char *preemption; /* why it was preempted; static text, "" when it was not */
	char *preemptor;  /* "namespace/name" of the Job that needs its room; NULL: none, or another
			     namespace's */
	char *preempting; /* the ClusterQueue of that, or NULL */
	const char *message; /* a sentence to go with reason; static, or in sentence; or NULL */
	char *sentence;
	char *pod_trouble; /* what kept its pods when it was stopped, a sentence, or NULL */
	const char
		*hold; /* what ends it puts it on hold with this; static, or in sentence; or NULL */
	/* What holds it is to be told on it still: until then it is held here, and when that is
	 * refused, too, until its owner changes it. */
	bool hold_owed, hold_refused;
	uint8_t restless; /* starts of late that came to nothing by its owner's doing */
	unsigned denials; /* starts in a row that the API server refused */
	/* As it was when last refused: another one may be started. */
	int64_t denied_generation;
	int32_t denied_bytes;
	int32_t restless_s;	/* the last of these, by tick_ms, in seconds */
	unsigned short_of_room; /* PATCHes were refused: 1, the story is to be short; 2, no hold
				   goes with a stop either */
	bool finish_noted;	/* while it drains: its NOTE_FINISH was made, by us or before us */
	bool told_ready;	/* the queue was told that its pods are ready */
	struct stuck *stuck;	/* it runs and lacks pods (stuck.c); or NULL */
	bool well;		/* since we know it, this run had all its pods ready once */
	int64_t not_before_ms;	/* after a call-off */
	unsigned reapplied;	/* runs in a row, none of them long, that a manifest suspended */
	int64_t barred_ms;	/* by tick_ms: not queued again before, for that; 0: it is */
	int64_t warn_ms;	/* it is to be told that it will be stopped then; 0: it is not */
	bool warned;		/* a PATCH that says so went out in this attempt */
	int32_t narrow_to;	/* it is to go on with so few pods (scale_down.c); 0: with all */
	char *narrow_why;	/* a sentence, or NULL */
	const char *narrow_for; /* one word, static: why */
	int32_t wide;		/* spec.parallelism of this run when last looked at; 0: never */
	int64_t reserved_ms, started_ms, stopped_ms; /* by the clock on the wall */
	/* The rest by gate.tick_ms. */
	int64_t narrowed_ms; /* since then that is lower than it was, and pods too many may be left;
				0: none are */
	unsigned immutables; /* starts in a row that were refused as a change of what is immutable
			      */
	int64_t no_lending_ms; /* until then it is kept off idle room: the API server refused */
	bool retell;	   /* the queue is to be told of it once more, whether it is news or not */
	int64_t drains_ms; /* since then it is in PHASE_DRAINING */
	int64_t waits_ms;  /* since then it is in PHASE_WAITING; 0: since before we came */
	unsigned notices;  /* wanted since then, the last at: */
	int64_t noticed_ms;
	/* It ran without being admitted, and was stopped before the Job controller told of it. */
	bool ran_unseen;
	int64_t overdue_ms; /* when to complain about pods that do not go */

	/* The one request of this Job: wanted, then under way; alarm: when to try again. */
	bool wanting;
	enum intent_kind want;
	enum phase want_in; /* the phase it was wanted in */
	uint64_t request;   /* id under way, 0 for none */
	enum intent_kind asked;
	enum phase asked_in; /* the phase that was wanted in */
	int64_t asked_ms;
	bool asked_lost; /* it was off the watch when that was asked */
	struct gate_job *next_want;
	unsigned tries, refusals; /* of the API server in this phase; of the ledger in a row */
	int64_t retry_ms;	  /* no request before */
	int64_t look_ms;    /* while lost: when to GET it again; 0: it was not looked for yet */
	struct alarm alarm; /* when to look again */
};

/* Of a Job that runs with fewer pods ready than it needs. In gate.stuck_first, in the order in
 * which they came; they leave when all are ready, or the run ends. */
struct stuck {
	struct gate_job *job;
	struct stuck *prev, *next;
	int64_t lacks_ms;    /* since then, by tick_ms */
	struct trouble told; /* what is known to keep them; its message is: */
	char *message;
};

#define NOTICE_SIZE 512
#define DELETION_SIZE 640

enum role {
	ROLE_STANDBY, /* has no lease */
	ROLE_LOADING, /* has it; waits for the lists, then for the open reservations */
	ROLE_LEADING,
	ROLE_DEPOSED,
};

/* See mass_stop.c. */
struct mass_stop {
	int64_t after_ms; /* 0: never */
	enum mass_stop_stage {
		MASS_STOP_NONE,
		MASS_STOP_WAITS, /* they run on */
		MASS_STOP_STOPS, /* they are being stopped; starts wait for their pods to go */
	} stage;
	size_t spared, running;
	int64_t until_ms, look_ms, said_ms; /* by tick_ms */
};

struct note_item {
	struct note_item *next;
	struct note note;
	char names[]; /* of the Job, and of ClusterQueues, which may be gone by now */
};

struct gate {
	struct queue *queue;
	char *identity;
	int64_t lease_ms, drain_doubt_ms;
	uint64_t random;
	bool (*manages)(void *ctx, const struct job *j); /* NULL: who names a queue */
	void *ctx;
	const struct bill_labels *bill_labels;
	/* Two clocks. What is decided, written and told goes by the one on the wall, which may step
	 * by hours either way. All pauses and the lease go by tick_ms, which only goes on: else a
	 * step back would keep the lease from being renewed, and a step forward would have a status
	 * believed that is too old to be. */
	int64_t now_ms, tick_ms;

	enum role role;
	int64_t epoch;
	bool synced;
	bool blind; /* Jobs are not followed just now */
	int64_t lease_due_ms;
	int64_t lease_sent_ms, lease_until_ms; /* the last request; what a confirmed one gave us */
	uint64_t lease_asked,
		lease_confirmed; /* number of the last request; of the last confirmed */
	bool lease_awaited;	 /* some Job waits for a confirmation */
	uint64_t lease_request, load_request, batch_request; /* under way, 0 for none */
	int64_t load_due_ms, batch_due_ms;
	unsigned batch_tries;
	uint64_t next_id;

	struct map by_uid;
	struct map by_request;
	struct gate_job *first, *last;
	struct gate_job *dirty, **dirty_tail;
	struct gate_job *want, **want_tail;
	uint64_t list; /* number of the list being read, or last read */
	bool retell;   /* the queue is told of what it brings whether it is news or not */
	struct due due;
	int64_t decide_due_ms;

	struct troubles *troubles;
	int64_t stuck_after_ms; /* 0: nobody looks */
	int64_t stuck_due_ms;	/* when the list is looked at next */
	struct stuck *stuck_first, *stuck_last;
	bool wants_pods, wants_refusals;

	struct mass_stop mass_stop;

	int64_t note_after_ms, notices_due_ms;
	struct gate_job *notice_at; /* who is looked at next; NULL: begin anew */
	char notice[NOTICE_SIZE];   /* the text of the intent taken last */

	struct outbox outbox;
	struct intent intent; /* the one taken last */
	struct intent
		batch_intent; /* of the batch under way: stays as it is until it is answered */
	struct quota_line lines[QUEUE_LINES_MAX];
	struct run_bill bill; /* of the run that is being released */
	bool lease_wanted, load_wanted, batch_wanted;

	struct note_item *notes, **notes_tail; /* not yet taken, oldest first */
	size_t nnotes;
	size_t nfetching;	    /* Jobs */
	struct note_item *note_out; /* the one that was taken last */

	struct gate_counts counts;
};

/* ---- observe.c ------------------------------------------------------------------------------- */

struct gate_job *gate_find_job(const struct gate *g, const struct uid *uid); /* or NULL */
void gate_mark_dirty(struct gate *g, struct gate_job *j);
struct gate_job *gate_add_job(
	struct gate *g, const struct uid *uid, const char *ns, const char *name);
void gate_forget_job(struct gate *g, struct gate_job *j); /* frees j */
void gate_free_job(struct gate_job *j);			  /* when all go */
/* Reads Jobs again that were too many, as far as there is a place for them now
 * (queue/model/overflow.h); and the other way round: of one that waits, true when it was deferred,
 * and is no more. */
void gate_fetch_deferred(struct gate *g);
bool gate_defer_job(struct gate *g, struct gate_job *j);
/* One that is being fetched, and nothing can be read of it: later, so that others have a turn. */
void gate_return_deferred(struct gate *g, struct gate_job *j); /* frees j */
/* What an answer to a request of ours had of it. */
void gate_see_answer(struct gate *g, struct gate_job *j, const struct job *seen);

/* ---- gate.c ---------------------------------------------------------------------------------- */

void gate_want(struct gate *g, struct gate_job *j, enum intent_kind kind);
/* Asks now whether the lease is still ours, for the sake of a Job (after_lease). */
void gate_confirm_lease(struct gate *g);
/* A request of that kind would write to a Job that a successor of ours may lead. */
bool gate_doubts_lease(const struct gate *g, const struct gate_job *j, enum intent_kind kind);
/* No confirmation came for so long that a successor may lead by now. */
bool gate_lease_ran_out(const struct gate *g);
/* Looks at the Job again when tick_ms is that, if not before. */
void gate_alarm(struct gate *g, struct gate_job *j, int64_t at_ms);
/* Tries again after a pause that doubles with each try (at most limit_ms), spread by a quarter. */
void gate_back_off(struct gate *g, struct gate_job *j, int64_t first_ms, int64_t limit_ms);
int64_t gate_spread(struct gate *g, int64_t ms);
void gate_operate(struct gate *g, struct gate_job *j, enum ledger_kind kind, int64_t lost_ms);

/* ---- note.c ---------------------------------------------------------------------------------- */

/* Returned so that its numbers can be filled in; borrowed until the next call. */
struct note *gate_note(struct gate *g, enum note_kind kind, const struct gate_job *j,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* ---- waiting_note.c -------------------------------------------------------------------------- */

void notice_tick(struct gate *g);
void notice_answered(struct gate *g, const struct gate_job *j);
/* The reason that a notice begins with; WAIT_NOT when it begins with none. */
enum wait_reason notice_kind(const char *text);
/* "OutsideWindow: sentence; not before TIME (as of TIME)". */
void notice_words(const struct explanation *x, int64_t now_ms, struct buf *out);
void notice_format(struct gate *g, const struct gate_job *j, char *ret, size_t size);

/* ---- stop_notice.c --------------------------------------------------------------------------- */

void warning_decided(struct gate *g, struct gate_job *j, const struct decision *d);
/* Of a Job that runs and is not to stop now: asks for the PATCH that is due, if one is. */
void warning_see_to(struct gate *g, struct gate_job *j);
/* Yours: what stops it, in a sentence; NULL when the reason says it all. */
char *warning_sentence(enum stop_reason r, const char *policy);

/* ---- view.c ---------------------------------------------------------------------------------- */

/* Of a Job that waits: says that idle room is closed to it, if it is. */
void explain_lending(const struct gate *g, const struct gate_job *j, struct explanation *x);

/* ---- scale_down.c ---------------------------------------------------------------------------- */

/* A run begins, with so many pods at most; and ends. */
void scale_down_begin(struct gate *g, struct gate_job *j, int32_t pods);
void scale_down_end(struct gate_job *j);
void scale_down_decided(struct gate *g, struct gate_job *j, const struct decision *d);
/* Of a Job that runs and is not to stop now: asks for the PATCH that is due. False: none is. */
bool scale_down_see_to(struct gate *g, struct gate_job *j);
/* Its owner's manifest was applied again: to as many pods as before. False: it was not. */
bool scale_down_again(struct gate *g, struct gate_job *j);
bool scale_down_still_wants(const struct gate_job *j);
void scale_down_tell(const struct gate_job *j, struct intent *i);
/* It cannot be told to: it is to stop instead. */
void scale_down_fails(struct gate *g, struct gate_job *j);
/* May there be more pods than what is seen of it tells? Then its reservation stays as it is. */
bool scale_down_in_doubt(struct gate *g, struct gate_job *j);
/* Are pods of it leaving while others stay? */
bool scale_down_some_leave(const struct gate_job *j);
/* Another version of the Job was seen; of the one before, some_left. */
void scale_down_seen(struct gate *g, struct gate_job *j, bool some_left);
/* They were counted: how many the reservation must be for. */
int32_t scale_down_counted(struct gate *g, struct gate_job *j, size_t pods);

/* ---- stuck.c --------------------------------------------------------------------------------- */

/* Of a Job that runs, whenever there is news of it. */
void stuck_see_to(struct gate *g, struct gate_job *j);
/* Its run ends: what kept its pods goes into j->pod_trouble, unless something stands there. */
void stuck_end(struct gate *g, struct gate_job *j);
void stuck_free(struct stuck *s);
void stuck_tick(struct gate *g);
/* False: nothing is known to keep its pods. */
bool stuck_trouble(const struct gate_job *j, struct gate_trouble *ret);
/* Of one that runs; of one that waits. */
void explain_stuck(const struct gate_job *j, int64_t now_ms, struct explanation *x);
void explain_pod_trouble(const struct gate_job *j, struct explanation *x);

/* ---- mass_stop.c ----------------------------------------------------------------------------- */

void mass_stop_begin(struct gate *g); /* the open reservations were adopted */
bool mass_stop_spares(const struct gate *g, const struct gate_job *j);
void mass_stop_tick(struct gate *g);
int64_t mass_stop_due_ms(const struct gate *g);
void explain_mass_stop(const struct gate *g, struct explanation *x);

/* ---- stop_reason.c --------------------------------------------------------------------------- */

extern const char SUSPENDED_BY_OTHER[], HOLD_BY_OTHER[];
extern const char SUSPENDED_BY_MANIFEST[], MANIFEST_SUSPENDS[];

/* It was suspended while it ran, and not by us. */
void job_ends_suspended(struct gate *g, struct gate_job *j);

/* The first reason is the reason. Both are static, or the gate's. */
void job_ends(struct gate_job *j, const char *reason, const char *actor);
void job_ends_decided(struct gate *g, struct gate_job *j, const struct decision *d);
/* The API server refused to start it, too often. */
extern const char REFUSED_BY_SERVER[];
void job_refused_for_good(struct gate *g, struct gate_job *j, const char *said);
/* As for a Job that has not been ended by anybody. */
void job_forgets_end(struct gate_job *j);
/* It is being deleted, or is deleted: what keeps its pods, and the cure; "" when nothing does. */
const char *deletion_words(const struct gate_job *j, char *ret, size_t size);
/* What ends its run puts it on hold. */
bool job_goes_on_hold(const struct gate_job *j);
/* More than the reason says, or NULL. */
const char *job_stop_message(const struct gate_job *j);
/* The work a stop at that time would throw away: pods that are active, times how long the attempt
 * will have run. */
int64_t job_loses_ms(const struct gate_job *j, int64_t until_ms);
/* What its stop has thrown away. */
int64_t job_lost_ms(const struct gate *g, const struct gate_job *j);

/* ---- attempt.c ------------------------------------------------------------------------------- */

void job_decided(struct gate *g, struct gate_job *j, const struct decision *d);
void job_adopt(struct gate *g, struct gate_job *j, const struct ledger_reservation *h);
void job_reserved(struct gate *g, struct gate_job *j, const struct ledger_result *r);
/* The start landed: it runs. */
void attempt_run(struct gate *g, struct gate_job *j);
/* How many pods its reservation is for, of a run that another leader started. */
int32_t attempt_pods(const struct gate *g, const struct gate_job *j);
/* So many pods are left to it at most. */
void attempt_shrink(struct gate *g, struct gate_job *j, int32_t pods);
/* A start came to nothing by its owner's doing: the pause until the next, often 0. */
int64_t attempt_restless_ms(struct gate *g, struct gate_job *j);
/* It never began, and cannot any more. */
void attempt_call_off(struct gate *g, struct gate_job *j);
/* It ended: what it holds is kept until its pods are gone; then it is given back. */
void attempt_drain(struct gate *g, struct gate_job *j);
void attempt_release(struct gate *g, struct gate_job *j);
/* It ran without a reservation, and was stopped. */
void attempt_note_intruder(struct gate *g, struct gate_job *j);
/* Its owner's end, once a run. */
void attempt_note_finish(struct gate *g, struct gate_job *j);
/* Says now and then that pods are left for too long. */
void attempt_complain(struct gate *g, struct gate_job *j);

/* ---- requests.c ------------------------------------------------------------------------------ */

/* The story and the extra text that the intent of this Job carries. */
void job_tell(struct gate *g, struct gate_job *j, struct intent *i);
void job_answered(
	struct gate *g, struct gate_job *j, enum intent_kind asked, const struct job_answer *a);

/* ---- phase.c --------------------------------------------------------------------------------- */

void job_reconcile(struct gate *g, struct gate_job *j); /* may free j */
/* The only writer of phase. */
void job_enter(struct gate *g, struct gate_job *j, enum phase next);
bool job_busy(const struct gate_job *j);
/* Asks for kind, unless something is under way or a pause is on. */
void job_request(struct gate *g, struct gate_job *j, enum intent_kind kind);
void job_pause(struct gate *g, struct gate_job *j, int64_t at_ms);
/* False when the facts have overtaken the wish. */
bool job_still_wants(const struct gate_job *j);
/* Resumed by others with pods that are more than is reserved for them. */
bool job_is_another(const struct gate *g, const struct gate_job *j);
/* It has no story, and its spec was changed since the decision (made on generation 1, as far as a
 * later leader knows): the start may have landed, and nothing on the Job would tell. */
bool job_story_is_lost(const struct gate_job *j);
/* So many there are, or may be made at any time. */
int32_t job_pods_in_sight(const struct gate_job *j);

#endif
