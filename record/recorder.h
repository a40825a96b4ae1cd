/*
 * The recorder: writes down each call that changes a queue, and what it gave, a line of JSON each
 * (facts.def). `sluice replay` makes the calls again (player.h).
 *
 * What is always true:
 *   - recording never decides anything, and never ends the controller. What keeps it from being
 *     written (a disk that is full, a line that is too long, more than `most_bytes`) ends the
 *     recording of this run, with a sentence
 *   - what is there of a run is its beginning, whole up to where it ends: a run without its beginning
 *     cannot be played. So older runs are deleted when there is too much, as a whole, and when this
 *     run alone is too much its recording ends
 *   - all runs in the directory together take at most most_bytes, if no others are being written
 *   - a process that dies loses the last second at most: until then lines may be in memory
 *   - a forked child writes nothing
 *
 * The names of tenants' Jobs are in it. So the folders are 0700 and the files are 0600.
 */
#ifndef SLUICE_RECORD_RECORDER_H
#define SLUICE_RECORD_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct queue;
struct recorder;

/* Of what a line may be. Moves when an older program could not read it. */
#define RECORD_FORMAT 1
#define RECORD_LINE_MAX ((size_t)8 << 20)
#define RECORD_PART_BYTES ((uint64_t)16 << 20)
#define RECORD_LEAST_BYTES ((uint64_t)64 << 20)

struct recorder_options {
	const char *dir, *identity;
	int64_t now_ms;
	uint64_t most_bytes; /* at least RECORD_LEAST_BYTES */
	/* The recording of this run has ended, for that reason. Also within recorder_open(). */
	void (*ended)(const char *sentence, void *ctx);
	void *ctx;
};

/* The first line of a run. */
struct record_header {
	int32_t format;
	const char *version, *identity; /* of Sluice, of the process */
	int64_t started_ms;
};

/* The last line, of one that ended in order. */
struct record_end {
	const char *end; /* why */
};

struct recorder_state {
	bool recording;
	uint64_t lines, bytes; /* written; bytes of all lines, before they are compressed */
};

/* ERR_DENIED: dir is not there and cannot be made, or is no directory. All else that may be wrong is
 * said by ended(). */
int recorder_open(const struct recorder_options *o, struct recorder **ret, struct err *e);
/* Writes the last line, and why. NULL is fine. The queue must be there still. */
void recorder_close(struct recorder *r, const char *why);

/* Before the queue's first call. */
void recorder_listen(struct recorder *r, struct queue *q);
/* Once a second: what was told is written. NULL is fine. */
void recorder_tick(struct recorder *r);
struct recorder_state recorder_state(const struct recorder *r); /* NULL: it does not record */

#endif
