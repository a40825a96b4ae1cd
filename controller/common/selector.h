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

/* False when it is not one, or is longer than the above. ret must not move afterwards; it is to be
 * freed in either case. An empty text selects everything. */
bool selector_parse(const char *text, struct selector *ret);
void selector_done(struct selector *s);

#endif
