/*
 * Reads the record of a run, a line at a time, over all its parts.
 *
 * A run ends at a line that is cut, or a part without its compressed end: so a controller leaves it
 * that was killed. A run also ends where a part is missing between others.
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

/* Opens a run. dir: the directory of all runs, open. ERR_GONE: there is no such run, or no first
 * part. */
int run_reader_open(int dir, const char *run, struct run_reader **ret, struct err *e);
void run_reader_free(struct run_reader *r); /* NULL is fine */

/* Reads the next line, without its end, valid until the next call: 1. 0: there is none. ERR_LIMIT:
 * the line is longer than RECORD_LINE_MAX. ERR_INVALID: the file is damaged. */
int run_reader_next(struct run_reader *r, struct slice *ret_line, struct err *e);

/* Tells, after the last line, whether it was cut short. */
bool run_reader_was_cut(const struct run_reader *r);
/* Returns where the last line is, "000002.jsonl.gz:17", until the next call. */
const char *run_reader_place(const struct run_reader *r);

#endif
