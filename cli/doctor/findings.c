#include "cli/doctor/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/mem.h"
#include "base/must.h"

#define SENTENCE_MAX 2048

static char *say(const char *fmt, va_list args)
{
	char text[SENTENCE_MAX];
	vsnprintf(text, sizeof(text), fmt, args);
	return mem_strdup(text);
}

static void settle(struct findings *f, enum verdict verdict, char *detail)
{
	must(!f->detail && f->count == 0);
	f->verdict = verdict;
	f->detail = detail;
}

void findings_ok(struct findings *f, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	settle(f, VERDICT_OK, say(fmt, args));
	va_end(args);
}

void findings_skip(struct findings *f, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	settle(f, VERDICT_SKIPPED, say(fmt, args));
	va_end(args);
}

void findings_add(struct findings *f, enum verdict verdict, const char *fmt, ...)
{
	must(!f->detail && verdict >= VERDICT_WARN);
	if (verdict > f->verdict)
		f->verdict = verdict;
	if (f->count++ >= FINDINGS_KEPT)
		return;
	va_list args;
	va_start(args, fmt);
	f->kept[f->count - 1] = (struct finding){verdict, say(fmt, args), NULL};
	va_end(args);
}

void findings_cure(struct findings *f, const char *fmt, ...)
{
	must(f->count > 0);
	if (f->count > FINDINGS_KEPT)
		return;
	struct finding *last = &f->kept[f->count - 1];
	va_list args;
	va_start(args, fmt);
	free(last->cure);
	last->cure = say(fmt, args);
	va_end(args);
}

static void forget(struct findings *f)
{
	for (size_t i = 0; i < f->count && i < FINDINGS_KEPT; i++) {
		free(f->kept[i].text);
		free(f->kept[i].cure);
	}
	f->count = 0;
}

void findings_ignore(struct findings *f)
{
	size_t count = f->count;
	if (count == 0)
		return;
	forget(f);
	findings_skip(f, "ignored: %zu finding%s", count, count == 1 ? "" : "s");
}

void findings_done(struct findings *f)
{
	forget(f);
	free(f->detail);
	free(f->usual_cure);
	f->detail = f->usual_cure = NULL;
}

size_t findings_count(const struct findings *f, size_t n)
{
	size_t sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += f[i].count;
	return sum;
}

/* ---- rendering ------------------------------------------------------------------------------ */

static const char *const words[VERDICTS] = {"ok", "skipped", "warn", "fail"};

static void line(enum verdict v, const char *name, const char *text, const struct style *style,
	struct buf *out)
{
	static const enum colour colours[VERDICTS] = {
		COLOUR_GREEN, COLOUR_DIM, COLOUR_YELLOW, COLOUR_RED};
	char padded[16];
	snprintf(padded, sizeof(padded), "%-7s", words[v]);
	colour_render(style, colours[v], padded, out);
	buf_printf(out, "  %-18s ", name);
	text_render(text, out);
	buf_putc(out, '\n');
}

/* Writes a cure: each of its lines is written as it is to be pasted. */
static void cure(const char *text, struct buf *out)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		char *one = mem_strndup(text, len);
		buf_puts(out, "             ");
		text_render(one, out);
		buf_putc(out, '\n');
		free(one);
		text += len + (text[len] == '\n');
	}
}

static const char *cure_of(const struct findings *f, size_t i)
{
	return f->kept[i].cure ? f->kept[i].cure : f->usual_cure;
}

/* True if the next finding has the same cure: it stands once, after the last of them. */
static bool cured_alike(const struct findings *f, size_t i, size_t shown)
{
	return i + 1 < shown && strcmp(cure_of(f, i), cure_of(f, i + 1)) == 0;
}

static void render_one(const struct findings *f, const struct style *style, struct buf *out)
{
	size_t shown = f->count < FINDINGS_KEPT ? f->count : FINDINGS_KEPT;
	if (f->count == 0)
		line(f->verdict, f->name, f->detail ? f->detail : "", style, out);
	for (size_t i = 0; i < shown; i++) {
		line(f->kept[i].verdict, f->name, f->kept[i].text, style, out);
		if (!cured_alike(f, i, shown))
			cure(cure_of(f, i), out);
	}
	if (f->count > shown)
		buf_printf(out, "             and %zu more\n", f->count - shown);
}

struct counters {
	size_t findings, verdict[VERDICTS];
};

static struct counters count(const struct findings *f, size_t n)
{
	struct counters t = {.findings = findings_count(f, n)};
	for (size_t i = 0; i < n; i++)
		t.verdict[f[i].verdict]++;
	return t;
}

void findings_render_table(
	const struct findings *f, size_t n, const struct style *style, struct buf *out)
{
	for (size_t i = 0; i < n; i++)
		render_one(&f[i], style, out);
	struct counters t = count(f, n);
	if (t.findings == 0)
		buf_puts(out, "no problem found");
	else
		buf_printf(out, "%zu finding%s", t.findings, t.findings == 1 ? "" : "s");
	buf_printf(out, ": %zu checks ok, %zu warn, %zu fail, %zu skipped\n", t.verdict[VERDICT_OK],
		t.verdict[VERDICT_WARN], t.verdict[VERDICT_FAIL], t.verdict[VERDICT_SKIPPED]);
}

static void render_json_check(const struct findings *f, struct json_writer *w)
{
	jw_object(w, NULL);
	jw_texts(w, "name", f->name, "group", f->group, "looksAt", f->looks_at, "verdict",
		words[f->verdict], "detail", f->detail ? f->detail : "", NULL);
	jw_int(w, "count", (int64_t)f->count);
	jw_array(w, "findings");
	for (size_t i = 0; i < f->count && i < FINDINGS_KEPT; i++)
		jw_object_of(w, NULL, "verdict", words[f->kept[i].verdict], "text", f->kept[i].text,
			"cure", cure_of(f, i), NULL);
	jw_end(w);
	jw_end(w);
}

void findings_render_json(const struct findings *f, size_t n, struct buf *out)
{
	struct json_writer w = json_writer_object(out);
	struct counters t = count(f, n);
	jw_array(&w, "checks");
	for (size_t i = 0; i < n; i++)
		render_json_check(&f[i], &w);
	jw_end(&w);
	jw_object(&w, "summary");
	jw_int(&w, "findings", (int64_t)t.findings);
	jw_int(&w, "ok", (int64_t)t.verdict[VERDICT_OK]);
	jw_int(&w, "warn", (int64_t)t.verdict[VERDICT_WARN]);
	jw_int(&w, "fail", (int64_t)t.verdict[VERDICT_FAIL]);
	jw_int(&w, "skipped", (int64_t)t.verdict[VERDICT_SKIPPED]);
	jw_close(&w);
	buf_putc(out, '\n');
}
