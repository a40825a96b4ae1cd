/*
 * The chronicle: the last decisions in words, for `sluice decisions` and the demo's live view.
 *
 * A ring of the newest CHRONICLE_SIZE notes of the gate. Each has a number that grows by one, from
 * 1, so that a reader who says the last number it saw gets what came since; numbers are this
 * process's own and begin anew with it.
 */
#ifndef SLUICE_CONTROLLER_CHRONICLE_H
#define SLUICE_CONTROLLER_CHRONICLE_H

#include <stdint.h>

#include "base/buf.h"
#include "controller/gate/gate.h"

enum { CHRONICLE_SIZE = 512 };

struct chronicle;

struct chronicle *chronicle_new(void);
void chronicle_free(struct chronicle *c);

/* Ignores what decides nothing (NOTE_WAIT). */
void chronicle_add(struct chronicle *c, const struct note *n);
uint64_t chronicle_last(const struct chronicle *c); /* number of the newest, 0 when empty */

/* ns: those of this namespace alone; NULL: all.
 * {"decisions":[{"seq","at","kind","namespace","job","clusterQueue","text"}]}, oldest first, those
 * with a number above after. A number from the future (of an earlier process) gives all. */
void chronicle_render(const struct chronicle *c, uint64_t after, const char *ns, struct buf *out);

#endif
