#include "controller/watch/time_specs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/calendar/civil.h"
#include "controller/common/clock.h"
#include "base/json.h"
#include "controller/wire/decode.h"
#include "queue/calendar/spec.h"
#include "queue/price/series.h"

enum { HORIZON_DAYS = 3660 }; /* of repeated events: as far as `sluice calendar` looks */

/* A Calendar, PricePlan or Budget. */
struct entry {
	enum time_specs_kind kind;
	char *name;
	union {
		void *block; /* of each kind */
		struct calendar_spec *calendar;
		struct priceplan_spec *priceplan;
		struct budget_spec *budget;
	} spec;
	bool waits;   /* for a ConfigMap that was not listed for */
	bool refused; /* a newer spec was: this one stays in force */
};

struct line { /* of a ConfigMap's data */
	char *key, *text;
};

/* A ConfigMap that a spec names, there or not. */
struct sheet {
	char *name;
	bool looked;  /* the ConfigMap was listed for, or seen */
	bool in_list; /* named before the list under way began */
	struct line *line;
	size_t nlines;
};

struct time_specs {
	struct time_specs_options o;
	struct entry **entry;
	size_t nentries;
	struct sheet *sheet;
	size_t nsheets;
	bool wants_list;
};

static const struct {
	const char *plural;
	void (*reject)(struct queue *q, const char *name, const char *sentence);
	void (*drop)(struct queue *q, const char *name);
} entry_kinds[] = {
	[TIME_SPECS_CALENDAR] = {"calendars", queue_reject_calendar, queue_drop_calendar},
	[TIME_SPECS_PRICEPLAN] = {"priceplans", queue_reject_priceplan, queue_drop_priceplan},
	[TIME_SPECS_BUDGET] = {"budgets", queue_reject_budget, queue_drop_budget},
};

/* ---- sheets ---------------------------------------------------------------------------------- */

static void sheet_clear(struct sheet *s)
{
	for (size_t i = 0; i < s->nlines; i++) {
		free(s->line[i].key);
		free(s->line[i].text);
	}
	free(s->line);
	s->line = NULL;
	s->nlines = 0;
}

static void sheet_fill(struct sheet *s, const cJSON *object)
{
	sheet_clear(s);
	json_each(item, json_object(object, "data")) {
		if (!cJSON_IsString(item))
			continue;
		s->line = mem_grow(s->line, s->nlines + 1, sizeof(*s->line));
		s->line[s->nlines++] =
			(struct line){mem_strdup(item->string), mem_strdup(item->valuestring)};
	}
}

static struct sheet *sheet_get(const struct time_specs *t, const char *name)
{
	for (size_t i = 0; i < t->nsheets; i++)
		if (strcmp(t->sheet[i].name, name) == 0)
			return &t->sheet[i];
	return NULL;
}

static void sheet_want(struct time_specs *t, const char *name)
{
	if (sheet_get(t, name))
		return;
	t->sheet = mem_grow(t->sheet, t->nsheets + 1, sizeof(*t->sheet));
	t->sheet[t->nsheets++] = (struct sheet){.name = mem_strdup(name)};
	t->wants_list = true;
}

static struct slice find_text(const char *configmap, const char *key, void *ctx)
{
	const struct sheet *s = sheet_get(ctx, configmap);
	for (size_t i = 0; s && i < s->nlines; i++)
		if (strcmp(s->line[i].key, key) == 0)
			return slice_of(s->line[i].text);
	return (struct slice){NULL, 0};
}

/* ---- which spec names which ------------------------------------------------------------------ */

/* Gives the index-th ConfigMap that an entry names; NULL past the last. */
static const char *named(const struct entry *e, size_t index)
{
	const struct calendar_spec *c = e->spec.calendar;
	switch (e->kind) {
	case TIME_SPECS_CALENDAR:
		for (size_t i = 0; i < c->nexceptions; i++)
			if (c->exception[i].dates_configmap && *c->exception[i].dates_configmap &&
				index-- == 0)
				return c->exception[i].dates_configmap;
		return NULL;
	case TIME_SPECS_PRICEPLAN:
		return index == 0 && e->spec.priceplan->has_series
			       ? e->spec.priceplan->series_configmap
			       : NULL;
	case TIME_SPECS_BUDGET:
		return NULL;
	}
	return NULL;
}

static bool names(const struct entry *e, const char *configmap)
{
	const char *name;
	for (size_t i = 0; (name = named(e, i)); i++)
		if (strcmp(name, configmap) == 0)
			return true;
	return false;
}

