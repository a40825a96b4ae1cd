/*
 * A calendar's spec: completed after it is decoded, and checked before a calendar is made of it.
 *
 * calendar_resolve() adds the zone, and the dates that the spec takes from ConfigMaps
 * (spec.except[].datesFrom). A caller with the zone database and the ConfigMaps calls it between
 * decoding and calendar_new(). Pure but for what the callback does.
 *
 * A list of dates is that of notation_date_list(); a text that begins with BEGIN:VCALENDAR is
 * iCalendar (ics.h).
 */
#ifndef SLUICE_QUEUE_CALENDAR_SPEC_H
#define SLUICE_QUEUE_CALENDAR_SPEC_H

#include "base/err.h"
#include "base/slice.h"
#include "queue/calendar/zone.h"
#include "sluice/calendar.h"

/* A ConfigMap's text under key, valid until the next call; ptr NULL: there is none. */
typedef struct slice (*resolve_find)(const char *configmap, const char *key, void *ctx);

struct resolved {
	struct calendar_spec spec; /* borrows from the one it was made of, and from the zone */
	struct exception_spec *exception;
	struct date_range **date; /* by exception; NULL where nothing was added */
	size_t nleft_out;	  /* events of iCalendar texts that were left out */
	struct err left_out;	  /* the first of them */
};

/* horizon: repeated events become dates within it. find may be NULL: there are no ConfigMaps.
 * ERR_GONE: no such ConfigMap or key; ERR_INVALID, ERR_LIMIT: its text is wrong. The sentence
 * begins with the field, as those of calendar_new() do. On errors *ret is not written. */
int calendar_resolve(const struct calendar_spec *spec, const struct zone *zone,
	struct date_range horizon, resolve_find find, void *ctx, struct resolved *ret,
	struct err *e);
void resolved_done(struct resolved *r);

/* Checks a spec, as calendar_new() does first: everything else in calendar/ relies on it.
 * ERR_INVALID, ERR_LIMIT: "spec.open[2].to: ..." with what to write instead. */
int calendar_check(const struct calendar_spec *spec, struct err *e);

#endif
