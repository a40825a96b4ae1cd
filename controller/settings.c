#include "controller/settings.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "base/span.h"
#include "controller/wire/decode_text.h"
#include "sluice/queue.h"
#include "sluice/quantity.h"

#define OUTPUTS_MAX 16

void settings_init(struct settings *s)
{
	*s = (struct settings){0};
	queue_config_default(&s->config);
}

void settings_done(struct settings *s)
{
	for (size_t i = 0; i < s->nkept; i++)
		free(s->kept[i]);
	for (size_t i = 0; i < s->config.ntransformations; i++)
		free((void *)s->transformation[i].output);
	*s = (struct settings){0};
}

/* ---- kinds of values ------------------------------------------------------------------------- */

enum { KEPT_MAX = sizeof(((struct settings *)0)->kept) / sizeof(char *) };

/* A copy to take apart. */
static int keep(struct settings *s, const char *flag, const char *text, char **ret, struct err *e)
{
	if (s->nkept == KEPT_MAX)
		return err_set(e, ERR_INVALID,
			"--%s: flags that take lists are given more than %d times in all; put what belongs together into one, with commas between",
			flag, KEPT_MAX);
	*ret = s->kept[s->nkept++] = mem_strdup(text);
	return 0;
}

/* Cuts text at the first c; what is behind it, or NULL when there is none. */
static char *cut(char *text, char c)
{
	char *at = strchr(text, c);
	if (!at)
		return NULL;
	*at = '\0';
	return at + 1;
}

static int too_many(const char *flag, struct err *e)
{
	return err_set(e, ERR_INVALID, "--%s names more than %d things; name fewer", flag,
		SETTINGS_ITEMS_MAX);
}

static int duration(const char *flag, const char *text, bool zero, int64_t *ret, struct err *e)
{
	if (zero && strcmp(text, "0") == 0) {
		*ret = 0;
		return 0;
	}
	if (span_parse_seconds(text, ret))
		return 0;
	return err_set(e, ERR_INVALID,
		"--%s is \"%.60s\"; it must be a duration such as 30m, 1h30m%s", flag, text,
		zero ? ", or 0 for never" : " or 90s");
}

static int one_of(const char *flag, const char *text, const char *first, const char *second,
	bool *ret_second, struct err *e)
{
	*ret_second = strcmp(text, second) == 0;
	if (*ret_second || strcmp(text, first) == 0)
		return 0;
	return err_set(e, ERR_INVALID, "--%s is \"%.60s\"; it must be %s or %s", flag, text, first,
		second);
}

/* Amounts in thousandths, of whatever unit. */
static bool thousandths(const char *text, int64_t *ret)
{
	struct err e;
	return quantity_parse(slice_of(text), QUANTITY_MILLI, ret, &e) == 0;
}

/* ---- the flags ------------------------------------------------------------------------------- */

static int take_uncounted_claims(
	struct settings *s, const char *flag, const char *text, struct err *e)
{
	(void)flag;
	(void)text;
	(void)e;
	s->uncounted_claims = true;
	return 0;
}

static int take_fair_sharing(struct settings *s, const char *flag, const char *text, struct err *e)
{
	(void)flag;
	(void)text;
	(void)e;
	s->config.fair_sharing = true;
	return 0;
}

static int take_strategies(struct settings *s, const char *flag, const char *text, struct err *e)
{
	static const char *const names[] = {
		[FAIR_LESS_THAN_OR_EQUAL_TO_FINAL_SHARE] = "LessThanOrEqualToFinalShare",
		[FAIR_LESS_THAN_INITIAL_SHARE] = "LessThanInitialShare"};
	struct queue_config *c = &s->config;
	char *item = NULL;
	int rc = keep(s, flag, text, &item, e);
	c->nfair_strategies = 0;
	for (char *next; rc == 0 && item; item = next) {
		next = cut(item, ',');
		int i = strcmp(item, names[0]) == 0 ? 0 : strcmp(item, names[1]) == 0 ? 1 : 2;
		if (i == 2 || c->nfair_strategies == 2 ||
			(c->nfair_strategies == 1 && (int)c->fair_strategy[0] == i))
			return err_set(e, ERR_INVALID,
				"--%s is \"%.80s\"; it must be %s, %s, or both with a comma between them",
				flag, text, names[0], names[1]);
		c->fair_strategy[c->nfair_strategies++] = (enum fair_strategy)i;
	}
	return rc;
}

