#include "cli/import/fields.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/must.h"

#define PATH_MAX_BYTES 4096

void walk_init(
	struct walk *w, struct import_item *item, struct object_source *from, const char *origin)
{
	*w = (struct walk){.whose = "Kueue", .item = item, .from = from, .origin = origin};
	buf_init(&w->path, PATH_MAX_BYTES);
}

void walk_done(struct walk *w)
{
	buf_done(&w->path);
}

/* ---- where ----------------------------------------------------------------------------------- */

size_t walk_step(struct walk *w, const char *key)
{
	size_t len = w->path.len;
	buf_printf(&w->path, "%s%.300s", len ? "." : "", key);
	return len;
}

size_t walk_step_item(struct walk *w, size_t index)
{
	size_t len = w->path.len;
	buf_printf(&w->path, "[%zu]", index);
	return len;
}

void walk_back(struct walk *w, size_t len)
{
	w->path.failed = false;
	if (w->path.len <= len)
		return;
	w->path.len = len;
	w->path.ptr[len] = '\0';
}

const char *walk_where(struct walk *w, char *text)
{
	if (w->from)
		return object_where(w->from, buf_text(&w->path), text, WHERE_SIZE);
	snprintf(text, WHERE_SIZE, "%s", w->origin);
	return text;
}

void walk_reference(struct walk *w, const char *kind, const char *ns, const char *name)
{
	char where[WHERE_SIZE];
	if (name && *name)
		item_reference(w->item, walk_where(w, where), buf_text(&w->path),
			item_title(kind, ns, name));
}

static void say(struct walk *w, bool refuse, const char *fmt, va_list args)
{
	char where[WHERE_SIZE], text[900];
	vsnprintf(text, sizeof(text), fmt, args);
	walk_where(w, where);
	if (refuse)
		item_refuse(w->item, where, buf_text(&w->path), "%s", text);
	else
		item_note(w->item, where, buf_text(&w->path), "%s", text);
}

void walk_note(struct walk *w, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	say(w, false, fmt, args);
	va_end(args);
}

void walk_refuse(struct walk *w, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	say(w, true, fmt, args);
	va_end(args);
}

/* ---- what is made ---------------------------------------------------------------------------- */

static bool is_exact(const cJSON *v)
{
	if (cJSON_IsNumber(v))
		return fabs(v->valuedouble) < 9007199254740992.0; /* 2^53: others round to it */
	json_each(item, v)
		if (!is_exact(item))
			return false;
	return true;
}

void walk_add(struct walk *w, cJSON *to, const char *name, cJSON *made)
{
	must(made);
	if (cJSON_GetObjectItemCaseSensitive(to, name)) {
		walk_refuse(w, "is there under another name, too; remove one of the two");
		cJSON_Delete(made);
		return;
	}
	must(cJSON_AddItemToObject(to, name, made));
}

void walk_copy(struct walk *w, cJSON *to, const char *name, const cJSON *value)
{
	if (!is_exact(value))
		walk_refuse(
			w, "has a number that is too large to be read exactly; put it in quotes");
	walk_add(w, to, name, cJSON_Duplicate(value, true));
}

bool says_nothing(const cJSON *v)
{
	if (cJSON_IsObject(v) || cJSON_IsArray(v))
		return !v->child;
	return cJSON_IsNull(v) || cJSON_IsFalse(v) || (cJSON_IsString(v) && !*v->valuestring) ||
	       (cJSON_IsNumber(v) && v->valuedouble == 0);
}

/* ---- the walk -------------------------------------------------------------------------------- */

static const struct field *row_of(const struct field *fields, const char *name)
{
	for (; fields->name; fields++)
		if (strcmp(fields->name, name) == 0 || strcmp(fields->name, "*") == 0)
			return fields;
	return NULL;
}

static void take_object(struct walk *w, const struct field *f, const cJSON *in, cJSON *to)
{
	cJSON *made = to ? cJSON_CreateObject() : NULL;
	walk_fields(w, f->within, in, made);
	if (to)
		walk_add(w, to, in->string, made);
}

static void take_items(struct walk *w, const struct field *f, const cJSON *in, cJSON *to)
{
	cJSON *made = to ? cJSON_CreateArray() : NULL;
	size_t index = 0;
	json_each(item, in) {
		size_t back = walk_step_item(w, index++);
		cJSON *one = made ? cJSON_CreateObject() : NULL;
		if (cJSON_IsObject(item))
			walk_fields(w, f->within, item, one);
		else
			walk_refuse(w, "must be an object");
		if (made)
			must(cJSON_AddItemToArray(made, one));
		walk_back(w, back);
	}
	if (to)
		walk_add(w, to, in->string, made);
}

static void take_value(struct walk *w, const struct field *f, const cJSON *in, cJSON *to)
{
	for (const struct field_value *v = f->values; v && v->theirs; v++)
		if (cJSON_IsString(in) && strcmp(in->valuestring, v->theirs) == 0) {
			walk_add(w, to, in->string, cJSON_CreateString(v->ours));
			return;
		}
	walk_copy(w, to, in->string, in);
}

static void take_field(struct walk *w, const struct field *f, const cJSON *in, cJSON *to)
{
	if (!f)
		walk_note(w, "is left out: it is no field of %s that is known here", w->whose);
	else if (f->take)
		f->take(w, in, to);
	else if (f->meaning && !says_nothing(in))
		walk_note(w, "is left out: %s", f->meaning);
	else if (f->server || f->meaning)
		return;
	else if (f->within && cJSON_IsObject(in))
		take_object(w, f, in, to);
	else if (f->within && cJSON_IsArray(in))
		take_items(w, f, in, to);
	else if (f->within)
		walk_refuse(w, "must be an object or a list of them");
	else if (to)
		take_value(w, f, in, to);
}

void walk_fields(struct walk *w, const struct field *fields, const cJSON *in, cJSON *to)
{
	if (!cJSON_IsObject(in)) {
		walk_refuse(w, "must be an object");
		return;
	}
	json_each(member, in) {
		if (cJSON_IsNull(member))
			continue;
		size_t back = walk_step(w, member->string);
		take_field(w, row_of(fields, member->string), member, to);
		walk_back(w, back);
	}
}
