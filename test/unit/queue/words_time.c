#include "words_time.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/calendar/civil.h"
#include "queue/calendar/notation.h"
#include "queue/calendar/tzdata.h"
#include "pieces.h"

int64_t words_ms(const char *duration)
{
	char *unit;
	int64_t n = strtoll(duration, &unit, 10);
	int64_t each = *unit == 'd' ? 86400 : *unit == 'h' ? 3600 : *unit == 'm' ? 60 : 1;
	return n * each * 1000;
}

/* Kept, because loading is slow and all scenarios share a few. */
static const struct zone *zone_named(const char *name)
{
	static struct zone *known[64];
	static size_t n;
	for (size_t i = 0; i < n; i++)
		if (strcmp(known[i]->name, name) == 0)
			return known[i];
	struct zone *z;
	if (n == 64 || tzdata_load(name, &z, NULL) < 0)
		return NULL;
	return known[n++] = z;
}

/* ---- Calendars ---- */

struct calendar_words {
	struct window_spec window[CALENDAR_WINDOWS_MAX];
	struct exception_spec except[16];
	struct date_range date[16];
	size_t nwindows, nexcepts;
};

static struct slice text_of(const char *s)
{
	return (struct slice){s, strlen(s)};
}

/* "Fri:19:00", cut at its first colon. */
static int week_point(char *text, struct week_point *ret, struct err *e)
{
	char *clock = piece_after(text, ':');
	int code = notation_weekday(text_of(text), &ret->weekday, e);
	return code ? code : notation_clock(text_of(clock ? clock : ""), &ret->minute, e);
}

static int read_open(struct window_spec *o, char *rule, struct err *e)
{
	char *dash = strrchr(rule, '-');
	if (!dash)
		return err_set(e, ERR_INVALID, "open: FROM-TO");
	*dash = '\0';
	if (isalpha((unsigned char)dash[1])) {
		o->shape = WINDOW_WEEK;
		int code = week_point(rule, &o->from, e);
		return code ? code : week_point(dash + 1, &o->to, e);
	}
	char *from = piece_after(rule, ':');
	int code = notation_days(text_of(rule), &o->days, e);
	if (code == 0)
		code = notation_clock(text_of(from ? from : ""), &o->from_minute, e);
	return code ? code : notation_clock(text_of(dash + 1), &o->to_minute, e);
}

static int read_cron(struct window_spec *o, char *rule, struct err *e)
{
	char *slash = strrchr(rule, '/');
	if (!slash)
		return err_set(e, ERR_INVALID, "cron: SCHEDULE/DURATION");
	*slash = '\0';
	o->shape = WINDOW_CRON;
	o->cron = rule;
	o->duration_s = words_ms(slash + 1) / 1000;
	return 0;
}

static int read_once(struct window_spec *o, char *rule, struct err *e)
{
	char *to = strstr(rule, "..");
	if (!to)
		return err_set(e, ERR_INVALID, "once: LOCAL..LOCAL");
	*to = '\0';
	o->shape = WINDOW_ONCE;
	int code = notation_local(text_of(rule), &o->from_local_s, e);
	return code ? code : notation_local(text_of(to + 2), &o->to_local_s, e);
}

static int read_except(struct calendar_words *x, char *name, char *rule, struct err *e)
{
	struct exception_spec *s = &x->except[x->nexcepts];
	struct date_range *date = &x->date[x->nexcepts++];
	char *as = piece_after(rule, ':');
	*s = (struct exception_spec){.name = name, .date = date, .ndates = 1};
	if (as && strcmp(as, "Open") == 0)
		s->treat_as = TREAT_AS_OPEN;
	else if (as && strcmp(as, "Closed") == 0)
		s->treat_as = TREAT_AS_CLOSED;
	else if (notation_weekday(text_of(as ? as : ""), &s->treat_as, e) < 0)
		return ERR_INVALID;
	return notation_dates(text_of(rule), date, e);
}

