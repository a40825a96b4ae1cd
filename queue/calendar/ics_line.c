#include "queue/calendar/ics_line.h"

#include <string.h>
#include <strings.h>

bool ics_same(struct slice a, const char *b)
{
	return a.len == strlen(b) && (a.len == 0 || strncasecmp(a.ptr, b, a.len) == 0);
}

void ics_lines_init(struct ics_lines *l, struct slice text)
{
	*l = (struct ics_lines){.rest = text, .next_line = 1};
	buf_init(&l->text, ICS_LINE_MAX);
}

void ics_lines_done(struct ics_lines *l)
{
	buf_done(&l->text);
}

/* One line of the file, without its line break. */
static struct slice take_physical(struct ics_lines *l)
{
	struct slice line = l->rest;
	const char *end = memchr(line.ptr, '\n', line.len);
	if (end)
		line.len = (size_t)(end - line.ptr);
	size_t used = line.len + (end != NULL);
	l->rest.ptr += used;
	l->rest.len -= used;
	l->next_line++;
	if (line.len > 0 && line.ptr[line.len - 1] == '\r')
		line.len--;
	if (slice_starts(line, "\xEF\xBB\xBF")) { /* a byte order mark: where each file began */
		line.ptr += 3;
		line.len -= 3;
	}
	return line;
}

static void add(struct ics_lines *l, struct slice piece)
{
	size_t room = ICS_LINE_MAX - l->text.len;
	l->cut = l->cut || piece.len > room;
	buf_add(&l->text, piece.ptr, piece.len < room ? piece.len : room);
}

/* Colons and semicolons within quotes belong to a parameter's value. */
static size_t find_outside_quotes(struct slice s, const char *marks)
{
	bool quoted = false;
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] == '"')
			quoted = !quoted;
		else if (!quoted && s.ptr[i] && strchr(marks, s.ptr[i]))
			return i;
	}
	return s.len;
}

static struct slice part(struct slice s, size_t from, size_t to)
{
	return (struct slice){s.ptr + from, to - from};
}

static void take_apart(struct ics_lines *l)
{
	struct slice all = buf_slice(&l->text);
	size_t colon = find_outside_quotes(all, ":");
	struct slice head = part(all, 0, colon);
	size_t name = find_outside_quotes(head, ";");
	l->name = part(all, 0, name);
	l->parameters = part(all, name, colon);
	l->value = part(all, colon + (colon < all.len), all.len);
}

bool ics_lines_next(struct ics_lines *l)
{
	buf_reset(&l->text);
	l->cut = false;
	while (l->text.len == 0 && l->rest.len > 0) {
		l->line = l->next_line;
		add(l, take_physical(l));
	}
	while (l->rest.len > 0 && (l->rest.ptr[0] == ' ' || l->rest.ptr[0] == '\t')) {
		struct slice more = take_physical(l);
		add(l, part(more, more.len > 0, more.len));
	}
	take_apart(l);
	return l->text.len > 0;
}

bool ics_line_is(const struct ics_lines *l, const char *name)
{
	return ics_same(l->name, name);
}

struct slice ics_line_parameter(const struct ics_lines *l, const char *name)
{
	struct slice rest = l->parameters;
	while (rest.len > 0) { /* it begins with the semicolon */
		rest = part(rest, 1, rest.len);
		size_t end = find_outside_quotes(rest, ";");
		size_t equals = find_outside_quotes(part(rest, 0, end), "=");
		if (equals < end && ics_same(part(rest, 0, equals), name)) {
			struct slice value = part(rest, equals + 1, end);
			bool quoted = value.len >= 2 && value.ptr[0] == '"';
			return quoted ? part(value, 1, value.len - 1) : value;
		}
		rest = part(rest, end, rest.len);
	}
	return (struct slice){"", 0};
}

/* Bytes of the character at the front. */
static size_t character(struct slice s)
{
	size_t n = 1;
	while (n < s.len && n < 4 && ((unsigned char)s.ptr[n] & 0xC0) == 0x80)
		n++;
	return n;
}

void ics_text(struct slice value, char *ret, size_t size)
{
	size_t n = 0;
	while (value.len > 0) {
		if (value.ptr[0] == '\\' && value.len > 1) {
			bool newline = value.ptr[1] == 'n' || value.ptr[1] == 'N';
			value = part(value, newline ? 2 : 1, value.len);
			if (newline && n + 1 < size)
				ret[n++] = ' ';
			if (newline)
				continue;
		}
		size_t len = character(value);
		struct slice c = part(value, 0, len);
		unsigned char first = (unsigned char)c.ptr[0];
		/* C1 controls are C2 80 to C2 9F */
		bool control = first < 0x20 || first == 0x7F ||
			       (first == 0xC2 && len == 2 && (unsigned char)c.ptr[1] < 0xA0);
		bool plain = slice_utf8(c) && !control;
		if (n + (plain ? len : 1) >= size)
			break;
		if (plain)
			memcpy(ret + n, c.ptr, len);
		else
			ret[n] = '?';
		n += plain ? len : 1;
		value = part(value, len, value.len);
	}
	ret[n] = '\0';
}
