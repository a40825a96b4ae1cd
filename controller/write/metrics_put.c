#include "controller/write/metrics_put.h"

void metrics_put_family(struct buf *out, const char *name, enum metric_type type, const char *unit,
	const char *help)
{
	static const char *const types[] = {"gauge", "counter", "histogram", "info"};
	buf_printf(out, "# TYPE %s %s\n", name, types[type]);
	if (unit[0])
		buf_printf(out, "# UNIT %s %s\n", name, unit);
	buf_printf(out, "# HELP %s %s\n", name, help);
}

void metrics_put_label(struct buf *out, const char *value)
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

void metrics_put_labelled(struct buf *out, const char *name, const char *key, const char *value)
{
	buf_printf(out, "%s{%s=\"", name, key);
	metrics_put_label(out, value);
	buf_puts(out, "\"} ");
}

void metrics_put_labelled_twice(struct buf *out, const char *name, const char *a_key,
	const char *a_value, const char *b_key, const char *b_value)
{
	buf_printf(out, "%s{%s=\"", name, a_key);
	metrics_put_label(out, a_value);
	buf_printf(out, "\",%s=\"", b_key);
	metrics_put_label(out, b_value);
	buf_puts(out, "\"} ");
}
