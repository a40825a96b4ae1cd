/*
 * A knob: one file of a cgroup that is read and written here.
 *
 *                    v2                            v1
 *     KNOB_QUOTA     cpu.max "30000 100000"        cpu.cfs_quota_us, cpu.cfs_period_us
 *     KNOB_WEIGHT    cpu.weight                    cpu.shares
 *     KNOB_MEMORY    memory.max                    memory.limit_in_bytes
 *     KNOB_HIGH      memory.high                   -
 *     KNOB_IDLE      cpu.idle                      cpu.idle
 *
 * A knob remembers what it wrote, and so knows a value that another program wrote. Such a value is
 * written over at most ten times a minute; then the knob yields until the minute is over. What is
 * written here is not rounded by any kernel (node/limits.h). A file is not read back to learn what a
 * kernel made of a value: systemd may have written between the two.
 *
 * Files stay open, and are opened and written with O_NONBLOCK: from Linux 6.16 on a limit that is
 * lowered then takes effect without reclaim in our time. A read that is no whole line is no value.
 */
#ifndef SLUICE_AGENT_KNOB_H
#define SLUICE_AGENT_KNOB_H

#include <stdbool.h>
#include <stdint.h>

#include "node/limits.h"
#include "node/steps.h"

enum { KNOB_IDLE = KNOB_KINDS, KNOB_FILES };

enum { KNOB_REWRITES_MAX = 10, KNOB_WINDOW_MS = 60000 };

struct knob {
	int fd;	       /* -1: there is no such file */
	int period_fd; /* v1 quota alone; else -1 */
	int kind;      /* enum knob_kind, or KNOB_IDLE */
	enum cgroup_version version;
	int watch;	   /* of notices.h; -1: none */
	int64_t period_us; /* of a quota, as found by the last read */
	int64_t now;	   /* what it said last; LIMIT_NONE before the first read */
	bool wrote;
	int64_t wrote_value; /* what was written last */
	int64_t window_ms;   /* when the first of `undone` was seen */
	unsigned undone;     /* how often another program wrote, in this window */
	bool told_yield;     /* that it yields, in this window */
	bool told_refusal;   /* that the kernel refused a write, once for all */
};

/* Opens a file of a directory. False, and a knob without a file: it is not there. */
bool knob_open(struct knob *k, const char *dir, int kind, enum cgroup_version version);
void knob_close(struct knob *k);
static inline bool knob_is_there(const struct knob *k)
{
	return k->fd >= 0;
}

/* Gives the name of its file, as in "cpu.max". */
const char *knob_file(const struct knob *k);

/* Reads what the file says: LIMIT_NONE for no limit. False: nothing that can be read; the cgroup is
 * going, say. now_ms is of a clock that only goes on: a value of somebody else's counts. */
bool knob_read(struct knob *k, int64_t now_ms, int64_t *ret_value);

/* Whether somebody else writes the file too often to go on now. */
bool knob_yields(const struct knob *k);

/* Writes a value. Returns 0, or the errno with which the kernel refused. */
int knob_write(struct knob *k, int64_t value);

#endif
