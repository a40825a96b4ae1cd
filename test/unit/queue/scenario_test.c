/*
 * Runs the scenarios in test/scenario/: text that an administrator can read. See README there.
 *
 * A line "pass" lets the queue decide. The decisions must be those of the "expect:" lines below,
 * all of them and in that order. Other expectations ask for an explanation or a view. On a mismatch
 * the line is shown with what was expected and what came instead.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "words.h"
#include "words_after.h"
#include "words_cluster.h"
#include "words_idle.h"
#include "words_money.h"
#include "words_time.h"
#include "words_reserve.h"
#include "sluice/quantity.h"

#define DECISIONS_MAX 64

struct scenario {
	const char *file, *title;
	int line; /* of its title */
	char **text;
	size_t n;
};

struct run {
	const struct scenario *s;
	struct words words;
	int line; /* the one at work */
	struct decision decision[DECISIONS_MAX];
	size_t ndecisions, taken; /* by "expect:" lines */
	int64_t next_ms;
	size_t mismatches;
	char got[1200];
};

static void say(struct run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(struct run *r, const char *fmt, ...)
{
	size_t len = strlen(r->got);
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(r->got + len, sizeof(r->got) - len, fmt, ap);
	va_end(ap);
}

static void mismatch(struct run *r, const char *expected, const char *got)
{
	if (r->mismatches++ == 0)
		print_error("%s:%d: %s\n", r->s->file, r->s->line, r->s->title);
	print_error("  line %d\n    expected: %s\n    got:      %s\n", r->line, expected, got);
}

/* ---- What came, in the words of an expectation ---- */

static const char *amount(int64_t value, const char *resource)
{
	static char text[4][64];
	static size_t turn;
	char *t = text[turn++ % 4];
	quantity_describe(value, resource, t, sizeof(text[0]));
	t[strcspn(t, " ")] = '\0';
	return t;
}

static void say_flavors(struct run *r, const struct uid *uid)
{
	struct quota_line line[QUEUE_LINES_MAX];
	size_t n = queue_job_lines(r->words.q, uid, line);
	for (size_t i = 0; i < n; i++) {
		bool told = false;
		for (size_t k = 0; k < i; k++)
			told = told || strcmp(line[k].flavor, line[i].flavor) == 0;
		if (!told)
			say(r, "%s%s", i ? ", " : " in ", line[i].flavor);
	}
}

static void say_decision(struct run *r, const struct decision *d)
{
	const struct words_job *j = words_job_of(&r->words, &d->uid);
	r->got[0] = '\0';
	const char *what = d->kind == DECISION_START	? "starts"
			   : d->kind == DECISION_STOP	? "stops"
			   : d->kind == DECISION_SHRINK ? "shrinks"
			   : d->kind == DECISION_GROW	? "grows"
			   : d->kind == DECISION_HOLD	? "holds"
			   : d->kind == DECISION_DELETE ? "deletes"
							: "notices";
	say(r, "%s %s/%s", what, j->ns, j->name);
	if (d->kind == DECISION_START)
		say_flavors(r, &d->uid);
	else if (d->kind == DECISION_STOP)
		say(r, " %s", stop_reason_name(d->reason));
	else if (d->kind == DECISION_SHRINK || d->kind == DECISION_GROW)
		say(r, " to %d", d->pods);
	else if (d->kind == DECISION_NOTICE)
		say(r, " at %s", words_time(&r->words, d->stop_ms));
	if (d->policy)
		say(r, " by %s", d->policy);
	if (d->why)
		say(r, " \"%s\"", d->why);
	if (d->kind == DECISION_SHRINK && !d->why)
		say(r, " %s", stop_reason_name(d->reason));
	if (d->reason == STOP_REASON_PREEMPTED) {
		const struct words_job *by = words_job_of(&r->words, &d->by);
		say(r, " %s by %s/%s", preemption_reason_name(d->preemption), by->ns, by->name);
	}
}

static void say_job(struct run *r, const char *name, bool sentence)
{
	struct explanation x;
	const struct words_job *j = words_find_job(&r->words, name);
	if (!j || (!queue_explain(r->words.q, &j->uid, r->words.now_ms, &x) &&
			  !queue_explain_deferred(r->words.q, j->ns, j->name, &x))) {
		say(r, "%s is unknown", name);
		return;
	}
	if (x.reason == WAIT_NOT)
		say(r, "%s has room", name);
	else
		say(r, "%s waits %s", name, wait_reason_name(x.reason));
	if (sentence)
		say(r, " \"%s\"", x.sentence);
}

static bool find_queue(struct run *r, const char *name, struct clusterqueue_view *ret)
{
	for (size_t i = 0; queue_view_any_clusterqueue(r->words.q, i, ret); i++)
		if (strcmp(ret->name, name) == 0)
			return true;
	say(r, "queue %s is not shown", name);
	return false;
}

static void say_queue(struct run *r, const char *name, bool message)
{
	struct clusterqueue_view v;
	if (!find_queue(r, name, &v))
		return;
	say(r, "queue %s %s", name, v.reason);
	if (message)
		say(r, " \"%s\"", v.invalid ? v.invalid : v.message);
}

/* "users flavor spot "ClusterQueue batch names it in spec.resourceGroups"", or "nothing". */
static void say_users(struct run *r, const char *kind, const char *name)
{
	char words[QUEUE_USERS_SIZE];
	bool any = strcmp(kind, "flavor") == 0 ? queue_flavor_users(r->words.q, name, words)
					       : queue_clusterqueue_users(r->words.q, name, words);
	say(r, "users %s %s \"%s\"", kind, name, any ? words : "nothing");
}

static void say_cohort(struct run *r, const char *name, const char *flavor)
{
	struct cohort_view v;
	for (size_t i = 0; queue_view_cohort(r->words.q, i, &v); i++) {
		if (strcmp(v.name, name) != 0)
			continue;
		say(r, "cohort %s%s%s", name, *flavor ? " " : "", flavor);
		for (size_t k = 0; *flavor && k < v.nusage; k++)
			if (strcmp(v.usage[k].flavor, flavor) == 0)
				say(r, "%s%s=%s/%s", " ", v.usage[k].resource,
					amount(v.usage[k].reserved, v.usage[k].resource),
					amount(v.usage[k].subtree, v.usage[k].resource));
		if (!*flavor)
			say(r, " %s", v.reason);
		return;
	}
	say(r, "cohort %s is not shown", name);
}

static void say_counts(struct run *r, const char *name)
{
	struct clusterqueue_view v;
	if (find_queue(r, name, &v))
		say(r, "counts %s %zu pending, %zu reserving, %zu admitted", name, v.pending,
			v.reserving, v.admitted);
}

static void say_use(struct run *r, const char *name, const char *flavor)
{
	struct clusterqueue_view v;
	if (!find_queue(r, name, &v))
		return;
	say(r, "use %s %s", name, flavor);
	for (size_t i = 0; i < v.nusage; i++) {
		const struct usage_view *u = &v.usage[i];
		if (strcmp(u->flavor, flavor) == 0)
			say(r, " %s=%s/%s", u->resource, amount(u->reserved, u->resource),
				amount(u->nominal, u->resource));
	}
}

static void say_local(struct run *r, const char *name, bool message)
{
	struct localqueue_view v;
	char full[256];
	for (size_t i = 0; queue_view_localqueue(r->words.q, i, &v); i++) {
		snprintf(full, sizeof(full), "%s/%s", v.ns, v.name);
		if (strcmp(full, name) == 0)
			say(r, "local %s %s", name, v.reason);
		if (strcmp(full, name) == 0 && message)
			say(r, " \"%s\"", v.invalid ? v.invalid : v.message);
	}
}

static void say_lines(struct run *r, const char *name)
{
	struct quota_line line[QUEUE_LINES_MAX];
	const struct words_job *j = words_find_job(&r->words, name);
	size_t n = j ? queue_job_lines(r->words.q, &j->uid, line) : 0;
	say(r, "lines %s", name);
	for (size_t i = 0; i < n; i++)
		say(r, " %s %s %s=%s", line[i].node, line[i].flavor, line[i].resource,
			amount(line[i].amount, line[i].resource));
}

static void say_ceilings(struct run *r)
{
	struct ceiling c;
	say(r, "ceilings");
	while (queue_take_ceiling(r->words.q, &c)) {
		say(r, " %s %s %s=%s", c.node, c.flavor, c.resource,
			c.amount == QUOTA_UNLIMITED ? "-" : amount(c.amount, c.resource));
		if (*c.parent)
			say(r, " below %s keeps %s", c.parent, amount(c.guaranteed, c.resource));
	}
}

static void say_history(struct run *r, const char *name)
{
	struct job_history h;
	const struct words_job *j = words_find_job(&r->words, name);
	if (!j)
		return;
	queue_job_history(r->words.q, &j->uid, r->words.now_ms, &h);
	say(r, "history %s requeues=%d until=%lld ran=%lld evicted=%lld", name, h.requeues,
		(long long)(h.not_before_ms / 1000), (long long)(h.ran_ms / 1000),
		(long long)(h.evicted_ms / 1000));
}

static void say_usage(struct run *r, const char *name)
{
	struct localqueue_view v;
	char full[256];
	for (size_t i = 0; queue_view_localqueue(r->words.q, i, &v); i++) {
		snprintf(full, sizeof(full), "%s/%s", v.ns, v.name);
		if (strcmp(full, name) == 0)
			say(r, "usage %s %.3f", name, v.fair_usage);
	}
}

/* Of a ClusterQueue, or of a Cohort. */
static void say_share(struct run *r, const char *name)
{
	struct clusterqueue_view v;
	struct cohort_view c;
	int64_t share = -1;
	for (size_t i = 0; queue_view_clusterqueue(r->words.q, i, &v); i++)
		share = strcmp(v.name, name) == 0 ? v.weighted_share : share;
	for (size_t i = 0; queue_view_cohort(r->words.q, i, &c); i++)
		share = strcmp(c.name, name) == 0 ? c.weighted_share : share;
	if (share == INT64_MAX)
		say(r, "share %s endless", name);
	else
		say(r, "share %s %lld", name, (long long)share);
}

/* The priority that counts, and that of the class where that is higher. */
static void say_priority(struct run *r, const char *name)
{
	struct explanation x;
	const struct words_job *j = words_find_job(&r->words, name);
	if (!j || !queue_explain(r->words.q, &j->uid, r->words.now_ms, &x))
		return;
	say(r, "priority %s %d", name, x.priority);
	if (x.claimed_priority != x.priority)
		say(r, " of %d", x.claimed_priority);
}

static void say_next(struct run *r)
{
	say(r, "next %s", words_time(&r->words, r->next_ms));
}

/* The answer to an expectation that is no decision. */
static void say_answer(struct run *r, char **word, size_t n, bool sentence)
{
	const char *what = word[0], *name = n > 1 ? word[1] : "";
	r->got[0] = '\0';
	if (words_answer_time(&r->words, word, n, sentence, r->got, sizeof(r->got)))
		return;
	if (words_say_idle(&r->words, word, n, r->got, sizeof(r->got)))
		return;
	if (words_say_cluster(&r->words, word, n, r->got, sizeof(r->got)))
		return;
	if (words_say_reservation(&r->words, word, n, sentence, r->got, sizeof(r->got)))
		return;
	if (words_say_money(&r->words, word, n, sentence, r->got, sizeof(r->got)))
		return;
	if (strcmp(what, "queue") == 0)
		say_queue(r, name, sentence);
	else if (strcmp(what, "users") == 0)
		say_users(r, name, n > 2 ? word[2] : "");
	else if (strcmp(what, "without-queue") == 0)
		say(r, "without-queue %zu", queue_count_without_queue(r->words.q));
	else if (strcmp(what, "counts") == 0)
		say_counts(r, name);
	else if (strcmp(what, "cohort") == 0)
		say_cohort(r, name, n > 2 && strchr(word[n - 1], '=') ? word[2] : "");
	else if (strcmp(what, "use") == 0)
		say_use(r, name, n > 2 ? word[2] : "");
	else if (strcmp(what, "local") == 0)
		say_local(r, name, sentence);
	else if (strcmp(what, "lines") == 0)
		say_lines(r, name);
	else if (strcmp(what, "ceilings") == 0)
		say_ceilings(r);
	else if (strcmp(what, "share") == 0)
		say_share(r, name);
	else if (strcmp(what, "usage") == 0)
		say_usage(r, name);
	else if (strcmp(what, "priority") == 0)
		say_priority(r, name);
	else if (strcmp(what, "history") == 0)
		say_history(r, name);
	else if (strcmp(what, "asks") == 0)
		say(r, "asks %zu", r->words.nasked);
	else if (strcmp(what, "next") == 0)
		say_next(r);
	else if (strcmp(what, "refused") == 0)
		say(r, "refused \"%s\"", r->words.refused.text);
	else
		say_job(r, what, sentence);
}

/* ---- Running ---- */

static void expect(struct run *r, const char *expected)
{
	if (strncmp(expected, "starts ", 7) == 0 || strncmp(expected, "stops ", 6) == 0 ||
		strncmp(expected, "shrinks ", 8) == 0 || strncmp(expected, "grows ", 6) == 0 ||
		strncmp(expected, "notices ", 8) == 0 || strncmp(expected, "holds ", 6) == 0 ||
		strncmp(expected, "deletes ", 8) == 0) {
		snprintf(r->got, sizeof(r->got), "nothing more");
		if (r->taken < r->ndecisions)
			say_decision(r, &r->decision[r->taken++]);
	} else if (strcmp(expected, "nothing") == 0) {
		snprintf(r->got, sizeof(r->got), "nothing");
		if (r->taken < r->ndecisions)
			say_decision(r, &r->decision[r->taken++]);
	} else {
		char *copy = mem_strdup(expected), *word[WORDS_MAX];
		size_t n = words_cut(copy, word);
		if (n > 0)
			say_answer(r, word, n, strchr(expected, '"') != NULL);
		free(copy);
	}
	if (strcmp(expected, r->got) != 0)
		mismatch(r, expected, r->got);
}

static void nothing_left(struct run *r)
{
	while (r->taken < r->ndecisions) {
		say_decision(r, &r->decision[r->taken++]);
		mismatch(r, "nothing more of this pass", r->got);
	}
	r->ndecisions = r->taken = 0;
}

static void pass(struct run *r)
{
	nothing_left(r);
	words_fetch_deferred(&r->words);
	words_answer_wanted(&r->words);
	r->ndecisions =
		queue_decide(r->words.q, r->words.now_ms, r->decision, DECISIONS_MAX, &r->next_ms);
	for (size_t i = 0; i < r->ndecisions; i++)
		if (r->decision[i].kind == DECISION_START)
			words_after_started(&r->words, &r->decision[i].uid);
}

static void run_line(struct run *r, const char *text)
{
	if (strncmp(text, "expect: ", 8) == 0) {
		expect(r, text + 8);
		return;
	}
	nothing_left(r);
	char *copy = mem_strdup(text), *word[WORDS_MAX];
	size_t n = words_cut(copy, word);
	if (strcmp(word[0], "pass") == 0)
		pass(r);
	else if (!words_tell(&r->words, word, n))
		mismatch(r, "a line that says something", r->words.wrong);
	free(copy);
}

static void run_scenario(void **state)
{
	struct run *r = mem_alloc(sizeof(*r));
	r->s = *state;
	words_init(&r->words);
	for (size_t i = 0; i < r->s->n; i++) {
		r->line = r->s->line + (int)i + 1;
		if (*r->s->text[i] && *r->s->text[i] != '#')
			run_line(r, r->s->text[i]);
	}
	nothing_left(r);
	size_t mismatches = r->mismatches;
	words_done(&r->words);
	free(r);
	if (mismatches > 0)
		fail_msg("%zu expectations were not met", mismatches);
}

/* ---- Reading ---- */

struct book {
	char **line;
	size_t nlines, nscenarios;
	struct scenario scenario[256];
};

/* Blanks at both ends mean nothing. */
static char *trim(char *s)
{
	while (*s == ' ' || *s == '\t')
		s++;
	size_t n = strlen(s);
	while (n > 0 && strchr(" \t\r\n", s[n - 1]))
		s[--n] = '\0';
	return s;
}

static void read_book(struct book *b, const char *path)
{
	FILE *f = fopen(path, "r");
	if (!f) {
		fprintf(stderr, "%s: cannot be read\n", path);
		exit(2);
	}
	char *line = NULL;
	size_t room = 0;
	struct scenario *s = NULL;
	for (int number = 1; getline(&line, &room, f) >= 0; number++) {
		b->line = mem_grow(b->line, b->nlines + 1, sizeof(char *));
		char *text = b->line[b->nlines++] = mem_strdup(trim(line));
		if (strncmp(text, "== ", 3) == 0) {
			if (b->nscenarios == 256)
				abort();
			s = &b->scenario[b->nscenarios++];
			*s = (struct scenario){path, text + 3, number, NULL, 0};
		} else if (s) {
			s->text = mem_grow(s->text, s->n + 1, sizeof(char *));
			s->text[s->n++] = text;
		}
	}
	free(line);
	fclose(f);
}

int main(int argc, char **argv)
{
	struct book *b = mem_alloc(sizeof(*b));
	for (int i = 1; i < argc; i++)
		read_book(b, argv[i]);
	struct CMUnitTest *test = mem_array(b->nscenarios, sizeof(*test));
	for (size_t i = 0; i < b->nscenarios; i++)
		test[i] = (struct CMUnitTest){
			b->scenario[i].title, run_scenario, NULL, NULL, &b->scenario[i]};
	int failed = b->nscenarios
			     ? _cmocka_run_group_tests("scenario", test, b->nscenarios, NULL, NULL)
			     : 1;
	for (size_t i = 0; i < b->nscenarios; i++)
		free(b->scenario[i].text);
	for (size_t i = 0; i < b->nlines; i++)
		free(b->line[i]);
	free(b->line);
	free(test);
	free(b);
	return failed;
}
