#include "base/json_writer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/must.h"

static bool is_in_array(const struct json_writer *w)
{
	return w->depth > 0 && (w->arrays >> (w->depth - 1) & 1);
}

/* Puts what stands before a value. */
static void begin(struct json_writer *w, const char *key)
{
	must(w->depth > 0 ? is_in_array(w) == !key : !key && !w->filled);
	if (w->filled)
		buf_putc(w->out, ',');
	w->filled = true;
	if (!key)
		return;
	buf_json_string(w->out, key);
	buf_putc(w->out, ':');
}

static void open(struct json_writer *w, const char *key, bool is_array)
{
	begin(w, key);
	must(w->depth < JSON_WRITER_DEPTH_MAX);
	uint64_t bit = UINT64_C(1) << w->depth++;
	w->arrays = is_array ? w->arrays | bit : w->arrays & ~bit;
	w->filled = false;
	buf_putc(w->out, is_array ? '[' : '{');
}

void jw_object(struct json_writer *w, const char *key)
{
	open(w, key, false);
}

void jw_array(struct json_writer *w, const char *key)
{
	open(w, key, true);
}

void jw_end(struct json_writer *w)
{
	must(w->depth > 0);
	buf_putc(w->out, is_in_array(w) ? ']' : '}');
	w->depth--;
	w->filled = true;
}

void jw_close(struct json_writer *w)
{
	while (w->depth > 0)
		jw_end(w);
}

struct json_writer json_writer_object(struct buf *out)
{
	struct json_writer w = json_writer(out);
	jw_object(&w, NULL);
	return w;
}

void jw_text(struct json_writer *w, const char *key, const char *value)
{
	begin(w, key);
	buf_json_string(w->out, value);
}

static void put_texts(struct json_writer *w, const char *key, va_list ap)
{
	for (; key; key = va_arg(ap, const char *))
		jw_text(w, key, va_arg(ap, const char *));
}

void jw_texts(struct json_writer *w, const char *key, ...)
{
	va_list ap;
	va_start(ap, key);
	put_texts(w, key, ap);
	va_end(ap);
}

void jw_object_of(struct json_writer *w, const char *key, ...)
{
	va_list ap;
	jw_object(w, key);
	va_start(ap, key);
	put_texts(w, va_arg(ap, const char *), ap);
	va_end(ap);
	jw_end(w);
}

void jw_array_of(struct json_writer *w, const char *key, const char *const *text, size_t n)
{
	jw_array(w, key);
	for (size_t i = 0; i < n && text[i]; i++)
		jw_text(w, NULL, text[i]);
	jw_end(w);
}

void jw_slice(struct json_writer *w, const char *key, struct slice value)
{
	begin(w, key);
	buf_json_slice(w->out, value);
}

void jw_textf(struct json_writer *w, const char *key, const char *fmt, ...)
{
	struct buf text;
	va_list ap;
	buf_init(&text, w->out->ceiling);
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	jw_slice(w, key, buf_slice(&text));
	buf_done(&text);
}

void jw_int(struct json_writer *w, const char *key, int64_t value)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%" PRId64, value);
	begin(w, key);
	buf_add(w->out, digits, (size_t)n);
}

void jw_bool(struct json_writer *w, const char *key, bool value)
{
	begin(w, key);
	buf_puts(w->out, value ? "true" : "false");
}

void jw_number(struct json_writer *w, const char *key, const char *fmt, ...)
{
	va_list ap;
	begin(w, key);
	va_start(ap, fmt);
	buf_vprintf(w->out, fmt, ap);
	va_end(ap);
}

void jw_raw(struct json_writer *w, const char *key, struct slice json)
{
	must(json.len > 0);
	begin(w, key);
	buf_add(w->out, json.ptr, json.len);
}

void jw_members(struct json_writer *w, struct slice object)
{
	must(w->depth > 0 && !is_in_array(w) && object.len >= 2 && object.ptr[0] == '{' &&
		object.ptr[object.len - 1] == '}');
	if (object.len == 2)
		return;
	if (w->filled)
		buf_putc(w->out, ',');
	w->filled = true;
	buf_add(w->out, object.ptr + 1, object.len - 2);
}
