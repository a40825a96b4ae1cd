#include "queue/features/dependencies/outcome_record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/core/model/state.h"
#include "queue/features/dependencies/selectors.h"
#include "queue/core/model/tell.h"
#include "sluice/queue.h"

static const char *const OUTCOME_NAME[] = {[OUTCOME_WAITS] = "",
	[OUTCOME_RUNS] = "",
	[OUTCOME_SUCCEEDED] = "succeeded",
	[OUTCOME_FAILED] = "failed",
	[OUTCOME_DELETED] = "deleted",
	[OUTCOME_VANISHED] = "vanished"};

bool outcome_is_kept(enum outcome o, enum dependency_kind k)
{
	return o < OUTCOMES && OUTCOME_NAME[o][0] && outcome_verdict(o, k) != VERDICT_HOLDS;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* The next word of the line, with one blank behind it. False: there is none, or it is too long. */
static bool take_word(const char **at, char *ret, size_t size)
{
	size_t len = strcspn(*at, " \n");
	if (len == 0 || len >= size || (*at)[len] != ' ')
		return false;
	memcpy(ret, *at, len);
	ret[len] = '\0';
	*at += len + 1;
	return true;
}

static bool take_time(const char **at, int64_t *ret)
{
	char word[20]; /* 19 digits may be too many for 64 bits: 18 are not */
	if (!take_word(at, word, sizeof(word) - 1) || strspn(word, "0123456789") != strlen(word))
		return false;
	*ret = strtoll(word, NULL, 10);
	return true;
}

static bool take_outcome(const char **at, enum outcome *ret)
{
	char word[16];
	if (!take_word(at, word, sizeof(word)))
		return false;
	for (enum outcome o = 0; o < OUTCOMES; o++)
		if (strcmp(OUTCOME_NAME[o], word) == 0) {
			*ret = o;
			return true;
		}
	return false;
}

static bool take_member(const char **at, struct record_line *ret)
{
	char uid[UID_TEXT_SIZE];
	return take_outcome(at, &ret->outcome) && take_word(at, ret->name, sizeof(ret->name)) &&
	       take_word(at, uid, sizeof(uid)) && uid_parse(uid, &ret->uid) &&
	       take_time(at, &ret->created_ms) && take_time(at, &ret->ended_ms);
}

bool outcome_record_next(const char **at, struct record_line *ret)
{
	char word[8];
	*ret = (struct record_line){0};
	if (!take_word(at, word, sizeof(word)))
		return false;
	ret->holds = strcmp(word, "holds") == 0;
	if (!ret->holds && (strcmp(word, "member") != 0 || !take_member(at, ret)))
		return false;
	ret->item = *at;
	ret->item_len = strcspn(*at, "\n");
	*at += ret->item_len;
	if (ret->item_len == 0 || **at != '\n')
		return false;
	++*at;
	return true;
}

const char *outcome_record_lines(const char *text, const struct uid *of)
{
	char word[UID_TEXT_SIZE];
	struct uid uid;
	struct record_line line;
	if (!text || strlen(text) > OUTCOME_RECORD_MAX || strncmp(text, "for ", 4) != 0)
		return NULL;
	text += 4;
	size_t len = strcspn(text, "\n");
	if (len >= sizeof(word) || text[len] != '\n')
		return NULL;
	memcpy(word, text, len);
	word[len] = '\0';
	text += len + 1;
	if (!uid_parse(word, &uid) || uid_cmp(&uid, of) != 0)
		return NULL;
	const char *at = text;
	while (*at)
		if (!outcome_record_next(&at, &line))
			return NULL;
	return text;
}

bool record_line_is_of(const struct record_line *l, const char *item_text)
{
	return strlen(item_text) == l->item_len && memcmp(item_text, l->item, l->item_len) == 0;
}

bool outcome_record_holds(const char *text, const struct uid *of, const char *item_text)
{
	const char *at = outcome_record_lines(text, of);
	struct record_line line;
	while (at && *at && outcome_record_next(&at, &line))
		if (line.holds && record_line_is_of(&line, item_text))
			return true;
	return false;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Whole lines, as many as there is room for. */
static void put_line(struct buf *out, struct buf *line)
{
	if (!line->failed && out->len + line->len <= OUTCOME_RECORD_MAX)
		buf_add(out, line->ptr, line->len);
}

static void put_member(
	struct buf *out, const struct dependency_item *item, const struct predecessor_name *n)
{
	const struct known_job *j = predecessor_newest(n);
	char uid[UID_TEXT_SIZE];
	struct buf line;
	uid_format(&j->uid, uid);
	buf_init(&line, OUTCOME_RECORD_MAX);
	buf_printf(&line, "member %s %s %s %" PRId64 " %" PRId64 " %s\n", OUTCOME_NAME[j->outcome],
		n->name, uid, j->created_ms, j->ended_ms, item->text);
	put_line(out, &line);
	buf_done(&line);
}

static bool has_kept(const struct predecessor_selector *s, enum dependency_kind k)
{
	for (enum outcome o = 0; o < OUTCOMES; o++)
		if (s->with[o] > 0 && outcome_is_kept(o, k))
			return true;
	return false;
}

static size_t put_members(struct buf *out, const struct dependency_item *item, size_t *left)
{
	size_t looked = 0;
	const struct predecessor_selector *s = item->awaited && item->awaited->is_selector
						       ? awaited_selector(item->awaited)
						       : NULL;
	if (!s || !has_kept(s, item->kind))
		return 0;
	for (; *left > 0 && looked < s->ntaken; looked++) {
		const struct predecessor_name *n = s->taken[looked];
		if (!outcome_is_kept(predecessor_newest(n)->outcome, item->kind))
			continue;
		put_member(out, item, n);
		--*left;
	}
	return looked;
}

static void put_held(struct buf *out, const struct dependency_item *item)
{
	struct buf line;
	buf_init(&line, OUTCOME_RECORD_MAX);
	buf_printf(&line, "holds %s\n", item->text);
	put_line(out, &line);
	buf_done(&line);
}

/* Returns whether item n was written before: the Job's owner may write one item many times. */
static bool is_repeated(const struct dependency_wait *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(x->item[i].text, x->item[n].text) == 0)
			return true;
	return false;
}

/* What is to stand on the Job. "": nothing. Returns how many names were looked at. */
static size_t outcome_record_format(const struct dependency_wait *x, struct buf *out)
{
	char uid[UID_TEXT_SIZE];
	size_t left = OUTCOME_RECORD_MEMBERS_MAX, looked = 0;
	uid_format(&x->w->key.uid, uid);
	buf_printf(out, "for %s\n", uid);
	size_t head = out->len;
	for (size_t i = 0; i < x->nitems; i++)
		if (x->item[i].verdict == VERDICT_HOLDS && x->item[i].is_lost)
			put_held(out, &x->item[i]);
	for (size_t i = 0; i < x->nitems; i++)
		looked += is_repeated(x, i) ? 0 : put_members(out, &x->item[i], &left);
	if (out->len == head && x->recorded == 0)
		buf_reset(out);
	return looked;
}

/* ---- Whose is to be written ------------------------------------------------------------------ */

#define NO_RECORD 0

struct line {
	char *ns;
	struct link of_all, waiting; /* dependency_wait.unrecorded */
};

static bool line_is(const void *value, const void *key)
{
	return strcmp(((const struct line *)value)->ns, key) == 0;
}

void unrecorded_init(struct unrecorded *all)
{
	list_init(&all->lines);
	map_init(&all->by_ns, line_is);
}

static void line_free(struct unrecorded *all, struct line *l)
{
	must(list_empty(&l->waiting));
	list_leave(&l->of_all);
	map_take(&all->by_ns, map_hash_string(l->ns), l->ns);
	free(l->ns);
	free(l);
}

/* A line that has become empty is freed when its turn comes. */
static struct line *first_line(struct unrecorded *all)
{
	while (!list_empty(&all->lines)) {
		struct line *l = container_of(all->lines.next, struct line, of_all);
		if (!list_empty(&l->waiting))
			return l;
		line_free(all, l);
	}
	return NULL;
}

void unrecorded_done(struct unrecorded *all)
{
	must(!first_line(all));
	map_done(&all->by_ns);
}

static struct line *line_made(struct unrecorded *all, const char *ns)
{
	struct line *l = map_get(&all->by_ns, map_hash_string(ns), ns);
	if (l)
		return l;
	l = mem_alloc(sizeof(*l));
	l->ns = mem_strdup(ns);
	list_init(&l->waiting);
	list_add(&all->lines, &l->of_all);
	map_put(&all->by_ns, map_hash_string(ns), l);
	return l;
}

void unrecorded_mark(struct queue *q, struct dependency_wait *x)
{
	if (!list_in(&x->unrecorded))
		list_add(&line_made(&q->predecessors->unrecorded, x->ns)->waiting, &x->unrecorded);
}

static uint64_t record_hash(const char *text)
{
	return text && *text ? map_hash_string(text) | 1 : NO_RECORD;
}

/* The record of another Job, which came with a manifest, stays where it is until there is one of
 * its own. */
static bool is_for(const char *text, const struct uid *uid)
{
	char own[UID_TEXT_SIZE];
	uid_format(uid, own);
	return text && strncmp(text, "for ", 4) == 0 &&
	       strncmp(text + 4, own, UID_TEXT_SIZE - 1) == 0;
}

void unrecorded_see(struct queue *q, struct dependency_wait *x, const struct job *j)
{
	const char *text = is_for(j->after.record, &j->uid) ? j->after.record : NULL;
	uint64_t says = record_hash(text);
	bool is_news = says != x->recorded || (x->being_written && x->being_written != says);
	x->recorded = says;
	if (x->being_written == says)
		x->being_written = NO_RECORD;
	if (is_news && text)
		dependencies_recall(q, x, text);
	if (is_news)
		unrecorded_mark(q, x);
}

/* While a selector has no place among those of its namespace, nothing is known of its members: the
 * record that there is says more. */
static bool is_whole(const struct dependency_wait *x)
{
	for (size_t i = 0; i < x->nitems; i++)
		if (!x->item[i].awaited && x->item[i].verdict != VERDICT_HOLDS)
			return false;
	return true;
}

/* True: it is to be written. One that has quota does not need it, unless it is called off. */
static bool differs(struct dependency_wait *x, size_t *cost)
{
	struct buf text;
	if (x->w->reservation || !is_whole(x)) {
		x->being_written = UINT64_MAX; /* looked at again when the Job is seen again */
		return false;
	}
	buf_init(&text, OUTCOME_RECORD_MAX);
	*cost += outcome_record_format(x, &text);
	uint64_t hash = record_hash(buf_text(&text));
	bool write = hash != x->recorded;
	x->being_written = write ? hash : NO_RECORD;
	buf_done(&text);
	return write;
}

bool queue_has_unrecorded(struct queue *q)
{
	struct unrecorded *all = &q->predecessors->unrecorded;
	if (!list_empty(&all->lines))
		queue_tell(q, HAS_UNRECORDED); /* empty lines are freed */
	return first_line(all) != NULL;
}

bool queue_take_unrecorded(struct queue *q, struct uid *ret)
{
	struct unrecorded *all = &q->predecessors->unrecorded;
	bool looked = !list_empty(&all->lines);
	struct line *l = first_line(all);
	if (!l && looked)
		queue_tell(q, TAKE_UNRECORDED); /* it freed empty lines */
	if (!l)
		return false;
	struct dependency_wait *x =
		container_of(l->waiting.next, struct dependency_wait, unrecorded);
	list_leave(&x->unrecorded);
	list_leave(&l->of_all);
	list_add(&all->lines, &l->of_all);
	*ret = x->w->key.uid;
	queue_tell(q, TAKE_UNRECORDED, .gave = true, .uid = *ret);
	return true;
}

bool queue_is_unrecorded(struct queue *q, const struct uid *uid, size_t *cost)
{
	const struct workload *w = queue_find_workload(q, uid);
	bool is = w && w->after && differs(w->after, cost);
	queue_tell(q, IS_UNRECORDED, .uid = *uid, .gave = is);
	return is;
}

void queue_return_unrecorded(struct queue *q, const struct uid *uid)
{
	queue_tell(q, RETURN_UNRECORDED, .uid = *uid);
	struct workload *w = queue_find_workload(q, uid);
	if (w && w->after)
		unrecorded_mark(q, w->after);
}

void queue_job_outcomes(const struct queue *q, const struct uid *uid, struct buf *out)
{
	const struct workload *w = queue_find_workload(q, uid);
	if (w && w->after)
		outcome_record_format(w->after, out);
}
