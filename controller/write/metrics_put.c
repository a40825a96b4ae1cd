#include "controller/write/metrics_put.h"

#include <stdarg.h>

void metrics_put_family(struct buf *out, const char *name, enum metric_type type, const char *unit,
	const char *help)
{
	static const char *const types[] = {"gauge", "counter", "histogram", "info"};
	buf_printf(out, "# TYPE %s %s\n", name, types[type]);
	if (unit[0])
		buf_printf(out, "# UNIT %s %s\n", name, unit);
	buf_printf(out, "# HELP %s %s\n", name, help);
}

/* Escapes backslash, quote and newline; bytes that are not UTF-8 become U+FFFD. */
static void put_label(struct buf *out, const char *value)
{
	struct slice left = slice_of(value);
	for (size_t len; left.len > 0; left = (struct slice){left.ptr + len, left.len - len}) {
		len = slice_utf8_character(left);
		if (*left.ptr == '\n')
			buf_puts(out, "\\n");
		else if (*left.ptr == '"' || *left.ptr == '\\')
			buf_printf(out, "\\%c", *left.ptr);
		else if (len == 0)
			buf_puts(out, "\xEF\xBF\xBD");
		else
			buf_add(out, left.ptr, len);
		len += len == 0;
	}
}

void metrics_put_labelled(struct buf *out, const char *name, ...)
{
	const char *key, *before = "{";
	va_list ap;
	buf_puts(out, name);
	va_start(ap, name);
	while ((key = va_arg(ap, const char *))) {
		buf_printf(out, "%s%s=\"", before, key);
		put_label(out, va_arg(ap, const char *));
		before = "\",";
	}
	va_end(ap);
	buf_puts(out, "\"} ");
}
