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

/* Days since 1970-01-01 to a civil date, in the proleptic Gregorian calendar; years that start in
 * March make the leap day the last one (Hinnant's days_from_civil, read backwards). gmtime_r would
 * look at TZ in the environment. */
struct words time_words(int64_t ms)
{
	struct words w = {""};
	int64_t s = ms / 1000 - (ms % 1000 < 0);
	int64_t days = s / 86400 - (s % 86400 < 0);
	int64_t left = s - days * 86400;
	int64_t z = days + 719468;
	int64_t era = (z >= 0 ? z : z - 146096) / 146097;
	int64_t doe = z - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int64_t mp = (5 * doy + 2) / 153;
	int64_t day = doy - (153 * mp + 2) / 5 + 1;
	int64_t month = mp < 10 ? mp + 3 : mp - 9;
	int64_t year = yoe + era * 400 + (month <= 2);
	snprintf(w.s, sizeof(w.s), "%04lld-%02lld-%02lldT%02lld:%02lld:%02lldZ", (long long)year,
		(long long)month, (long long)day, (long long)(left / 3600),
		(long long)(left / 60 % 60), (long long)(left % 60));
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

void text_add_time(struct text *t, int64_t ms)
{
	text_add(t, "%s", time_words(ms).s);
}