static int take_victims(struct settings *s, const char *flag, const char *text, struct err *e)
{
	return one_of(flag, text, "LeastHurt", "Kueue", &s->config.victims_as_kueue, e);
}

static int take_pods_ready(struct settings *s, const char *flag, const char *text, struct err *e)
{
	return duration(flag, text, true, &s->config.pods_ready_timeout_ms, e);
}

static int take_recovery(struct settings *s, const char *flag, const char *text, struct err *e)
{
	s->recovery_given = true;
	return duration(flag, text, true, &s->config.recovery_timeout_ms, e);
}

static int take_base(struct settings *s, const char *flag, const char *text, struct err *e)
{
	return duration(flag, text, false, &s->config.back_off_base_ms, e);
}

static int take_max(struct settings *s, const char *flag, const char *text, struct err *e)
{
	return duration(flag, text, false, &s->config.back_off_max_ms, e);
}

static int take_limit(struct settings *s, const char *flag, const char *text, struct err *e)
{
	int64_t n;
	if (!text_number(text, INT32_MAX, &n))
		return err_set(e, ERR_INVALID,
			"--%s is \"%.60s\"; it must be a whole number, how often a Job may be stopped for its pods before it is put on hold",
			flag, text);
	s->config.back_off_limit = (int32_t)n;
	return 0;
}

static int take_timestamp(struct settings *s, const char *flag, const char *text, struct err *e)
{
	return one_of(flag, text, "Eviction", "Creation", &s->config.requeue_at_creation, e);
}

static int take_half_life(struct settings *s, const char *flag, const char *text, struct err *e)
{
	return duration(flag, text, true, &s->config.usage_half_life_ms, e);
}

static int take_weights(struct settings *s, const char *flag, const char *text, struct err *e)
{
	struct queue_config *c = &s->config;
	char *item = NULL;
	int rc = keep(s, flag, text, &item, e);
	for (char *next; rc == 0 && item; item = next) {
		next = cut(item, ',');
		char *value = cut(item, '=');
		if (c->nusage_weights == SETTINGS_ITEMS_MAX)
			return too_many(flag, e);
		struct resource *r = &s->weight[c->nusage_weights];
		if (!*item || !value || !thousandths(value, &r->amount) || r->amount < 0)
			return err_set(e, ERR_INVALID,
				"--%s is \"%.80s\"; it must be RESOURCE=WEIGHT with commas between them, such as cpu=1,memory=0",
				flag, text);
		r->name = item;
		c->nusage_weights++;
	}
	return rc;
}

static int take_prefixes(struct settings *s, const char *flag, const char *text, struct err *e)
{
	struct queue_config *c = &s->config;
	char *item = NULL;
	int rc = keep(s, flag, text, &item, e);
	for (char *next; rc == 0 && item; item = next) {
		next = cut(item, ',');
		if (!*item)
			return err_set(e, ERR_INVALID,
				"--%s is \"%.80s\"; it must be prefixes with commas between them, such as example.com/,networking.",
				flag, text);
		if (c->nexcluded_prefixes == SETTINGS_ITEMS_MAX)
			return too_many(flag, e);
		s->prefix[c->nexcluded_prefixes++] = item;
	}
	return rc;
}

static int transformation_error(const char *flag, const char *text, struct err *e)
{
	return err_set(e, ERR_INVALID,
		"--%s is \"%.80s\"; it must be INPUT=OUTPUT:AMOUNT,... with ;replace and ;multiply-by=RESOURCE behind it where wanted, such as example.com/slice=example.com/credits:5;replace",
		flag, text);
}

