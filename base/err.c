#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *e, int code, const char *fmt, ...)
{
	if (e) {
		va_list ap;
		va_start(ap, fmt);
		vsnprintf(e->text, sizeof(e->text), fmt, ap);
		va_end(ap);
	}
	return code;
}

void err_wrap(struct err *e, const char *fmt, ...)
{
	if (!e)
		return;
	struct err old = *e;
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n + 3 > sizeof(e->text))
		return;
	int left = (int)sizeof(e->text) - n - 3;
	snprintf(e->text + n, sizeof(e->text) - (size_t)n, ": %.*s", left, old.text);
}
