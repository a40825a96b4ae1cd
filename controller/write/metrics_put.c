#include "controller/write/metrics_put.h"

#include <inttypes.h>
#include <stdarg.h>

#include "base/must.h"

enum metric_type { GAUGE, COUNTER, HISTOGRAM, INFO };

static const struct row {
	const char *name;
	enum metric_type type;
	const char *unit, *label[5], *help;
} ROWS[] = {
#define LABELS(...) .label = {__VA_ARGS__}
#define NO_LABELS .label = {NULL}
#define SECTION(title, text)
#define METRIC(tag, name, type, unit, labels, help)                                                \
	[METRIC_##tag] = {name, type, unit, labels, help},
#include "controller/write/metrics.def"
};

void metrics_put_family(struct buf *out, enum metric m)
{
	static const char *const types[] = {"gauge", "counter", "histogram", "info"};
	const struct row *r = &ROWS[m];
	buf_printf(out, "# TYPE %s %s\n", r->name, types[r->type]);
	if (r->unit[0])
		buf_printf(out, "# UNIT %s %s\n", r->name, r->unit);
	buf_printf(out, "# HELP %s %s\n", r->name, r->help);
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

/* A family of the type HISTOGRAM has none of these (metrics_put_part()). */
static const char *suffix_of(enum metric_type type)
{
	return type == COUNTER ? "_total" : type == INFO ? "_info" : "";
}

void metrics_put_sample(struct buf *out, enum metric m, ...)
{
	const struct row *r = &ROWS[m];
	const char *value;
	size_t n = 0;
	va_list ap;
	buf_printf(out, "%s%s", r->name, suffix_of(r->type));
	va_start(ap, m);
	for (; (value = va_arg(ap, const char *)); n++) {
		must(r->label[n] != NULL);
		buf_printf(out, "%s%s=\"", n ? "\"," : "{", r->label[n]);
		put_label(out, value);
	}
	va_end(ap);
	must(r->label[n] == NULL);
	buf_puts(out, n ? "\"} " : " ");
}

void metrics_put_part(
	struct buf *out, enum metric m, const char *suffix, const char *value, const char *bound)
{
	const struct row *r = &ROWS[m];
	must(r->type == HISTOGRAM && (value != NULL) == (r->label[0] != NULL) && !r->label[1]);
	buf_printf(out, "%s%s", r->name, suffix);
	if (value) {
		buf_printf(out, "{%s=\"", r->label[0]);
		put_label(out, value);
		buf_puts(out, "\"");
	}
	if (bound)
		buf_printf(out, "%sle=\"%s\"", value ? "," : "{", bound);
	buf_puts(out, value || bound ? "} " : " ");
}

void metrics_put_value(struct buf *out, enum metric m, uint64_t value)
{
	metrics_put_family(out, m);
	metrics_put_sample(out, m, NULL);
	buf_printf(out, "%" PRIu64 "\n", value);
}
