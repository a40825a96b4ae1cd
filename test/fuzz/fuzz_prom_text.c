/*
 * Any bytes as a list that comes in pieces: where it is cut makes no difference, and of what is one
 * JSON object each object in each of its arrays is told, whole and in order.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/must.h"
#include "base/json.h"
#include "controller/overcommit/prom_text.h"

enum { CEILING = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_item(struct slice item, void *ctx)
{
	buf_add(ctx, item.ptr, item.len);
	buf_putc(ctx, '\n');
}

static bool cut(struct slice text, size_t piece, struct buf *out)
{
	struct prom_text i;
	prom_text_init(&i, CEILING, on_item, out);
	for (size_t at = 0; at < text.len; at += piece) {
		size_t left = text.len - at;
		prom_text_feed(&i, (struct slice){text.ptr + at, left < piece ? left : piece});
	}
	bool complete = prom_text_complete(&i);
	prom_text_done(&i);
	return complete;
}

static size_t count_items(const cJSON *root)
{
	size_t n = 0;
	json_each(member, root) {
		if (cJSON_IsArray(member))
			json_each(item, member)
				n += cJSON_IsObject(item) != 0;
	}
	return n;
}

/* Items hold newlines of their own: they are parsed again, one by one, to be counted. */
struct count {
	struct json *json;
	size_t n;
};

static void on_good_item(struct slice item, void *ctx)
{
	struct count *c = ctx;
	const cJSON *o;
	must(json_parse(c->json, item, &o, NULL) == 0 && cJSON_IsObject(o));
	c->n++;
}

static void check_good(struct slice text, const cJSON *root)
{
	struct count c = {json_new(64 * CEILING), 0};
	struct prom_text i;
	prom_text_init(&i, CEILING, on_good_item, &c);
	prom_text_feed(&i, text);
	must(prom_text_complete(&i));
	must(c.n == count_items(root));
	prom_text_done(&i);
	json_free(c.json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = {(const char *)data, size};
	struct buf whole, pieces;
	const cJSON *root;
	if (size > CEILING / 4)
		return 0;
	buf_init(&whole, 4 * CEILING);
	bool complete = cut(text, size + 1, &whole);
	for (size_t piece = 1; piece <= 7; piece += 3) {
		buf_init(&pieces, 4 * CEILING);
		must(cut(text, piece, &pieces) == complete);
		must(slice_eq(buf_slice(&whole), buf_slice(&pieces)));
		buf_done(&pieces);
	}
	struct json *j = json_new(64 * CEILING);
	if (json_parse(j, text, &root, NULL) == 0 && cJSON_IsObject(root))
		check_good(text, root);
	json_free(j);
	buf_done(&whole);
	return 0;
}
