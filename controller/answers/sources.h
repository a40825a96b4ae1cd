/*
 * The sources of answers: the parts of a controller that know them, and what its loop alone knows.
 * The parts and the state are borrowed: they go after the answers do.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_SOURCES_H
#define SLUICE_CONTROLLER_ANSWERS_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

#include "controller/answers/leadership.h"

/* The state that only the loop knows; read at each request. */
struct loop_state {
	bool stopping;		    /* the controller was told to stop */
	const char *ledger_trouble; /* why the ledger is away; "" while it is up */
};

struct answer_sources {
	struct ev_loop *loop;
	struct log *log;
	struct kube_client *client;
	struct queue *queue;
	struct gate *gate;
	struct pg *pg;		     /* for decisions: is the ledger up? */
	struct forecasts *forecasts; /* NULL: --forecasts off */
	struct reviews *reviews;     /* NULL: the same */
	struct past_questions *past_questions;
	struct time_specs *time_specs;
	const struct job_context *job_context; /* for decode_job() */
	const struct dispatcher *dispatcher;
	const struct counters *counters;
	const struct decision_log *decision_log;
	const struct overcommit_controller *overcommit_controller; /* NULL: no Node is followed */
	const struct informer *informer;			   /* may pods be read? */
	const char *identity;					   /* of this controller */
	bool fair_sharing;
	const struct loop_state *state;
};

/* Says which controller leads, as of this turn of the loop. */
struct leadership sources_leadership(const struct answer_sources *s);

#endif
