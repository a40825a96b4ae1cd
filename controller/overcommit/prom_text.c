#include "controller/overcommit/prom_text.h"

enum { ITEM_DEPTH = 3, DEPTH_MAX = 1000 };

void prom_text_init(struct prom_text *i, size_t ceiling, prom_text_fn *fn, void *ctx)
{
	*i = (struct prom_text){.fn = fn, .ctx = ctx};
	buf_init(&i->item, ceiling);
}

void prom_text_done(struct prom_text *i)
{
	buf_done(&i->item);
}

void prom_text_reset(struct prom_text *i)
{
	struct buf item = i->item;
	buf_reset(&item);
	*i = (struct prom_text){.fn = i->fn, .ctx = i->ctx, .item = item};
}

static void open_bracket(struct prom_text *i, char c)
{
	i->depth++;
	i->begun = true;
	i->failed |= i->depth > DEPTH_MAX || (i->depth == 1 && c != '{') || i->complete;
	if (i->depth == 2)
		i->in_array = c == '[';
	if (i->depth == ITEM_DEPTH && i->in_array && c == '{')
		i->in_item = true;
}

static void close_bracket(struct prom_text *i)
{
	i->failed |= i->depth == 0;
	if (i->failed)
		return;
	i->depth--;
	i->complete |= i->depth == 0;
	if (!i->in_item || i->depth != ITEM_DEPTH - 1)
		return;
	i->in_item = false;
	i->failed |= i->item.failed;
	if (!i->failed)
		i->fn(buf_slice(&i->item), i->ctx);
	buf_reset(&i->item);
}

static void take_in_string(struct prom_text *i, char c)
{
	if (i->escaped)
		i->escaped = false;
	else if (c == '\\')
		i->escaped = true;
	else if (c == '"')
		i->in_string = false;
}

/* Whether c changes anything but the item's text. */
static bool is_structure(char c)
{
	return c == '"' || c == '{' || c == '[' || c == '}' || c == ']';
}

/* Takes bytes, and adds them to the item in runs: byte by byte would be most of the work. */
void prom_text_feed(struct prom_text *i, struct slice bytes)
{
	size_t from = 0;
	for (size_t at = 0; at < bytes.len && !i->failed; at++) {
		char c = bytes.ptr[at];
		bool was_item = i->in_item;
		if (i->in_string) {
			take_in_string(i, c);
			continue;
		}
		if (!is_structure(c))
			continue;
		if (c == '"') {
			i->in_string = true;
		} else if (c == '{' || c == '[') {
			open_bracket(i, c);
			if (i->in_item && !was_item)
				from = at;
		} else {
			if (i->in_item && i->depth == ITEM_DEPTH)
				buf_add(&i->item, bytes.ptr + from, at + 1 - from);
			close_bracket(i);
		}
	}
	if (i->in_item && !i->failed)
		buf_add(&i->item, bytes.ptr + from, bytes.len - from);
}

bool prom_text_complete(const struct prom_text *i)
{
	return i->complete && !i->failed;
}
