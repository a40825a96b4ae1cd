/*
 * How an answer travels: as gzip to a client that takes it, and not at all to one that has it already.
 *
 * A look at a long queue is half a megabyte of JSON that says the same words over and over: a fifteenth of that
 * with gzip. A megabyte takes 9 ms, which the loop that starts Jobs has not: a list is packed by the process that
 * makes it (its owner), and on the loop only what is no longer than CODING_SHORT_BYTES.
 */
#ifndef SLUICE_CONTROLLER_NET_CODING_H
#define SLUICE_CONTROLLER_NET_CODING_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"

enum {
	CODING_MIN_BYTES = 1024, /* less fits into a packet or two anyway */
	CODING_SHORT_BYTES = 64 << 10,
	CODING_TAG_SIZE = 32,
};

/* Does a client that sends this Accept-Encoding header (NULL: none) take gzip? RFC 9110 12.5.3; a weight that is no
 * number refuses. */
bool coding_takes_gzip(const char *accept);
/* Replaces a body of CODING_MIN_BYTES or more by its gzip, where that is shorter and it is none yet. Else it stays as
 * it is. */
void coding_gzip(struct buf *body);
/* Is the body a gzip? No text begins so. */
bool coding_is_gzip(struct slice body);

/* The ETag of a text, weak for it may travel as gzip: W/"...". */
void coding_tag(struct slice text, char ret[CODING_TAG_SIZE]);
/* Does an If-None-Match header (NULL: none) name it? RFC 9110 13.1.2. */
bool coding_has(const char *if_none_match, const char *tag);

#endif
