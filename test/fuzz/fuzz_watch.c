/*
 * Any bytes as the body of a watch: cut into lines in two ways that must agree, and each line read
 * as JSON, walked and printed; what was printed must be JSON again and print the same.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/must.h"
#include "controller/kube/frames.h"
#include "base/json.h"

enum { CEILING = 4096, TREE = 8 * CEILING };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use_tree(const cJSON *root)
{
	int64_t number;
	bool flag;
	const cJSON *object = json_object(root, "object");
	const cJSON *metadata = json_object(object, "metadata");
	json_text(root, "type");
	json_text(metadata, "resourceVersion");
	json_i64(metadata, "generation", &number);
	json_bool(json_object(object, "spec"), "suspend", &flag);
}

static void read_line(struct json *j, struct slice line)
{
	const cJSON *root;
	struct buf once, twice;
	buf_init(&once, 64 * CEILING);
	buf_init(&twice, 64 * CEILING);
	if (json_parse(j, line, &root, NULL) == 0) {
		use_tree(root);
		json_print(&once, root);
		must(!once.failed);
		if (json_parse(j, buf_slice(&once), &root, NULL) == 0) {
			json_print(&twice, root);
			must(slice_eq(buf_slice(&once), buf_slice(&twice)));
		}
	}
	buf_done(&once);
	buf_done(&twice);
}

/* All lines, each ended by a newline, in out; the bytes come in chunks of the given size. */
static void cut(const uint8_t *data, size_t size, size_t chunk, struct buf *out, struct json *j)
{
	struct frames f;
	int rc;
	frames_init(&f, CEILING);
	for (size_t at = 0; at < size; at += chunk) {
		size_t n = size - at < chunk ? size - at : chunk;
		/* A copy of its own, so that ASan sees one byte too far. */
		char *copy = malloc(n);
		must(copy);
		for (size_t i = 0; i < n; i++)
			copy[i] = (char)data[at + i];
		struct slice rest = {copy, n}, line;
		while ((rc = frames_next(&f, &rest, &line)) != 0) {
			must(line.len > 0 && line.len <= CEILING);
			must(rc == 1 || (rc == ERR_LIMIT && line.len == CEILING));
			buf_add(out, line.ptr, line.len);
			buf_putc(out, '\n');
			if (j)
				read_line(j, line);
		}
		free(copy);
	}
	frames_done(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole, pieces;
	struct json *j = json_new(TREE);
	buf_init(&whole, size + 2);
	buf_init(&pieces, size + 2);
	size_t chunk = size > 0 ? 1 + data[0] % 61 : 1;
	cut(data, size, size > 0 ? size : 1, &whole, j);
	cut(data, size, chunk, &pieces, NULL);
	must(slice_eq(buf_slice(&whole), buf_slice(&pieces)));
	buf_done(&whole);
	buf_done(&pieces);
	json_free(j);
	return 0;
}
