#include "controller/common/selector.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/*
 * Cuts the text up in place. A word ends before the first character that cannot be part of it; that
 * character is remembered before the word's end overwrites it.
 */
struct reader {
	struct selector *s;
	char *at;
	char here; /* the character at `at`, or what stood there before a word's end */
	size_t nvalues;
};

static void move(struct reader *r, char *to)
{
	r->at = to;
	r->here = *to;
}

static void skip_blanks(struct reader *r)
{
	while (r->here == ' ' || r->here == '\t')
		move(r, r->at + 1);
}

static bool take(struct reader *r, char c)
{
	skip_blanks(r);
	if (r->here != c)
		return false;
	move(r, r->at + 1);
	return true;
}

static bool in_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_' || c == '.' || c == '/';
}

/* Takes a word; "" where there is none. */
static const char *word(struct reader *r)
{
	skip_blanks(r);
	char *first = r->at, *end = first;
	while (in_word(end == first ? r->here : *end))
		end++;
	if (end == first)
		return "";
	r->at = end;
	r->here = *end;
	*end = '\0';
	return first;
}

static bool add_value(struct reader *r, struct requirement *q, const char *value)
{
	if (r->nvalues == SELECTOR_VALUES_MAX)
		return false;
	r->s->value[r->nvalues++] = value;
	q->nvalues++;
	return true;
}

/* Takes "(a,b)". */
static bool set(struct reader *r, struct requirement *q, enum selector_op op)
{
	q->op = op;
	if (!take(r, '('))
		return false;
	do {
		if (!add_value(r, q, word(r)))
			return false;
	} while (take(r, ','));
	return take(r, ')');
}

/* Takes what follows the key. */
static bool condition(struct reader *r, struct requirement *q)
{
	if (take(r, '!')) {
		q->op = SELECTOR_NOT_IN;
		return take(r, '=') && add_value(r, q, word(r));
	}
	if (take(r, '=')) {
		take(r, '=');
		q->op = SELECTOR_IN;
		return add_value(r, q, word(r));
	}
	const char *op = word(r);
	if (strcmp(op, "in") == 0)
		return set(r, q, SELECTOR_IN);
	if (strcmp(op, "notin") == 0)
		return set(r, q, SELECTOR_NOT_IN);
	q->op = SELECTOR_EXISTS;
	return op[0] == '\0';
}

static bool requirement(struct reader *r)
{
	struct selector *s = r->s;
	if (s->term.nrequirements == SELECTOR_REQUIREMENTS_MAX)
		return false;
	struct requirement *q = &s->requirement[s->term.nrequirements++];
	q->values = &s->value[r->nvalues];
	bool absent = take(r, '!');
	q->key = word(r);
	if (q->key[0] == '\0')
		return false;
	if (!absent)
		return condition(r, q);
	q->op = SELECTOR_DOES_NOT_EXIST;
	return true;
}

bool selector_parse(const char *text, struct selector *ret)
{
	*ret = (struct selector){.text = mem_strdup(text)};
	ret->term.requirements = ret->requirement;
	struct reader r = {.s = ret};
	move(&r, ret->text);
	skip_blanks(&r);
	if (r.here == '\0')
		return true;
	do {
		if (!requirement(&r))
			return false;
	} while (take(&r, ','));
	skip_blanks(&r);
	return r.here == '\0';
}

void selector_done(struct selector *s)
{
	free(s->text);
	s->text = NULL;
}