static bool all_looked(const struct time_specs *t, const struct entry *e)
{
	const char *name;
	for (size_t i = 0; (name = named(e, i)); i++) {
		const struct sheet *s = sheet_get(t, name);
		if (!s || !s->looked)
			return false;
	}
	return true;
}

static void forget_unnamed(struct time_specs *t)
{
	size_t kept = 0;
	for (size_t i = 0; i < t->nsheets; i++) {
		bool wanted = false;
		for (size_t k = 0; k < t->nentries && !wanted; k++)
			wanted = names(t->entry[k], t->sheet[i].name);
		if (wanted) {
			t->sheet[kept++] = t->sheet[i];
		} else {
			sheet_clear(&t->sheet[i]);
			free(t->sheet[i].name);
		}
	}
	t->nsheets = kept;
}

/* ---- telling the queue ----------------------------------------------------------------------- */

/* Finds a zone. NULL: there is no such zone, which the queue says at the object. */
static const struct zone *zone_of(struct time_specs *t, const char *name)
{
	return name && *name ? zones_get(t->o.zones, name, NULL) : NULL;
}

static int tell_calendar(struct time_specs *t, const struct calendar_spec *spec, struct err *e)
{
	int32_t today = civil_day_of(clock_now_ms() / 1000);
	struct date_range horizon = {today - 366, today + HORIZON_DAYS};
	struct resolved r;
	int rc = calendar_resolve(spec, zone_of(t, spec->time_zone), horizon, find_text, t, &r, e);
	if (rc < 0) {
		queue_reject_calendar(t->o.queue, spec->name, e->text);
		return ERR_INVALID;
	}
	if (r.nleft_out > 0)
		log_event(t->o.log, LEVEL_WARN, "dates-left-out", "kind", "calendars", "name",
			spec->name, "#events", LOG_NUMBER((int64_t)r.nleft_out), "why",
			r.left_out.text, NULL);
	rc = queue_set_calendar(t->o.queue, &r.spec, e);
	resolved_done(&r);
	return rc;
}

static int tell_priceplan(struct time_specs *t, const struct priceplan_spec *spec, struct err *e)
{
	struct priceplan_spec complete = *spec;
	struct series series = {0};
	if (spec->has_series)
		series_resolve(
			&complete, find_text(spec->series_configmap, spec->series_key, t), &series);
	int rc = queue_set_priceplan(t->o.queue, &complete, e);
	series_done(&series);
	return rc;
}

static int tell_budget(struct time_specs *t, const struct budget_spec *spec, struct err *e)
{
	struct budget_spec complete = *spec;
	complete.zone = zone_of(t, spec->time_zone);
	return queue_set_budget(t->o.queue, &complete, e);
}

static int tell(struct time_specs *t, struct entry *x, struct err *e)
{
	x->waits = !all_looked(t, x);
	if (x->waits)
		return 0;
	switch (x->kind) {
	case TIME_SPECS_CALENDAR:
		return tell_calendar(t, x->spec.calendar, e);
	case TIME_SPECS_PRICEPLAN:
		return tell_priceplan(t, x->spec.priceplan, e);
	case TIME_SPECS_BUDGET:
		return tell_budget(t, x->spec.budget, e);
	}
	return 0;
}

/* Tells an entry whose own object did not change. */
static void tell_again(struct time_specs *t, struct entry *x)
{
	struct err e = {""};
	if (x->refused)
		return;
	if (tell(t, x, &e) < 0)
		log_event(t->o.log, LEVEL_WARN, "rejected", "kind", entry_kinds[x->kind].plural,
			"name", x->name, "why", e.text, NULL);
}

static void tell_readers(struct time_specs *t, const char *configmap)
{
	for (size_t i = 0; i < t->nentries; i++)
		if (names(t->entry[i], configmap))
			tell_again(t, t->entry[i]);
}

void time_specs_tell_all(struct time_specs *t)
{
	for (size_t i = 0; i < t->nentries; i++)
		tell_again(t, t->entry[i]);
}

/* ---- objects --------------------------------------------------------------------------------- */

static struct entry *entry_get(
	const struct time_specs *t, enum time_specs_kind kind, const char *name)
{
	for (size_t i = 0; i < t->nentries; i++)
		if (t->entry[i]->kind == kind && strcmp(t->entry[i]->name, name) == 0)
			return t->entry[i];
	return NULL;
}