static int read_window(struct calendar_words *x, const char *mode, char *word, struct err *e)
{
	char *rule = piece_after(word, '=');
	if (!rule)
		return err_set(e, ERR_INVALID, "%s: NAME=RULE", mode);
	if (strcmp(mode, "except") == 0)
		return read_except(x, word, rule, e);
	struct window_spec *o = &x->window[x->nwindows++];
	*o = (struct window_spec){.name = word};
	if (strcmp(mode, "open") == 0)
		return read_open(o, rule, e);
	return strcmp(mode, "cron") == 0 ? read_cron(o, rule, e) : read_once(o, rule, e);
}

static bool is_mode(const char *word)
{
	return strcmp(word, "open") == 0 || strcmp(word, "cron") == 0 ||
	       strcmp(word, "once") == 0 || strcmp(word, "except") == 0;
}

bool words_tell_calendar(struct words *w, char **word, size_t n)
{
	static struct calendar_words x;
	const char *mode = "";
	struct err e = {""};
	if (n < 3)
		return piece_wrong(w, "calendar NAME ZONE ..");
	x.nwindows = x.nexcepts = 0;
	for (size_t i = 3; i < n; i++) {
		if (is_mode(word[i]))
			mode = word[i];
		else if (read_window(&x, mode, word[i], &e) < 0)
			return piece_wrong(w, "calendar: %s: %s", word[i], e.text);
	}
	struct calendar_spec s = {.name = word[1],
		.generation = ++w->generation,
		.time_zone = word[2],
		.zone = zone_named(word[2]),
		.window = x.window,
		.nwindows = x.nwindows,
		.exception = x.except,
		.nexceptions = x.nexcepts};
	queue_set_calendar(w->q, &s, &w->refused);
	return true;
}

/* ---- RunPolicies ---- */

struct policy_words {
	struct runpolicy_spec s;
	const char *queue[16], *local[16];
	struct window_quota_spec quota[16];
	const char *window, *flavor;
};

static size_t read_list(char *text, const char **ret)
{
	size_t n = 0;
	char *save;
	for (char *t = strtok_r(text, ",", &save); t && n < 16; t = strtok_r(NULL, ",", &save))
		ret[n++] = t;
	return n;
}

static enum start_fit read_fit(const char *word)
{
	return strcmp(word, "Require") == 0  ? FIT_REQUIRE
	       : strcmp(word, "Ignore") == 0 ? FIT_IGNORE
					     : FIT_PREFER;
}

static enum close_action read_action(const char *word)
{
	return strcmp(word, "Suspend") == 0 ? CLOSE_SUSPEND : CLOSE_FINISH;
}

static bool read_span(struct runpolicy_spec *s, const char *key, const char *value)
{
	const struct {
		const char *key;
		int64_t *ms;
	} span[] = {{"overrun", &s->overrun_ms}, {"notice", &s->notice_ms},
		{"min-run", &s->min_run_ms}, {"lead", &s->lead_ms}};
	for (size_t i = 0; i < sizeof(span) / sizeof(span[0]); i++) {
		if (strcmp(key, span[i].key) == 0) {
			*span[i].ms = words_ms(value);
			return true;
		}
	}
	return false;
}

static bool read_limit(struct words *w, const char *resource, char *text, int64_t *ret, bool *has)
{
	*has = text != NULL;
	*ret = QUOTA_UNLIMITED;
	return !text || strcmp(text, "-") == 0 || piece_amount(w, resource, text, ret);
}

static bool read_set(struct words *w, struct policy_words *x, char *resource, char *amount)
{
	struct window_quota_spec *q = &x->quota[x->s.nquotas++];
	*q = (struct window_quota_spec){
		.window = x->window, .flavor = x->flavor, .resource = resource};
	char *borrowing = piece_after(amount, '/');
	char *lending = borrowing ? piece_after(borrowing, '/') : NULL;
	return piece_amount(w, resource, amount, &q->nominal) &&
	       read_limit(w, resource, borrowing, &q->borrowing_limit, &q->has_borrowing) &&
	       read_limit(w, resource, lending, &q->lending_limit, &q->has_lending);
}

