#include "base/json.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "base/mem.h"
#include "base/must.h"

/* The arena: blocks in a list, newest first. The oldest stays when the tree goes, so that an event
 * of a usual size costs no malloc at all. */
enum { BLOCK_FIRST = 64 * 1024, BLOCK_MAX = 1024 * 1024, ALIGN = 16 };

struct block {
	struct block *older;
	size_t used, room; /* of data */
	_Alignas(ALIGN) char data[];
};

struct json {
	struct block *block;
	size_t ceiling, taken; /* bytes of all blocks */
	bool over;	       /* the ceiling was hit during this parse */
};

/* The arena of the parse that is going on; NULL otherwise. cJSON's hooks have no context. */
static struct json *parsing;

static struct block *arena_block(struct json *j, size_t size)
{
	size_t room = j->block ? j->block->room * 2 : BLOCK_FIRST;
	if (room > BLOCK_MAX)
		room = BLOCK_MAX;
	if (room < size)
		room = size;
	if (room > j->ceiling - j->taken)
		room = size; /* the rest of the ceiling, in small steps */
	if (size > j->ceiling - j->taken) {
		j->over = true;
		return NULL;
	}
	/* Not mem_alloc: that would zero it, and these bytes are sized by the network. */
	struct block *b = malloc(sizeof(*b) + room);
	must(b);
	*b = (struct block){.older = j->block, .room = room};
	j->block = b;
	j->taken += room;
	return b;
}

static void *arena_malloc(size_t size)
{
	must(parsing);
	if (size > SIZE_MAX - ALIGN)
		return NULL;
	size = (size + ALIGN - 1) / ALIGN * ALIGN;
	struct block *b = parsing->block;
	if (!b || size > b->room - b->used)
		b = arena_block(parsing, size);
	if (!b)
		return NULL;
	void *p = b->data + b->used;
	b->used += size;
	return p;
}

/* Frees nothing when a failed parse deletes what it made: the blocks go as a whole. */
static void arena_free(void *ptr)
{
	(void)ptr;
}

struct json *json_new(size_t ceiling_bytes)
{
	struct json *j = mem_alloc(sizeof(*j));
	j->ceiling = ceiling_bytes > BLOCK_FIRST ? ceiling_bytes : BLOCK_FIRST;
	return j;
}

void json_reset(struct json *j)
{
	while (j->block && j->block->older) {
		struct block *b = j->block;
		j->block = b->older;
		j->taken -= b->room;
		free(b);
	}
	if (j->block)
		j->block->used = 0;
	j->over = false;
}

void json_free(struct json *j)
{
	if (!j)
		return;
	json_reset(j);
	free(j->block);
	free(j);
}

/*
 * Checks the text in one pass before cJSON sees it. Strings are followed only as far as needed to
 * know what is outside of them. Every bracket and string must be closed: cJSON before 1.7.18 reads
 * past the end of a text that stops in the middle (CVE-2023-53154).
 */
struct scan {
	int depth;
	bool in_string;
	bool nul; /* an escaped NUL stands in a string */
};

static bool is_nul(struct slice text, size_t i)
{
	return text.len - i >= 6 && memcmp(text.ptr + i, "\\u0000", 6) == 0;
}

static int scan_bracket(struct scan *s, char c, size_t i, struct err *err)
{
	if (c == '{' || c == '[') {
		if (++s->depth > JSON_DEPTH)
			return err_set(err, ERR_LIMIT, "JSON: nested deeper than %d", JSON_DEPTH);
	} else if (c == '}' || c == ']') {
		if (--s->depth < 0)
			return err_set(err, ERR_INVALID, "JSON: stray '%c' at byte %zu", c, i);
	}
	return 0;
}

static int scan_text(struct slice text, bool *ret_nul, struct err *err)
{
	struct scan s = {0};
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		int rc = 0;
		if (c == '\0')
			return err_set(err, ERR_INVALID, "JSON: NUL byte at %zu", i);
		if (c == '"') {
			s.in_string = !s.in_string;
		} else if (s.in_string && c == '\\') {
			s.nul |= is_nul(text, i);
			i++;
		} else if (!s.in_string) {
			rc = scan_bracket(&s, c, i, err);
		}
		if (rc < 0)
			return rc;
	}
	if (s.depth != 0 || s.in_string)
		return err_set(
			err, ERR_INVALID, "JSON: ends in the middle, after %zu bytes", text.len);
	if (!slice_utf8(text))
		return err_set(err, ERR_INVALID, "JSON: not UTF-8");
	*ret_nul = s.nul;
	return 0;
}

/* Makes a copy in which each escaped NUL is U+FFFD, in as many bytes. A backslash outside of
 * strings cJSON refuses. */
static char *without_nul(struct slice text)
{
	char *copy = malloc(text.len); /* not mem_alloc: sized by the network */
	must(copy);
	memcpy(copy, text.ptr, text.len);
	for (size_t i = 0; i < text.len; i++) {
		if (copy[i] != '\\')
			continue;
		if (is_nul(text, i))
			memcpy(copy + i, "\\ufffd", 6);
		i++; /* what is escaped, which may be a backslash */
	}
	return copy;
}

static const cJSON *parse_in_arena(struct json *j, struct slice text, const char **ret_end)
{
	cJSON_Hooks hooks = {.malloc_fn = arena_malloc, .free_fn = arena_free};
	must(!parsing);
	parsing = j;
	cJSON_InitHooks(&hooks);
	const cJSON *root = cJSON_ParseWithLengthOpts(text.ptr, text.len, ret_end, 0);
	cJSON_InitHooks(NULL);
	parsing = NULL;
	return root;
}

