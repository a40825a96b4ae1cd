/*
 * --migrate-only: brings the schema of the ledger up to date and ends. It is for a Kubernetes Job
 * or an init container that connects as the role that owns the schema. So the controller's own role
 * needs no more than to read and write the tables (docs/operate.md, "A role of its own").
 *
 * It does not wait for a leader of the version before to go, and tries once: its caller tries
 * again.
 */
#ifndef SLUICE_CONTROLLER_MIGRATE_H
#define SLUICE_CONTROLLER_MIGRATE_H

#include "controller/common/log.h"
#include "controller/options.h"

/* Migrates. EXIT_ASKED, or EXIT_NO_START with a line in the log. */
int migrate_run(const struct options *o, struct log *log);

#endif
