/*
 * The reasons of the gate, by name: reasons.def has a row for each. Compared as texts, for those of the queue and of
 * earlier leaders stand beside them.
 */
#ifndef SLUICE_CONTROLLER_GATE_REASONS_H
#define SLUICE_CONTROLLER_GATE_REASONS_H

#define SECTION(title, text)
#define REASON(tag, name, when, cure) extern const char REASON_##tag[];
#include "controller/gate/reasons.def"

#endif
