/*
 * The memory of an answer (moves.h), as it lies behind the etas, and the making of the next one.
 *
 *   moves_memory.c  reads and writes it
 *   moves_facts.c   what happened since the last answer: nodes, objects of admins, runs
 *   moves_why.c     the facts that explain a move
 *   moves.c         what was told of each Job, and what is told of a move
 */
#ifndef SLUICE_CONTROLLER_FORECAST_MOVES_PRIV_H
#define SLUICE_CONTROLLER_FORECAST_MOVES_PRIV_H

#include "controller/forecast/moves.h"

enum {
	NAME_SIZE = 254,
	KIND_SIZE = 18,
	CHANGES_MAX = 128, /* changes whose names are kept */
};

/* What was told of the Job with this index among the etas. */
struct told {
	int64_t start_ms; /* PLAY_NEVER */
	uint64_t tree;
	uint32_t in;	   /* the answer that said so */
	uint32_t first_in; /* the answer that had the Job first */
	uint64_t itself;   /* a digest of the Job */
};

struct moved {
	uint32_t eta;
	bool is_later, itself;
	int64_t from_ms, at_ms;
	struct move_why why;
	uint32_t change[MOVES_NAMES]; /* the number of each struct change */
};

/* A fact that happened before the answer `in`, and after the one before it. */
struct fact {
	uint64_t tree; /* 0: of all trees */
	uint32_t in;
	uint32_t kind;	/* enum move_fact */
	uint32_t count; /* MOVE_OBJECT: the number of struct change */
	uint32_t unused;
};

struct change {
	uint32_t number; /* from 1 on */
	bool is_new;	 /* new in its tree */
	char kind[KIND_SIZE], name[NAME_SIZE];
};

struct object {
	uint64_t tree, name, edition; /* name: a digest of kind and name */
	uint64_t is_new;	      /* changed in this answer: a fact */
};

struct run {
	struct uid uid;
	uint64_t tree;
	int64_t since_ms;
	int64_t least_ms, most_ms; /* when the run was to end */
	uint64_t counted;	   /* as a run that went on for longer */
};

struct head {
	uint32_t answer, changes_made; /* of this answer, and of the newest change */
	uint64_t nodes_came, nodes_went;
	uint64_t arrivals, arrivals_are_young;
	uint64_t has_all_objects;
	uint64_t told, moved, facts, changes, objects,
		runs; /* how many of each follow, in this order */
};

struct memory {
	struct head head;
	struct told *told;
	struct moved *moved; /* by eta */
	struct fact *fact;   /* the oldest first */
	struct change *change;
	struct object *object; /* by tree and name */
	struct run *run;       /* by uid */
};

/* Reads the memory, borrowed from the answer. False: the answer has none. */
bool memory_read(const struct ask_answer *a, struct memory *ret);
void memory_write(const struct memory *m, struct buf *out);

struct making {
	const struct moves_world *world;
	bool has_old;
	struct memory old, now;
	const struct eta *eta, *old_eta;
	size_t n;
};

/* Counts one more fact of the kind, in this answer. */
void facts_count(struct making *m, uint64_t tree, enum move_fact kind);
/* Gathers all facts but those of Jobs, behind the facts of earlier answers. */
void facts_gather(struct making *m);

/* Gives the moves of this answer their reasons. */
void moves_explain(struct making *m);

#endif
