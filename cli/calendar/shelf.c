#include "cli/calendar/shelf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "calendar/civil.h"
#include "calendar/resolve.h"
#include "calendar/tzdata.h"
#include "cli/simulate/documents.h"
#include "controller/wire/decode.h"

#define FILE_MAX_BYTES ((size_t)64 << 20)
#define TEXTS_MAX 4096

void shelf_init(struct shelf *s)
{
	*s = (struct shelf){0};
}

void shelf_done(struct shelf *s)
{
	for (size_t i = 0; i < s->n; i++) {
		calendar_free(s->item[i].calendar);
		zone_free(s->item[i].zone);
		free(s->item[i].spec);
	}
	for (size_t i = 0; i < s->ntexts; i++) {
		free(s->text[i].configmap);
		free(s->text[i].key);
		free(s->text[i].text);
	}
	free(s->item);
	free(s->text);
	*s = (struct shelf){0};
}

/* ---- objects --------------------------------------------------------------------------------- */

static int open_calendar(struct shelf_calendar *c, struct err *e)
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

static int add_calendar(struct shelf *s, const char *file, const cJSON *o, struct err *e)
{
	struct shelf_calendar c = {.file = file};
	int rc = decode_calendar(o, &c.spec, e);
	for (size_t i = 0; rc == 0 && i < s->n; i++)
		if (strcmp(s->item[i].spec->name, c.spec->name) == 0)
			rc = err_set(e, ERR_CONFLICT,
				"Calendar %s: metadata.name: is that of another one in %s; rename "
				"it",
				c.spec->name, s->item[i].file);
	if (rc == 0)
		rc = open_calendar(&c, e);
	if (rc < 0) {
		zone_free(c.zone);
		free(c.spec);
		return rc;
	}
	s->item = mem_grow(s->item, s->n + 1, sizeof(*s->item));
	s->item[s->n++] = c;
	return 0;
}

static int add_configmap(struct shelf *s, const cJSON *o, struct err *e)
{
	json_each(item, json_object(o, "data"))
	{
		if (!cJSON_IsString(item))
			continue;
		if (s->ntexts == TEXTS_MAX)
			return err_set(e, ERR_LIMIT, "ConfigMap %s: more than %d texts in all",
				decode_name(o), TEXTS_MAX);
		s->text = mem_grow(s->text, s->ntexts + 1, sizeof(*s->text));
		s->text[s->ntexts++] = (struct shelf_text){mem_strdup(decode_name(o)),
			mem_strdup(item->string), mem_strdup(item->valuestring)};
	}
	return 0;
}

static int add_object(struct shelf *s, const char *file, const cJSON *o, struct err *e)
{
	const char *kind = json_text(o, "kind");
	if (kind && strcmp(kind, "Calendar") == 0)
		return add_calendar(s, file, o, e);
	if (kind && strcmp(kind, "ConfigMap") == 0)
		return add_configmap(s, o, e);
	return 0;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* "Calendar nights: spec.open[0].to: ..." gets file and line of the field in front. */
static void locate(struct documents *d, const char *file, const char *within, struct err *e)
{
	char path[600];
	const char *at = strstr(e->text, ": ");
	snprintf(path, sizeof(path), "%s%s", within, at ? at + 2 : "");
	err_wrap(e, "%s:%zu", file, documents_line_of(d, path));
}

static int add_list(
	struct shelf *s, struct documents *d, const char *file, const cJSON *list, struct err *e)
{
	size_t i = 0;
	json_each(item, list)
	{
		char within[32];
		snprintf(within, sizeof(within), "items[%zu].", i++);
		int rc = add_object(s, file, item, e);
		if (rc < 0) {
			locate(d, file, within, e);
			return rc;
		}
	}
	return 0;
}

int shelf_read_text(struct shelf *s, const char *file, struct slice text, struct err *e)
{
	struct documents *d = documents_new(text);
	const cJSON *o;
	int rc;
	while ((rc = documents_next(d, &o, e)) > 0) {
		int added = add_object(s, file, o, e);
		if (added < 0)
			locate(d, file, "", e);
		else
			added = add_list(s, d, file, json_array(o, "items"), e);
		if (added < 0) {
			documents_free(d);
			return added;
		}
	}
	if (rc < 0)
		err_wrap(e, "%s:%zu", file, documents_line(d));
	documents_free(d);
	return rc;
}

int read_whole(const char *file, size_t max, char **ret, size_t *ret_len, struct err *e)
{
	struct buf text;
	char piece[65536];
	bool input = strcmp(file, "-") == 0;
	FILE *f = input ? stdin : fopen(file, "rb");
	if (!f)
		return err_set(e, ERR_GONE, "%s: %s", file, strerror(errno));
	buf_init(&text, max);
	for (size_t n; !text.failed && (n = fread(piece, 1, sizeof(piece), f)) > 0;)
		buf_add(&text, piece, n);
	int rc = ferror(f)     ? err_set(e, ERR_GONE, "%s: %s", file, strerror(errno))
		 : text.failed ? err_set(e, ERR_LIMIT, "%s: has more than %zu MiB", file, max >> 20)
			       : 0;
	if (!input)
		fclose(f);
	if (rc == 0) {
		*ret_len = text.len;
		*ret = text.len > 0 ? buf_take(&text) : mem_strdup("");
	}
	buf_done(&text);
	return rc;
}

int shelf_read(struct shelf *s, const char *file, struct err *e)
{
	char *text;
	size_t len;
	int rc = read_whole(file, FILE_MAX_BYTES, &text, &len, e);
	if (rc < 0)
		return rc;
	rc = shelf_read_text(s, file, (struct slice){text, len}, e);
	free(text);
	return rc;
}

/* ---- dates from ConfigMaps ------------------------------------------------------------------- */

static struct slice find_text(const char *configmap, const char *key, void *ctx)
{
	const struct shelf *s = ctx;
	for (size_t i = 0; i < s->ntexts; i++)
		if (strcmp(s->text[i].configmap, configmap) == 0 &&
			strcmp(s->text[i].key, key) == 0)
			return slice_of(s->text[i].text);
	return (struct slice){NULL, 0};
}

static int complete(
	struct shelf *s, struct shelf_calendar *c, struct date_range horizon, struct err *e)
{
	struct resolved r;
	struct calendar *calendar;
	int rc = calendar_resolve(c->spec, c->zone, horizon, find_text, s, &r, e);
	if (rc == 0) {
		rc = calendar_new(&r.spec, &calendar, e);
		c->note = r.left_out;
		resolved_done(&r);
	}
	if (rc < 0) {
		err_wrap(e, "%s: Calendar %s", c->file, c->spec->name);
		return rc;
	}
	calendar_free(c->calendar);
	c->calendar = calendar;
	return 0;
}

int shelf_close(struct shelf *s, int64_t now_ms, struct err *e)
{
	int32_t today = civil_day_of(now_ms / 1000);
	struct date_range horizon = {today - 366, today + 3660};
	int rc = 0;
	for (size_t i = 0; i < s->n && rc == 0; i++)
		rc = complete(s, &s->item[i], horizon, e);
	return rc;
}
