#include "cli/top/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/commands.h"

#define ESCAPE '\033'

/* ---- keys ------------------------------------------------------------------------------------ */

static enum top_key key_named(struct slice name)
{
	static const struct {
		const char *name;
		enum top_key key;
	} keys[] = {{"[A", TOP_KEY_UP}, {"OA", TOP_KEY_UP}, {"[B", TOP_KEY_DOWN},
		{"OB", TOP_KEY_DOWN}, {"[5~", TOP_KEY_PAGE_UP}, {"[6~", TOP_KEY_PAGE_DOWN},
		{"[H", TOP_KEY_HOME}, {"OH", TOP_KEY_HOME}, {"[1~", TOP_KEY_HOME},
		{"[F", TOP_KEY_END}, {"OF", TOP_KEY_END}, {"[4~", TOP_KEY_END}};
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (slice_is(name, keys[i].name))
			return keys[i].key;
	return TOP_KEY_OTHER;
}

/* Measures what a terminal sends behind the escape: "[5~", "OA"; 0: it is the key itself. */
static size_t sequence_len(struct slice s)
{
	size_t len = 1;
	if (s.len == 0 || (s.ptr[0] != '[' && s.ptr[0] != 'O'))
		return 0;
	while (len < s.len && s.ptr[len] >= ' ' && s.ptr[len] < '@')
		len++;
	return len < s.len ? len + 1 : len;
}

static enum top_key key_of(char c)
{
	if (c == '\r' || c == '\n')
		return TOP_KEY_ENTER;
	if (c == '\b' || c == '\177')
		return TOP_KEY_BACKSPACE;
	return c >= ' ' && c < '\177' ? TOP_KEY_CHARACTER : TOP_KEY_OTHER;
}

bool top_press_take(struct slice *bytes, struct top_press *ret)
{
	if (bytes->len == 0)
		return false;
	char c = bytes->ptr[0];
	*bytes = (struct slice){bytes->ptr + 1, bytes->len - 1};
	*ret = (struct top_press){key_of(c), c};
	if (c != ESCAPE)
		return true;
	size_t len = sequence_len(*bytes);
	ret->key = len > 0 ? key_named((struct slice){bytes->ptr, len}) : TOP_KEY_ESCAPE;
	*bytes = (struct slice){bytes->ptr + len, bytes->len - len};
	return true;
}

/* ---- which Jobs ------------------------------------------------------------------------------ */

static const char *ns_of(const cJSON *job)
{
	return text_of(json_object(job, "metadata"), "namespace");
}

static const char *name_of(const cJSON *job)
{
	return text_of(json_object(job, "metadata"), "name");
}

static bool has(const char *text, const char *filter)
{
	return strcasestr(text, filter) != NULL;
}

static bool matches(const cJSON *job, const char *filter)
{
	const cJSON *spec = json_object(job, "spec"), *status = json_object(job, "status");
	char name[400];
	snprintf(name, sizeof(name), "%s/%s", ns_of(job), name_of(job));
	return !*filter || has(name, filter) || has(text_of(spec, "queue"), filter) ||
	       has(text_of(spec, "clusterQueue"), filter) ||
	       has(text_of(spec, "submittedBy"), filter) || has(text_of(status, "state"), filter) ||
	       has(text_of(status, "waitsFor"), filter) ||
	       has(text_of(json_object(status, "trouble"), "reason"), filter);
}

bool top_job_is(const cJSON *job, const char *ns, const char *name)
{
	return strcmp(ns_of(job), ns) == 0 && strcmp(name_of(job), name) == 0;
}

bool top_job_runs(const cJSON *job)
{
	const char *state = text_of(json_object(job, "status"), "state");
	return strcmp(state, "Running") == 0 || strcmp(state, "Starting") == 0;
}

static void remember(struct top_view *v)
{
	const cJSON *job = top_view_job(v);
	snprintf(v->ns, sizeof(v->ns), "%s", job ? ns_of(job) : "");
	snprintf(v->name, sizeof(v->name), "%s", job ? name_of(job) : "");
}

static void move_to(struct top_view *v, size_t row)
{
	const cJSON *job;
	v->cursor = row < v->nfound ? row : v->nfound > 0 ? v->nfound - 1 : 0;
	job = top_view_job(v);
	if (!job || !top_job_is(job, v->ns, v->name))
		v->asks_to_stop = false;
	remember(v);
}

void top_view_init(struct top_view *v)
{
	*v = (struct top_view){0};
	buf_init(&v->pane, TOP_PANE_MAX_BYTES);
}

void top_view_done(struct top_view *v)
{
	free(v->found);
	buf_done(&v->pane);
}

void top_view_take(struct top_view *v, const cJSON *list)
{
	size_t row = v->cursor;
	v->nfound = 0;
	json_each(job, json_array(list, "items")) {
		if (!matches(job, v->filter))
			continue;
		if (top_job_is(job, v->ns, v->name))
			row = v->nfound;
		v->found = mem_one_more(v->found, v->nfound, sizeof(*v->found));
		v->found[v->nfound++] = job;
	}
	move_to(v, row);
}

