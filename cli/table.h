/*
 * Tables for people: columns that align, colours only where they can be seen.
 *
 * Cells are copied. Text comes from servers and users: what could move the cursor or end the line
 * is shown as '?'. Width is counted in characters, not bytes.
 */
#ifndef SLUICE_CLI_TABLE_H
#define SLUICE_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"

enum colour { COLOUR_NONE, COLOUR_BOLD, COLOUR_DIM, COLOUR_RED, COLOUR_GREEN, COLOUR_YELLOW };

struct style {
	bool colours;
	bool unicode;
};

struct style style_of(FILE *out);

struct table;

struct table *table_new(const struct style *style);
void table_free(struct table *t);

void table_cell(struct table *t, enum colour colour, const char *text);
void table_cellf(struct table *t, enum colour colour, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Adds "-" where there is no text: NULL, or "". */
void table_cell_or_none(struct table *t, enum colour colour, const char *text);
void table_right(struct table *t); /* aligns the cell just added to the right */
/* Add a cell that is aligned to the right. */
void table_cell_right(struct table *t, enum colour colour, const char *text);
void table_count(struct table *t, int64_t n);
void table_end_row(struct table *t);
/* Adds the row of heads, with '|' between them; those that begin with '>' are aligned to the
 * right: "JOB|>RUN|COST". */
void table_head(struct table *t, const char *heads);

/* Appends all rows; the last column is not padded. */
void table_render(const struct table *t, struct buf *out);

/* Appends `width` characters that show used of total. */
void bar_render(
	int64_t used, int64_t total, size_t width, const struct style *style, struct buf *out);

/* Counts the characters that a terminal shows of text: colours take no room. */
size_t text_width(const char *text, size_t len);
size_t text_lines(const char *text); /* counts its line breaks */
/* Appends text, with '?' for what is unsafe on a terminal. */
void text_render(const char *text, struct buf *out);
/* Appends text as text_render() does, and keeps its line breaks, which are our own. */
void text_render_lines(const char *text, struct buf *out);
void colour_render(
	const struct style *style, enum colour colour, const char *text, struct buf *out);

#endif
