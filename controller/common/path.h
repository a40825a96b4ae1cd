/*
 * Paths of the API server, with what stands in them percent-encoded: a name that came from outside
 * can never become a second path segment or a query.
 */
#ifndef SLUICE_CONTROLLER_COMMON_PATH_H
#define SLUICE_CONTROLLER_COMMON_PATH_H

#include <stdarg.h>

#include "base/buf.h"

enum { PATH_MAX_BYTES = 4096 };

/* Appends text with everything but letters, digits, -._~ and what `too` has encoded. */
void path_escape_but(struct buf *out, const char *text, const char *too);
void path_escape(struct buf *out, const char *text); /* with `too` empty */

/* Appends format, in which each %s is one argument, escaped; nothing else is understood. */
void path_format(struct buf *out, const char *format, ...);
void path_vformat(struct buf *out, const char *format, va_list ap);

#endif