static void entry_free(struct entry *e)
{
	free(e->spec.block);
	free(e->name);
	free(e);
}

static int decode(enum time_specs_kind kind, const cJSON *object, struct entry *ret, struct err *e)
{
	switch (kind) {
	case TIME_SPECS_CALENDAR:
		return decode_calendar(object, &ret->spec.calendar, e);
	case TIME_SPECS_PRICEPLAN:
		return decode_priceplan(object, &ret->spec.priceplan, e);
	case TIME_SPECS_BUDGET:
		return decode_budget(object, &ret->spec.budget, e);
	}
	return ERR_INVALID;
}

static struct entry *entry_keep(
	struct time_specs *t, enum time_specs_kind kind, const char *name, void *block)
{
	struct entry *x = entry_get(t, kind, name);
	if (!x) {
		x = mem_alloc(sizeof(*x));
		x->kind = kind;
		x->name = mem_strdup(name);
		t->entry = mem_grow(t->entry, t->nentries + 1, sizeof(struct entry *));
		t->entry[t->nentries++] = x;
	}
	free(x->spec.block);
	x->spec.block = block;
	x->refused = false;
	return x;
}

int time_specs_see(
	struct time_specs *t, enum time_specs_kind kind, const cJSON *object, struct err *e)
{
	struct entry fresh = {0};
	const char *name;
	int rc = decode(kind, object, &fresh, e);
	if (rc < 0) {
		struct entry *old = entry_get(t, kind, decode_name(object));
		if (old)
			old->refused = true;
		entry_kinds[kind].reject(t->o.queue, decode_name(object), e->text);
		return rc;
	}
	struct entry *x = entry_keep(t, kind, decode_name(object), fresh.spec.block);
	for (size_t i = 0; (name = named(x, i)); i++)
		sheet_want(t, name);
	forget_unnamed(t);
	return tell(t, x, e);
}

void time_specs_drop(struct time_specs *t, enum time_specs_kind kind, const char *name)
{
	for (size_t i = 0; i < t->nentries; i++) {
		struct entry *x = t->entry[i];
		if (x->kind != kind || strcmp(x->name, name) != 0)
			continue;
		t->entry[i] = t->entry[--t->nentries];
		entry_free(x);
		break;
	}
	entry_kinds[kind].drop(t->o.queue, name);
	forget_unnamed(t);
}

/* ---- ConfigMaps ------------------------------------------------------------------------------ */

void time_specs_begin_list(struct time_specs *t)
{
	t->wants_list = false;
	for (size_t i = 0; i < t->nsheets; i++)
		t->sheet[i].in_list = true;
}

/* Notes which ConfigMaps were listed for. One that was named during the list may have been passed
 * by: list again. */
void time_specs_end_list(struct time_specs *t)
{
	for (size_t i = 0; i < t->nsheets; i++) {
		t->sheet[i].looked |= t->sheet[i].in_list;
		t->wants_list |= !t->sheet[i].looked;
	}
	for (size_t i = 0; i < t->nentries; i++)
		if (t->entry[i]->waits)
			tell_again(t, t->entry[i]);
}

void time_specs_see_configmap(struct time_specs *t, const cJSON *object)
{
	struct sheet *s = sheet_get(t, decode_name(object));
	if (!s)
		return;
	sheet_fill(s, object);
	s->looked = true;
	tell_readers(t, s->name);
}

void time_specs_drop_configmap(struct time_specs *t, const char *name)
{
	struct sheet *s = sheet_get(t, name);
	if (!s)
		return;
	sheet_clear(s);
	s->looked = true;
	tell_readers(t, name);
}

bool time_specs_wants_list(struct time_specs *t)
{
	bool wants = t->wants_list;
	t->wants_list = false;
	return wants;
}

void time_specs_keep_quiet(struct time_specs *t)
{
	t->o.log = NULL;
}

/* ---- its life --------------------------------------------------------------------------------- */

struct time_specs *time_specs_new(const struct time_specs_options *o)
{
	struct time_specs *t = mem_alloc(sizeof(*t));
	t->o = *o;
	return t;
}

void time_specs_free(struct time_specs *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nentries; i++)
		entry_free(t->entry[i]);
	for (size_t i = 0; i < t->nsheets; i++) {
		sheet_clear(&t->sheet[i]);
		free(t->sheet[i].name);
	}
	free(t->entry);
	free(t->sheet);
	free(t);
}
