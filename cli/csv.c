#include "cli/csv.h"

#include <string.h>

#include "cli/table.h"

enum { FIELD_MAX_BYTES = 1024 * 1024 };

static void put_field(struct buf *out, const char *text)
{
	bool formula = *text && strchr("=+-@", *text);
	if (!formula && !strpbrk(text, ",;\"")) {
		buf_puts(out, text);
		return;
	}
	buf_puts(out, formula ? "\"'" : "\"");
	for (; *text; text++) {
		if (*text == '"')
			buf_putc(out, '"');
		buf_putc(out, *text);
	}
	buf_putc(out, '"');
}

void csv_text(struct buf *out, const char *raw)
{
	struct buf clean;
	buf_init(&clean, FIELD_MAX_BYTES);
	text_render(raw, &clean);
	put_field(out, buf_text(&clean));
	buf_done(&clean);
}
