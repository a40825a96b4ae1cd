/*
 * Time specs: Calendars, PricePlans and Budgets, completed and told to the queue.
 *
 * A Calendar, a PricePlan and a Budget mean more than their own text: a zone of the system's
 * database, dates or prices that stand in ConfigMaps. So their decoded specs are kept here, and are
 * told again whenever one of those changes. Of the ConfigMaps (of one namespace) only those are
 * kept that a Calendar or PricePlan names. One that was named after the ConfigMaps were listed is
 * not known to be missing: it has to be listed for first, and until then its reader is left as it
 * was.
 *
 * What cannot be made sense of is shown at its object (queue_reject_*), and in the log when it
 * became so without a change to the object itself.
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

/* An object as it is on the API server: decoded, completed, and told to the queue. 0, or
 * ERR_INVALID with the sentence that stands at the object now. */
int time_specs_see(
	struct time_specs *t, enum time_specs_kind kind, const struct cJSON *object, struct err *e);
void time_specs_drop(struct time_specs *t, enum time_specs_kind kind, const char *name);

/* ConfigMaps: around a complete list, and one by one. */
void time_specs_begin_list(struct time_specs *t);
void time_specs_end_list(struct time_specs *t);
void time_specs_see_configmap(struct time_specs *t, const struct cJSON *object);
void time_specs_drop_configmap(struct time_specs *t, const char *name);
/* A spec names one that was not listed for yet: list them again. Once for each. */
bool time_specs_wants_list(struct time_specs *t);

/* In a copy of this process, that tries what would be: nothing more of it is logged. */
void time_specs_keep_quiet(struct time_specs *t);

/* All is told anew: the zones are others now. */
void time_specs_tell_all(struct time_specs *t);

#endif
