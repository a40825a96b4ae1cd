#include "cli/simulate/calendar_specs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/calendar/civil.h"
#include "queue/calendar/spec.h"
#include "queue/calendar/tzdata.h"
#include "cli/simulate/documents.h"
#include "controller/wire/decode.h"

#define FILE_MAX_BYTES ((size_t)64 << 20)
#define TEXTS_MAX 4096

void calendar_specs_init(struct calendar_specs *s)
{
	*s = (struct calendar_specs){0};
}

void calendar_specs_done(struct calendar_specs *s)
{
	for (size_t i = 0; i < s->n; i++) {
		calendar_free(s->item[i].calendar);
		zone_free(s->item[i].zone);
		free(s->item[i].spec);
		free(s->item[i].where);
	}
	for (size_t i = 0; i < s->ntexts; i++) {
		free(s->text[i].configmap);
		free(s->text[i].key);
		free(s->text[i].text);
	}
	free(s->item);
	free(s->text);
	*s = (struct calendar_specs){0};
}

/* ---- objects --------------------------------------------------------------------------------- */

static int open_calendar(struct calendar_specs_calendar *c, struct err *e)
{
	int rc = 0;
	if (*c->spec->time_zone)
		rc = tzdata_load(c->spec->time_zone, &c->zone, e);
	if (rc < 0)
		err_wrap(e, "spec.timeZone");
	c->spec->zone = c->zone;
	if (rc == 0)
		rc = calendar_new(c->spec, &c->calendar, e);
	if (rc < 0)
		err_wrap(e, "Calendar %s", c->spec->name);
	return rc;
}

int calendar_specs_add_calendar(
	struct calendar_specs *s, const char *where, const cJSON *o, struct err *e)
{
	struct calendar_specs_calendar c = {0};
	int rc = decode_calendar(o, &c.spec, e);
	for (size_t i = 0; rc == 0 && i < s->n; i++)
		if (strcmp(s->item[i].spec->name, c.spec->name) == 0)
			rc = err_set(e, ERR_CONFLICT,
				"Calendar %s: metadata.name: is that of another one at %s; rename it",
				c.spec->name, s->item[i].where);
	if (rc == 0)
		rc = open_calendar(&c, e);
	if (rc < 0) {
		zone_free(c.zone);
		free(c.spec);
		return rc;
	}
	c.where = mem_strdup(where);
	s->item = mem_grow(s->item, s->n + 1, sizeof(*s->item));
	s->item[s->n++] = c;
	return 0;
}

int calendar_specs_add_configmap(struct calendar_specs *s, const cJSON *o, struct err *e)
{
	json_each(item, json_object(o, "data")) {
		if (!cJSON_IsString(item))
			continue;
		if (s->ntexts == TEXTS_MAX)
			return err_set(e, ERR_LIMIT, "ConfigMap %s: more than %d texts in all",
				decode_name(o), TEXTS_MAX);
		s->text = mem_grow(s->text, s->ntexts + 1, sizeof(*s->text));
		s->text[s->ntexts++] = (struct calendar_specs_text){mem_strdup(decode_name(o)),
			mem_strdup(item->string), mem_strdup(item->valuestring)};
	}
	return 0;
}

/* ---- files ----------------------------------------------------------------------------------- */

static int add_kind(struct object_source *from, const cJSON *o, struct err *e)
{
	char where[WHERE_SIZE];
	if (json_is(o, "kind", "Calendar"))
		return calendar_specs_add_calendar(
			from->ctx, object_where(from, "", where, sizeof(where)), o, e);
	if (json_is(o, "kind", "ConfigMap"))
		return calendar_specs_add_configmap(from->ctx, o, e);
	return 0;
}

static int add_object(struct object_source *from, const cJSON *o, struct err *e)
{
	int rc = add_kind(from, o, e);
	return rc < 0 ? object_fault(from, rc, e) : 0;
}

static int add_document(struct object_source *from, const cJSON *o, struct err *e)
{
	int rc = add_object(from, o, e);
	return rc < 0 ? rc : object_items(from, o, add_object, e);
}

int calendar_specs_read_text(
	struct calendar_specs *s, const char *file, struct slice text, struct err *e)
{
	return objects_read_text(file, text, add_document, s, e);
}

int calendar_specs_read(struct calendar_specs *s, const char *file, struct err *e)
{
	return objects_read(file, file, FILE_MAX_BYTES, add_document, s, e);
}

/* ---- dates from ConfigMaps ------------------------------------------------------------------- */

struct slice calendar_specs_text(
	const struct calendar_specs *s, const char *configmap, const char *key)
{
	for (size_t i = 0; i < s->ntexts; i++)
		if (strcmp(s->text[i].configmap, configmap) == 0 &&
			strcmp(s->text[i].key, key) == 0)
			return slice_of(s->text[i].text);
	return (struct slice){NULL, 0};
}

static struct slice find_text(const char *configmap, const char *key, void *ctx)
{
	return calendar_specs_text(ctx, configmap, key);
}

int calendar_specs_resolve(
	struct calendar_specs *s, size_t i, int64_t now_ms, struct resolved *ret, struct err *e)
{
	const struct calendar_specs_calendar *c = &s->item[i];
	int32_t today = civil_day_of(now_ms / 1000);
	struct date_range horizon = {today - 366, today + 3660};
	int rc = calendar_resolve(c->spec, c->zone, horizon, find_text, s, ret, e);
	if (rc < 0)
		err_wrap(e, "%s: Calendar %s", c->where, c->spec->name);
	return rc;
}

static int complete(struct calendar_specs *s, size_t i, int64_t now_ms, struct err *e)
{
	struct calendar_specs_calendar *c = &s->item[i];
	struct resolved r;
	struct calendar *calendar;
	int rc = calendar_specs_resolve(s, i, now_ms, &r, e);
	if (rc < 0)
		return rc;
	rc = calendar_new(&r.spec, &calendar, e);
	c->note = r.left_out;
	resolved_done(&r);
	if (rc < 0) {
		err_wrap(e, "%s: Calendar %s", c->where, c->spec->name);
		return rc;
	}
	calendar_free(c->calendar);
	c->calendar = calendar;
	return 0;
}

int calendar_specs_close(struct calendar_specs *s, int64_t now_ms, struct err *e)
{
	int rc = 0;
	for (size_t i = 0; i < s->n && rc == 0; i++)
		rc = complete(s, i, now_ms, e);
	return rc;
}
