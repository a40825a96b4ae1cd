#include "controller/answers/attention.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

enum { CURE_SIZE = 800 };

#define OVERDUE_CURE "look for pods that do not terminate: kubectl get pods -l job-name=NAME"
#define DEADLINE_CURE "change sluice.dev/deadline, or accept that it ends later"

/* ---- what is wrong with a Job ---------------------------------------------------------------- */

enum grade {
	GRADE_NONE,
	GRADE_TROUBLE,
	GRADE_OVERDUE,
	GRADE_DEADLINE,
	GRADE_NEVER_STARTS,
};

/* Texts live as long as the Job's explanation, and as the gate hears nothing. */
struct finding {
	enum grade grade;
	const char *word, *message, *cure;
	int64_t since_ms;
};

static bool never_starts(const struct explanation *x)
{
	return x->reason == WAIT_DEACTIVATED || x->reason == WAIT_MISCONFIGURED ||
	       x->reason == WAIT_NO_MATCHING_FLAVOR || x->reason == WAIT_NEVER_FITS ||
	       x->reason == WAIT_EXCEEDS_MAX || x->reason == WAIT_DEPENDENCY_NEVER;
}

static bool finds_trouble(
	const struct queued_jobs_sources *s, const struct queued_job *j, struct finding *ret)
{
	struct gate_trouble t;
	if (j->explanation.reason != WAIT_NOT ||
		!gate_job_trouble(s->gate, j->listed.ns, j->listed.name, &t))
		return false;
	*ret = (struct finding){.grade = GRADE_TROUBLE,
		.word = trouble_name(t.word),
		.message = t.message,
		.cure = trouble_cure(t.word, t.message),
		.since_ms = t.since_ms};
	return true;
}

static void find_with(const struct queued_job *j, enum grade grade, const char *word,
	const char *cure, struct finding *ret)
{
	const struct explanation *x = &j->explanation;
	bool waits = x->reason != WAIT_NOT;
	*ret = (struct finding){.grade = grade,
		.word = word,
		.message = x->sentence,
		.cure = cure,
		.since_ms = waits ? x->queued_ms : j->listed.started_ms};
}

static void find(
	const struct queued_jobs_sources *s, const struct queued_job *j, struct finding *ret)
{
	const struct explanation *x = &j->explanation;
	ret->grade = GRADE_NONE;
	if (finds_trouble(s, j, ret))
		return;
	if (j->listed.overdue_ms > 0) {
		find_with(j, GRADE_OVERDUE, "StopOverdue", OVERDUE_CURE, ret);
		ret->since_ms = j->listed.overdue_ms;
	} else if (never_starts(x)) {
		find_with(j, GRADE_NEVER_STARTS, wait_reason_name(x->reason),
			wait_reason_cure(x->reason), ret);
	} else if (x->deadline_ms > 0 && x->unreachable) {
		find_with(j, GRADE_DEADLINE, "DeadlineUnreachable", DEADLINE_CURE, ret);
	}
}

/* ---- all of it ------------------------------------------------------------------------------- */

struct item {
	enum grade grade;
	const char *word, *ns, *clusterqueue, *sweep;
	int64_t since_ms;
	size_t row; /* of the Job that has it for longest */
	size_t jobs;
};

struct word {
	const char *word;
	size_t jobs;
};

struct attention {
	struct queued_jobs *all;
	struct map by_key; /* struct item */
	struct item **item;
	size_t n, size;
	struct word word[ATTENTION_WORDS_MAX];
	size_t nwords, jobs;
};

static bool has_key(const void *value, const void *key)
{
	const struct item *x = value, *y = key;
	return strcmp(x->word, y->word) == 0 && strcmp(x->ns, y->ns) == 0 &&
	       strcmp(x->clusterqueue, y->clusterqueue) == 0 && strcmp(x->sweep, y->sweep) == 0;
}

static uint64_t hash_of(const struct item *i)
{
	return map_hash_string(i->sweep) ^ map_hash_string(i->ns) * 3 ^
	       map_hash_string(i->word) * 5 ^ map_hash_string(i->clusterqueue) * 7;
}

struct attention *attention_new(struct queued_jobs *all)
{
	struct attention *a = mem_alloc(sizeof(*a));
	a->all = all;
	map_init(&a->by_key, has_key);
	return a;
}

void attention_free(struct attention *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->n; i++)
		free(a->item[i]);
	free(a->item);
	map_done(&a->by_key);
	free(a);
}

static struct item *item_like(struct attention *a, const struct item *like)
{
	uint64_t hash = hash_of(like);
	struct item *i = map_get(&a->by_key, hash, like);
	if (i)
		return i;
	i = mem_alloc(sizeof(*i));
	*i = *like;
	map_put(&a->by_key, hash, i);
	a->item = mem_room(a->item, a->n, &a->size, 16, sizeof(struct item *));
	a->item[a->n++] = i;
	return i;
}

static void count_word(struct attention *a, const char *word)
{
	size_t i = 0;
	while (i < a->nwords && strcmp(a->word[i].word, word) != 0)
		i++;
	if (i == ATTENTION_WORDS_MAX)
		return;
	a->nwords += i == a->nwords;
	a->word[i].word = word;
	a->word[i].jobs++;
}

