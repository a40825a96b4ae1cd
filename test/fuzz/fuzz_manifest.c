/* Any bytes as a manifest: refused with a sentence that says where, or a world that can be played
 * for a day, to JSON and to a chart. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "cli/simulate/manifest.h"
#include "cli/simulate/engine.h"
#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_lines(char *text, size_t size)
{
	struct json *json = json_new(64 << 20);
	for (char *line = text, *end; line < text + size; line = end + 1) {
		const cJSON *root;
		end = memchr(line, '\n', (size_t)(text + size - line));
		must(end);
		must(json_parse(json, (struct slice){line, (size_t)(end - line)}, &root, NULL) ==
			0);
		must(cJSON_IsObject(root));
	}
	json_free(json);
}

static void engine(struct world *w)
{
	struct summary summary;
	struct journal journal;
	struct chart chart;
	struct buf figures, drawing;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	summary_init(&summary, w);
	chart_init(&chart, w, &summary);
	journal_init_json(&journal, w, out);
	buf_init(&figures, 1 << 20);
	buf_init(&drawing, 64 << 20);
	engine_run(w, w->start_ms + 86400000, false,
		&(struct observers){.summary = &summary, .journal = &journal, .chart = &chart});
	journal_done(&journal);
	summary_render_json(&summary, &figures);
	chart_render(&chart, &drawing);
	fclose(out);
	check_lines(text, size);
	check_lines(figures.ptr, figures.len);
	must(!drawing.failed);
	free(text);
	buf_done(&figures);
	buf_done(&drawing);
	chart_done(&chart);
	summary_done(&summary);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct queue_config config;
	struct world w;
	struct err e = {""};
	queue_config_default(&config);
	world_init(&w, &config);
	int rc = manifest_read_text(&w, "in", (struct slice){(const char *)data, size}, &e);
	if (rc == 0)
		rc = world_close(&w, &e);
	if (rc == 0)
		engine(&w);
	else
		must(strncmp(e.text, "in:", 3) == 0);
	world_done(&w);
	return 0;
}
