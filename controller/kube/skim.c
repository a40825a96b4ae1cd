#include "controller/kube/skim.h"

#include <string.h>

#include "base/err.h"

static void skip_blanks(struct slice *s)
{
	while (s->len > 0 && memchr(" \t\r\n", *s->ptr, 4)) {
		s->ptr++;
		s->len--;
	}
}

static bool take_char(struct slice *s, char c)
{
	skip_blanks(s);
	if (s->len == 0 || *s->ptr != c)
		return false;
	s->ptr++;
	s->len--;
	return true;
}

/* Measures the string that begins s, with its quotes; all of s when it has no end. */
static size_t string_length(struct slice s, bool *ret_whole)
{
	for (size_t i = 1; i < s.len; i++) {
		if (s.ptr[i] == '\\') {
			i++;
		} else if (s.ptr[i] == '"') {
			*ret_whole = true;
			return i + 1;
		}
	}
	*ret_whole = false;
	return s.len;
}

/* Measures the object or array that begins s. Which bracket closes which is json_parse()'s to
 * say. */
static size_t nested_length(struct slice s, bool *ret_whole)
{
	size_t depth = 0;
	*ret_whole = false;
	for (size_t i = 0; i < s.len; i++) {
		char c = s.ptr[i];
		if (c == '"') {
			bool closed;
			i += string_length((struct slice){s.ptr + i, s.len - i}, &closed) - 1;
		} else if (c == '{' || c == '[') {
			depth++;
		} else if ((c == '}' || c == ']') && --depth == 0) {
			*ret_whole = true;
			return i + 1;
		}
	}
	return s.len;
}

static size_t scalar_length(struct slice s, bool *ret_whole)
{
	size_t i = 0;
	while (i < s.len && !memchr(",]} \t\r\n", s.ptr[i], 7))
		i++;
	*ret_whole = i < s.len;
	return i;
}

/* Takes one value off the front of *s; false when it is cut, or there is none. */
static bool take_value(struct slice *s, struct slice *ret_value)
{
	bool whole = false;
	size_t n = 0;
	skip_blanks(s);
	if (s->len > 0 && *s->ptr == '"')
		n = string_length(*s, &whole);
	else if (s->len > 0 && (*s->ptr == '{' || *s->ptr == '['))
		n = nested_length(*s, &whole);
	else
		n = scalar_length(*s, &whole);
	*ret_value = (struct slice){s->ptr, n};
	s->ptr += n;
	s->len -= n;
	return whole && n > 0;
}

static bool is_key(struct slice text, const char *key)
{
	size_t len = strlen(key);
	return text.len == len + 2 && memcmp(text.ptr + 1, key, len) == 0;
}

bool skim_member(struct slice object, const char *key, struct slice *ret_value)
{
	struct slice name, value;
	if (!take_char(&object, '{'))
		return false;
	do {
		skip_blanks(&object);
		if (object.len == 0 || *object.ptr != '"' || !take_value(&object, &name) ||
			!take_char(&object, ':'))
			return false;
		bool whole = take_value(&object, &value);
		if (value.len > 0 && is_key(name, key)) {
			*ret_value = value;
			return true;
		}
		if (!whole)
			return false;
	} while (take_char(&object, ','));
	return false;
}

int skim_item(struct slice *array, struct slice *ret_item)
{
	bool first = take_char(array, '[');
	if (take_char(array, ']'))
		return 0;
	if (!first && !take_char(array, ','))
		return ERR_INVALID;
	return take_value(array, ret_item) ? 1 : ERR_INVALID;
}

static bool is_plain(struct slice text)
{
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.ptr[i] <= ' ' || text.ptr[i] == '\\' ||
			(unsigned char)text.ptr[i] >= 0x7f)
			return false;
	return text.len > 0;
}

bool skim_text(struct slice object, const char *key, char *ret, size_t size)
{
	struct slice value;
	ret[0] = '\0';
	if (!skim_member(object, key, &value) || value.len < 2 || *value.ptr != '"' ||
		value.ptr[value.len - 1] != '"')
		return false;
	struct slice text = {value.ptr + 1, value.len - 2};
	if (text.len >= size || !is_plain(text))
		return false;
	memcpy(ret, text.ptr, text.len);
	ret[text.len] = '\0';
	return true;
}

void skim_identity(struct slice object, struct skim_identity *ret)
{
	struct slice metadata = {"", 0};
	skim_member(object, "metadata", &metadata);
	skim_text(metadata, "namespace", ret->ns, sizeof(ret->ns));
	skim_text(metadata, "name", ret->name, sizeof(ret->name));
	skim_text(metadata, "uid", ret->uid, sizeof(ret->uid));
	skim_text(metadata, "resourceVersion", ret->version, sizeof(ret->version));
}
