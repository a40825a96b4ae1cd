/*
 * The directory of records: a folder for each run, with the parts of its record.
 *
 *     DIR/20261127T103220123Z-HOST_1A2B3C4D/000001.jsonl.gz
 *                                           000002.jsonl.gz
 *
 * A run is the life of one queue: from the start of a controller to its end. Its parts are one text,
 * cut between two lines. The names sort as the runs began. A file or folder with another name is
 * left alone.
 *
 * Several controllers may write into one directory. Each keeps a lock on the folder of its run, so
 * that no other deletes what is being written. The lock goes when the controller dies.
 */
#ifndef SLUICE_RECORD_DIRECTORY_H
#define SLUICE_RECORD_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define RUN_NAME_SIZE 128
#define PART_NAME_SIZE 32

/* Names the folder of a run. */
void run_name(int64_t started_ms, const char *identity, char ret[RUN_NAME_SIZE]);
void part_name(unsigned number, char ret[PART_NAME_SIZE]);
/* Returns the number of a part by its name; 0: it is none. A part that a person unpacked has no
 * .gz. */
unsigned part_number(const char *name);

struct run_names {
	char (*name)[RUN_NAME_SIZE]; /* sorted */
	size_t count;
};

/* Reads the names of the runs in the directory that is open as fd. */
int run_names_read(int fd, struct run_names *ret, struct err *e);
void run_names_done(struct run_names *r);

/* Counts the bytes of all parts of a run; 0 when it cannot be read. */
uint64_t run_bytes(int fd, const char *run);

/* Opens the folder of a run, and locks it; -1, with errno: another has the lock, or there is
 * none. */
int run_lock(int fd, const char *run);
/* Deletes the parts of a run and its folder; false: it is being written. */
bool run_delete(int fd, const char *run);

#endif
