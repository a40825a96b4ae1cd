#include "pieces.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sluice/quantity.h"

/* Short-lived copies for one line; dropped when the next one is told. */
static void *kept[4096];
static size_t nkept;

void *piece_keep(void *ptr)
{
	if (nkept == sizeof(kept) / sizeof(kept[0]))
		abort();
	kept[nkept++] = ptr;
	return ptr;
}

void piece_drop_all(void)
{
	while (nkept > 0)
		free(kept[--nkept]);
}

char *piece_copy(const char *s)
{
	return piece_keep(mem_strdup(s));
}

bool piece_wrong(struct words *w, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(w->wrong, sizeof(w->wrong), fmt, ap);
	va_end(ap);
	return false;
}

char *piece_after(char *text, char c)
{
	char *at = strchr(text, c);
	if (!at)
		return NULL;
	*at = '\0';
	return at + 1;
}

const char *piece_before(const char *text, char c)
{
	return piece_keep(mem_strndup(text, (size_t)(strchr(text, c) - text)));
}

const char *piece_value(const char *word, const char *key)
{
	size_t n = strlen(key);
	return strncmp(word, key, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}

struct label piece_label(char *text, char c)
{
	char *value = piece_after(text, c);
	return (struct label){text, value ? value : ""};
}

enum taint_effect piece_effect(const char *name)
{
	if (!name)
		return TAINT_ANY;
	if (strcmp(name, "NoExecute") == 0)
		return TAINT_NO_EXECUTE;
	return strcmp(name, "PreferNoSchedule") == 0 ? TAINT_PREFER_NO_SCHEDULE : TAINT_NO_SCHEDULE;
}

struct toleration piece_toleration(char *text)
{
	struct toleration t = {
		.effect = piece_effect(piece_after(text, ':')), .op = TOLERATION_EXISTS};
	const char *value = piece_after(text, '=');
	t.key = text;
	t.value = value ? value : "";
	if (value)
		t.op = TOLERATION_EQUAL;
	return t;
}

enum stop_policy piece_policy(const char *name)
{
	if (strcmp(name, "HoldAndDrain") == 0)
		return STOP_HOLD_AND_DRAIN;
	return strcmp(name, "Hold") == 0 ? STOP_HOLD : STOP_NONE;
}

bool piece_amount(struct words *w, const char *resource, const char *text, int64_t *ret)
{
	struct err e;
	if (strcmp(text, "endless") == 0) { /* what sums saturate at */
		*ret = INT64_MAX;
		return true;
	}
	if (quantity_parse(slice_of(text), quantity_unit_of(resource), ret, &e) != 0)
		return piece_wrong(w, "%s=%s: %s", resource, text, e.text);
	return true;
}

/* "KEY in V,V" and its like. */
static bool requirement_of(struct words *w, char *text, struct requirement *ret)
{
	static const struct {
		const char *name;
		enum selector_op op;
	} op[] = {{"in", SELECTOR_IN}, {"notin", SELECTOR_NOT_IN}, {"exists", SELECTOR_EXISTS},
		{"notexists", SELECTOR_DOES_NOT_EXIST}, {"gt", SELECTOR_GT}, {"lt", SELECTOR_LT}};
	char *save, *key = strtok_r(text, " ", &save), *name = strtok_r(NULL, " ", &save);
	char *values = strtok_r(NULL, " ", &save);
	const char **value = piece_keep(mem_array(16, sizeof(*value)));
	*ret = (struct requirement){.key = key, .values = value};
	for (char *v = values ? strtok_r(values, ",", &save) : NULL; v && ret->nvalues < 16;
		v = strtok_r(NULL, ",", &save))
		value[ret->nvalues++] = v;
	for (size_t i = 0; name && i < sizeof(op) / sizeof(op[0]); i++) {
		if (strcmp(op[i].name, name) == 0) {
			ret->op = op[i].op;
			return true;
		}
	}
	return piece_wrong(w, "requirement \"%s\" has no known operator", key ? key : "");
}

bool piece_term(struct words *w, char *text, struct selector_term *ret)
{
	struct requirement *r = piece_keep(mem_array(16, sizeof(*r)));
	*ret = (struct selector_term){.requirements = r};
	char *save;
	for (char *part = strtok_r(text, ";", &save); part; part = strtok_r(NULL, ";", &save))
		if (!requirement_of(w, part, &r[ret->nrequirements++]))
			return false;
	return true;
}
