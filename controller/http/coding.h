/*
 * How an answer travels: gzip for who takes it, and nothing at all for who has it already.
 *
 * A look at a long queue is half a megabyte of JSON that says the same words over and over: a fifteenth of that
 * with gzip. All is done on the loop's thread, at zlib's fastest, so what is larger than CODING_MAX_BYTES goes as it is.
 */
#ifndef SLUICE_CONTROLLER_HTTP_CODING_H
#define SLUICE_CONTROLLER_HTTP_CODING_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"

enum {
	CODING_MIN_BYTES = 1024, /* less fits into a packet or two anyway */
	CODING_MAX_BYTES = 1 << 20,
	CODING_TAG_SIZE = 32,
};

/* Does who sends this Accept-Encoding header (NULL: none) take gzip? RFC 9110 12.5.3; a weight that is no number
 * refuses. */
bool coding_takes_gzip(const char *accept);
/* Replaces a body of CODING_MIN_BYTES to CODING_MAX_BYTES by its gzip, where that is shorter. False: it is as it was. */
bool coding_gzip(struct buf *body);

/* The ETag of a text, weak for it may travel as gzip: W/"...". */
void coding_tag(struct slice text, char ret[CODING_TAG_SIZE]);
/* Does an If-None-Match header (NULL: none) name it? RFC 9110 13.1.2. */
bool coding_has(const char *if_none_match, const char *tag);

#endif
