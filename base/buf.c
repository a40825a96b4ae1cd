#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"

void buf_init(struct buf *b, size_t ceiling)
{
	*b = (struct buf){.ceiling = ceiling};
}

void buf_done(struct buf *b)
{
	free(b->ptr);
	buf_init(b, b->ceiling);
}

void buf_reset(struct buf *b)
{
	b->len = 0;
	b->failed = false;
	if (b->ptr)
		b->ptr[0] = '\0';
}

char *buf_take(struct buf *b)
{
	char *text = b->ptr ? b->ptr : mem_alloc(1);
	buf_init(b, b->ceiling);
	return text;
}

/* Makes room for more bytes and the NUL; false, and failed for good, when over the ceiling. */
static bool buf_reserve(struct buf *b, size_t more)
{
	if (b->failed || more > b->ceiling || b->len > b->ceiling - more) {
		b->failed = true;
		return false;
	}
	size_t need = b->len + more + 1;
	if (need > b->room) {
		size_t room = b->room ? b->room : 64;
		while (room < need)
			room *= 2;
		b->ptr = mem_grow(b->ptr, room, 1);
		b->room = room;
	}
	return true;
}

void buf_add(struct buf *b, const void *ptr, size_t len)
{
	if (!buf_reserve(b, len))
		return;
	if (len > 0)
		memcpy(b->ptr + b->len, ptr, len);
	b->len += len;
	b->ptr[b->len] = '\0';
}

void buf_puts(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_putc(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	must(n >= 0);
	if (buf_reserve(b, (size_t)n)) {
		vsnprintf(b->ptr + b->len, (size_t)n + 1, fmt, again);
		b->len += (size_t)n;
	}
	va_end(again);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

/* Writes a character that must be escaped in JSON. */
static void json_char(struct buf *b, unsigned char c)
{
	switch (c) {
	case '"':
		buf_puts(b, "\\\"");
		break;
	case '\\':
		buf_puts(b, "\\\\");
		break;
	case '\n':
		buf_puts(b, "\\n");
		break;
	case '\t':
		buf_puts(b, "\\t");
		break;
	default:
		buf_printf(b, "\\u%04x", c);
	}
}

/* Counts the bytes from here on that stand in JSON as they are. */
static size_t plain_run(struct slice s, bool clean)
{
	size_t n = 0;
	while (n < s.len) {
		unsigned char c = (unsigned char)s.ptr[n];
		size_t len = clean || c < 0x80
				     ? 1
				     : slice_utf8_character((struct slice){s.ptr + n, s.len - n});
		if (c < 0x20 || c == '"' || c == '\\' || len == 0)
			break;
		n += len;
	}
	return n;
}

void buf_json_slice(struct buf *b, struct slice s)
{
	buf_putc(b, '"');
	bool clean = slice_utf8(s);
	for (size_t n; s.len > 0; s.ptr += n, s.len -= n) {
		n = plain_run(s, clean);
		if (n > 0) {
			buf_add(b, s.ptr, n);
			continue;
		}
		n = 1;
		unsigned char c = (unsigned char)*s.ptr;
		if (c >= 0x80)
			buf_puts(b, "\xEF\xBF\xBD");
		else
			json_char(b, c);
	}
	buf_putc(b, '"');
}

void buf_json_string(struct buf *b, const char *s)
{
	if (s)
		buf_json_slice(b, slice_of(s));
	else
		buf_puts(b, "null");
}

void buf_consume(struct buf *b, size_t n)
{
	must(n <= b->len);
	memmove(b->ptr, b->ptr + n, b->len - n);
	b->len -= n;
	b->ptr[b->len] = '\0';
}
