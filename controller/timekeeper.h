/*
 * The timekeeper: what admins describe of time and money, made complete, and told to the queue.
 *
 * A Calendar, a PricePlan and a Budget mean more than their own text: a zone of the system's
 * database, dates or prices that stand in ConfigMaps. So their decoded specs are kept here, and are
 * told again whenever one of those changes. Of the ConfigMaps (of one namespace) only those are
 * kept that a Calendar or PricePlan names. One that was named after the ConfigMaps were listed is
 * not known to be missing: it has to be listed for first, and until then its reader is left as it
 * was.
 *
 * What cannot be made sense of is shown at its object (queue_reject_*), and in the log when it
 * became so without anybody touching the object itself.
 */
#ifndef SLUICE_CONTROLLER_TIMEKEEPER_H
#define SLUICE_CONTROLLER_TIMEKEEPER_H

#include <stdbool.h>

#include "base/err.h"
#include "controller/log.h"
#include "controller/zones.h"
#include "sluice/queue.h"

struct cJSON;
struct timekeeper;

enum timekeeper_kind { TIMEKEEPER_CALENDAR, TIMEKEEPER_PRICEPLAN, TIMEKEEPER_BUDGET };

struct timekeeper_options {
	struct queue *queue;
	struct zones *zones;
	struct log *log;
};

struct timekeeper *timekeeper_new(const struct timekeeper_options *o);
void timekeeper_free(struct timekeeper *t);

/* An object as it is on the API server: decoded, completed, and told to the queue. 0, or
 * ERR_INVALID with the sentence that stands at the object now. */
int timekeeper_see(
	struct timekeeper *t, enum timekeeper_kind kind, const struct cJSON *object, struct err *e);
void timekeeper_drop(struct timekeeper *t, enum timekeeper_kind kind, const char *name);

/* ConfigMaps: around a complete list, and one by one. */
void timekeeper_begin_list(struct timekeeper *t);
void timekeeper_end_list(struct timekeeper *t);
void timekeeper_see_configmap(struct timekeeper *t, const struct cJSON *object);
void timekeeper_drop_configmap(struct timekeeper *t, const char *name);
/* Somebody names one that was not listed for yet: list them again. Once for each. */
bool timekeeper_wants_list(struct timekeeper *t);

/* All is told anew: the zones are others now. */
void timekeeper_tell_all(struct timekeeper *t);

/* The times in a Job that was just decoded: by our clock (clock.h), and those with a zone. */
void timekeeper_complete_job(struct timekeeper *t, struct job *j);

#endif
