#include "cli/import/yaml_text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { PLAIN_MAX = 120 };

/* True for what YAML 1.1 reads as something else than text. */
static bool is_word_of_yaml(const char *s)
{
	static const char *const words[] = {
		"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", NULL};
	for (const char *const *w = words; *w; w++)
		if (strcasecmp(s, *w) == 0)
			return true;
	return false;
}

/* True for an amount that no reader takes for a number: 500m, 16Gi. */
static bool is_amount(const char *s)
{
	size_t digits = strspn(s, "0123456789");
	const char *unit = s + digits;
	static const char *const units[] = {
		"m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti", "Pi", "s", "h", NULL};
	for (const char *const *u = units; digits > 0 && *u; u++)
		if (strcmp(unit, *u) == 0)
			return true;
	return false;
}

/* True for a text that needs no quotes. A colon before a space or at the end makes a key, and a #
 * behind a space a comment. */
static bool is_plain(const char *s)
{
	size_t len = strlen(s);
	if (is_amount(s))
		return true;
	if (len == 0 || len > PLAIN_MAX || is_word_of_yaml(s) ||
		!(isalpha((unsigned char)*s) || *s == '_' || *s == '/'))
		return false;
	for (const char *p = s; *p; p++) {
		if (!isalnum((unsigned char)*p) && !strchr("_./-:@+=, ()", *p))
			return false;
		if (*p == ':' && (p[1] == ' ' || p[1] == '\0'))
			return false;
		if (*p == ' ' && (p[1] == ' ' || p[1] == '\0'))
			return false;
	}
	return true;
}

/* Quotes as JSON does, and also what YAML would change: a byte order mark, the line ends of
 * Unicode, control characters of C1. */
static void put_quoted(struct buf *out, const char *text)
{
	struct buf json;
	buf_init(&json, out->ceiling);
	buf_json_string(&json, text);
	if (json.failed)
		out->failed = true;
	for (const unsigned char *p = (const unsigned char *)buf_text(&json); *p; p++) {
		if (p[0] == 0x7F) {
			buf_puts(out, "\\u007f");
		} else if (p[0] == 0xC2 && p[1] >= 0x80 && p[1] < 0xA0) {
			buf_printf(out, "\\u00%02x", p[1]);
			p++;
		} else if ((p[0] == 0xE2 && p[1] == 0x80 && (p[2] == 0xA8 || p[2] == 0xA9)) ||
			   (p[0] == 0xEF && p[1] == 0xBB && p[2] == 0xBF)) {
			buf_puts(out, p[0] == 0xEF   ? "\\ufeff"
				      : p[2] == 0xA8 ? "\\u2028"
						     : "\\u2029");
			p += 2;
		} else if (p[0] == 0xEF && p[1] == 0xBF && p[2] >= 0xBE) {
			buf_printf(out, "\\uff%02x", p[2] == 0xBE ? 0xFE : 0xFF);
			p += 2;
		} else {
			buf_putc(out, (char)*p);
		}
	}
	buf_done(&json);
}

void yaml_scalar(struct buf *out, const char *text)
{
	if (is_plain(text))
		buf_puts(out, text);
	else
		put_quoted(out, text);
}

/* True for lines of printable ASCII, the first without a blank in front, at most one line end
 * behind the last. */
static bool is_block(const char *text)
{
	size_t len = strlen(text);
	size_t lines = len - (len > 0 && text[len - 1] == '\n'); /* without the last line end */
	if (!strchr(text, '\n') || strchr(" \n\t", *text) || strchr(" \n\t", text[lines - 1]))
		return false;
	for (const char *p = text; *p; p++) {
		bool indents = *p == '\t' && (p == text || p[-1] == '\n');
		if (indents || !((*p >= 0x20 && *p < 0x7F) || *p == '\n' || *p == '\t'))
			return false;
	}
	return true;
}

static void indent(struct buf *out, size_t depth)
{
	for (size_t i = 0; i < depth; i++)
		buf_puts(out, "  ");
}

static void put_block(struct buf *out, const char *text, size_t depth)
{
	buf_puts(out, text[strlen(text) - 1] == '\n' ? "|\n" : "|-\n");
	for (const char *line = text, *end; *line; line = end) {
		size_t len = strcspn(line, "\n");
		end = line + len + (line[len] == '\n');
		if (len > 0)
			indent(out, depth);
		buf_add(out, line, len);
		buf_putc(out, '\n');
	}
}

static bool is_scalar(const cJSON *v)
{
	return !v->child || !(cJSON_IsObject(v) || cJSON_IsArray(v));
}

/* Appends a value behind "key: " or "- ", with the line's end. depth: that of what is below it. */
static void put_scalar(struct buf *out, const cJSON *v, size_t depth)
{
	if (cJSON_IsString(v) && is_block(v->valuestring)) {
		put_block(out, v->valuestring, depth);
		return;
	}
	if (cJSON_IsString(v))
		yaml_scalar(out, v->valuestring);
	else
		json_print(out, v); /* {} and [] too */
	buf_putc(out, '\n');
}

static void put_members(struct buf *out, const cJSON *map, size_t depth, bool first_indented);

/* Appends a key. YAML wants the colon of a plain "key: value" within 1024 characters. */
static void put_key(struct buf *out, const char *key, size_t depth)
{
	bool is_long = strlen(key) > PLAIN_MAX;
	if (is_long)
		buf_puts(out, "? ");
	yaml_scalar(out, key);
	if (is_long) {
		buf_putc(out, '\n');
		indent(out, depth);
	}
	buf_putc(out, ':');
}

/* Appends the items of a list, with dashes under its key. */
static void put_items(struct buf *out, const cJSON *list, size_t depth)
{
	json_each(item, list) {
		indent(out, depth);
		bool is_list = cJSON_IsArray(item) && item->child;
		buf_puts(out, is_list ? "-\n" : "- ");
		if (is_list) /* below its dash */
			put_items(out, item, depth + 1);
		else if (is_scalar(item))
			put_scalar(out, item, depth + 1);
		else
			put_members(out, item, depth + 1, true);
	}
}

static void put_members(struct buf *out, const cJSON *map, size_t depth, bool first_indented)
{
	json_each(item, map) {
		if (!first_indented || item != map->child)
			indent(out, depth);
		put_key(out, item->string, depth);
		if (is_scalar(item)) {
			buf_putc(out, ' ');
			put_scalar(out, item, depth + 1);
			continue;
		}
		buf_putc(out, '\n');
		if (cJSON_IsObject(item))
			put_members(out, item, depth + 1, false);
		else
			put_items(out, item, depth);
	}
}

void yaml_print(struct buf *out, const cJSON *root)
{
	if (is_scalar(root))
		put_scalar(out, root, 0);
	else if (cJSON_IsObject(root))
		put_members(out, root, 0, false);
	else
		put_items(out, root, 0);
}
