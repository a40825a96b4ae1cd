#include "cli/past/cells.h"

#include <stdio.h>
#include <string.h>

#include "base/span.h"
#include "cli/cents.h"
#include "cli/csv.h"

double past_figure(const cJSON *row, const char *key)
{
	const cJSON *item = json_get(row, key);
	return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

void past_put_seconds(struct table *t, const cJSON *row, const char *key)
{
	bool known = json_get(row, key) != NULL;
	table_cell_right(t, COLOUR_NONE, known ? span_of_seconds(past_figure(row, key)).s : "-");
}

void past_put_count(struct table *t, const cJSON *row, const char *key)
{
	table_count(t, number_of(row, key));
}

void past_put_by(struct table *t, const cJSON *root)
{
	const char *label = text_of(root, "label");
	char key[400];
	snprintf(key, sizeof(key), "%s", label[0] ? label : text_of(root, "by"));
	for (char *p = key; *p && !label[0]; p++)
		if (*p >= 'a' && *p <= 'z')
			*p = (char)(*p - 'a' + 'A');
	table_cell(t, COLOUR_DIM, key);
}

const char *past_key(const cJSON *row)
{
	const char *key = json_text(row, "key");
	return key ? key : "(none)";
}

void past_csv_by(struct buf *out, const cJSON *root)
{
	const char *label = text_of(root, "label");
	csv_text(out, label[0] ? label : text_of(root, "by"));
}

void past_csv_number(struct buf *out, const cJSON *row, const char *key, int decimals)
{
	if (json_get(row, key))
		buf_printf(out, "%.*f", decimals, past_figure(row, key));
}

void past_put_note(const cJSON *root, struct local_times *l, struct buf *out)
{
	const char *note = text_of(root, "note");
	if (!*note)
		return;
	if (l)
		local_times_render(l, note, out);
	else
		text_render(note, out);
	buf_putc(out, '\n');
}

/* ---- a run in words --------------------------------------------------------------------------- */

bool past_run_is(const cJSON *run, const char *state)
{
	return strcmp(text_of(run, "state"), state) == 0;
}

void past_run_reason(const cJSON *run, struct buf *out)
{
	const char *reason = text_of(run, "reason"), *preemptor = text_of(run, "preemptor");
	buf_puts(out, reason);
	if (*preemptor)
		buf_printf(out, " for %s", preemptor);
	else if (strcmp(reason, "Preempted") == 0)
		buf_puts(out, " for another Job"); /* of another namespace, or gone by then */
}

void past_run_why(const cJSON *run, struct buf *out)
{
	if (past_run_is(run, "Running")) {
		buf_puts(out, "running");
	} else if (past_run_is(run, "Reserved")) {
		buf_puts(out, "starting");
	} else {
		past_run_reason(run, out);
		if (past_run_is(run, "Stopping"))
			buf_puts(out, "; its own pods have not ended yet");
	}
}

void past_run_cost(const cJSON *run, struct buf *out)
{
	if (text_of(run, "cost")[0])
		buf_printf(
			out, "%s %s", cents_of(text_of(run, "cost")).s, text_of(run, "currency"));
}

void past_put_none(const cJSON *root, struct local_times *l, struct buf *out)
{
	char text[200];
	snprintf(text, sizeof(text), "No run started between %.40s and %.40s.",
		text_of(root, "since"), text_of(root, "until"));
	local_times_render(l, text, out);
	buf_putc(out, '\n');
}