/* ";replace" and ";multiply-by=RESOURCE", in any order. */
static bool take_manner(struct transformation_spec *t, char *text)
{
	for (char *item = text, *next; item; item = next) {
		next = cut(item, ';');
		if (strcmp(item, "replace") == 0)
			t->replace = true;
		else if (strncmp(item, "multiply-by=", 12) == 0 && item[12])
			t->multiply_by = item + 12;
		else
			return false;
	}
	return true;
}

static bool take_outputs(struct transformation_spec *t, struct resource *out, char *text)
{
	for (char *item = *text ? text : NULL, *next; item; item = next) {
		next = cut(item, ',');
		char *amount = cut(item, ':');
		if (t->noutputs == OUTPUTS_MAX || !*item || !amount ||
			!thousandths(amount, &out[t->noutputs].amount))
			return false;
		out[t->noutputs++].name = item;
	}
	return true;
}

/* "INPUT=": with ;replace and no output the input is not counted at all. */
static int take_transformation(
	struct settings *s, const char *flag, const char *text, struct err *e)
{
	struct queue_config *c = &s->config;
	char *input = NULL;
	if (c->ntransformations == SETTINGS_ITEMS_MAX)
		return too_many(flag, e);
	int rc = keep(s, flag, text, &input, e);
	if (rc || !input)
		return rc;
	struct resource *out = mem_array(OUTPUTS_MAX, sizeof(*out));
	struct transformation_spec *t = &s->transformation[c->ntransformations++];
	*t = (struct transformation_spec){.input = input, .multiply_by = "", .output = out};
	char *manner = cut(input, ';');
	char *outputs = cut(input, '=');
	if (!*input || !outputs || !take_outputs(t, out, outputs) || !take_manner(t, manner))
		return transformation_error(flag, text, e);
	return 0;
}

static int take_quota_check(struct settings *s, const char *flag, const char *text, struct err *e)
{
	return one_of(
		flag, text, "BlockUndeclared", "IgnoreUndeclared", &s->config.ignore_undeclared, e);
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct flag {
	const char *name;
	bool wants_value;
	int (*take)(struct settings *s, const char *flag, const char *text, struct err *e);
} flags[] = {
	{"fair-sharing", false, take_fair_sharing},
	{"fair-preemption-strategies", true, take_strategies},
	{"preemption-victims", true, take_victims},
	{"wait-for-pods-ready", true, take_pods_ready},
	{"pods-ready-recovery", true, take_recovery},
	{"requeue-backoff-base", true, take_base},
	{"requeue-backoff-max", true, take_max},
	{"requeue-backoff-limit", true, take_limit},
	{"requeue-timestamp", true, take_timestamp},
	{"usage-half-life", true, take_half_life},
	{"usage-resource-weights", true, take_weights},
	{"exclude-resource-prefixes", true, take_prefixes},
	{"transformation", true, take_transformation},
	{"quota-check-strategy", true, take_quota_check},
	{"uncounted-resource-claims", false, take_uncounted_claims},
};

enum { FLAGS = sizeof(flags) / sizeof(flags[0]) };

const char *settings_flag(size_t index, bool *ret_wants_value)
{
	if (index >= FLAGS)
		return NULL;
	*ret_wants_value = flags[index].wants_value;
	return flags[index].name;
}

int settings_take(struct settings *s, size_t index, const char *value, struct err *e)
{
	must(index < FLAGS);
	return flags[index].take(s, flags[index].name, value, e);
}

int settings_finish(struct settings *s, struct err *e)
{
	struct queue_config *c = &s->config;
	c->usage_weight = s->weight;
	c->excluded_prefixes = s->prefix;
	c->transformation = s->transformation;
	if (!s->recovery_given)
		c->recovery_timeout_ms = c->pods_ready_timeout_ms;
	if (c->ignore_undeclared && c->nexcluded_prefixes > 0)
		return err_set(e, ERR_INVALID,
			"--quota-check-strategy IgnoreUndeclared leaves --exclude-resource-prefixes nothing to do; give one of the two");
	if (c->back_off_base_ms > c->back_off_max_ms)
		return err_set(e, ERR_INVALID,
			"--requeue-backoff-base is longer than --requeue-backoff-max; lower the first or raise the second");
	return 0;
}
