#include "controller/net/coding.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <zlib.h>

#include "base/instant.h"
#include "base/mem.h"

#define BLANKS " \t"

/* ---- Which clients take gzip ---- */

/* Reads the weight of an element of Accept-Encoding; 1 without one. */
static double weight_of(const char *element, size_t len)
{
	const char *q = memchr(element, ';', len);
	if (!q)
		return 1;
	q += 1 + strspn(q + 1, BLANKS);
	return strncasecmp(q, "q=", 2) == 0 ? strtod(q + 2, NULL) : 0;
}

static bool names(const char *element, size_t len, const char *coding)
{
	size_t n = strcspn(element, BLANKS ";,");
	return n <= len && n == strlen(coding) && strncasecmp(element, coding, n) == 0;
}

bool coding_takes_gzip(const char *accept)
{
	bool any = false;
	for (const char *at = accept ? accept : ""; *at;) {
		at += strspn(at, BLANKS ",");
		size_t len = strcspn(at, ",");
		if (names(at, len, "gzip"))
			return weight_of(at, len) > 0;
		any |= names(at, len, "*") && weight_of(at, len) > 0;
		at += len;
	}
	return any;
}

/* ---- Tags ---- */

/* Adds to a hash: FNV-1a. */
static uint64_t add(uint64_t hash, const char *ptr, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)ptr[i]) * 0x100000001B3u;
	return hash;
}

/* Finds the quote that ends the string which begins behind `at`. */
static size_t end_of_string(struct slice text, size_t at)
{
	while (at < text.len && text.ptr[at] != '"')
		at += text.ptr[at] == '\\' ? 2 : 1;
	return at < text.len ? at : text.len;
}

/* Hashes all but the times of the head, which ends where a list or an object begins. */
static uint64_t hash_of(struct slice text)
{
	uint64_t hash = 0xCBF29CE484222325u;
	size_t from = 0;
	for (size_t at = 1; at < text.len && text.ptr[at] != '[' && text.ptr[at] != '{'; at++) {
		int64_t ms;
		if (text.ptr[at] != '"')
			continue;
		size_t begin = at + 1, end = end_of_string(text, begin);
		at = end;
		if (!instant_parse((struct slice){text.ptr + begin, end - begin}, &ms))
			continue;
		hash = add(hash, text.ptr + from, begin - from);
		from = end;
	}
	return add(hash, text.ptr + from, text.len - from);
}

void coding_tag_number(uint64_t number, char ret[CODING_TAG_SIZE])
{
	snprintf(ret, CODING_TAG_SIZE, "W/\"%016" PRIx64 "\"", number);
}

void coding_tag(struct slice text, char ret[CODING_TAG_SIZE])
{
	coding_tag_number(add(text.len, text.ptr, text.len), ret);
}

/* The header of a gzip that has a comment, and nothing else. */
enum { GZIP_FLAGS_AT = 3, GZIP_COMMENT = 0x10, GZIP_COMMENT_AT = 10 };

static bool take_comment(struct slice gzip, char ret[CODING_TAG_SIZE])
{
	if (gzip.len < GZIP_COMMENT_AT + CODING_TAG_SIZE || gzip.ptr[GZIP_FLAGS_AT] != GZIP_COMMENT)
		return false;
	const char *comment = gzip.ptr + GZIP_COMMENT_AT;
	if (!memchr(comment, '\0', CODING_TAG_SIZE))
		return false;
	strcpy(ret, comment);
	return true;
}

bool coding_tag_answer(struct slice body, char ret[CODING_TAG_SIZE])
{
	if (coding_is_gzip(body))
		return take_comment(body, ret);
	if (body.len > CODING_TAGGED_BYTES)
		return false;
	coding_tag_number(hash_of(body), ret);
	return true;
}

/* ---- The gzip ---- */

bool coding_is_gzip(struct slice body)
{
	return slice_starts(body, "\x1f\x8b");
}

/* Packs the text into out, which has as many bytes; returns the length, or 0: it does not get
 * shorter. tag: the comment. */
static size_t pack(struct slice text, char *tag, char *out)
{
	enum { GZIP_WINDOW = MAX_WBITS + 16, MEMORY = 8, OS_UNKNOWN = 255 };
	z_stream z = {.next_in = (Bytef *)(uintptr_t)text.ptr,
		.avail_in = (uInt)text.len,
		.next_out = (Bytef *)out,
		.avail_out = (uInt)text.len};
	gz_header head = {.os = OS_UNKNOWN, .comment = (Bytef *)tag};
	if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, MEMORY, Z_DEFAULT_STRATEGY) !=
		Z_OK)
		return 0;
	bool fits = deflateSetHeader(&z, &head) == Z_OK && deflate(&z, Z_FINISH) == Z_STREAM_END;
	deflateEnd(&z);
	return fits ? z.total_out : 0;
}

void coding_gzip(struct buf *body)
{
	char tag[CODING_TAG_SIZE];
	struct buf packed;
	if (body->len < CODING_MIN_BYTES || coding_is_gzip(buf_slice(body)))
		return;
	coding_tag_number(hash_of(buf_slice(body)), tag);
	char *out = mem_array(body->len, 1);
	size_t len = pack(buf_slice(body), tag, out);
	if (len > 0) {
		buf_init(&packed, body->ceiling);
		buf_add(&packed, out, len);
		buf_done(body);
		*body = packed;
	}
	free(out);
}

/* ---- Which clients have it already ---- */

bool coding_has(const char *if_none_match, const char *tag)
{
	const char *opaque = tag + strlen("W/"); /* the comparison is the weak one */
	return if_none_match &&
	       (strcmp(if_none_match, "*") == 0 || strstr(if_none_match, opaque) != NULL);
}
