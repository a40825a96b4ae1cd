/*
 * Reads the record of a run, a line at a time, over all its parts.
 *
 * A controller that was killed leaves a line that is cut, or a part whose compressed end is missing:
 * that is the end of the run. A part that is missing between others is one, too.
 */
#ifndef SLUICE_RECORD_RUN_READER_H
#define SLUICE_RECORD_RUN_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"
#include "record/directory.h"

struct run_reader;

/* dir: the directory of all runs, open. ERR_GONE: it has no such run, or that has no first part. */
int run_reader_open(int dir, const char *run, struct run_reader **ret, struct err *e);
void run_reader_free(struct run_reader *r); /* NULL is fine */

/* 1: *ret_line is the next, without its end, until the next call. 0: there is none.
 * ERR_LIMIT: it is longer than RECORD_LINE_MAX. ERR_INVALID: the file is damaged. */
int run_reader_next(struct run_reader *r, struct slice *ret_line, struct err *e);

/* After the last line: it was cut short. */
bool run_reader_was_cut(const struct run_reader *r);
/* Where the last line is: "000002.jsonl.gz:17". Until the next call. */
const char *run_reader_place(const struct run_reader *r);

#endif
