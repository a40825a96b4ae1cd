#include "cli/table.h"

#include <inttypes.h>
#include <langinfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

enum { CELL_MAX_BYTES = 4096 };

struct cell {
	char *text;
	enum colour colour;
	bool right, last; /* last: of its row */
};

struct table {
	struct style style;
	struct cell *cell;
	size_t cells;
};

struct style style_of(FILE *out)
{
	const char *term = getenv("TERM");
	bool tty = isatty(fileno(out)) && term && strcmp(term, "dumb") != 0;
	const char *no_colour = getenv("NO_COLOR");
	return (struct style){
		.colours = tty && !(no_colour && no_colour[0]),
		.unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
	};
}

struct table *table_new(const struct style *style)
{
	struct table *t = mem_alloc(sizeof(*t));
	t->style = *style;
	return t;
}

void table_free(struct table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->cells; i++)
		free(t->cell[i].text);
	free(t->cell);
	free(t);
}

void table_cell(struct table *t, enum colour colour, const char *text)
{
	struct buf clean;
	buf_init(&clean, CELL_MAX_BYTES);
	text_render(text ? text : "", &clean);
	t->cell = mem_grow(t->cell, t->cells + 1, sizeof(*t->cell));
	t->cell[t->cells++] = (struct cell){.text = buf_take(&clean), .colour = colour};
}

void table_cellf(struct table *t, enum colour colour, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	table_cell(t, colour, text);
}

void table_right(struct table *t)
{
	if (t->cells > 0)
		t->cell[t->cells - 1].right = true;
}

void table_cell_or_none(struct table *t, enum colour colour, const char *text)
{
	table_cell(t, colour, text && *text ? text : "-");
}

void table_cell_right(struct table *t, enum colour colour, const char *text)
{
	table_cell(t, colour, text);
	table_right(t);
}

void table_count(struct table *t, int64_t n)
{
	table_cellf(t, COLOUR_NONE, "%" PRId64, n);
	table_right(t);
}

void table_end_row(struct table *t)
{
	if (t->cells > 0)
		t->cell[t->cells - 1].last = true;
}

/* Each character is taken to be one column wide. */
size_t text_width(const char *text, size_t len)
{
	size_t width = 0;
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\033')
			i += strcspn(text + i, "m");
		else
			width += ((unsigned char)text[i] & 0xC0) != 0x80; /* not amid a character */
	}
	return width;
}

size_t text_lines(const char *text)
{
	size_t n = 0;
	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static size_t width_of(const struct cell *c)
{
	return text_width(c->text, strlen(c->text));
}

static size_t column_width(const struct table *t, size_t column)
{
	size_t widest = 0;
	for (size_t i = 0, at = 0; i < t->cells; i++) {
		size_t w = width_of(&t->cell[i]);
		if (at == column && w > widest)
			widest = w;
		at = t->cell[i].last ? 0 : at + 1;
	}
	return widest;
}

static void pad(struct buf *out, size_t n)
{
	while (n-- > 0)
		buf_putc(out, ' ');
}

static void cell_render(const struct table *t, const struct cell *c, size_t width, struct buf *out)
{
	size_t own = width_of(c);
	size_t rest = width > own ? width - own : 0;
	if (c->right)
		pad(out, rest);
	colour_render(&t->style, c->colour, c->text, out);
	if (!c->right && !c->last)
		pad(out, rest);
	buf_puts(out, c->last ? "\n" : "  ");
}

void table_head(struct table *t, const char *heads)
{
	for (const char *p = heads;; p++) {
		bool right = *p == '>';
		p += right;
		size_t len = strcspn(p, "|");
		table_cellf(t, COLOUR_DIM, "%.*s", (int)len, p);
		if (right)
			table_right(t);
		p += len;
		if (!*p)
			break;
	}
	table_end_row(t);
}

void table_render(const struct table *t, struct buf *out)
{
	size_t columns = 0;
	for (size_t i = 0, at = 0; i < t->cells; i++) {
		at = t->cell[i].last ? 0 : at + 1;
		columns = at + 1 > columns ? at + 1 : columns;
	}
	size_t *width = mem_array(columns, sizeof(*width));
	for (size_t i = 0; i < columns; i++)
		width[i] = column_width(t, i);
	for (size_t i = 0, at = 0; i < t->cells; i++) {
		cell_render(t, &t->cell[i], width[at], out);
		at = t->cell[i].last ? 0 : at + 1;
	}
	free(width);
}

void bar_render(
	int64_t used, int64_t total, size_t width, const struct style *style, struct buf *out)
{
	double part = total > 0 ? (double)used / (double)total : used > 0 ? 1.0 : 0.0;
	part = part < 0 ? 0 : part > 1 ? 1 : part;
	size_t full = (size_t)(part * (double)width + 0.5);
	if (used > 0 && full == 0)
		full = 1; /* use above 0 must show */
	if (used < total && full == width && width > 0)
		full = width - 1; /* only a full bar may look full */
	for (size_t i = 0; i < width; i++) {
		if (style->unicode)
			buf_puts(out, i < full ? "\xE2\x96\x88" : "\xE2\x96\x91");
		else
			buf_putc(out, i < full ? '#' : '.');
	}
}

static void render_but(const char *text, char kept, struct buf *out)
{
	struct slice left = slice_of(text);
	bool clean;
	for (size_t len; left.len > 0; left = (struct slice){left.ptr + len, left.len - len}) {
		len = slice_character(left, &clean);
		if (clean || *left.ptr == kept)
			buf_add(out, left.ptr, len);
		else
			buf_putc(out, '?');
	}
}

void text_render(const char *text, struct buf *out)
{
	render_but(text, '\0', out);
}

void text_render_lines(const char *text, struct buf *out)
{
	render_but(text, '\n', out);
}

void colour_render(const struct style *style, enum colour colour, const char *text, struct buf *out)
{
	static const char *const codes[] = {"", "1", "2", "31", "32", "33"};
	if (style->colours && colour != COLOUR_NONE && text[0])
		buf_printf(out, "\033[%sm%s\033[0m", codes[colour], text);
	else
		buf_puts(out, text);
}
