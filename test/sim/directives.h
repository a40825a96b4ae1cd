/*
 * What flavors add to pods (spec.podTemplate), in worlds with idle room (lent.h): there a Job has a
 * pod template as on the wire.
 *
 * Each flavor adds a label and an annotation of its own name, a label that all of them have, and,
 * all but one, a preference for nodes of its name. So what a template has tells which flavors it was started in,
 * and after each start that must be those of its run, and no others.
 */
#ifndef SLUICE_TEST_SIM_DIRECTIVES_H
#define SLUICE_TEST_SIM_DIRECTIVES_H

#include <cjson/cJSON.h>

#include "sluice/spec.h"
#include "test/sim/model_api.h"

struct sim;

/* spec.podTemplate of the flavor with this number. Borrowed for good. */
void directives_of_flavor(size_t flavor, struct flavor_spec *ret);

/* The Job was just started: its template. */
void directives_check(struct sim *s, const struct snap *n, const cJSON *template);

/* What was read back of it; the owner's own has no affinity. */
void directives_keep(struct sim *s, struct snap *n, const struct job *read);

#endif
