#include "cli/jobs/groups.h"

#include <inttypes.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/summary.h"

enum { CELL_BYTES = 1024 };

#define COLUMNS "|>RUNNING|>WAITING|>ATTENTION|>OLDEST|NEXT START|MOST WAIT FOR"

static void put_head(struct table *t, const char *by, bool namespaces)
{
	static const char *const heads[][2] = {{"queue", "CLUSTERQUEUE" COLUMNS},
		{"user", "USER" COLUMNS}, {"namespace", "NAMESPACE" COLUMNS},
		{"sweep", "SWEEP" COLUMNS}};
	if (namespaces)
		table_cell(t, COLOUR_DIM, "NAMESPACE");
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		if (strcmp(heads[i][0], by) == 0)
			table_head(t, heads[i][1]);
}

static void put_attention(struct table *t, const cJSON *group)
{
	int64_t jobs = number_of(group, "attention");
	table_cellf(t, jobs > 0 ? COLOUR_RED : COLOUR_NONE, "%" PRId64, jobs);
	table_right(t);
}

static void put_group(struct table *t, const cJSON *group, bool namespaces, int64_t now_ms)
{
	struct buf text;
	buf_init(&text, CELL_BYTES);
	if (namespaces)
		table_cell(t, COLOUR_NONE, text_of(group, "namespace"));
	table_cell_or_none(t, COLOUR_BOLD, text_of(group, "key"));
	table_count(t, number_of(group, "running"));
	table_count(t, number_of(group, "waiting"));
	put_attention(t, group);
	summary_put_oldest(group, now_ms, &text);
	table_cell_right(t, COLOUR_NONE, buf_text(&text));
	buf_reset(&text);
	summary_put_start(group, now_ms, &text);
	table_cell(t, COLOUR_NONE, buf_text(&text));
	table_cell_or_none(t, COLOUR_NONE, text_of(group, "waitsFor"));
	table_end_row(t);
	buf_done(&text);
}

static void put_notes(const cJSON *summary, struct buf *out)
{
	int64_t more = number_of(summary, "moreGroups");
	if (more > 0)
		buf_printf(out, "(%" PRId64 " more)\n", more);
	if (number_of(summary, "attentionJobs") == 0)
		return;
	buf_puts(out, "\nNeeds attention: ");
	summary_put_attention(summary, out);
	buf_puts(out, " (-o json names the Jobs)\n");
}

void groups_render(const cJSON *summary, bool namespaces, int64_t now_ms, const struct style *style,
	struct buf *out)
{
	const cJSON *groups = json_array(summary, "groups");
	bool are_sweeps = strcmp(text_of(summary, "by"), "sweep") == 0;
	struct table *t = table_new(style);
	put_head(t, text_of(summary, "by"), namespaces && are_sweeps);
	json_each(g, groups)
		put_group(t, g, namespaces && are_sweeps, now_ms);
	if (groups && groups->child) {
		table_render(t, out);
		put_notes(summary, out);
	}
	table_free(t);
}
