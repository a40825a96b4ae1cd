/*
 * The agents of nodes, wired to what is lent: orders go out as the overcommit controller makes them,
 * samples come in to it, and the leader alone speaks (nodes/node_agents.h).
 *
 * Nothing here may hold up a start of a Job: a failure is a line in the log, and tried again.
 */
#ifndef SLUICE_CONTROLLER_AGENTS_H
#define SLUICE_CONTROLLER_AGENTS_H

#include "base/err.h"
#include "controller/parts.h"

/* Opens their port, where --node-listen is given: parts->node_agents. ERR_INVALID names the flag:
 * files that cannot be read, or an address that cannot be had. */
int agents_open(struct parts *parts, struct err *e);
void agents_close(struct parts *parts); /* before parts_close() */

#endif
