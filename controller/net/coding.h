/*
 * How an answer travels: as gzip to a client that takes it, and not at all to one that has it
 * already.
 *
 * An answer about a long queue is half a megabyte of JSON that says the same words over and over;
 * gzip makes a fifteenth of it. A megabyte takes 9 ms, which the loop that starts Jobs has not. So
 * a list is packed by the process that makes it; only what is at most CODING_SHORT_BYTES is packed
 * on the loop.
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

/* Whether a client with this Accept-Encoding header (NULL: none) takes gzip, RFC 9110 12.5.3. A
 * weight that is no number refuses. */
bool coding_takes_gzip(const char *accept);
/* Replaces a body of CODING_MIN_BYTES or more by its gzip, if that is shorter and the body is none
 * yet. */
void coding_gzip(struct buf *body);
/* Whether the body is a gzip. No text begins so. */
bool coding_is_gzip(struct slice body);

/* Makes the ETag of a text, weak for it may travel as gzip: W/"...". */
void coding_tag(struct slice text, char ret[CODING_TAG_SIZE]);
/* Whether an If-None-Match header (NULL: none) names the tag. RFC 9110 13.1.2. */
bool coding_has(const char *if_none_match, const char *tag);

#endif
