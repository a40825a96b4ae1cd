/*
 * The Calendars of some YAML files, ready to be asked, with the ConfigMaps beside them that they
 * take dates from. What else is in the files is passed over: they may be those of the whole
 * cluster.
 */
#ifndef SLUICE_CLI_CALENDAR_SHELF_H
#define SLUICE_CLI_CALENDAR_SHELF_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"
#include "calendar/zone.h"
#include "sluice/calendar.h"

struct shelf_calendar {
	struct calendar_spec *spec;
	struct zone *zone;
	struct calendar *calendar;
	const char *file; /* borrowed */
	struct err note;  /* what of its dates was left out; "" when nothing was */
};

struct shelf_text { /* of a ConfigMap */
	char *configmap, *key, *text;
};

struct shelf {
	struct shelf_calendar *item; /* in the order of the files */
	size_t n;
	struct shelf_text *text;
	size_t ntexts;
};

void shelf_init(struct shelf *s);
void shelf_done(struct shelf *s);

/* file is for sentences, which begin with it and a line, and must live as long as the shelf. */
int shelf_read_text(struct shelf *s, const char *file, struct slice text, struct err *e);
/* "-" is the standard input. */
int shelf_read(struct shelf *s, const char *file, struct err *e);
/* After the last file, and before any is asked: dates from ConfigMaps. Repeated events of an
 * iCalendar are followed for ten years after now_ms. */
int shelf_close(struct shelf *s, int64_t now_ms, struct err *e);

/* A whole file, at most max bytes of it; *ret is the caller's, and ends with a NUL that is not
 * counted. */
int read_whole(const char *file, size_t max, char **ret, size_t *ret_len, struct err *e);

#endif