static bool read_policy_word(struct words *w, struct policy_words *x, char *key, char *value)
{
	struct runpolicy_spec *s = &x->s;
	if (strcmp(key, "queues") == 0)
		s->nqueues = read_list(value, x->queue);
	else if (strcmp(key, "locals") == 0)
		s->nlocalqueues = read_list(value, x->local);
	else if (strcmp(key, "calendar") == 0)
		s->calendar = value;
	else if (strcmp(key, "fit") == 0)
		s->fit = read_fit(value);
	else if (strcmp(key, "unknown") == 0)
		s->hold_unknown = strcmp(value, "Hold") == 0;
	else if (strcmp(key, "margin") == 0)
		s->margin_permille = atoi(value) * 10;
	else if (strcmp(key, "action") == 0)
		s->action = read_action(value);
	else if (strcmp(key, "price-rise") == 0)
		s->at_price_rise = read_action(value);
	else if (strcmp(key, "max-suspensions") == 0)
		s->max_suspensions = atoi(value);
	else if (strcmp(key, "exempt-prio") == 0)
		s->has_exempt_priority = true, s->exempt_priority = atoi(value);
	else if (strcmp(key, "exempt") == 0)
		return s->has_exempt_selector = piece_term(w, value, &s->exempt_selector);
	else if (!read_span(s, key, value))
		return piece_wrong(w, "policy: what is %s?", key);
	return true;
}

bool words_tell_policy(struct words *w, char **word, size_t n)
{
	struct policy_words x = {.s = {.name = word[1],
					 .generation = ++w->generation,
					 .calendar = "",
					 .max_suspensions = RUNPOLICY_SUSPENSIONS_UNLIMITED}};
	bool again;
	for (size_t i = 2; i < n; i++) {
		char *value = piece_after(word[i], '=');
		if (strcmp(word[i], "deleting") == 0) {
			x.s.deleting = true;
		} else if (strcmp(word[i], "set") == 0 && i + 2 < n) {
			x.window = word[++i];
			x.flavor = word[++i];
		} else if (!value) {
			return piece_wrong(w, "policy: what is %s?", word[i]);
		} else if (x.window) {
			if (!read_set(w, &x, word[i], value))
				return false;
		} else if (!read_policy_word(w, &x, word[i], value)) {
			return false;
		}
	}
	x.s.queues = x.queue;
	x.s.localqueues = x.local;
	x.s.quota = x.quota;
	queue_set_runpolicy(w->q, &x.s, &again, &w->refused);
	if (again)
		words_tell_jobs_again(w);
	return true;
}

/* ---- Time ---- */

/* *ret_zone: of a local time; NULL when it is seconds. */
static bool read_time(
	const char *time, int64_t *ret_ms, const struct zone **ret_zone, struct err *e)
{
	int64_t local_s;
	*ret_zone = NULL;
	*ret_ms = atoll(time) * 1000;
	if (!strchr(time, 'T'))
		return true;
	size_t n = strcspn(time, "T") + 6; /* of "2026-11-23T19:00" */
	*ret_zone = strlen(time) > n ? zone_named(time + n) : NULL;
	if (!*ret_zone || notation_local((struct slice){time, n}, &local_s, e) < 0)
		return false;
	*ret_ms = zone_instant_s(*ret_zone, local_s) * 1000;
	return true;
}

bool words_tell_at(struct words *w, const char *time)
{
	const struct zone *z;
	struct err e = {""};
	if (!read_time(time, &w->now_ms, &z, &e))
		return piece_wrong(w,
			"at %s: LOCAL-TIME and ZONE, as in "
			"2026-11-23T19:00Europe/Berlin; %s",
			time, e.text);
	if (z)
		w->zone = z;
	return true;
}

int64_t words_instant(const char *time)
{
	int64_t ms;
	const struct zone *z;
	return read_time(time, &ms, &z, NULL) ? ms : -1;
}

