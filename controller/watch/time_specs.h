/*
 * Time specs: Calendars, PricePlans and Budgets, completed and told to the queue.
 *
 * A Calendar, a PricePlan and a Budget mean more than their own text: a zone of the system's
 * database, dates or prices that stand in ConfigMaps. So their decoded specs are kept here, and are
 * told again whenever one of those changes. Only those ConfigMaps (of one namespace) are kept that
 * a Calendar or PricePlan names. A ConfigMap that was named after the list is not known to be
 * missing: another list must show that, and until then its reader stays as it was.
 *
 * What makes no sense is shown at its object (queue_reject_*), and logged when it became so without
 * a change to the object itself.
 */
#ifndef SLUICE_CONTROLLER_WATCH_TIME_SPECS_H
#define SLUICE_CONTROLLER_WATCH_TIME_SPECS_H

#include <stdbool.h>

#include "base/err.h"
#include "controller/common/log.h"
#include "controller/common/zones.h"
#include "sluice/queue.h"

struct cJSON;
struct time_specs;

enum time_specs_kind { TIME_SPECS_CALENDAR, TIME_SPECS_PRICEPLAN, TIME_SPECS_BUDGET };

struct time_specs_options {
	struct queue *queue;
	struct zones *zones;
	struct log *log;
};

struct time_specs *time_specs_new(const struct time_specs_options *o);
void time_specs_free(struct time_specs *t);

/* Takes an object as it is on the API server: decoded, completed, and told to the queue. 0, or
 * ERR_INVALID with the sentence that stands at the object now. */
int time_specs_see(
	struct time_specs *t, enum time_specs_kind kind, const struct cJSON *object, struct err *e);
void time_specs_drop(struct time_specs *t, enum time_specs_kind kind, const char *name);

/* Take ConfigMaps: around a complete list, and one by one. */
void time_specs_begin_list(struct time_specs *t);
void time_specs_end_list(struct time_specs *t);
void time_specs_see_configmap(struct time_specs *t, const struct cJSON *object);
void time_specs_drop_configmap(struct time_specs *t, const char *name);
/* Whether a spec names a ConfigMap that was not listed for yet: list them again. True once for
 * each. */
bool time_specs_wants_list(struct time_specs *t);

/* Logs nothing more: for a copy of this process, which tries what would be. */
void time_specs_keep_quiet(struct time_specs *t);

/* Tells all specs anew, for the zones are others now. */
void time_specs_tell_all(struct time_specs *t);

#endif
