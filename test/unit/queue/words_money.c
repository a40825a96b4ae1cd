#include "words_money.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/calendar/tzdata.h"
#include "queue/calendar/zone.h"
#include "queue/price/money.h"
#include "pieces.h"
#include "words_time.h"

static int64_t seconds(const char *text)
{
	return atoll(text) * 1000;
}

static int64_t money(const char *text)
{
	int64_t micro = 0;
	bool below = *text == '-';
	money_parse(slice_of(text + below), &micro, NULL);
	return below ? -micro : micro;
}

/* ---- Facts ---- */

struct plan_words { /* a PricePlan as it is read */
	struct priceplan_spec spec;
	const char *queue[16];
	struct price_base base[16];
	struct price_flavor flavor[8];
	struct price_rate rate[8];
	struct price_point point[256];
};

static void read_series(struct plan_words *x, char *text)
{
	char *save;
	x->spec.has_series = true;
	for (char *p = strtok_r(text, ",", &save); p; p = strtok_r(NULL, ",", &save)) {
		const char *factor = piece_after(p, ':');
		x->point[x->spec.nseries++] = (struct price_point){seconds(p), money(factor)};
	}
}

static void read_rate(struct plan_words *x, char *text)
{
	const char *factor = piece_after(text, ':'), *window = piece_after(text, '/');
	x->rate[x->spec.nrates++] = (struct price_rate){text, window ? window : "", money(factor)};
}

static void read_base(struct plan_words *x, char *resource, const char *price)
{
	char *gib = strstr(resource, "-gib");
	if (gib)
		*gib = '\0';
	x->base[x->spec.nbases++] = (struct price_base){resource, gib != NULL, money(price)};
}

static void read_queues(struct plan_words *x, char *text)
{
	char *save;
	for (char *name = strtok_r(text, ",", &save); name; name = strtok_r(NULL, ",", &save))
		x->queue[x->spec.nqueues++] = name;
}

static bool read_plan_word(struct plan_words *x, char *word)
{
	char *value = piece_after(word, '=');
	if (!value && strcmp(word, "hold-when-stale") == 0)
		x->spec.hold_when_stale = true;
	else if (!value)
		return false;
	else if (strcmp(word, "currency") == 0)
		x->spec.currency = value;
	else if (strcmp(word, "queues") == 0)
		read_queues(x, value);
	else if (strcmp(word, "rate") == 0)
		read_rate(x, value);
	else if (strcmp(word, "series") == 0)
		read_series(x, value);
	else if (strcmp(word, "stale") == 0)
		x->spec.stale_after_ms = seconds(value);
	else if (strcmp(word, "fault") == 0)
		x->spec.series_fault = value;
	else if (strncmp(word, "flavor.", 7) == 0)
		x->flavor[x->spec.nflavors++] = (struct price_flavor){word + 7, money(value)};
	else
		read_base(x, word, value);
	x->spec.has_series = x->spec.has_series || x->spec.series_fault;
	return true;
}

static bool tell_plan(struct words *w, char **word, size_t n)
{
	struct plan_words *x = piece_keep(mem_alloc(sizeof(*x)));
	x->spec = (struct priceplan_spec){.name = word[1],
		.generation = ++w->generation,
		.currency = "EUR",
		.queues = x->queue,
		.base = x->base,
		.flavor = x->flavor,
		.rate = x->rate,
		.series = x->point};
	for (size_t i = 2; i < n; i++)
		if (!read_plan_word(x, word[i]))
			return piece_wrong(w, "plan: what is %s?", word[i]);
	queue_set_priceplan(w->q, &x->spec, &w->refused);
	return true;
}

static bool read_budget_name(struct budget_spec *s, const char *word)
{
	static const char *const period[] = {"Daily", "Weekly", "Monthly", "Yearly"};
	for (size_t i = 0; i < 4; i++) {
		if (strcmp(word, period[i]) == 0) {
			s->period = (enum budget_period)i;
			return true;
		}
	}
	if (strcmp(word, "actual") == 0)
		s->charge = CHARGE_ACTUAL;
	else if (strcmp(word, "Suspend") == 0)
		s->on_exhausted = EXHAUSTED_SUSPEND;
	else if (strcmp(word, "Warn") == 0)
		s->on_exhausted = EXHAUSTED_WARN;
	else
		return false;
	return true;
}

static bool read_budget_word(struct budget_spec *s, char *word)
{
	char *value = piece_after(word, '=');
	if (!value)
		return read_budget_name(s, word);
	if (strcmp(word, "queue") == 0) {
		s->clusterqueue = value;
	} else if (strcmp(word, "local") == 0) {
		s->localqueue = piece_after(value, '/');
		s->localqueue_ns = value;
	} else if (strcmp(word, "zone") == 0) {
		s->time_zone = value;
	} else if (strcmp(word, "currency") == 0) {
		s->currency = value;
	} else if (strcmp(word, "amount") == 0) {
		s->amount = money(value);
	} else {
		return false;
	}
	return true;
}

