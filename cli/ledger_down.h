/*
 * Appends the line below a list while the controller has no ledger.
 */
#ifndef SLUICE_CLI_LEDGER_DOWN_H
#define SLUICE_CLI_LEDGER_DOWN_H

#include "base/buf.h"
#include "cli/local_times.h"

/* Appends that line. since: an instant as the controller writes it; "": not known, or of an older
 * controller. */
void ledger_down_put(const char *since, struct local_times *times, struct buf *out);

#endif
