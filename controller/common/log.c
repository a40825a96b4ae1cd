#include "controller/common/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/instant.h"
#include "base/mem.h"
#include "controller/common/clock.h"

enum { LINE_MAX_BYTES = 64 * 1024, PAIRS_MAX = 24, AGAIN_MS = 60000 };

struct log {
	int fd;
	enum log_format format;
	enum log_level least;
	struct buf line;
};

struct log *log_new(int fd, enum log_format format, enum log_level least)
{
	struct log *l = mem_alloc(sizeof(*l));
	l->fd = fd;
	l->format = format;
	l->least = least;
	buf_init(&l->line, LINE_MAX_BYTES);
	return l;
}

void log_free(struct log *l)
{
	if (!l)
		return;
	buf_done(&l->line);
	free(l);
}

bool log_shows(const struct log *l, enum log_level level)
{
	return l && level <= l->least;
}

void log_trouble(struct log *l, char said[LOG_TROUBLE_MAX], const char *event, const char *why,
	const char *effect)
{
	if (strncmp(said, why, LOG_TROUBLE_MAX - 1) == 0)
		return;
	snprintf(said, LOG_TROUBLE_MAX, "%s", why);
	log_event(l, LEVEL_WARN, event, "why", why, "effect", effect, NULL);
}

bool log_again(int64_t *said_ms, int64_t now_ms)
{
	int64_t age_ms = now_ms - *said_ms;
	if (*said_ms != 0 && age_ms >= 0 && age_ms < AGAIN_MS)
		return false;
	*said_ms = now_ms;
	return true;
}

const char *log_number(char text[24], int64_t n)
{
	snprintf(text, 24, "%" PRId64, n);
	return text;
}

static const char *level_name(enum log_level level)
{
	switch (level) {
	case LEVEL_ERROR:
		return "error";
	case LEVEL_WARN:
		return "warn";
	case LEVEL_INFO:
		return "info";
	case LEVEL_DEBUG:
		return "debug";
	}
	return "?";
}

/* Gives the character at s, or -1 when the bytes are not UTF-8. slice_utf8() has the rules. */
static int32_t next_char(struct slice s, size_t *ret_len)
{
	unsigned char c = (unsigned char)s.ptr[0];
	size_t n = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
	*ret_len = 1;
	if (n > s.len || !slice_utf8((struct slice){s.ptr, n}))
		return -1;
	*ret_len = n;
	if (n == 1)
		return c;
	int32_t point = c & (0x7F >> n);
	for (size_t i = 1; i < n; i++)
		point = point << 6 | (s.ptr[i] & 0x3F);
	return point;
}

/* Whether a character may end a line, move a cursor, or turn the reading direction, in any
 * reader. */
static bool is_unsafe(int32_t c)
{
	return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x200E && c <= 0x200F) ||
	       (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

static void put_quoted(struct buf *out, struct slice s, bool cut)
{
	buf_putc(out, '"');
	for (size_t i = 0, n; i < s.len; i += n) {
		int32_t c = next_char((struct slice){s.ptr + i, s.len - i}, &n);
		if (c == -1)
			buf_puts(out, "\xEF\xBF\xBD");
		else if (c == '"' || c == '\\')
			buf_printf(out, "\\%c", c);
		else if (c == '\n')
			buf_puts(out, "\\n");
		else if (c == '\t')
			buf_puts(out, "\\t");
		else if (is_unsafe(c))
			buf_printf(out, "\\u%04x", (unsigned)c);
		else
			buf_add(out, s.ptr + i, n);
	}
	buf_puts(out, cut ? "...\"" : "\"");
}

static struct slice value_slice(const char *value, bool *ret_cut)
{
	struct slice s = {value, strnlen(value, LOG_VALUE_MAX + 1)};
	*ret_cut = s.len > LOG_VALUE_MAX;
	if (*ret_cut)
		s.len = LOG_VALUE_MAX;
	return s;
}

/* Whether a value is plain words, which need no quotes. */
static bool is_plain(struct slice s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.ptr[i] <= ' ' || s.ptr[i] >= 0x7F || strchr("\"\\=", s.ptr[i]))
			return false;
	return s.len > 0;
}

static void put_text_pair(struct buf *out, const char *key, const char *value)
{
	bool cut;
	struct slice s = value_slice(value, &cut);
	buf_printf(out, " %s=", key[0] == '#' ? key + 1 : key);
	if (is_plain(s) && !cut)
		buf_add(out, s.ptr, s.len);
	else
		put_quoted(out, s, cut);
}

static void put_json_pair(struct buf *out, const char *key, const char *value)
{
	bool cut;
	struct slice s = value_slice(value, &cut);
	buf_printf(out, ",\"%s\":", key[0] == '#' ? key + 1 : key);
	if (key[0] == '#')
		buf_add(out, s.ptr, s.len);
	else
		put_quoted(out, s, cut);
}

void log_render(struct buf *out, enum log_format format, enum log_level level, int64_t now_ms,
	const char *event, const char *const *pairs)
{
	struct instant_text at = instant_exact(now_ms);
	if (format == LOG_JSON) {
		buf_printf(out, "{\"time\":\"%s\",\"level\":\"%s\",\"event\":", at.s,
			level_name(level));
		put_quoted(out, slice_of(event), false);
	} else {
		buf_printf(out, "%s %-5s %s", at.s, level_name(level), event);
	}
	for (size_t i = 0; pairs[i] && pairs[i + 1]; i += 2) {
		if (format == LOG_JSON)
			put_json_pair(out, pairs[i], pairs[i + 1]);
		else
			put_text_pair(out, pairs[i], pairs[i + 1]);
	}
	if (format == LOG_JSON)
		buf_putc(out, '}');
}

static void write_all(int fd, const char *ptr, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, ptr, len);
		if (n <= 0)
			return; /* no reader: there is nowhere to complain */
		ptr += n;
		len -= (size_t)n;
	}
}

void log_pairs(struct log *l, enum log_level level, const char *event, const char *const *fields,
	size_t count)
{
	if (!log_shows(l, level))
		return;
	const char *pairs[2 * PAIRS_MAX + 1] = {NULL};
	size_t n = 0;
	for (size_t i = 0; i + 1 < count && fields[i] && n < 2 * PAIRS_MAX; i += 2) {
		if (!fields[i + 1])
			continue;
		pairs[n++] = fields[i];
		pairs[n++] = fields[i + 1];
	}
	buf_reset(&l->line);
	log_render(&l->line, l->format, level, clock_now_ms(), event, pairs);
	if (l->line.failed) { /* a dozen values of full length: say at least what it was */
		buf_reset(&l->line);
		log_render(&l->line, l->format, level, clock_now_ms(), event,
			(const char *const[]){"cut", "too long to be shown", NULL});
	}
	buf_putc(&l->line, '\n');
	write_all(l->fd, buf_text(&l->line), l->line.len);
}