const cJSON *top_view_job(const struct top_view *v)
{
	return v->cursor < v->nfound ? v->found[v->cursor] : NULL;
}

/* ---- what is said ---------------------------------------------------------------------------- */

void top_view_say(struct top_view *v, const char *text)
{
	snprintf(v->said, sizeof(v->said), "%.*s", (int)strcspn(text, "\n"), text);
}

void top_view_open_pane(struct top_view *v, const char *text)
{
	v->has_pane = true;
	v->pane_first = 0;
	buf_reset(&v->pane);
	buf_puts(&v->pane, text);
}

/* ---- what a key does ------------------------------------------------------------------------- */

static void refilter(struct top_view *v, const cJSON *list)
{
	v->cursor = 0;
	top_view_take(v, list);
}

static void press_in_filter(struct top_view *v, const struct top_press *p, const cJSON *list)
{
	size_t len = strlen(v->filter);
	if (p->key == TOP_KEY_ENTER || p->key == TOP_KEY_ESCAPE)
		v->is_filtering = false;
	if (p->key == TOP_KEY_ESCAPE)
		v->filter[0] = '\0';
	else if (p->key == TOP_KEY_BACKSPACE && len > 0)
		v->filter[len - 1] = '\0';
	else if (p->key == TOP_KEY_CHARACTER && len + 1 < sizeof(v->filter))
		memcpy(v->filter + len, (char[]){p->character, '\0'}, 2);
	refilter(v, list);
}

/* Moves a place in something of n rows. */
static size_t moved(size_t at, size_t n, enum top_key key)
{
	size_t last = n > 0 ? n - 1 : 0;
	switch (key) {
	case TOP_KEY_UP:
		return at > 0 ? at - 1 : 0;
	case TOP_KEY_DOWN:
		return at < last ? at + 1 : last;
	case TOP_KEY_PAGE_UP:
		return at > TOP_PAGE ? at - TOP_PAGE : 0;
	case TOP_KEY_PAGE_DOWN:
		return at + TOP_PAGE < last ? at + TOP_PAGE : last;
	case TOP_KEY_HOME:
		return 0;
	case TOP_KEY_END:
		return last;
	case TOP_KEY_OTHER:
	case TOP_KEY_CHARACTER:
	case TOP_KEY_ENTER:
	case TOP_KEY_ESCAPE:
	case TOP_KEY_BACKSPACE:
		return at;
	}
	return at;
}

static enum top_wish press_in_pane(struct top_view *v, const struct top_press *p)
{
	bool is_e = p->key == TOP_KEY_CHARACTER && p->character == 'e';
	if (p->key == TOP_KEY_CHARACTER && p->character == 'q')
		return TOP_QUIT;
	if (p->key == TOP_KEY_ESCAPE || p->key == TOP_KEY_ENTER || is_e)
		v->has_pane = false;
	v->pane_first = moved(v->pane_first, text_lines(buf_text(&v->pane)), p->key);
	return TOP_NOTHING;
}

static enum top_wish press_hold(struct top_view *v, bool is_second)
{
	const cJSON *job = top_view_job(v);
	if (!job || !top_job_runs(job) || is_second)
		return job ? TOP_HOLD : TOP_NOTHING;
	v->asks_to_stop = true;
	snprintf(v->said, sizeof(v->said),
		"%s/%s runs: h again stops it, and what it has not saved is lost", v->ns, v->name);
	return TOP_NOTHING;
}

static enum top_wish press_character(struct top_view *v, char c, bool is_second)
{
	switch (c) {
	case 'q':
		return TOP_QUIT;
	case 'h':
		return press_hold(v, is_second);
	case 'r':
		return top_view_job(v) ? TOP_RELEASE : TOP_NOTHING;
	case 'e':
		return top_view_job(v) ? TOP_EXPLAIN : TOP_NOTHING;
	case '/':
		v->is_filtering = true;
		return TOP_NOTHING;
	default:
		return TOP_NOTHING;
	}
}

enum top_wish top_view_press(struct top_view *v, const struct top_press *p, const cJSON *list)
{
	bool is_second = v->asks_to_stop;
	v->asks_to_stop = false;
	v->said[0] = '\0';
	if (v->has_pane)
		return press_in_pane(v, p);
	if (v->is_filtering) {
		press_in_filter(v, p, list);
		return TOP_NOTHING;
	}
	if (p->key == TOP_KEY_CHARACTER)
		return press_character(v, p->character, is_second);
	if (p->key == TOP_KEY_ENTER)
		return press_character(v, 'e', false);
	if (p->key == TOP_KEY_ESCAPE && *v->filter) {
		v->filter[0] = '\0';
		refilter(v, list);
	}
	move_to(v, moved(v->cursor, v->nfound, p->key));
	return TOP_NOTHING;
}