const char *words_time(const struct words *w, int64_t ms)
{
	static char text[4][80];
	static size_t turn;
	char *t = text[turn++ % 4];
	if (ms == INT64_MAX || ms == 0)
		return ms == 0 ? "0" : "never";
	if (!w->zone) {
		snprintf(t, sizeof(text[0]), "%lld", (long long)(ms / 1000));
		return t;
	}
	int64_t local = zone_local_s(w->zone, ms / 1000);
	struct civil d = civil_of(civil_day_of(local));
	int s = civil_second_of(local);
	snprintf(t, sizeof(text[0]), "%04d-%02d-%02dT%02d:%02d", d.year, d.month, d.day, s / 3600,
		s / 60 % 60);
	if (s % 60 != 0 || ms % 1000 != 0)
		snprintf(t + strlen(t), 16, ":%02d", s % 60);
	snprintf(t + strlen(t), sizeof(text[0]) - strlen(t), "%s", w->zone->name);
	return t;
}

/* ---- Answers ---- */

struct answer {
	struct words *w;
	char *ptr;
	size_t size;
};

static void say(struct answer *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(struct answer *a, const char *fmt, ...)
{
	size_t len = strlen(a->ptr);
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(a->ptr + len, a->size - len, fmt, ap);
	va_end(ap);
}

static void say_calendar(struct answer *a, const char *name, bool message)
{
	struct calendar_view v;
	for (size_t i = 0; queue_view_calendar(a->w->q, i, &v); i++) {
		if (strcmp(v.name, name) != 0)
			continue;
		say(a, "calendar %s %s", name, v.valid.reason);
		if (message)
			say(a, " \"%s\"", v.valid.message);
		else
			say(a, " %s%s%s until %s", v.state.open ? "open" : "closed",
				v.state.window ? " " : "", v.state.window ? v.state.window : "",
				words_time(a->w, v.state.until_ms));
		return;
	}
	say(a, "calendar %s is not shown", name);
}

static void say_policy(struct answer *a, const char *name, bool binds, bool message)
{
	struct runpolicy_view v;
	for (size_t i = 0; queue_view_runpolicy(a->w->q, i, &v); i++) {
		if (strcmp(v.name, name) != 0)
			continue;
		say(a, "policy %s", name);
		if (binds)
			say(a, " binds %zu queues, %zu local, %zu runs, %zu exempt, %llu stopped",
				v.queues, v.localqueues, v.runs, v.exempt_runs,
				(unsigned long long)v.stopped_total);
		else
			say(a, " %s", v.active.reason);
		if (message)
			say(a, " \"%s\"", v.active.message);
		return;
	}
	say(a, "policy %s is not shown", name);
}

static void say_job(struct answer *a, const char *what, const char *name)
{
	struct explanation x;
	struct job_history h;
	const struct words_job *j = words_find_job(a->w, name);
	if (!j || !queue_explain(a->w->q, &j->uid, a->w->now_ms, &x)) {
		say(a, "%s is unknown", name);
		return;
	}
	queue_job_history(a->w->q, &j->uid, a->w->now_ms, &h);
	say(a, "%s %s ", what, name);
	if (strcmp(what, "suspensions") == 0)
		say(a, "%d", h.suspensions);
	else if (strcmp(what, "ahead") == 0)
		say(a, "%zu", x.ahead);
	else
		say(a, "%s",
			words_time(a->w, strcmp(what, "stop") == 0 ? x.stop_ms : x.not_before_ms));
}

bool words_answer_time(
	struct words *w, char **word, size_t n, bool sentence, char *ret, size_t size)
{
	struct answer a = {w, ret, size};
	if (n < 2)
		return false;
	if (strcmp(word[0], "calendar") == 0)
		say_calendar(&a, word[1], sentence);
	else if (strcmp(word[0], "policy") == 0)
		say_policy(&a, word[1], n > 2 && strcmp(word[2], "binds") == 0, sentence);
	else if (strcmp(word[0], "stop") == 0 || strcmp(word[0], "start") == 0 ||
		 strcmp(word[0], "suspensions") == 0 || strcmp(word[0], "ahead") == 0)
		say_job(&a, word[0], word[1]);
	else
		return false;
	return true;
}