static bool tell_budget(struct words *w, char **word, size_t n)
{
	struct budget_spec s = {.name = word[1],
		.generation = ++w->generation,
		.clusterqueue = "",
		.localqueue_ns = "",
		.localqueue = "",
		.period = PERIOD_MONTHLY,
		.time_zone = "UTC",
		.currency = "EUR"};
	for (size_t i = 2; i < n; i++)
		if (!read_budget_word(&s, word[i]))
			return piece_wrong(w, "budget: what is %s?", word[i]);
	struct zone *zone = NULL;
	tzdata_load(s.time_zone, &zone, NULL);
	s.zone = zone;
	queue_set_budget(w->q, &s, &w->refused);
	zone_free(zone);
	return true;
}

static bool tell_spent(struct words *w, char **word, size_t n)
{
	char *local = n == 6 ? piece_after(word[2], '/') : NULL;
	if (!local)
		return piece_wrong(w, "spent QUEUE NS/LOCAL CURRENCY AT COST");
	queue_recall_spent(
		w->q, word[1], word[2], local, word[3], seconds(word[4]), money(word[5]));
	return true;
}

static bool tell_lasted(struct words *w, char **word, size_t n)
{
	for (size_t i = 3; i < n; i++)
		queue_recall_duration(w->q, word[1], word[2], seconds(word[i]));
	return true;
}

static bool tell_finished(struct words *w, const char *name)
{
	const struct words_job *j = words_find_job(w, name);
	if (j)
		queue_finished_job(w->q, &j->uid, w->now_ms);
	return j != NULL;
}

static bool is_money(const char *kind)
{
	return strcmp(kind, "plan") == 0 || strcmp(kind, "budget") == 0;
}

static void tell_drop(struct words *w, const char *kind, const char *name)
{
	if (strcmp(kind, "plan") == 0)
		queue_drop_priceplan(w->q, name);
	else
		queue_drop_budget(w->q, name);
}

static void tell_reject(struct words *w, const char *kind, const char *name, const char *sentence)
{
	if (strcmp(kind, "plan") == 0)
		queue_reject_priceplan(w->q, name, sentence);
	else
		queue_reject_budget(w->q, name, sentence);
}

bool words_tell_money(struct words *w, char **word, size_t n, bool *ret_known)
{
	const char *what = word[0];
	*ret_known = true;
	if (strcmp(what, "plan") == 0)
		return tell_plan(w, word, n);
	if (strcmp(what, "budget") == 0)
		return tell_budget(w, word, n);
	if (strcmp(what, "spent") == 0)
		return tell_spent(w, word, n);
	if (strcmp(what, "lasted") == 0)
		return tell_lasted(w, word, n);
	if (strcmp(what, "finished") == 0)
		return tell_finished(w, word[1]);
	if (n > 2 && strcmp(what, "drop") == 0 && is_money(word[1]))
		tell_drop(w, word[1], word[2]);
	else if (n > 3 && strcmp(what, "reject") == 0 && is_money(word[1]))
		tell_reject(w, word[1], word[2], word[3]);
	else
		*ret_known = false;
	return true;
}

bool words_money_of_job(struct job *j, const char *word, char *value)
{
	struct job_terms *t = &j->terms;
	if (!value && strcmp(word, "cheapest") == 0)
		t->cheapest = true;
	else if (!value && strcmp(word, "hold-when-missed") == 0)
		t->hold_when_missed = true;
	else if (!value)
		return false;
	else if (strcmp(word, "start-after") == 0)
		t->start_after_ms = words_instant(value);
	else if (strcmp(word, "deadline") == 0)
		t->deadline_ms = words_instant(value);
	else if (strcmp(word, "booked") == 0)
		j->annotations.booked_start_ms = words_instant(value);
	else if (strcmp(word, "max-price") == 0)
		t->max_price = money(value);
	else if (strcmp(word, "max-price-of") == 0)
		t->max_price_resource = value;
	else if (strcmp(word, "family") == 0)
		j->family = value;
	else if (strcmp(word, "active-deadline") == 0)
		j->durations.active_deadline_ms = seconds(value);
	else
		return false;
	if (strncmp(word, "max-price", 9) == 0) {
		t->has_max_price = true;
		t->max_price_resource = t->max_price_resource ? t->max_price_resource : "cpu";
	}
	return true;
}

/* ---- Answers ---- */

static const char *written(int64_t micro)
{
	static char text[4][MONEY_TEXT_SIZE];
	static size_t turn;
	money_format(micro, text[turn % 4]);
	return text[turn++ % 4];
}

