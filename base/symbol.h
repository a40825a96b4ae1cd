/*
 * Symbols: names that live as long as the queue.
 *
 * Only names that admins choose become symbols (quota nodes, flavors, resources in quotas): quota
 * lines and ceilings hand them out, so they must outlive the object that brought them. Names that
 * teams choose (Jobs, queues, resources that only a Job asks for) die with their owner; otherwise
 * any user who may create Jobs could make us grow for ever.
 *
 * Two symbols with the same text are the same pointer. Order them with strcmp, never by address.
 */
#ifndef SLUICE_BASE_SYMBOL_H
#define SLUICE_BASE_SYMBOL_H

#include "base/map.h"

void symbols_init(struct map *symbols);
void symbols_done(struct map *symbols);

const char *symbol_of(struct map *symbols, const char *text);

#endif
