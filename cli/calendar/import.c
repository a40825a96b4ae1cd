#include "cli/calendar/import.h"

#include "queue/calendar/notation.h"

static void add_comment(const struct ics_holiday *h, struct buf *out)
{
	if (*h->summary)
		buf_printf(out, "  # %s", h->summary);
	buf_putc(out, '\n');
}

void import_yaml(const struct ics *i, const char *name, const char *treat_as, struct buf *out)
{
	char text[NOTATION_TEXT_SIZE];
	buf_puts(out, "except:\n- name: ");
	buf_json_string(out, name);
	buf_printf(out, "\n  treatAs: %s\n  dates:\n", treat_as);
	for (size_t k = 0; k < i->nholidays; k++) {
		buf_printf(out, "  - \"%s\"", notation_write_dates(i->holiday[k].dates, text));
		add_comment(&i->holiday[k], out);
	}
}

void import_dates(const struct ics *i, struct buf *out)
{
	char text[NOTATION_TEXT_SIZE];
	for (size_t k = 0; k < i->nholidays; k++) {
		buf_puts(out, notation_write_dates(i->holiday[k].dates, text));
		add_comment(&i->holiday[k], out);
	}
}