static void say_bill(struct words *w, const char *what, const char *name, char *ret, size_t size)
{
	struct run_bill b;
	const struct words_job *j = words_find_job(w, name);
	if (!j || !queue_job_bill(w->q, &j->uid, w->now_ms, &b)) {
		snprintf(ret, size, "%s does not run", name);
		return;
	}
	if (!b.priced) {
		snprintf(ret, size, "bill %s none", name);
		return;
	}
	if (strcmp(what, "bill") == 0) {
		snprintf(ret, size, "bill %s %s", name, written(b.cost));
		return;
	}
	int n = snprintf(ret, size, "detail %s ", name);
	for (const char *c = b.detail; *c && (size_t)n + 1 < size; c++)
		if (*c != '"')
			ret[n++] = *c;
	ret[n] = '\0';
}

static void say_budget(struct words *w, const char *name, bool sentence, char *ret, size_t size)
{
	struct budget_view v;
	snprintf(ret, size, "budget %s is not shown", name);
	for (size_t i = 0; queue_view_budget(w->q, i, &v); i++) {
		if (strcmp(v.name, name) != 0)
			continue;
		int n = snprintf(ret, size, "budget %s %s spent=%s reserved=%s remaining=%s", name,
			v.active.reason, written(v.spent), written(v.reserved),
			written(v.remaining));
		if (sentence)
			snprintf(ret + n, size - (size_t)n, " \"%s\"", v.active.message);
	}
}

static void say_plan(struct words *w, const char *name, bool sentence, char *ret, size_t size)
{
	struct priceplan_view v;
	snprintf(ret, size, "plan %s is not shown", name);
	for (size_t i = 0; queue_view_priceplan(w->q, i, &v); i++) {
		if (strcmp(v.name, name) != 0)
			continue;
		int n = snprintf(ret, size, "plan %s %s factor=%s by %s", name, v.active.reason,
			written(v.factor), v.rate);
		if (sentence)
			snprintf(ret + n, size - (size_t)n, " \"%s\"", v.active.message);
	}
}

static void say_effect(struct words *w, char **word, bool sentence, char *ret, size_t size)
{
	static const struct {
		const char *word;
		enum effect_kind kind;
	} kinds[] = {{"queue", EFFECT_CLUSTERQUEUE}, {"local", EFFECT_LOCALQUEUE},
		{"cohort", EFFECT_COHORT}, {"policy", EFFECT_RUNPOLICY}, {"plan", EFFECT_PRICEPLAN},
		{"budget", EFFECT_BUDGET}};
	struct condition_view v = {.reason = "?", .message = "no such kind"};
	char name[256], *local;
	snprintf(name, sizeof(name), "%s", word[2]);
	local = piece_after(name, '/');
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kinds[i].word, word[1]) == 0)
			queue_view_effect(
				w->q, kinds[i].kind, local ? name : "", local ? local : name, &v);
	int n = snprintf(ret, size, "effect %s %s %s", word[1], word[2], v.reason);
	if (sentence)
		snprintf(ret + n, size - (size_t)n, " \"%s\"", v.message);
}

static void say_expected(const struct explanation *x, const char *name, char *ret, size_t size)
{
	static const char *const from[] = {"unknown", "annotation", "deadline", "history"};
	if (x->expected_from == DURATION_UNKNOWN)
		snprintf(ret, size, "expects %s unknown", name);
	else
		snprintf(ret, size, "expects %s %lld %s", name, (long long)(x->expected_ms / 1000),
			from[x->expected_from]);
}

static void say_explained(
	struct words *w, const char *what, const char *name, char *ret, size_t size)
{
	struct explanation x;
	const struct words_job *j = words_find_job(w, name);
	if (!j || !queue_explain(w->q, &j->uid, w->now_ms, &x))
		snprintf(ret, size, "%s is unknown", name);
	else if (strcmp(what, "expects") == 0)
		say_expected(&x, name, ret, size);
	else
		snprintf(ret, size, "deadline %s %s %s", name, words_time(w, x.deadline_ms),
			x.unreachable ? "unreachable" : "in reach");
}

bool words_say_money(struct words *w, char **word, size_t n, bool sentence, char *ret, size_t size)
{
	const char *what = word[0], *name = n > 1 ? word[1] : "";
	if (strcmp(what, "bill") == 0 || strcmp(what, "detail") == 0)
		say_bill(w, what, name, ret, size);
	else if (strcmp(what, "budget") == 0)
		say_budget(w, name, sentence, ret, size);
	else if (strcmp(what, "plan") == 0)
		say_plan(w, name, sentence, ret, size);
	else if (strcmp(what, "effect") == 0 && n > 2)
		say_effect(w, word, sentence, ret, size);
	else if (strcmp(what, "expects") == 0 || strcmp(what, "deadline") == 0)
		say_explained(w, what, name, ret, size);
	else
		return false;
	return true;
}
