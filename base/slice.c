#include "base/slice.h"

#include <stdio.h>

enum { SHOWN_MAX_BYTES = 40 };

bool slice_eq(struct slice a, struct slice b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

bool slice_is(struct slice a, const char *s)
{
	return slice_eq(a, slice_of(s));
}

bool slice_starts(struct slice a, const char *prefix)
{
	size_t n = strlen(prefix);
	return a.len >= n && memcmp(a.ptr, prefix, n) == 0;
}

bool slice_ends(struct slice a, const char *suffix)
{
	size_t n = strlen(suffix);
	return a.len >= n && memcmp(a.ptr + a.len - n, suffix, n) == 0;
}

/* Returns the length of the well-formed sequence at p, or 0 (Unicode 15, table 3-7). */
static size_t utf8_sequence(const unsigned char *p, size_t left)
{
	if (p[0] < 0x80)
		return 1;
	size_t n = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
	if (p[0] < 0xC2 || p[0] > 0xF4 || n > left)
		return 0;
	unsigned char low = 0x80, high = 0xBF;
	if (p[0] == 0xE0)
		low = 0xA0;
	else if (p[0] == 0xED)
		high = 0x9F;
	else if (p[0] == 0xF0)
		low = 0x90;
	else if (p[0] == 0xF4)
		high = 0x8F;
	if (p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if (p[i] < 0x80 || p[i] > 0xBF)
			return 0;
	return n;
}

bool slice_utf8(struct slice a)
{
	const unsigned char *p = (const unsigned char *)a.ptr;
	for (size_t i = 0; i < a.len;) {
		size_t n = utf8_sequence(p + i, a.len - i);
		if (n == 0)
			return false;
		i += n;
	}
	return true;
}

size_t slice_utf8_character(struct slice a)
{
	return utf8_sequence((const unsigned char *)a.ptr, a.len);
}

size_t slice_character(struct slice a, bool *ret_clean)
{
	const unsigned char *p = (const unsigned char *)a.ptr;
	size_t n = slice_utf8_character(a);
	/* Control characters, and those of Latin-1 that UTF-8 spells C2 80 to C2 9F. */
	bool obeyed = p[0] < 0x20 || p[0] == 0x7f || (n == 2 && p[0] == 0xC2 && p[1] < 0xA0);
	*ret_clean = n > 0 && !obeyed;
	return n > 0 ? n : 1;
}

const char *slice_show(struct slice a, char ret[SLICE_SHOWN_SIZE])
{
	size_t n = 0, taken = 0;
	bool clean;
	ret[n++] = '"';
	while (taken < a.len) {
		const char *p = a.ptr + taken;
		size_t len = slice_character((struct slice){p, a.len - taken}, &clean);
		if (taken + len > SHOWN_MAX_BYTES)
			break;
		memcpy(ret + n, clean ? p : "?", clean ? len : 1);
		n += clean ? len : 1;
		taken += len;
	}
	ret[n++] = '"';
	snprintf(ret + n, SLICE_SHOWN_SIZE - n, "%s", taken < a.len ? "..." : "");
	return ret;
}

size_t slice_cut(const char *text, size_t max)
{
	size_t len = strnlen(text, max + 1);
	if (len <= max)
		return len;
	for (len = max; len > 0 && ((unsigned char)text[len] & 0xC0) == 0x80;)
		len--;
	return len;
}
