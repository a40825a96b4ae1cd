#include "cli/simulate/documents.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <yaml.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/must.h"

#define TEXT_MAX_BYTES (128u << 20)
#define TREE_MAX_BYTES ((size_t)1024 << 20)

/* Bounds on nodes that are written out: ten lines of aliases to aliases can ask for gigabytes.
 * Small documents may repeat themselves. */
#define COPIES_MAX 16
#define VISITS_FREE 100000

struct documents {
	yaml_parser_t parser;
	yaml_document_t document;
	bool loaded;
	size_t line;
	size_t visits, visits_max; /* nodes seen while the document is written out */
	struct json *json;
	struct buf text;
};

struct documents *documents_new(struct slice text)
{
	struct documents *d = mem_alloc(sizeof(*d));
	if (!yaml_parser_initialize(&d->parser))
		abort(); /* a few bytes: see mem.h */
	yaml_parser_set_input_string(&d->parser, (const unsigned char *)text.ptr, text.len);
	d->json = json_new(TREE_MAX_BYTES);
	buf_init(&d->text, TEXT_MAX_BYTES);
	return d;
}

static void unload(struct documents *d)
{
	if (d->loaded)
		yaml_document_delete(&d->document);
	d->loaded = false;
}

void documents_free(struct documents *d)
{
	if (!d)
		return;
	unload(d);
	yaml_parser_delete(&d->parser);
	json_free(d->json);
	buf_done(&d->text);
	free(d);
}

size_t documents_line(const struct documents *d)
{
	return d->line;
}

/* ---- from a YAML node to JSON text ----------------------------------------------------------- */

static bool is_one_of(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strcmp(text, *words) == 0)
			return true;
	return false;
}

static bool is_whole(const char *s)
{
	s += *s == '-' || *s == '+';
	return *s && strspn(s, "0123456789") == strlen(s);
}

static bool is_fraction(const char *s)
{
	s += *s == '-' || *s == '+';
	size_t whole = strspn(s, "0123456789"), part = 0;
	s += whole;
	if (*s == '.')
		part = strspn(++s, "0123456789");
	s += part;
	if (whole + part == 0)
		return false;
	if (*s == 'e' || *s == 'E')
		return is_whole(s + 1);
	return *s == '\0';
}

/* Appends the shortest text that reads back as the same double. */
static void put_double(struct buf *out, double value)
{
	char text[40];
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	buf_puts(out, text);
}

static void put_whole(struct buf *out, const char *s)
{
	const char *digits = s + (*s == '-' || *s == '+');
	if (digits[0] == '0' && digits[1] && strspn(digits, "01234567") == strlen(digits))
		buf_printf(out, "%s%lld", *s == '-' ? "-" : "", strtoll(digits, NULL, 8));
	else if (digits[0] == '0' && digits[1])
		buf_json_string(out, s); /* 089 is no number anywhere */
	else
		buf_printf(out, "%s%s", *s == '-' ? "-" : "", digits);
}

static void put_plain(struct buf *out, const char *s)
{
	static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
	static const char *const yes[] = {
		"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", NULL};
	static const char *const no[] = {
		"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", NULL};
	if (is_one_of(s, nulls))
		buf_puts(out, "null");
	else if (is_one_of(s, yes))
		buf_puts(out, "true");
	else if (is_one_of(s, no))
		buf_puts(out, "false");
	else if (is_whole(s) && strlen(s) <= 300)
		put_whole(out, s);
	else if (is_fraction(s) && strtod(s, NULL) - strtod(s, NULL) == 0) /* finite */
		put_double(out, strtod(s, NULL));
	else
		buf_json_string(out, s);
}

static int put_node(struct documents *d, int index, int depth, struct err *e);

static int put_scalar(struct documents *d, const yaml_node_t *n, bool is_key)
{
	struct slice s = {(const char *)n->data.scalar.value, n->data.scalar.length};
	bool plain = n->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && !is_key;
	if (plain && !memchr(s.ptr, '\0', s.len))
		put_plain(&d->text, s.ptr);
	else
		buf_json_slice(&d->text, s);
	return 0;
}