static int parse_text(struct json *j, struct slice text, const cJSON **ret_root, struct err *err)
{
	const char *end = text.ptr;
	const cJSON *root = text.len > 0 ? parse_in_arena(j, text, &end) : NULL;
	if (j->over)
		return err_set(err, ERR_LIMIT, "JSON: %zu bytes of text need more than %zu of tree",
			text.len, j->ceiling);
	if (!root)
		return err_set(err, ERR_INVALID, "JSON: wrong at byte %td of %zu", end - text.ptr,
			text.len);
	for (; end < text.ptr + text.len; end++)
		if (!strchr(" \t\r\n", *end))
			return err_set(err, ERR_INVALID, "JSON: more after the end, at byte %td",
				end - text.ptr);
	*ret_root = root;
	return 0;
}

int json_parse(struct json *j, struct slice text, const cJSON **ret_root, struct err *err)
{
	bool nul = false;
	json_reset(j);
	int rc = scan_text(text, &nul, err);
	if (rc < 0)
		return rc;
	if (!nul)
		return parse_text(j, text, ret_root, err);
	char *copy = without_nul(text);
	rc = parse_text(j, (struct slice){copy, text.len}, ret_root, err);
	free(copy); /* the tree has its own */
	return rc;
}

const cJSON *json_get(const cJSON *object, const char *key)
{
	if (!cJSON_IsObject(object))
		return NULL;
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
	return item && !cJSON_IsNull(item) ? item : NULL;
}

const cJSON *json_object(const cJSON *object, const char *key)
{
	const cJSON *item = json_get(object, key);
	return cJSON_IsObject(item) ? item : NULL;
}

const cJSON *json_array(const cJSON *object, const char *key)
{
	const cJSON *item = json_get(object, key);
	return cJSON_IsArray(item) ? item : NULL;
}

const char *json_text(const cJSON *object, const char *key)
{
	const cJSON *item = json_get(object, key);
	return cJSON_IsString(item) ? item->valuestring : NULL;
}

bool json_is(const cJSON *object, const char *key, const char *text)
{
	const char *is = json_text(object, key);
	return is && strcmp(is, text) == 0;
}

int64_t json_instant(const cJSON *object, const char *key)
{
	int64_t ms;
	const char *text = json_text(object, key);
	return text && instant_parse(slice_of(text), &ms) ? ms : 0;
}

const cJSON *json_condition(const cJSON *object, const char *type)
{
	json_each(c, json_array(json_object(object, "status"), "conditions"))
		if (json_is(c, "type", type))
			return c;
	return NULL;
}

bool json_condition_is(const cJSON *object, const char *type, const char *status)
{
	return json_is(json_condition(object, type), "status", status);
}

int json_bool(const cJSON *object, const char *key, bool *ret_value)
{
	const cJSON *item = json_get(object, key);
	if (!item)
		return ERR_GONE;
	if (!cJSON_IsBool(item))
		return ERR_INVALID;
	*ret_value = cJSON_IsTrue(item);
	return 0;
}

static bool is_exact(double d)
{
	return fabs(d) <= 9007199254740992.0 && d == trunc(d); /* 2^53; false for NaN */
}

int json_i64(const cJSON *object, const char *key, int64_t *ret_value)
{
	const cJSON *item = json_get(object, key);
	if (!item)
		return ERR_GONE;
	if (!cJSON_IsNumber(item) || !is_exact(item->valuedouble))
		return ERR_INVALID;
	*ret_value = (int64_t)item->valuedouble;
	return 0;
}

/* Writes the fewest digits that mean the same number: 37.518, and not 37.518000000000001. */
static void print_fraction(struct buf *out, double d)
{
	char text[32];
	for (int digits = DBL_DIG; digits <= DBL_DECIMAL_DIG; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, d);
		if (strtod(text, NULL) == d)
			break;
	}
	buf_puts(out, text);
}

static void print_number(struct buf *out, double d)
{
	if (is_exact(d))
		buf_printf(out, "%lld", (long long)d);
	else if (isfinite(d))
		print_fraction(out, d);
	else
		buf_puts(out, "null"); /* 1e400: JSON has no word for it */
}

static void print_members(struct buf *out, const cJSON *value, char open, char close)
{
	buf_putc(out, open);
	json_each(item, value) {
		if (item != value->child)
			buf_putc(out, ',');
		if (open == '{') {
			buf_json_string(out, item->string);
			buf_putc(out, ':');
		}
		json_print(out, item);
	}
	buf_putc(out, close);
}

void json_print(struct buf *out, const cJSON *value)
{
	if (cJSON_IsObject(value))
		print_members(out, value, '{', '}');
	else if (cJSON_IsArray(value))
		print_members(out, value, '[', ']');
	else if (cJSON_IsString(value))
		buf_json_string(out, value->valuestring);
	else if (cJSON_IsNumber(value))
		print_number(out, value->valuedouble);
	else if (cJSON_IsBool(value))
		buf_puts(out, cJSON_IsTrue(value) ? "true" : "false");
	else
		buf_puts(out, "null");
}

void json_put(struct json_writer *w, const char *key, const cJSON *value)
{
	struct buf text;
	buf_init(&text, w->out->ceiling);
	json_print(&text, value);
	jw_raw(w, key, buf_slice(&text));
	w->out->failed |= text.failed; /* a part of it would be no JSON */
	buf_done(&text);
}

void json_put_members(struct json_writer *w, const cJSON *object)
{
	json_each(member, object)
		json_put(w, member->string, member);
}
