/*
 * Lifting by hand (--lift), for when no agent runs any more: every limit is taken off all pods of
 * the tier, and cpu.idle off the tier. Best-effort pods have none of their own.
 */
#ifndef SLUICE_AGENT_LIFT_H
#define SLUICE_AGENT_LIFT_H

#include "base/err.h"
#include "controller/common/log.h"

/* Lifts everything below the mount cgroups; tier as for cgroup_tree_find(). Returns how many pods;
 * ERR_GONE: there is no tier; ERR_BUSY: an agent runs; ERR_LIMIT: a pod or the tier keeps what was
 * written, which is logged by its name. */
int lift_all(const char *cgroups, const char *tier, struct log *log, struct err *e);

#endif
