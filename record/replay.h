/*
 * A run of a record, played from its first line to its last, and what came of it.
 */
#ifndef SLUICE_RECORD_REPLAY_H
#define SLUICE_RECORD_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "record/directory.h"
#include "record/player.h"

enum replay_verdict {
	REPLAY_SAME,
	REPLAY_DIFFERS,	   /* place says where, recorded and now say how */
	REPLAY_UNREADABLE, /* fault says why; what was played so far was the same */
};

struct replay {
	char name[RUN_NAME_SIZE];
	char version[64]; /* of Sluice that recorded; "" when the first line was not read */
	struct player_counts counts;
	enum replay_verdict verdict;
	char place[64]; /* of the line that differs or cannot be read */
	struct err fault;
	char end[sizeof(((struct err *)0)->text)]; /* why it ends; "" when it does not say */
	bool cut;				   /* the last line is cut */
	/* The line that differs, and the facts before it; cut to some thousand bytes. */
	struct buf recorded, now, before[PLAYED_BEFORE];
	unsigned nbefore;
};

/* Plays a run. dir: the directory of records, open. */
void replay_run(int dir, const char *run, struct replay *ret);
void replay_done(struct replay *r);

#endif
