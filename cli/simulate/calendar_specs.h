/*
 * Calendars as YAML files or an API server describe them, with the ConfigMaps beside them that have
 * their dates, ready to be asked. What else is in the files is passed over: they may be those of
 * the whole cluster.
 *
 * `sluice calendar` asks them; `sluice simulate` hands them to the queue (policy_specs.h).
 */
#ifndef SLUICE_CLI_SIMULATE_CALENDAR_SPECS_H
#define SLUICE_CLI_SIMULATE_CALENDAR_SPECS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"
#include "queue/calendar/spec.h"
#include "queue/calendar/zone.h"
#include "base/json.h"
#include "sluice/calendar.h"

struct calendar_specs_calendar {
	struct calendar_spec *spec;
	struct zone *zone;
	struct calendar *calendar;
	char *where;	 /* file and line, for sentences: "nights.yaml:3" */
	struct err note; /* dates that were left out, and why; "": none */
};

struct calendar_specs_text { /* a text of a ConfigMap */
	char *configmap, *key, *text;
};

struct calendar_specs {
	struct calendar_specs_calendar *item; /* in the order of the files */
	size_t n;
	struct calendar_specs_text *text;
	size_t ntexts;
};

void calendar_specs_init(struct calendar_specs *s);
void calendar_specs_done(struct calendar_specs *s);

/* Add one object. where: file and line, for later sentences; those of this call have none in
 * front. */
int calendar_specs_add_calendar(
	struct calendar_specs *s, const char *where, const cJSON *o, struct err *e);
int calendar_specs_add_configmap(struct calendar_specs *s, const cJSON *o, struct err *e);

/* Reads a text. file: sentences begin with it and a line. */
int calendar_specs_read_text(
	struct calendar_specs *s, const char *file, struct slice text, struct err *e);
/* Reads a file; "-" is the standard input. */
int calendar_specs_read(struct calendar_specs *s, const char *file, struct err *e);
/* Closes the shelf, after the last file and before any Calendar is asked: takes dates from
 * ConfigMaps. Repeated events of an iCalendar are followed for ten years after now_ms. */
int calendar_specs_close(struct calendar_specs *s, int64_t now_ms, struct err *e);

/* Resolves Calendar i, with its zone and all its dates, to be handed on; needs no
 * calendar_specs_close(). Yours. */
int calendar_specs_resolve(
	struct calendar_specs *s, size_t i, int64_t now_ms, struct resolved *ret, struct err *e);
/* Finds a ConfigMap's text; ptr NULL: there is none. */
struct slice calendar_specs_text(
	const struct calendar_specs *s, const char *configmap, const char *key);

#endif
