/*
 * The past, as people ask for it, from the ledger: what runs cost (cost.h), what Jobs did, each
 * run, and what a ClusterQueue held (answer.h).
 *
 * A question about a year of runs may take seconds, and no admission is to wait for it: requests to
 * the ledger go one at a time on a connection. Nor is a question about one Job to wait, so there
 * are two lanes: for what is read in milliseconds, beside the other work of the background, and for
 * all else (pg.h). Each has one question in the line of its connection at a time.
 *
 * All who ask have these lanes (answers/report.h). Tenants ask as often as they like, and an answer
 * takes time of the loop that starts Jobs: of costs, for each run that goes on. So few questions of
 * one namespace are taken at a time, namespaces take turns, and after each answer none is made for
 * ten times as long as it took.
 */
#ifndef SLUICE_CONTROLLER_PAST_PAST_QUESTIONS_H
#define SLUICE_CONTROLLER_PAST_PAST_QUESTIONS_H

#include "base/buf.h"
#include "controller/gate/gate.h"
#include "controller/past/past_query.h"

struct ev_loop;
struct log;
struct past_questions;
struct pg;

struct past_questions_options {
	struct pg *quick, *slow;   /* for what is read in milliseconds, and for all else */
	struct gate *gate;	   /* knows the runs that go on */
	struct log *log;	   /* told why the ledger cannot be read: callers are not */
	int64_t (*clock_us)(void); /* NULL: monotonic_us() */
};

struct past_questions *past_questions_new(
	struct ev_loop *loop, const struct past_questions_options *o);
/* Frees it; no question is answered any more. pg goes first, or is not turned meanwhile. */
void past_questions_free(struct past_questions *t);

/* Takes an answer. what: of the asker. body: JSON and a newline; NULL: no answer can be had, and
 * sentence says why and what to do. */
typedef void past_questions_answer_fn(
	int what, const struct buf *body, const char *sentence, void *ctx);

struct past_asker {
	past_questions_answer_fn *fn;
	void *ctx;
	int what;	   /* the question, in the asker's own words */
	const void *owner; /* for past_questions_forget() */
};

/* Asks a question. who->fn is called once, from the loop or from inside this call; never where the
 * words make no question (ERR_INVALID), or too many are asked just now (ERR_LIMIT). now_ms is wall
 * clock. */
int past_questions_ask(struct past_questions *t, const struct past_words *w, int64_t now_ms,
	const struct past_asker *who, struct err *e);
/* Forgets the questions of that owner: they get no answer. */
void past_questions_forget(struct past_questions *t, const void *owner);

#endif
