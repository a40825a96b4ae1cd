/* What came of an import, as YAML, JSON and lines: see import.h. */
#include <stdlib.h>
#include <string.h>

#include "cli/import/import.h"
#include "cli/import/yaml_text.h"

/* ---- YAML ------------------------------------------------------------------------------------ */

static void put_comments(const struct import_item *item, struct buf *out)
{
	for (size_t n = 0; n < item->nnotes; n++) {
		const struct import_note *note = &item->note[n];
		buf_puts(out, "# - ");
		item_line(out, note->field);
		buf_puts(out, *note->field ? " " : "it ");
		item_line(out, note->text);
		buf_putc(out, '\n');
	}
}

static void put_flags(const struct import_item *item, struct buf *out)
{
	struct buf arg;
	for (size_t n = 0; n < item->nflags; n++) {
		const struct import_flag *f = &item->flag[n];
		buf_init(&arg, 16384);
		buf_printf(&arg, "%s%s%s", f->name, f->value ? "=" : "", f->value ? f->value : "");
		buf_puts(out, "#   - ");
		yaml_scalar(out, buf_text(&arg));
		buf_putc(out, '\n');
		buf_done(&arg);
	}
}

static void put_head(const struct import_item *item, const char *words, struct buf *out)
{
	buf_puts(out, "# ");
	item_line(out, item->title);
	buf_puts(out, " (");
	item_line(out, item->where);
	buf_printf(out, ")%s\n", words);
}

static void put_item(const struct import_item *item, struct buf *out)
{
	bool is_printed = item->object && !item->refused;
	if (item->refused)
		put_head(item, " is REFUSED", out);
	else if (item->nflags > 0)
		put_head(item, ", as arguments of sluice-controller:", out);
	else if (item->command)
		put_head(item, " is there already; to move it:", out);
	else
		put_head(item, "", out);
	if (!item->refused)
		put_flags(item, out);
	if (item->command && !item->refused) {
		buf_puts(out, "#   ");
		item_line(out, item->command);
		buf_putc(out, '\n');
	}
	put_comments(item, out);
	if (is_printed)
		yaml_print(out, item->object);
}

/* A document ends where the next one that has an object begins. */
void import_render_yaml(const struct import *i, struct buf *out)
{
	bool follows = false;
	for (size_t n = 0; n < i->nitems; n++) {
		const struct import_item *item = &i->item[n];
		if (item->untouched)
			continue;
		if (follows)
			buf_puts(out, "---\n");
		put_item(item, out);
		follows = item->object && !item->refused;
	}
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_member(struct buf *out, const char *name, const char *value)
{
	buf_printf(out, ",\"%s\":", name);
	buf_json_string(out, value);
}

static void put_json_lists(const struct import_item *item, struct buf *out)
{
	buf_puts(out, ",\"notes\":[");
	for (size_t n = 0; n < item->nnotes; n++) {
		buf_printf(out, "%s{\"field\":", n ? "," : "");
		buf_json_string(out, item->note[n].field);
		put_member(out, "where", item->note[n].where);
		put_member(out, "note", item->note[n].text);
		buf_putc(out, '}');
	}
	buf_puts(out, "],\"flags\":[");
	for (size_t n = 0; n < item->nflags && !item->refused; n++) {
		buf_printf(out, "%s{\"name\":", n ? "," : "");
		buf_json_string(out, item->flag[n].name);
		put_member(out, "value", item->flag[n].value);
		buf_putc(out, '}');
	}
	buf_putc(out, ']');
}

void import_render_json(const struct import *i, struct buf *out)
{
	static const char *const outcomes[] = {"Whole", "WithNotes", "Refused", "Untouched"};
	buf_puts(out, "{\"items\":[");
	for (size_t n = 0; n < i->nitems; n++) {
		const struct import_item *item = &i->item[n];
		buf_printf(
			out, "%s{\"outcome\":\"%s\"", n ? "," : "", outcomes[import_outcome(item)]);
		put_member(out, "kind", item->kind);
		put_member(out, "title", item->title);
		put_member(out, "where", item->where);
		put_member(out, "command", item->refused ? NULL : item->command);
		put_json_lists(item, out);
		buf_puts(out, ",\"object\":");
		json_print(out, item->refused ? NULL : item->object);
		buf_putc(out, '}');
	}
	buf_puts(out, "]}\n");
}

/* ---- lines for people ------------------------------------------------------------------------ */

static void put_note(
	const struct import_item *item, const struct import_note *note, struct buf *out)
{
	item_line(out, note->where);
	buf_puts(out, ": ");
	item_line(out, item->title);
	buf_puts(out, item->refused ? " (refused): " : ": ");
	item_line(out, note->field);
	buf_puts(out, *note->field ? " " : "");
	item_line(out, note->text);
	buf_putc(out, '\n');
}

void import_render_notes(const struct import *i, struct buf *out)
{
	for (size_t n = 0; n < i->nitems; n++)
		for (size_t k = 0; k < i->item[n].nnotes; k++)
			put_note(&i->item[n], &i->item[n].note[k], out);
	size_t all = i->nitems - import_count(i, IMPORT_UNTOUCHED);
	buf_printf(out, "%zu object%s: %zu taken whole, %zu with notes, %zu refused", all,
		all == 1 ? "" : "s", import_count(i, IMPORT_WHOLE),
		import_count(i, IMPORT_WITH_NOTES), import_count(i, IMPORT_REFUSED));
	if (import_count(i, IMPORT_UNTOUCHED) > 0)
		buf_printf(out, "; nothing to do for %zu", import_count(i, IMPORT_UNTOUCHED));
	buf_putc(out, '\n');
}
