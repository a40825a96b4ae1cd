/* Any bytes as manifests of Kueue: refused with a sentence that says where, or what is printed as YAML
 * reads back as the objects that were made, and nothing else: no text of the input becomes a line,
 * a document or another value. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "cli/import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_be_same(const cJSON *a, const cJSON *b)
{
	struct buf x, y;
	buf_init(&x, 256 << 20);
	buf_init(&y, 256 << 20);
	json_print(&x, a);
	json_print(&y, b);
	must(strcmp(buf_text(&x), buf_text(&y)) == 0);
	buf_done(&x);
	buf_done(&y);
}

static void check_yaml(const struct import *i)
{
	struct buf out;
	struct err e = {""};
	const cJSON *root;
	buf_init(&out, 256 << 20);
	import_render_yaml(i, &out);
	must(!out.failed);
	struct documents *d = documents_new(buf_slice(&out));
	for (size_t n = 0; n < i->nitems; n++) {
		const struct import_item *item = &i->item[n];
		if (!item->object || item->refused || item->untouched)
			continue;
		must(documents_next(d, &root, &e) == 1);
		must_be_same(root, item->object);
	}
	must(documents_next(d, &root, &e) == 0);
	documents_free(d);
	buf_done(&out);
}

static void check_notes(const struct import *i)
{
	struct buf out;
	size_t lines = 0, notes = 1;
	buf_init(&out, 256 << 20);
	import_render_notes(i, &out);
	for (const char *p = buf_text(&out); *p; p++)
		lines += *p == '\n';
	for (size_t n = 0; n < i->nitems; n++)
		notes += i->item[n].nnotes;
	must(lines == notes);
	buf_done(&out);
}

static void check_json(const struct import *i)
{
	struct buf out;
	const cJSON *root;
	struct json *json = json_new((size_t)1 << 30);
	buf_init(&out, 256 << 20);
	import_render_json(i, &out);
	must(json_parse(json, buf_slice(&out), &root, NULL) == 0);
	json_free(json);
	buf_done(&out);
}

static void check(const uint8_t *data, size_t size, enum import_source source)
{
	struct import i;
	struct err e = {""};
	import_init(&i);
	i.source = source;
	if (import_text(&i, "in", (struct slice){(const char *)data, size}, &e) == 0) {
		import_settle(&i);
		check_yaml(&i);
		check_notes(&i);
		check_json(&i);
	} else {
		must(strncmp(e.text, "in", 2) == 0);
	}
	import_done(&i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check(data, size, IMPORT_KUEUE);
	check(data, size, IMPORT_CRANE);
	return 0;
}
