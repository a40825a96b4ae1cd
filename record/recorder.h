/*
 * The recorder: writes down each call that changes a queue, with its answer, a line of JSON each
 * (facts.def). `sluice replay` makes the calls again (player.h).
 *
 * What is always true:
 *   - recording never decides anything, and never ends the controller. When a line cannot be
 *     written (the disk is full, the line is too long, there is more than `most_bytes`) the
 *     recording of this run ends, with a sentence.
 *   - a record has its run from the beginning, without a gap: without its beginning a run cannot be
 *     played. So older runs are deleted as a whole when there is too much. When this run alone is
 *     too much its recording ends.
 *   - all runs in the directory together take at most most_bytes, if no others are being written.
 *   - a process that dies loses the last second at most: until then lines may be in memory.
 *   - a forked child writes nothing.
 *
 * A record has the names of tenants' Jobs. So the folders are 0700 and the files are 0600.
 */
#ifndef SLUICE_RECORD_RECORDER_H
#define SLUICE_RECORD_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct queue;
struct recorder;

/* The format of lines. It moves when an older program could not read them. */
#define RECORD_FORMAT 1
#define RECORD_LINE_MAX ((size_t)8 << 20)
#define RECORD_PART_BYTES ((uint64_t)16 << 20)
#define RECORD_LEAST_BYTES ((uint64_t)64 << 20)

struct recorder_options {
	const char *dir, *identity;
	int64_t now_ms;
	uint64_t most_bytes; /* at least RECORD_LEAST_BYTES */
	/* Called when the recording of this run has ended, with the reason; also in
	 * recorder_open(). */
	void (*ended)(const char *sentence, void *ctx);
	void *ctx;
};

/* The first line of a run. */
struct record_header {
	int32_t format;
	const char *version, *identity; /* of Sluice, of the process */
	int64_t started_ms;
};

/* The last line of a run that ended in order. */
struct record_end {
	const char *end; /* why */
};

struct recorder_state {
	bool recording;
	uint64_t lines, bytes; /* written; bytes of all lines, before they are compressed */
};

/* Begins a recording. ERR_DENIED: dir is not there and cannot be made, or is no directory. ended()
 * says all else that may be wrong. */
int recorder_open(const struct recorder_options *o, struct recorder **ret, struct err *e);
/* Writes the last line, with the reason. NULL is fine. The queue must be there still. */
void recorder_close(struct recorder *r, const char *why);

/* Listens to a queue: before its first call. */
void recorder_listen(struct recorder *r, struct queue *q);
/* Writes, once a second, what was told. NULL is fine. */
void recorder_tick(struct recorder *r);
struct recorder_state recorder_state(const struct recorder *r); /* NULL: it does not record */

#endif
