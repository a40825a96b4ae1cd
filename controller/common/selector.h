/*
 * A label selector as people write it for kubectl -l, parsed:
 *
 *     team=a,env!=test,tier in (x,y),kubernetes.io/metadata.name notin (kube-system),gpu,!old
 *
 * All of it must hold. NotIn, != and ! hold for an absent key, as Kubernetes has it.
 */
#ifndef SLUICE_CONTROLLER_COMMON_SELECTOR_H
#define SLUICE_CONTROLLER_COMMON_SELECTOR_H

#include <stdbool.h>

#include "sluice/placement.h"

enum { SELECTOR_REQUIREMENTS_MAX = 32, SELECTOR_VALUES_MAX = 128 };

struct selector {
	char *text; /* what the rest points into */
	struct requirement requirement[SELECTOR_REQUIREMENTS_MAX];
	const char *value[SELECTOR_VALUES_MAX];
	struct selector_term term;
};

/* Parses text; an empty one selects everything. False when it is none, or longer than the above.
 * ret must not move afterwards, and is to be freed in either case. */
bool selector_parse(const char *text, struct selector *ret);
void selector_done(struct selector *s);

#endif
