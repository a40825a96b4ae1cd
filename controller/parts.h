/*
 * The parts of a controller, made in the order in which they need each other, and freed so that no
 * part goes before one that may still call it.
 *
 * They know each other by their options alone. controller.c does with them what the event loop
 * needs.
 */
#ifndef SLUICE_CONTROLLER_PARTS_H
#define SLUICE_CONTROLLER_PARTS_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "controller/answers/sources.h"
#include "controller/common/log.h"
#include "controller/options.h"
#include "controller/wire/decode.h"

/* What parts tell the loop. */
struct parts_events {
	void (*changed)(void *ctx); /* a fact came in: a pass is due */
	void (*ledger_state)(bool up, const char *sentence, void *ctx); /* as pg_options.state */
	void *ctx;
};

struct parts {
	const struct options *options;
	struct log *log;
	struct ev_loop *loop;
	struct parts_events told; /* what the loop hears of them */

	/* the API server */
	struct kube_config *config;
	struct kube_client *client;
	struct kube_shared_watch *nodes, *pods; /* read by the informer and by overcommit */

	/* what is decided, and where it is kept */
	struct queue *queue;
	struct recorder *recorder; /* NULL: nothing is recorded */
	struct gate *gate;
	struct pg *pg; /* for decisions; the others: pg.h */
	struct pg *background, *reports;
	struct retention *retention;
	struct forecasts *forecasts;	       /* when Jobs start; NULL: --forecasts off */
	struct reviews *reviews;	       /* what would change that; NULL: --forecasts off */
	struct past_questions *past_questions; /* what people ask of the past, at both ports */

	/* facts in */
	struct job_scope *job_scope;
	struct zones *zones;
	struct job_context job_context; /* for decode_job() */
	struct time_specs *time_specs;
	struct informer *informer;
	struct stuck_pods *stuck_pods;
	struct predecessors *predecessors;

	/* intents and reports out */
	struct dispatcher *dispatcher;
	struct status_writer *status_writer;
	struct finalizers *finalizers;
	struct events *events;
	struct decision_log *decision_log;
	struct counters *counters;

	/* lent resources */
	struct overcommit_controller *overcommit_controller;
	struct history *history;
	struct node_agents *node_agents; /* made by agents.h; NULL: --node-listen off */
};

/* Makes all parts. options, log and loop are set before, and are borrowed until parts_close(). On
 * an error, a sentence that names the flag, parts_close() still frees what was made so far. */
int parts_open(struct parts *p, const struct parts_events *events, struct err *e);
void parts_close(struct parts *p);

/* Gives what answers are made from; p and state are borrowed by it. */
struct answer_sources parts_sources(const struct parts *p, const struct loop_state *state);

/* Gives the time of this turn of the loop, by the clock on the wall. */
int64_t parts_now_ms(const struct parts *p);

#endif
