/*
 * Questions: what the queue wants to know of Jobs that others wait for, and was not told
 * (queue_take_wanted()).
 *
 *   wanted    nobody has taken it yet
 *   asked     taken, and not answered. Its owner must not be freed: whoever took it reads its names
 *   resting   answered, or given back; it is wanted again PREDECESSOR_AGAIN_MS later
 *   quiet     answered, and events tell of all changes
 *
 * Namespaces take turns: one with a million questions does not keep others waiting. And only so many
 * of one namespace are asked at a time, so that the room of those who answer is left for others, too.
 */
#ifndef SLUICE_QUEUE_FEATURES_DEPENDENCIES_WANTED_H
#define SLUICE_QUEUE_FEATURES_DEPENDENCIES_WANTED_H

#include "base/list.h"
#include "base/map.h"
#include "queue/core/model/alarm.h"

struct queue;

enum wanted_state {
	WANTED_QUIET,
	WANTED_WANTED,
	WANTED_ASKED,
	WANTED_RESTING,
};

#define WANTED_ASKED_MAX                                                                           \
	10064 /* of a namespace: a turn of the controller, 10,000 names and 64 selectors */

/* The questions of a namespace. */
struct wanted_line {
	struct link of_all;  /* wanteds.lines, while some may be taken */
	struct link waiting; /* wanted.waiting */
	size_t nasked;
};

struct wanted {
	enum wanted_state state;
	uint64_t id;
	struct wanted_line *line;
	struct link waiting; /* of its line */
	struct alarm alarm;  /* when it is wanted again */
	uint64_t taken;	     /* how often it was */
	uint64_t answered;   /* which of these times was answered last; 0: none */
	uint64_t needed;     /* no answer to an earlier one will do (dependency_item.needs) */
	bool timed;	     /* resting: the alarm is at the moment that is meant (wanted_ring()) */
};

struct wanteds {
	struct link lines; /* wanted_line.of_all: the one whose turn it is first */
	struct map asked;  /* by id */
	bool all_told;	   /* queue_follow_predecessors() */
	uint64_t last_id;
};

void wanteds_init(struct wanteds *all);
void wanteds_done(struct wanteds *all);

void wanted_line_init(struct wanted_line *l);

/* Wants a question answered: for the first time, or again before it would be. The line is that of
 * its namespace, each time the same. */
void wanted_ask(struct queue *q, struct wanted *w, struct wanted_line *l);
struct wanted *wanted_take(struct queue *q); /* NULL: there is none */
/* The one that was asked with this id; NULL: none. It is quiet from here on. */
struct wanted *wanted_answered(struct queue *q, uint64_t id);
/* Lets an answered question rest, to be wanted again later. */
void wanted_rest(struct queue *q, struct wanted *w);
void wanted_ring(struct queue *q, struct wanted *w); /* its alarm has come */
/* The clock was set back: none waits longer than it would have. */
void wanteds_set_back(struct queue *q);
/* Takes the question back, so that nothing waits for an answer. */
void wanted_forget(struct queue *q, struct wanted *w);

#endif
