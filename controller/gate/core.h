/*
 * The core of the gate, private to it: the body of struct gate, and the services that every part uses.
 * core.c calls no part. Of Jobs it has pointers only: record.h has their body, job_table.h finds them.
 *
 * Calls in this folder go one way (the test gate_rings): gate.c, view.c -> phase.c -> requests.c,
 * observe.c -> attempt.c and the parts beside it (one noun a file) -> stop.c -> core.c, refusals.c,
 * note.c, stop_words.c, job_table.c.
 */
#ifndef SLUICE_CONTROLLER_GATE_CORE_H
#define SLUICE_CONTROLLER_GATE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/siphash.h"
#include "controller/gate/adoption.h"
#include "controller/gate/due.h"
#include "controller/gate/gate.h"
#include "controller/gate/label_set.h"
#include "controller/gate/mass_stop.h"
#include "controller/gate/note.h"
#include "controller/gate/outbox.h"
#include "controller/gate/outcome_note.h"
#include "controller/gate/provision.h"
#include "controller/gate/stuck.h"
#include "controller/gate/waiting_note.h"

struct gate_job;

enum role {
	ROLE_STANDBY, /* has no lease */
	ROLE_LOADING, /* has it; waits for the lists, then for the open reservations */
	ROLE_LEADING,
	ROLE_DEPOSED,
};

/* The lease, by tick_ms. */
struct lease_state {
	int64_t ms; /* the lease's length */
	int64_t due_ms;
	int64_t sent_ms, until_ms; /* of the last request; how long the lease is ours */
	uint64_t asked, confirmed; /* number of the last request; of the last confirmed one */
	bool awaited;		   /* some Job waits for a confirmation */
	bool wanted;
	uint64_t request; /* the one under way; 0: none */
};

struct load_state {
	uint64_t request;
	int64_t due_ms;
	bool wanted;
};

struct batch_state {
	uint64_t request;
	int64_t due_ms;
	unsigned tries;
	bool wanted;
	struct intent intent; /* unchanged until it is answered */
};

struct job_queue {
	struct gate_job *first, **tail;
};

/* The intent that was taken last, and what it points to. */
#define TEMPLATE_FAULT_SIZE 512
struct taken {
	struct intent intent;
	struct quota_line lines[QUEUE_LINES_MAX];
	/* The directives of its template, as the owner wrote them and as the run has them. */
	struct directives_text own_directives, run_directives;
	struct arena edit;
	char fault[TEMPLATE_FAULT_SIZE];
	char provision_name[UID_TEXT_SIZE + 24];
};

struct gate {
	struct queue *queue;
	char *identity;
	int64_t drain_doubt_ms;
	uint64_t random;
	bool (*manages)(void *ctx, const struct job *j); /* NULL: Jobs that name a queue */
	void (*came)(void *ctx, const struct job *j);	 /* as in gate_options */
	void (*ended_well)(void *ctx, const struct job_outline *o, int64_t ran_ms);
	struct likely_start (*likely_start)(
		void *ctx, const struct uid *uid, const struct explanation *x);
	void *ctx;
	const struct bill_labels *bill_labels;
	/* Two clocks. What is decided, written and told goes by the one on the wall, which may step
	 * by hours either way. All pauses and the lease go by tick_ms, which only goes on. Else a
	 * step back would keep the lease from being renewed, and after a step forward a status that
	 * is too old would be believed. */
	int64_t now_ms, tick_ms;

	enum role role;
	int64_t epoch;
	int64_t epoch_seen; /* the highest epoch in any story */
	bool synced;
	bool blind;	    /* Jobs are not followed just now */
	int64_t written_ms; /* by tick_ms: the last write to a Job that landed; see failing.c */
	struct lease_state lease;
	struct load_state load;
	struct batch_state batch;
	uint64_t next_id;

	struct label_sets label_sets;
	struct map by_uid;
	struct siphash_key name_key;
	struct map by_name; /* the newest Job of each name; gate_job.namesake leads to older ones */
	struct map by_request;
	struct gate_job *first, *last;
	struct job_queue dirty, want;
	uint64_t list; /* number of the list being read, or last read */
	bool listing;  /* that list is under way */
	bool went_back;
	bool retell; /* the queue is told of each Job of the list, news or not */
	struct due due;
	int64_t decide_due_ms;