bool attention_add(struct attention *a, const struct queued_job *j, size_t row, const char *sweep)
{
	struct finding f;
	find(queued_jobs_of(a->all), j, &f);
	if (f.grade == GRADE_NONE)
		return false;
	struct item like = {.grade = f.grade,
		.word = f.word,
		.ns = j->listed.ns,
		.clusterqueue = j->explanation.clusterqueue,
		.sweep = sweep,
		.since_ms = f.since_ms,
		.row = row};
	struct item *i = item_like(a, &like);
	if (f.since_ms < i->since_ms) {
		i->since_ms = f.since_ms;
		i->row = row;
	}
	i->jobs++;
	a->jobs++;
	count_word(a, f.word);
	return true;
}

size_t attention_jobs(const struct attention *a)
{
	return a->jobs;
}

/* ---- shown ----------------------------------------------------------------------------------- */

struct shown {
	const char *word, *ns, *name, *clusterqueue, *message, *cure;
	int64_t jobs, since_ms;
};

static const struct view_member attention_rows[] = {
	{"word", VIEW_TEXT, IN(shown, word),
		"What is wrong, in one word: as status.trouble.reason or status.reason of a QueuedJob has it, or DeadlineUnreachable or StopOverdue."},
	{"namespace", VIEW_TEXT, IN(shown, ns), "Of the Job."},
	{"name", VIEW_TEXT, IN(shown, name),
		"Of the Job; of several, the one that has it for longest."},
	{"clusterQueue", VIEW_TEXT, IN(shown, clusterqueue), "That the Job is in."},
	{"jobs", VIEW_INT, IN(shown, jobs),
		"How many Jobs of its namespace, ClusterQueue and sweep have this in common."},
	{"since", VIEW_TIME, IN(shown, since_ms),
		"Since when: pods are stuck, the run has ended, or the Job waits."},
	{"message", VIEW_TEXT, IN(shown, message), "The whole sentence."},
	{"cure", VIEW_TEXT, IN(shown, cure), "What can be done. Absent where nothing can."},
};
const struct view attention_view = VIEW("SummaryReportAttention", NULL, attention_rows);

static const struct view_member word_rows[] = {
	{"word", VIEW_TEXT, IN(shown, word), "What is wrong, in one word."},
	{"jobs", VIEW_INT, IN(shown, jobs), "How many Jobs."},
};
const struct view attention_word_view = VIEW("SummaryReportAttentionWord", NULL, word_rows);

/* Writes the cure as a sentence or a command, with the Job's name in place of NAME. */
static const char *cure_for(const char *cure, const struct gate_listed *j, char ret[CURE_SIZE])
{
	const char *name = strstr(cure, "NAME");
	if (name)
		snprintf(ret, CURE_SIZE, "%.*s%s -n %s%s", (int)(name - cure), cure, j->name, j->ns,
			name + strlen("NAME"));
	else
		snprintf(ret, CURE_SIZE, "%s", cure);
	if (strncmp(ret, "sluice ", strlen("sluice ")) != 0)
		ret[0] = (char)toupper((unsigned char)ret[0]);
	return *ret ? ret : NULL;
}

static void put_item(struct json_writer *w, const struct queued_jobs *all, const struct item *i)
{
	struct queued_job j;
	struct finding f;
	char cure[CURE_SIZE];
	queued_jobs_again(all, i->row, &j);
	find(queued_jobs_of(all), &j, &f);
	struct shown x = {.word = i->word,
		.ns = i->ns,
		.name = j.listed.name,
		.clusterqueue = *i->clusterqueue ? i->clusterqueue : NULL,
		.message = f.message,
		.cure = cure_for(f.cure, &j.listed, cure),
		.jobs = (int64_t)i->jobs,
		.since_ms = i->since_ms};
	view_put(w, NULL, &attention_view, &x);
}

static int by_grade(const void *a, const void *b)
{
	const struct item *x = *(struct item *const *)a, *y = *(struct item *const *)b;
	if (x->grade != y->grade)
		return x->grade < y->grade ? -1 : 1;
	if (x->since_ms != y->since_ms)
		return x->since_ms < y->since_ms ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

void attention_put(struct attention *a, struct json_writer *w, const char *key)
{
	if (a->n > 1)
		qsort(a->item, a->n, sizeof(struct item *), by_grade);
	jw_array(w, key);
	for (size_t i = 0; i < a->n && i < ATTENTION_SHOWN_MAX; i++)
		put_item(w, a->all, a->item[i]);
	jw_end(w);
}

static int by_jobs(const void *a, const void *b)
{
	const struct word *x = a, *y = b;
	if (x->jobs != y->jobs)
		return x->jobs > y->jobs ? -1 : 1;
	return strcmp(x->word, y->word);
}

void attention_put_words(const struct attention *a, struct json_writer *w, const char *key)
{
	struct word words[ATTENTION_WORDS_MAX];
	memcpy(words, a->word, sizeof(words));
	qsort(words, a->nwords, sizeof(*words), by_jobs);
	jw_array(w, key);
	for (size_t i = 0; i < a->nwords; i++) {
		struct shown x = {.word = words[i].word, .jobs = (int64_t)words[i].jobs};
		view_put(w, NULL, &attention_word_view, &x);
	}
	jw_end(w);
}
