#include "queue/job/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/must.h"
#include "sluice/quantity.h"

struct text text_over(char *ptr, size_t size)
{
	must(size >= 4);
	ptr[0] = '\0';
	return (struct text){ptr, size, 0};
}

/* The longest start of s, at most n bytes, that ends with a whole character. */
static size_t whole_characters(const char *s, size_t n)
{
	size_t end = n;
	while (end > 0 && n - end < 4 && ((unsigned char)s[end] & 0xC0) == 0x80)
		end--;
	return ((unsigned char)s[end] & 0xC0) == 0x80 ? n : end;
}

static void text_cut(struct text *t)
{
	t->len = whole_characters(t->ptr, t->size - 4);
	memcpy(t->ptr + t->len, "...", 4);
	t->len = t->size; /* full: nothing more is added */
}

void text_add(struct text *t, const char *fmt, ...)
{
	if (t->len >= t->size)
		return;
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(t->ptr + t->len, t->size - t->len, fmt, ap);
	va_end(ap);
	must(n >= 0);
	if ((size_t)n >= t->size - t->len)
		text_cut(t);
	else
		t->len += (size_t)n;
}

void text_add_cut(struct text *t, const char *s, size_t n)
{
	if (strlen(s) <= n)
		text_add(t, "%s", s);
	else
		text_add(t, "%.*s...", (int)whole_characters(s, n), s);
}

void text_add_name(struct text *t, const char *ns, const char *name)
{
	text_add(t, "%s/", ns);
	text_add_cut(t, name, 100);
}

struct words amount_words(int64_t amount, const char *resource)
{
	struct words w = {""};
	quantity_describe(amount, resource, w.s, sizeof(w.s));
	return w;
}

struct words number_words(int64_t amount, const char *resource)
{
	struct words w = amount_words(amount, resource);
	w.s[strcspn(w.s, " ")] = '\0';
	return w;
}

struct words count_words(size_t n, const char *what)
{
	struct words w = {""};
	snprintf(w.s, sizeof(w.s), "%zu %s%s", n, what, n == 1 ? "" : "s");
	return w;
}

struct words cut_words(const char *s, size_t n)
{
	struct words w = {""};
	must(n + sizeof("...") <= sizeof(w.s));
	struct text t = text_over(w.s, sizeof(w.s));
	text_add_cut(&t, s, n);
	return w;
}

void text_add_amount(struct text *t, int64_t amount, const char *resource)
{
	text_add(t, "%s", amount_words(amount, resource).s);
}

void text_add_number(struct text *t, int64_t amount, const char *resource)
{
	text_add(t, "%s", number_words(amount, resource).s);
}