	struct troubles *troubles;
	struct rejections *rejections;
	struct stuck_list stuck;
	struct adoption adoption;
	struct provisions provisions;
	struct mass_stop mass_stop;
	int64_t ledger_down_ms; /* wall clock: since when the ledger is away; 0: it is there */
	struct siphash_key story_key; /* from the ledger, with the lease */
	struct story_reader *story_reader;

	struct notices notices;
	struct outcome_notes outcome_notes;

	struct outbox outbox;
	struct taken taken;
	struct run_bill bill; /* of the run that is being released */

	struct note_queue notes;
	size_t nfetching; /* deferred Jobs that are being read */

	struct gate_counts counts;
};

/* ---- Chance and time ------------------------------------------------------------------------- */

/* Returns ms, or up to a quarter more. */
int64_t gate_spread(struct gate *g, int64_t ms);
/* Looks at the Job again when tick_ms is that, if not before. */
void gate_alarm(struct gate *g, struct gate_job *j, int64_t at_ms);
/* Tries again after a pause that doubles with each try (at most limit_ms), spread by a quarter. */
void gate_back_off(struct gate *g, struct gate_job *j, int64_t first_ms, int64_t limit_ms);
/* Tells whether the API server has better to do, with so many starts, than to take notes. */
bool gate_is_busy(const struct gate *g);
/* Reconciles the Job in this pass. */
void gate_mark_dirty(struct gate *g, struct gate_job *j);

/* ---- What is asked of the API server for a Job ----------------------------------------------- */

/* Tells whether a request about the Job is wanted or under way, and of which kind. */
bool job_busy(const struct gate_job *j);
enum intent_kind job_busy_with(const struct gate_job *j);
/* Tells whether the Job waits, is on the watch and suspended. */
bool job_waits(const struct gate *g, const struct gate_job *j);
/* Tells whether the Job runs, is on the watch, and is not to stop. */
bool job_goes_on(const struct gate *g, const struct gate_job *j);
/* Asks for kind, unless something is under way or a pause is on. */
void job_request(struct gate *g, struct gate_job *j, enum intent_kind kind);
/* Asks for kind whatever pause is on. Nothing may be under way. */
void gate_want(struct gate *g, struct gate_job *j, enum intent_kind kind);
/* Asks for nothing until tick_ms is at_ms; for ms, spread by a quarter. */
void job_pause(struct gate *g, struct gate_job *j, int64_t at_ms);
void job_rest(struct gate *g, struct gate_job *j, int64_t ms);
/* Begins to count the tries, and the refusals among them, anew. */
void request_begin_tries(struct gate_job *j);
/* Counts a JOB_REFUSED. Tells whether there were too many in this phase to be races that we lost. */
bool request_count_refused(struct gate_job *j);
/* Counts the pods that there are, or that may be made at any time. */
int32_t job_pods_in_sight(const struct gate_job *j);
/* Makes room for directives as large as the API server takes; gives it back. */
void directives_text_init(struct directives_text *t);
void directives_text_done(struct directives_text *t);

/* ---- The ledger, and the lease --------------------------------------------------------------- */

/* Makes an operation; of a Job, for what is done now. Copies what the outbox copies. */
void gate_add_operation(struct gate *g, const struct ledger_op *op);
void gate_operate(struct gate *g, struct gate_job *j, enum ledger_kind kind, int64_t lost_ms);
/* Makes an operation for what was done at another time than now. */
void gate_operate_at(struct gate *g, struct gate_job *j, enum ledger_kind kind, int64_t at_ms);
/* Has the queue count a reservation as the Job's, whether or not it has the Job in its order. */
void gate_adopt_in_queue(struct gate *g, struct gate_job *j, const struct ledger_reservation *r);
/* Ends our epoch. */
void gate_depose(struct gate *g, const char *why);
/* Keeps the Job from being written to before the lease is confirmed once more. */
void gate_confirm_before(const struct gate *g, struct gate_job *j);
/* Asks now whether the lease is still ours, for the sake of a Job. */
void gate_confirm_lease(struct gate *g);
/* Tells whether a request of that kind would write to a Job that a successor of ours may lead. */
bool gate_doubts_lease(const struct gate *g, const struct gate_job *j, enum intent_kind kind);
/* Tells whether the lease ran out unconfirmed: a successor may lead by now. */
bool gate_lease_ran_out(const struct gate *g);
/* Tells whether nothing starts, because of a mass stop or an adoption; tells the queue so. */
bool gate_starts_pause(const struct gate *g);
void gate_pause_starts(struct gate *g);

#endif
