/*
 * The decision log: the last decisions in words, for `sluice decisions` and the demo's live view.
 *
 * The newest DECISION_LOG_SIZE notes of the gate are kept in a ring. Each has a number that grows
 * by one, from 1. So a reader that says the last number it saw gets what came since. Numbers are
 * this process's own and begin anew with it.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_DECISION_LOG_H
#define SLUICE_CONTROLLER_ANSWERS_DECISION_LOG_H

#include <stdint.h>

#include "base/json_writer.h"
#include "controller/gate/gate.h"

enum { DECISION_LOG_SIZE = 512 };

struct decision_log;

struct decision_log *decision_log_new(void);
void decision_log_free(struct decision_log *c);

/* Adds a note, unless it decides nothing (NOTE_WAIT). */
void decision_log_add(struct decision_log *c, const struct note *n);
uint64_t decision_log_last(const struct decision_log *c); /* the newest number; 0 when empty */

/* Puts "decisions": [{"seq","at","kind","namespace","job","clusterQueue","text"}], oldest first,
 * those with a number above after. A number from the future (of an earlier process) gives all. ns:
 * only those of this namespace; NULL: all. */
void decision_log_put(
	const struct decision_log *c, uint64_t after, const char *ns, struct json_writer *w);

#endif
