#include <stdio.h>
#include <string.h>

#include "cli/commands.h"

int command_fail(int error, const struct err *e)
{
	struct buf text;
	buf_init(&text, 4096);
	/* Our own sentences have line breaks; what a server says within them has none. */
	for (const char *p = e->text; *p; p++) {
		if (*p == '\n' || ((unsigned char)*p >= 0x20 && *p != 0x7F))
			buf_putc(&text, *p);
		else
			buf_putc(&text, '?');
	}
	fprintf(stderr, "sluice: %s\n", buf_text(&text));
	buf_done(&text);
	if (error == ERR_GONE)
		return CLI_NOT_FOUND;
	return CLI_UNREACHABLE;
}

int command_end(int rc, const struct buf *out, const struct err *e)
{
	if (rc == 0) {
		fwrite(buf_text(out), 1, out->len, stdout);
		return CLI_OK;
	}
	int code = command_fail(rc, e);
	return rc == ERR_GONE || rc == ERR_BUSY || rc == ERR_DENIED ? code : CLI_USAGE;
}

const char *text_of(const cJSON *object, const char *key)
{
	const char *text = json_text(object, key);
	return text ? text : "";
}

int64_t number_of(const cJSON *object, const char *key)
{
	/* A quota of 9E is beyond what json_i64 takes for exact; for a bar a double is enough. */
	const cJSON *item = json_get(object, key);
	if (!cJSON_IsNumber(item))
		return 0;
	double n = item->valuedouble;
	if (n >= 9.2e18)
		return INT64_MAX;
	return n <= -9.2e18 ? INT64_MIN : (int64_t)n;
}

bool truth_of(const cJSON *object, const char *key)
{
	bool value = false;
	json_bool(object, key, &value);
	return value;
}

const cJSON *find_clusterqueue(const cJSON *queues, const char *name)
{
	json_each(q, json_array(queues, "clusterQueues"))
		if (strcmp(text_of(q, "name"), name) == 0)
			return q;
	return NULL;
}

const cJSON *find_localqueue(const cJSON *queues, const char *ns, const char *name)
{
	json_each(q, json_array(queues, "localQueues"))
		if (strcmp(text_of(q, "name"), name) == 0 &&
			strcmp(text_of(q, "namespace"), ns) == 0)
			return q;
	return NULL;
}

void quota_rows(struct table *t, const cJSON *clusterqueue, const struct style *style,
	void (*lead)(struct table *t, bool first, const cJSON *clusterqueue))
{
	bool first = true;
	json_each(flavor, json_array(clusterqueue, "flavors")) {
		json_each(r, json_array(flavor, "resources")) {
			int64_t held = number_of(r, "reservedUnits");
			int64_t nominal = number_of(r, "nominalUnits");
			const char *borrowed = text_of(r, "borrowed");
			struct buf bar;
			buf_init(&bar, 256);
			bar_render(held, nominal, 20, style, &bar);
			lead(t, first, clusterqueue);
			table_cell(t, COLOUR_NONE, text_of(flavor, "name"));
			table_cell(t, COLOUR_NONE, text_of(r, "name"));
			table_cell(
				t, held > nominal ? COLOUR_YELLOW : COLOUR_GREEN, buf_text(&bar));
			table_cellf(t, COLOUR_NONE, "%s of %s%s%s%s", text_of(r, "reserved"),
				text_of(r, "nominal"), *borrowed ? " (" : "", borrowed,
				*borrowed ? " borrowed)" : "");
			table_end_row(t);
			buf_done(&bar);
			first = false;
		}
	}
	if (!first)
		return;
	lead(t, true, clusterqueue);
	table_cell(t, COLOUR_DIM, "(no quota)");
	table_end_row(t);
}
