/*
 * The story: the annotation sluice.dev/admission, in which the controller tells the Job's readers,
 * and its own successor, what it last did to it. One line of JSON:
 *
 *   {"attempt":2,"state":"Started","epoch":7,"at":"2026-11-21T09:58:30Z","clusterQueue":"batch",
 *    "flavors":{"cpu":"spot"},"reason":"","by":"sluice-0"}
 *
 * The story of a start, or of its stop, is enough to take the run over without a ledger:
 *
 *   holds      how much is held of each resource, in the ledger's units (milli-CPU, bytes, devices);
 *   sizes      how often the size of the run had changed. A ledger that knows of fewer changes has
 *              lost some; a ledger that knows of more is newer than the story;
 *   priority   which priority counts for the run (run_priority.h);
 *   mac        signs the Job's uid and the text before it, with a key that the ledger keeps, since a
 *              tenant may find a way to write annotations. adoption.c, run_priority.c and growth.c ask
 *              for it.
 *
 * The story is also the memory that outlives us:
 *
 *   pods, parallelism, completions
 *              of a start with fewer pods than asked for: how many, and what the owner wrote. The
 *              stop puts the owner's numbers back, unless the owner has edited the spec since. Of a work
 *              queue the stop says how many pods ran, for the Job may end by it (job_was_cut_short());
 *   history    what earlier attempts left behind, told from story to story: times the pods were not
 *              ready, run time used, back-off, times a window or a price stopped it;
 *   preemptor, message
 *              of a stop for another Job's sake: for which, and why;
 *   trouble    of a stop: what kept the pods of the run from running;
 *   retold     why a story was told anew only to be another text; reason and message stay.
 *
 * The story also protects every write. Each PATCH tests that the story is still, byte for byte, the
 * one that the decision was made on; all but those of notes write the next one. So of two writers
 * that read the same story one wins. A PATCH that was delayed for an hour finds another story and
 * changes nothing. To be sure that an unanswered start can no longer land, the gate writes a new
 * story first (state Fenced); only then may its reservation be voided.
 */
#ifndef SLUICE_CONTROLLER_GATE_STORY_H
#define SLUICE_CONTROLLER_GATE_STORY_H

#include <stdint.h>

#include "base/buf.h"
#include "base/siphash.h"
#include "base/uid.h"
#include "sluice/job.h"
#include "sluice/queue.h"

#define STORY_TEXT_MAX 4096

struct story {
	enum story_state state;
	int32_t attempt;
	int64_t epoch;
	int64_t at_ms;
	const char *clusterqueue; /* "" when none */
	const char *reason;	  /* why the run was stopped or fenced; "" for a start */
	const char *by;		  /* the controller's identity */
	const char *preemptor;	  /* the Job it was stopped for, if of its own namespace; or NULL */
	const char *message;	  /* a sentence to go with reason; or NULL */
	const char *retold;	  /* why the story is told anew; or NULL */
	const char *trouble;	  /* of a stop: what kept its pods from running; or NULL */
	const struct quota_line *lines; /* of a start: which resource got which flavor */
	size_t nlines;
	int32_t sizes; /* the number of the last SHRINK or GROW of the attempt; 0: there was none */
	bool has_priority; /* of a run: priority is the one that counts */
	int32_t priority;
	int32_t pods; /* of a start with fewer pods than asked for, and of its stop; else 0 */
	int32_t owner_parallelism, owner_completions; /* as the owner wrote them; 0: not changed */
	struct job_history history;
	bool is_signed; /* tells of an attempt that holds quota, and is signed for this Job */
	struct siphash_key key;
	struct uid uid;
};

const char *story_state_name(enum story_state s); /* "Started", "Stopped", "Fenced", "" */

/* Appends the line of JSON, in max bytes if it can be (0: STORY_TEXT_MAX): what can be spared is
 * left out, the least needed first, but for the owner's numbers. The story of a stop or a fence
 * always fits in place of one of a start: full annotations do not keep a stop from landing. */
void story_fit(const struct story *s, size_t max, struct buf *out);

/* A run as the story of its start, or of its stop, tells of it. Texts are the reader's. */
struct story_run {
	enum story_state state;
	int32_t attempt, sizes;
	int32_t pods;	   /* 0: as many as its owner wrote */
	bool has_priority; /* priority is the one that counts */
	int32_t priority;
	int64_t epoch, at_ms;
	const char *clusterqueue;
	struct quota_line lines[QUEUE_LINES_MAX]; /* of the ClusterQueue's node */
	size_t nlines;
};

struct story_reader;

struct story_reader *story_reader_new(void);
void story_reader_free(struct story_reader *r);

/* Reads the run. True if text is signed with that key for this Job, and tells all that is held.
 * *ret is good until the next call. */
bool story_read_run(struct story_reader *r, const char *text, const struct uid *uid,
	const struct siphash_key *key, struct story_run *ret);

/* What the last change was for; NULL: the story does not say. Texts are the reader's. */
struct story_words {
	const char *reason, *message;
};
/* Reads these. True if text is signed with that key for this Job. *ret is good until the next
 * call. */
bool story_read_words(struct story_reader *r, const char *text, const struct uid *uid,
	const struct siphash_key *key, struct story_words *ret);

#endif