static int put_key(struct documents *d, const yaml_node_t *key, struct err *e)
{
	d->line = key->start_mark.line + 1;
	if (key->type != YAML_SCALAR_NODE)
		return err_set(e, ERR_INVALID, "a key must be text");
	if (strcmp((const char *)key->data.scalar.value, "<<") == 0 &&
		key->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
		return err_set(
			e, ERR_INVALID, "merge keys (<<) are not understood; write the fields out");
	return put_scalar(d, key, true);
}

static const char *key_text(const yaml_node_t *key)
{
	return key->type == YAML_SCALAR_NODE ? (const char *)key->data.scalar.value : "";
}

static int by_key(const void *a, const void *b)
{
	const yaml_node_t *x = *(yaml_node_t *const *)a, *y = *(yaml_node_t *const *)b;
	int order = strcmp(key_text(x), key_text(y));
	return order ? order : x->start_mark.index > y->start_mark.index ? 1 : -1;
}

/* Refuses a key that is there twice, as kubectl does: either choice would surprise. */
static int check_keys(struct documents *d, const yaml_node_t *map, struct err *e)
{
	const yaml_node_pair_t *p = map->data.mapping.pairs.start;
	size_t n = (size_t)(map->data.mapping.pairs.top - p);
	const yaml_node_t **key = mem_array(n + 1, sizeof(*key)), *twice = NULL;
	for (size_t i = 0; i < n; i++)
		key[i] = yaml_document_get_node(&d->document, p[i].key);
	qsort(key, n, sizeof(*key), by_key);
	for (size_t i = 1; i < n && !twice; i++)
		if (key[i]->type == YAML_SCALAR_NODE &&
			strcmp(key_text(key[i - 1]), key_text(key[i])) == 0)
			twice = key[i];
	free(key);
	if (!twice)
		return 0;
	d->line = twice->start_mark.line + 1;
	return err_set(e, ERR_INVALID, "%.100s is there a second time; remove one of the two",
		key_text(twice));
}

static int put_mapping(struct documents *d, const yaml_node_t *n, int depth, struct err *e)
{
	const yaml_node_pair_t *p = n->data.mapping.pairs.start;
	int rc = check_keys(d, n, e);
	if (rc < 0)
		return rc;
	buf_putc(&d->text, '{');
	for (; p < n->data.mapping.pairs.top; p++) {
		if (p > n->data.mapping.pairs.start)
			buf_putc(&d->text, ',');
		rc = put_key(d, yaml_document_get_node(&d->document, p->key), e);
		buf_putc(&d->text, ':');
		if (rc == 0)
			rc = put_node(d, p->value, depth, e);
		if (rc < 0)
			return rc;
	}
	buf_putc(&d->text, '}');
	return 0;
}

static int put_sequence(struct documents *d, const yaml_node_t *n, int depth, struct err *e)
{
	const yaml_node_item_t *item = n->data.sequence.items.start;
	buf_putc(&d->text, '[');
	for (; item < n->data.sequence.items.top; item++) {
		if (item > n->data.sequence.items.start)
			buf_putc(&d->text, ',');
		int rc = put_node(d, *item, depth, e);
		if (rc < 0)
			return rc;
	}
	buf_putc(&d->text, ']');
	return 0;
}

static int put_node(struct documents *d, int index, int depth, struct err *e)
{
	const yaml_node_t *n = yaml_document_get_node(&d->document, index);
	d->line = n->start_mark.line + 1;
	/* The depth ends an alias to what it is part of. */
	if (depth >= JSON_DEPTH)
		return err_set(e, ERR_INVALID, "is nested deeper than %d levels", JSON_DEPTH);
	if (d->text.failed || ++d->visits > d->visits_max)
		return err_set(e, ERR_LIMIT,
			"the document is too large with its aliases written out; at most %u MB, and %d times its fields, are read",
			TEXT_MAX_BYTES >> 20, COPIES_MAX);
	switch (n->type) {
	case YAML_SCALAR_NODE:
		return put_scalar(d, n, false);
	case YAML_MAPPING_NODE:
		return put_mapping(d, n, depth + 1, e);
	case YAML_SEQUENCE_NODE:
		return put_sequence(d, n, depth + 1, e);
	case YAML_NO_NODE:
		break;
	}
	buf_puts(&d->text, "null");
	return 0;
}

/* ---- one after the other --------------------------------------------------------------------- */

static int load(struct documents *d, struct err *e)
{
	unload(d);
	if (!yaml_parser_load(&d->parser, &d->document)) {
		d->line = d->parser.problem_mark.line + 1;
		if (d->parser.error == YAML_READER_ERROR)
			d->line = d->parser.mark.line + 1;
		return err_set(e, ERR_INVALID, "not YAML: %s",
			d->parser.problem ? d->parser.problem : "an error");
	}
	d->loaded = true;
	return 0;
}

int documents_next(struct documents *d, const cJSON **ret_root, struct err *e)
{
	for (;;) {
		int rc = load(d, e);
		if (rc < 0)
			return rc;
		const yaml_node_t *root = yaml_document_get_root_node(&d->document);
		if (!root)
			return 0;
		size_t line = root->start_mark.line + 1;
		buf_reset(&d->text);
		d->visits = 0;
		d->visits_max = VISITS_FREE + COPIES_MAX * (size_t)(d->document.nodes.top -
								    d->document.nodes.start);
		rc = put_node(d, 1, 0, e);
		if (rc < 0)
			return rc;
		d->line = line;
		rc = json_parse(d->json, buf_slice(&d->text), ret_root, e);
		if (rc < 0)
			return rc;
		if (!cJSON_IsNull(*ret_root))
			return 1;
	}
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Finds the value under the longest key that path begins with; keys may have dots in them. */
static const yaml_node_t *step_key(
	struct documents *d, const yaml_node_t *map, const char **path, size_t *ret_line)
{
	const yaml_node_t *found = NULL;
	size_t longest = 0;
	const yaml_node_pair_t *p = map->data.mapping.pairs.start;
	for (; p < map->data.mapping.pairs.top; p++) {
		const yaml_node_t *key = yaml_document_get_node(&d->document, p->key);
		if (!key || key->type != YAML_SCALAR_NODE)
			continue;
		size_t len = key->data.scalar.length;
		if (len <= longest ||
			strncmp((const char *)key->data.scalar.value, *path, len) != 0 ||
			!strchr(".[: ", (*path)[len]))
			continue;
		longest = len;
		found = yaml_document_get_node(&d->document, p->value);
		*ret_line = key->start_mark.line + 1;
	}
	*path += longest;
	return found;
}

static const yaml_node_t *step_index(
	struct documents *d, const yaml_node_t *list, const char **path, size_t *ret_line)
{
	char *end;
	unsigned long i = strtoul(*path + 1, &end, 10);
	const yaml_node_item_t *start = list->data.sequence.items.start;
	if (*end != ']' || i >= (size_t)(list->data.sequence.items.top - start))
		return NULL;
	*path = end + 1;
	const yaml_node_t *n = yaml_document_get_node(&d->document, start[i]);
	if (n)
		*ret_line = n->start_mark.line + 1;
	return n;
}

size_t documents_line_of(struct documents *d, const char *path)
{
	size_t line = d->line;
	const yaml_node_t *n = d->loaded ? yaml_document_get_root_node(&d->document) : NULL;
	while (n && *path) {
		path += *path == '.';
		if (n->type == YAML_MAPPING_NODE)
			n = step_key(d, n, &path, &line);
		else if (n->type == YAML_SEQUENCE_NODE && *path == '[')
			n = step_index(d, n, &path, &line);
		else
			break;
	}
	return line;
}

/* ---- the objects of a file --------------------------------------------------------------------
 * */

/* Returns the line of a field; an object of no file has none. */
static size_t line_of(struct object_source *from, const char *field)
{
	char path[600];
	must(from->documents);
	snprintf(path, sizeof(path), "%s%s", from->within, field);
	return documents_line_of(from->documents, path);
}

const char *object_where(struct object_source *from, const char *field, char *ret_text, size_t size)
{
	if (from->documents)
		snprintf(ret_text, size, "%.4096s:%zu", from->file, line_of(from, field));
	else
		snprintf(ret_text, size, "%.4096s", from->file);
	return ret_text;
}

void object_wrap(struct object_source *from, const char *field, struct err *e)
{
	if (from->documents)
		err_wrap(e, "%s:%zu", from->file, line_of(from, field));
	else
		err_wrap(e, "%s", from->file);
}

int object_fault(struct object_source *from, int code, struct err *e)
{
	const char *at = strstr(e->text, ": ");
	object_wrap(from, at ? at + 2 : "", e);
	return code;
}

int object_items(struct object_source *from, const cJSON *list, object_reader *read, struct err *e)
{
	size_t i = 0;
	json_each(item, json_array(list, "items")) {
		snprintf(from->within, sizeof(from->within), "items[%zu].", i++);
		int rc = read(from, item, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int objects_read_text(
	const char *name, struct slice text, object_reader *read, void *ctx, struct err *e)
{
	struct object_source from = {.file = name, .documents = documents_new(text), .ctx = ctx};
	const cJSON *o;
	int rc;
	do {
		from.within[0] = '\0';
		rc = documents_next(from.documents, &o, e);
		if (rc < 0)
			err_wrap(e, "%s:%zu", name, documents_line(from.documents));
		else if (rc > 0 && read(&from, o, e) < 0)
			rc = ERR_INVALID;
	} while (rc > 0);
	documents_free(from.documents);
	return rc;
}

int objects_read(const char *file, const char *name, size_t max, object_reader *read, void *ctx,
	struct err *e)
{
	char *text;
	size_t len;
	int rc = read_whole(file, max, &text, &len, e);
	if (rc < 0)
		return rc;
	rc = objects_read_text(name, (struct slice){text, len}, read, ctx, e);
	free(text);
	return rc;
}

static int read_file(const char *path, size_t max, object_reader *read, void *ctx, struct err *e)
{
	const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
	return objects_read(path, name, max, read, ctx, e);
}

static bool is_manifest(const char *name)
{
	const char *dot = strrchr(name, '.');
	return dot &&
	       (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0 || strcmp(dot, ".json") == 0);
}

static int is_shown(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name); /* not by some locale */
}

/* How the files of a directory are read. */
struct directory_reader {
	bool deep; /* with all directories below it */
	size_t max;
	object_reader *read;
	void *ctx;
	size_t nfiles;
};

static int read_directory(struct directory_reader *r, const char *path, struct err *e);

/* Reads an entry. A link to a directory counts as none: it may lead back. */
static int read_entry(struct directory_reader *r, const char *path, const char *name, struct err *e)
{
	struct stat st;
	char inner[4096];
	snprintf(inner, sizeof(inner), "%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/",
		name);
	if (r->deep && lstat(inner, &st) == 0 && S_ISDIR(st.st_mode))
		return read_directory(r, inner, e);
	if (!is_manifest(name))
		return 0;
	r->nfiles++;
	return read_file(inner, r->max, r->read, r->ctx, e);
}

static int read_directory(struct directory_reader *r, const char *path, struct err *e)
{
	struct dirent **names;
	int n = scandir(path, &names, is_shown, by_name), rc = 0;
	if (n < 0)
		return err_set(e, ERR_GONE, "%s: %s", path, strerror(errno));
	for (int i = 0; i < n; i++) {
		if (rc == 0)
			rc = read_entry(r, path, names[i]->d_name, e);
		free(names[i]);
	}
	free(names);
	return rc;
}

int objects_read_path(
	const char *path, bool deep, size_t max, object_reader *read, void *ctx, struct err *e)
{
	struct directory_reader r = {deep, max, read, ctx, 0};
	struct stat st;
	if (!*path || stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
		return read_file(path, max, read, ctx, e);
	int rc = read_directory(&r, path, e);
	if (rc == 0 && r.nfiles == 0)
		rc = err_set(e, ERR_GONE, "%s: no file in it ends in .yaml, .yml or .json", path);
	return rc;
}

int read_whole(const char *file, size_t max, char **ret, size_t *ret_len, struct err *e)
{
	struct buf text;
	char piece[65536];
	bool input = strcmp(file, "-") == 0;
	FILE *f = input ? stdin : fopen(file, "rb");
	if (!f)
		return err_set(e, ERR_GONE, "%s: %s", file, strerror(errno));
	buf_init(&text, max);
	for (size_t n; !text.failed && (n = fread(piece, 1, sizeof(piece), f)) > 0;)
		buf_add(&text, piece, n);
	int rc = ferror(f)     ? err_set(e, ERR_GONE, "%s: %s", file, strerror(errno))
		 : text.failed ? err_set(e, ERR_LIMIT, "%s: has more than %zu MiB", file, max >> 20)
			       : 0;
	if (!input)
		fclose(f);
	if (rc == 0) {
		*ret_len = text.len;
		*ret = text.len > 0 ? buf_take(&text) : mem_strdup("");
	}
	buf_done(&text);
	return rc;
}
