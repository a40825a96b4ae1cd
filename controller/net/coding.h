/*
 * How an answer travels: as gzip to a client that takes it, and not at all to one that has it
 * already.
 *
 * An answer about a long queue is half a megabyte of JSON that says the same words over and over;
 * gzip makes a fifteenth of it. A megabyte takes 9 ms, which the loop that starts Jobs has not. So
 * a list is packed by the process that makes it; of what is made on the loop at most
 * CODING_SHORT_BYTES are packed at once, and more in slices (packer.h).
 *
 * Pages ask for the same again and again. An answer has an ETag of its text, and a client that names
 * it is told 304. The time at which an answer was made would make each another: times named "asOf",
 * "from", "until", "since" and "now" in its head, the members before the first list or object, are
 * left out of the tag. Other times are facts. A gzip carries the tag of its text with it, as its
 * comment (RFC 1952): who packed it has the text, and who sends it has not.
 *
 * Tags of answers have a key of this process, so that nobody makes two answers of one tag. Of another
 * replica, or after a restart, the tag is another: no 304 comes, once. Files have no key: their tags
 * are the same everywhere.
 */
#ifndef SLUICE_CONTROLLER_NET_CODING_H
#define SLUICE_CONTROLLER_NET_CODING_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"

enum {
	CODING_MIN_BYTES = 1024, /* less fits into a packet or two anyway */
	CODING_SHORT_BYTES = 64 << 10,
	CODING_TAGGED_BYTES =
		1 << 20, /* a longer text has no tag unless it is packed: that takes time */
	CODING_TAG_SIZE = 32,
};

/* Whether a client with this Accept-Encoding header (NULL: none) takes gzip, RFC 9110 12.5.3. A
 * weight that is no number refuses. */
bool coding_takes_gzip(const char *accept);
/* Replaces a body of CODING_MIN_BYTES or more by its gzip, if that is shorter and the body is none
 * yet. The gzip carries the text's tag. */
void coding_gzip(struct buf *body);
/* Begins a gzip that is made in slices. The text is borrowed until its end. tag: what the gzip
 * carries, or "". */
struct coding_pack;
struct coding_pack *coding_pack_new(struct slice text, const char *tag);
/* Packs so many bytes more. False: that was all, or it gets no shorter. */
bool coding_pack_step(struct coding_pack *p, size_t bytes);
/* Ends it. A gzip that is whole takes the place of body, which has the text (NULL: unwanted). */
void coding_pack_end(struct coding_pack *p, struct buf *body);
/* Whether the body is a gzip. No text begins so. */
bool coding_is_gzip(struct slice body);

/* Makes the ETag of a file, of all of its text. ETags are weak, for what they are of may travel as
 * gzip: W/"...". */
void coding_tag(struct slice text, char ret[CODING_TAG_SIZE]);
/* Draws the key of answers' tags, unless it is drawn. Before there is a child that makes some: the
 * child's tags are the parent's. */
void coding_draw_key(void);
/* Makes the ETag of an answer, which is JSON or a gzip of it. False: it has none. */
bool coding_tag_answer(struct slice body, char ret[CODING_TAG_SIZE]);
/* Makes the ETag of an answer for which a number stands. */
void coding_tag_number(uint64_t number, char ret[CODING_TAG_SIZE]);
/* Whether an If-None-Match header (NULL: none) names the tag. RFC 9110 13.1.2. */
bool coding_has(const char *if_none_match, const char *tag);

#endif
