#include "controller/net/coding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <zlib.h>

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

/* ---- The gzip ---- */

bool coding_is_gzip(struct slice body)
{
	return slice_starts(body, "\x1f\x8b");
}

void coding_gzip(struct buf *body)
{
	enum { GZIP_WINDOW = MAX_WBITS + 16, MEMORY = 8 };
	z_stream z = {.next_in = (Bytef *)body->ptr, .avail_in = (uInt)body->len};
	struct buf packed;
	if (body->len < CODING_MIN_BYTES || coding_is_gzip(buf_slice(body)) ||
		deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, MEMORY,
			Z_DEFAULT_STRATEGY) != Z_OK)
		return;
	char *out = mem_array(body->len, 1);
	z.next_out = (Bytef *)out;
	z.avail_out = (uInt)body->len;
	if (deflate(&z, Z_FINISH) == Z_STREAM_END) {
		buf_init(&packed, body->ceiling);
		buf_add(&packed, out, z.total_out);
		buf_done(body);
		*body = packed;
	}
	deflateEnd(&z);
	free(out);
}

/* ---- Which clients have it already ---- */

void coding_tag(struct slice text, char ret[CODING_TAG_SIZE])
{
	uLong sum = crc32(0, (const Bytef *)text.ptr, (uInt)text.len);
	snprintf(ret, CODING_TAG_SIZE, "W/\"%zx-%lx\"", text.len, sum);
}

bool coding_has(const char *if_none_match, const char *tag)
{
	const char *opaque = tag + strlen("W/"); /* the comparison is the weak one */
	return if_none_match &&
	       (strcmp(if_none_match, "*") == 0 || strstr(if_none_match, opaque) != NULL);
}
