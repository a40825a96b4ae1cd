/*
 * Orders on disk, so that an agent that starts anew knows its pods before it finds the leader. The
 * file is replaced as a whole, or stays as it was.
 */
#ifndef SLUICE_AGENT_ORDERS_FILE_H
#define SLUICE_AGENT_ORDERS_FILE_H

#include "base/err.h"
#include "base/slice.h"
#include "node/orders.h"

/* Keeps orders as they came, in a directory. */
int orders_file_keep(const char *dir, struct slice text, struct err *e);
/* Reads what was kept: 0, ERR_GONE (nothing is there), or ERR_INVALID with a sentence. */
int orders_file_read(const char *dir, struct orders **ret, struct err *e);

#endif
