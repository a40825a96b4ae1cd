/*
 * Meters: counters of the kernel become use.
 *
 * A gauge is the open files of a cgroup, or of the node; a reading is what they said at one moment.
 * Two readings make use. What could not be read is -1, and use of which a part is missing is none:
 * a counter that went back (a cgroup made anew), a file that is gone, half a line. Nothing is ever
 * taken for 0.
 *
 * Files are opened once and read by pread: a fifth to a tenth of what opening costs.
 */
#ifndef SLUICE_AGENT_METER_H
#define SLUICE_AGENT_METER_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/tree.h"
#include "overcommit/load.h"

/* ---- a cgroup -------------------------------------------------------------------------------- */

struct gauge {
	int usage, throttle, memory, memory_stat; /* files; -1: absent */
	enum cgroup_version version[HIERARCHIES];
};

struct reading {
	int64_t at_us;	       /* by the clock that only goes on; 0: nothing was read */
	int64_t cpu_us;	       /* used, since the cgroup was made */
	int64_t throttled_us;  /* for which its threads waited for quota */
	int64_t throttles;     /* periods in which they did */
	int64_t memory_bytes;  /* charged to it */
	int64_t working_bytes; /* without what the kernel can drop: inactive files */
};

/* Makes a gauge without files. */
void gauge_init(struct gauge *g);
/* Opens what is missing of the files of a cgroup, whose directories may be made one after the
 * other; a directory may be NULL. */
void gauge_open(struct gauge *g, const struct cgroup_tree *tree, char *const dir[HIERARCHIES]);
void gauge_close(struct gauge *g);
void gauge_read(const struct gauge *g, int64_t now_us, struct reading *ret_reading);

/* Gives the cpu used between two readings, in thousandths of a core; -1: not known. */
int64_t reading_cpu_milli(const struct reading *from, const struct reading *to);
/* Gives how much a counter went on; -1: not known, or it went back. */
int64_t reading_went_on(int64_t from, int64_t to);

/* ---- the node -------------------------------------------------------------------------------- */

struct node_gauge {
	int stat, meminfo, pressure; /* of /proc; -1: absent */
};

struct node_reading {
	int64_t at_us;
	int64_t cpu_us; /* of all cpus: user, nice, system, irq, softirq; not iowait, not steal */
	int64_t total_bytes, available_bytes;
	int64_t working_bytes; /* as metrics.k8s.io counts: total - free - inactive files */
	int64_t pressure_us;   /* some pressure of memory */
};

void node_gauge_open(struct node_gauge *g, const char *proc);
void node_gauge_close(struct node_gauge *g);
void node_gauge_read(const struct node_gauge *g, int64_t now_us, struct node_reading *ret_reading);
int64_t node_reading_cpu_milli(const struct node_reading *from, const struct node_reading *to);

#endif
