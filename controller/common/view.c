#include "controller/common/view.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/instant.h"
#include "base/must.h"
#include "queue/price/money.h"

static const void *place_of(const struct view_member *m, const void *object)
{
	return (const char *)object + m->at;
}

static const char *text_of(const struct view_member *m, const void *object)
{
	const char *here = place_of(m, object);
	if (m->type == VIEW_HERE || m->type == VIEW_SENTENCE)
		return m->type == VIEW_HERE || *here ? here : NULL;
	must(m->size == sizeof(const char *));
	return *(const char *const *)place_of(m, object);
}

static bool bool_of(const struct view_member *m, const void *object)
{
	must(m->size == sizeof(bool));
	return *(const bool *)place_of(m, object);
}

static int64_t int_of(const struct view_member *m, const void *object)
{
	must(m->size == sizeof(int64_t) || m->size == sizeof(int32_t));
	if (m->size == sizeof(int32_t))
		return *(const int32_t *)place_of(m, object);
	return *(const int64_t *)place_of(m, object);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_text(struct json_writer *w, const struct view_member *m, const char *text)
{
	if (text || m->type == VIEW_NULLABLE)
		jw_text(w, m->name, text);
}

static void put_number(struct json_writer *w, const struct view_member *m, int64_t n)
{
	if (n == VIEW_NONE || (m->type == VIEW_COUNT && n == 0) || (m->type == VIEW_MONEY && n < 0))
		return;
	if (m->type == VIEW_TIME)
		instant_put(w, m->name, n);
	else if (m->type == VIEW_EXACT)
		jw_text(w, m->name, instant_exact(n).s);
	else if (m->type == VIEW_SECONDS)
		jw_number(w, m->name, "%" PRId64 ".%03d", n / 1000, (int)(n % 1000));
	else if (m->type == VIEW_MONEY)
		money_put(w, m->name, n);
	else
		jw_int(w, m->name, n);
}

static void put_flag(struct json_writer *w, const struct view_member *m, bool is)
{
	if (is || m->type == VIEW_BOOL)
		jw_bool(w, m->name, is);
}

static const void *part_of(const struct view_member *m, const void *object)
{
	const void *place = place_of(m, object);
	return m->type == VIEW_PART ? place : *(const void *const *)place;
}

static void put_list(struct json_writer *w, const struct view_member *m, const struct view_list *l)
{
	if (!l->item)
		return;
	jw_array(w, m->name);
	for (size_t i = 0; i < l->n; i++)
		view_put(w, NULL, m->of, (const char *)l->item + i * l->size);
	jw_end(w);
}

static void put_member(struct json_writer *w, const struct view_member *m, const void *object)
{
	if (m->type <= VIEW_NULLABLE)
		put_text(w, m, text_of(m, object));
	else if (m->type <= VIEW_MONEY)
		put_number(w, m, int_of(m, object));
	else if (m->type <= VIEW_FLAG)
		put_flag(w, m, bool_of(m, object));
	else if (m->type == VIEW_LIST)
		put_list(w, m, place_of(m, object));
	else if (m->type == VIEW_PUT)
		m->put(w, m->name, object);
	else if (m->type != VIEW_TOLD && part_of(m, object))
		view_put(w, m->name, m->of, part_of(m, object));
}

void view_put_members(struct json_writer *w, const struct view *v, const void *object)
{
	for (size_t i = 0; i < v->n; i++)
		put_member(w, &v->member[i], object);
}

void view_put(struct json_writer *w, const char *key, const struct view *v, const void *object)
{
	jw_object(w, key);
	view_put_members(w, v, object);
	jw_end(w);
}

/* ---- what is news ---------------------------------------------------------------------------- */

#define DIGITS "0123456789"

/* Measures "1h03m12s" at the beginning of text; 0: there is none. */
static size_t span_len(const char *text)
{
	size_t len = 0, digits;
	while ((digits = strspn(text + len, DIGITS)) > 0 && text[len + digits] &&
		strchr("dhms", text[len + digits]))
		len += digits + 1;
	return digits == 0 ? len : 0;
}

static bool is_like(const char *text, const char *like)
{
	for (; *like; text++, like++)
		if (*like == '0' ? *text < '0' || *text > '9' : *text != *like)
			return false;
	return true;
}

void view_digest_sentence(struct buf *out, const char *sentence)
{
	static const char time[] = "0000-00-00T00:00:00Z", counts[] = "0000-00-00T00:0";
	for (const char *at = sentence; *at;) {
		bool begins = at == sentence || !isalnum((unsigned char)at[-1]);
		size_t span = begins ? span_len(at) : 0;
		if (begins && is_like(at, time)) {
			buf_add(out, at, sizeof(counts) - 1);
			at += sizeof(time) - 1;
		} else if (span > 0) {
			at += span;
		} else {
			buf_putc(out, *at++);
		}
	}
}

static void digest_text(struct buf *out, const struct view_member *m, const char *text)
{
	if (text && m->type == VIEW_SENTENCE)
		view_digest_sentence(out, text);
	else
		buf_puts(out, text ? text : "");
	buf_putc(out, text ? '\0' : '\1'); /* tells an end from no text */
}

static void digest_part(struct buf *out, const struct view_member *m, const void *part)
{
	buf_putc(out, part ? '{' : '-');
	if (part)
		view_digest(out, m->of, part);
}

/* Appends a member as JSON, where there is no shorter way. */
static void digest_json(struct buf *out, const struct view_member *m, const void *object)
{
	struct json_writer w = json_writer_object(out);
	put_member(&w, m, object);
	jw_close(&w);
}

static void digest_member(struct buf *out, const struct view_member *m, const void *object)
{
	int64_t number;
	if (m->type <= VIEW_NULLABLE) {
		digest_text(out, m, text_of(m, object));
	} else if (m->type <= VIEW_MONEY) {
		number = int_of(m, object);
		buf_add(out, &number, sizeof(number));
	} else if (m->type <= VIEW_FLAG) {
		buf_putc(out, bool_of(m, object) ? '1' : '0');
	} else if (m->type <= VIEW_OBJECT) {
		digest_part(out, m, part_of(m, object));
	} else {
		digest_json(out, m, object);
	}
}

void view_digest(struct buf *out, const struct view *v, const void *object)
{
	for (size_t i = 0; i < v->n; i++)
		if (!v->member[i].passes)
			digest_member(out, &v->member[i], object);
}
