/*
 * When a waiting Job starts, in a few letters: a column of `sluice jobs` and its kin.
 *
 *     in 3h12m        time alone keeps it until then
 *     in about 3h     the queue, played forward, starts it then
 *     due             that moment is past
 */
#ifndef SLUICE_CLI_START_WORDS_H
#define SLUICE_CLI_START_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* Appends these words. in_ms: from now on. */
void start_words_put(int64_t in_ms, bool time_decides, struct buf *out);

#endif
