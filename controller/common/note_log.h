/*
 * What the gate did, as lines of the log: a level and an event for each kind of note. Events never
 * change: people grep for them.
 */
#ifndef SLUICE_CONTROLLER_COMMON_NOTE_LOG_H
#define SLUICE_CONTROLLER_COMMON_NOTE_LOG_H

#include "controller/gate/gate.h"
#include "controller/common/log.h"

void note_log(struct log *log, const struct note *n);

#endif
