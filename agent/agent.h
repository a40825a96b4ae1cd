/*
 * The agent: a keeper and a link on one event loop, until SIGTERM.
 *
 * Orders of before (--state-dir) hold until the leader gives others. On SIGTERM what was held is
 * given back, and limits stay: another agent comes, or the pods end with them.
 */
#ifndef SLUICE_AGENT_AGENT_H
#define SLUICE_AGENT_AGENT_H

#include "agent/options.h"

/* Runs an agent; returns its exit code. */
int agent_run(const struct node_options *o, struct log *log);
/* Takes everything back by hand (--lift); returns the exit code. */
int agent_lift(const struct node_options *o, struct log *log);

#endif
