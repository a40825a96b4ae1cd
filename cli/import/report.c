/* The report of an import, as YAML, JSON and lines: see import.h. */
#include <string.h>

#include "cli/import/import.h"
#include "base/json_writer.h"
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

/* Renders YAML. A document ends where the next item with an object begins. */
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

static void put_json_lists(const struct import_item *item, struct json_writer *w)
{
	jw_array(w, "notes");
	for (size_t n = 0; n < item->nnotes; n++)
		jw_object_of(w, NULL, "field", item->note[n].field, "where", item->note[n].where,
			"note", item->note[n].text, NULL);
	jw_end(w);
	jw_array(w, "flags");
	for (size_t n = 0; n < item->nflags && !item->refused; n++)
		jw_object_of(
			w, NULL, "name", item->flag[n].name, "value", item->flag[n].value, NULL);
	jw_end(w);
}

void import_render_json(const struct import *i, struct buf *out)
{
	static const char *const outcomes[] = {"Whole", "WithNotes", "Refused", "Untouched"};
	struct json_writer w = json_writer_object(out);
	jw_array(&w, "items");
	for (size_t n = 0; n < i->nitems; n++) {
		const struct import_item *item = &i->item[n];
		jw_object(&w, NULL);
		jw_texts(&w, "outcome", outcomes[import_outcome(item)], "kind", item->kind, "title",
			item->title, "where", item->where, "command",
			item->refused ? NULL : item->command, NULL);
		put_json_lists(item, &w);
		json_put(&w, "object", item->refused ? NULL : item->object);
		jw_end(&w);
	}
	jw_close(&w);
	buf_putc(out, '\n');
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
