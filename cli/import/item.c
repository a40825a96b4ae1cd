#include "cli/import/item.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void item_done(struct import_item *i)
{
	for (size_t n = 0; n < i->nnotes; n++) {
		free(i->note[n].where);
		free(i->note[n].field);
		free(i->note[n].text);
	}
	for (size_t n = 0; n < i->nflags; n++) {
		free(i->flag[n].name);
		free(i->flag[n].value);
	}
	for (size_t n = 0; n < i->nreferences; n++) {
		free(i->reference[n].where);
		free(i->reference[n].field);
		free(i->reference[n].title);
	}
	free(i->reference);
	free(i->negative);
	free(i->note);
	free(i->flag);
	free(i->kind);
	free(i->title);
	free(i->where);
	free(i->command);
	cJSON_Delete(i->object);
	*i = (struct import_item){0};
}

static void add_note(
	struct import_item *i, const char *where, const char *field, const char *fmt, va_list args)
{
	char text[1000];
	vsnprintf(text, sizeof(text), fmt, args);
	i->note = mem_grow(i->note, i->nnotes + 1, sizeof(*i->note));
	i->note[i->nnotes++] = (struct import_note){
		.where = mem_strdup(where), .field = mem_strdup(field), .text = mem_strdup(text)};
}

void item_note(struct import_item *i, const char *where, const char *field, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	add_note(i, where, field, fmt, args);
	va_end(args);
}

void item_refuse(struct import_item *i, const char *where, const char *field, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	add_note(i, where, field, fmt, args);
	va_end(args);
	i->refused = true;
}

void item_flag(struct import_item *i, const char *name, const char *value)
{
	i->flag = mem_grow(i->flag, i->nflags + 1, sizeof(*i->flag));
	i->flag[i->nflags++] =
		(struct import_flag){.name = mem_strdup(name), .value = mem_strdup(value)};
}

void item_reference(struct import_item *i, const char *where, const char *field, char *title)
{
	i->reference = mem_grow(i->reference, i->nreferences + 1, sizeof(*i->reference));
	i->reference[i->nreferences++] = (struct import_reference){
		.where = mem_strdup(where), .field = mem_strdup(field), .title = title};
}

char *item_title(const char *kind, const char *ns, const char *name)
{
	char text[600];
	snprintf(text, sizeof(text), "%.100s%s%.100s%s%.300s", kind, *ns || *name ? " " : "", ns,
		*ns ? "/" : "", name);
	return mem_strdup(text);
}

/* Measures an unsafe character: NEL, LS and PS end a line for YAML, the others of C1 are commands
 * to terminals. */
static size_t unsafe_length(const unsigned char *p)
{
	if (p[0] < 0x20 || p[0] == 0x7F)
		return 1;
	if (p[0] == 0xC2 && p[1] >= 0x80 && p[1] < 0xA0)
		return 2;
	if (p[0] == 0xE2 && p[1] == 0x80 && (p[2] == 0xA8 || p[2] == 0xA9))
		return 3;
	return 0;
}

void item_line(struct buf *out, const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p;) {
		size_t n = unsafe_length(p);
		buf_putc(out, n ? '?' : (char)*p);
		p += n ? n : 1;
	}
}
