#include "controller/common/path.h"

#include <string.h>

static bool is_unreserved(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '.' || c == '_' || c == '~';
}

void path_escape(struct buf *out, const char *text)
{
	path_escape_but(out, text, "");
}

void path_escape_but(struct buf *out, const char *text, const char *too)
{
	for (; *text; text++) {
		if (is_unreserved(*text) || strchr(too, *text))
			buf_putc(out, *text);
		else
			buf_printf(out, "%%%02X", (unsigned char)*text);
	}
}

void path_vformat(struct buf *out, const char *format, va_list ap)
{
	for (const char *p = format; *p; p++) {
		if (p[0] == '%' && p[1] == 's') {
			path_escape(out, va_arg(ap, const char *));
			p++;
		} else {
			buf_putc(out, *p);
		}
	}
}

void path_format(struct buf *out, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	path_vformat(out, format, ap);
	va_end(ap);
}
