#include "controller/settings.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/span.h"
#include "sluice/queue.h"
#include "sluice/quantity.h"

#define OUTPUTS_MAX 16
/* The names of enum fair_strategy, in its order. */
#define STRATEGIES "LessThanOrEqualToFinalShare|LessThanInitialShare"

/* ---- lists ----------------------------------------------------------------------------------- */

enum { KEPT_MAX = sizeof(((struct settings *)0)->kept) / sizeof(char *) };

/* Makes a copy to take apart. */
static int keep(
	struct settings *s, const struct flag *f, const char *text, char **ret, struct err *e)
{
	if (s->nkept == KEPT_MAX)
		return err_set(e, ERR_INVALID,
			"--%s: flags that take lists are given more than %d times in all; put what belongs together into one, with commas between",
			f->name, KEPT_MAX);
	*ret = s->kept[s->nkept++] = mem_strdup(text);
	return 0;
}

/* Cuts text at the first c, and gives what is behind it; NULL when there is none. */
static char *cut(char *text, char c)
{
	char *at = strchr(text, c);
	if (!at)
		return NULL;
	*at = '\0';
	return at + 1;
}

static int too_many(const struct flag *f, struct err *e)
{
	return err_set(e, ERR_INVALID, "--%s names more than %d things; name fewer", f->name,
		SETTINGS_ITEMS_MAX);
}

/* Takes one item of a list into the settings, and may cut it up. */
typedef int take_item(struct settings *s, char *item);
enum { ITEM_TAKEN, ITEM_WRONG, ITEM_TOO_MANY };

static int take_list(
	struct settings *s, const struct flag *f, const char *text, take_item *take, struct err *e)
{
	char *item = NULL;
	int rc = keep(s, f, text, &item, e), what;
	for (char *next; rc == 0 && item; item = next) {
		next = cut(item, ',');
		what = take(s, item);
		if (what != ITEM_TAKEN)
			rc = what == ITEM_WRONG ? flag_refuse(f, text, e) : too_many(f, e);
	}
	return rc;
}

/* Reads an amount in thousandths, of whatever unit. */
static bool thousandths(const char *text, int64_t *ret)
{
	struct err e;
	return quantity_parse(slice_of(text), QUANTITY_MILLI, ret, &e) == 0;
}

static int take_strategy(struct settings *s, char *item)
{
	struct queue_config *c = &s->config;
	int i = flag_choice(STRATEGIES, item);
	if (i < 0 || c->nfair_strategies == 2 ||
		(c->nfair_strategies == 1 && (int)c->fair_strategy[0] == i))
		return ITEM_WRONG;
	c->fair_strategy[c->nfair_strategies++] = (enum fair_strategy)i;
	return ITEM_TAKEN;
}

static int take_strategies(const struct flag *f, const char *text, void *to, struct err *e)
{
	((struct settings *)to)->config.nfair_strategies = 0;
	return take_list(to, f, text, take_strategy, e);
}

static int take_weight(struct settings *s, char *item)
{
	struct queue_config *c = &s->config;
	char *value = cut(item, '=');
	if (c->nusage_weights == SETTINGS_ITEMS_MAX)
		return ITEM_TOO_MANY;
	struct resource *r = &s->weight[c->nusage_weights];
	if (!*item || !value || !thousandths(value, &r->amount) || r->amount < 0)
		return ITEM_WRONG;
	r->name = item;
	c->nusage_weights++;
	return ITEM_TAKEN;
}

static int take_weights(const struct flag *f, const char *text, void *to, struct err *e)
{
	return take_list(to, f, text, take_weight, e);
}

static int take_prefix(struct settings *s, char *item)
{
	struct queue_config *c = &s->config;
	if (!*item)
		return ITEM_WRONG;
	if (c->nexcluded_prefixes == SETTINGS_ITEMS_MAX)
		return ITEM_TOO_MANY;
	s->prefix[c->nexcluded_prefixes++] = item;
	return ITEM_TAKEN;
}

static int take_prefixes(const struct flag *f, const char *text, void *to, struct err *e)
{
	return take_list(to, f, text, take_prefix, e);
}

/* Takes ";replace" and ";multiply-by=RESOURCE", in any order. */
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

/* Takes "INPUT=OUTPUTS". With ;replace and no output the input is not counted at all. */
static int take_transformation(const struct flag *f, const char *text, void *to, struct err *e)
{
	struct settings *s = to;
	struct queue_config *c = &s->config;
	char *input = NULL;
	if (c->ntransformations == SETTINGS_ITEMS_MAX)
		return too_many(f, e);
	int rc = keep(s, f, text, &input, e);
	if (rc || !input)
		return rc;
	struct resource *out = mem_array(OUTPUTS_MAX, sizeof(*out));
	struct transformation_spec *t = &s->transformation[c->ntransformations++];
	*t = (struct transformation_spec){.input = input, .multiply_by = "", .output = out};
	char *manner = cut(input, ';');
	char *outputs = cut(input, '=');
	if (!*input || !outputs || !take_outputs(t, out, outputs) || !take_manner(t, manner))
		return flag_refuse(f, text, e);
	return 0;
}

/* ---- the table ------------------------------------------------------------------------------- */

#define DURATION .read = span_parse_seconds, .must_be = "a duration such as 30m, 1h30m or 90s"
#define OR_NEVER                                                                                   \
	.read = span_parse_seconds, .zero = true,                                                  \
	.must_be = "a duration such as 30m, 1h30m, or 0 for never"

static const struct flag rows[] = {
	{FLAG_GIVEN("fair-sharing", 0, struct settings, config.fair_sharing)},
	{FLAG_TAKE("fair-preemption-strategies", 0, take_strategies),
		.must_be =
			"LessThanOrEqualToFinalShare, LessThanInitialShare, or both with a comma between them"},
	{FLAG_EITHER("preemption-victims", 0, struct settings, config.victims_as_kueue,
		"LeastHurt|Kueue")},
	{FLAG_AMOUNT("wait-for-pods-ready", struct settings, config.pods_ready_timeout_ms),
		OR_NEVER},
	{FLAG_AMOUNT("pods-ready-recovery", struct settings, config.recovery_timeout_ms), OR_NEVER},
	{FLAG_AMOUNT("requeue-backoff-base", struct settings, config.back_off_base_ms), DURATION},
	{FLAG_AMOUNT("requeue-backoff-max", struct settings, config.back_off_max_ms), DURATION},
	{FLAG_COUNT("requeue-backoff-limit", struct settings, back_off_limit, 0, INT32_MAX),
		.must_be =
			"a whole number, how often a Job may be stopped for its pods before it is put on hold"},
	{FLAG_EITHER("requeue-timestamp", 0, struct settings, config.requeue_at_creation,
		"Eviction|Creation")},
	{FLAG_AMOUNT("usage-half-life", struct settings, config.usage_half_life_ms), OR_NEVER},
	{FLAG_TAKE("usage-resource-weights", 0, take_weights),
		.must_be = "RESOURCE=WEIGHT with commas between them, such as cpu=1,memory=0"},
	{FLAG_TAKE("exclude-resource-prefixes", 0, take_prefixes),
		.must_be = "prefixes with commas between them, such as example.com/,networking."},
	{FLAG_TAKE("transformation", 0, take_transformation),
		.must_be =
			"INPUT=OUTPUT:AMOUNT,... with ;replace and ;multiply-by=RESOURCE behind it where wanted, such as example.com/slice=example.com/credits:5;replace"},
	{FLAG_EITHER("quota-check-strategy", 0, struct settings, config.ignore_undeclared,
		"BlockUndeclared|IgnoreUndeclared")},
	{FLAG_GIVEN("uncounted-resource-claims", 0, struct settings, uncounted_claims)},
};

static void begin(void *settings)
{
	struct settings *s = settings;
	queue_config_default(&s->config);
	s->config.recovery_timeout_ms = -1; /* as --wait-for-pods-ready, unless it is given */
	s->back_off_limit = s->config.back_off_limit;
}

static int finish(void *settings, char **word, size_t nwords, struct err *e)
{
	struct settings *s = settings;
	struct queue_config *c = &s->config;
	(void)word;
	(void)nwords;
	c->usage_weight = s->weight;
	c->excluded_prefixes = s->prefix;
	c->transformation = s->transformation;
	c->back_off_limit = (int32_t)s->back_off_limit;
	if (c->recovery_timeout_ms < 0)
		c->recovery_timeout_ms = c->pods_ready_timeout_ms;
	if (c->ignore_undeclared && c->nexcluded_prefixes > 0)
		return err_set(e, ERR_INVALID,
			"--quota-check-strategy IgnoreUndeclared leaves --exclude-resource-prefixes nothing to do; give one of the two");
	if (c->back_off_base_ms > c->back_off_max_ms)
		return err_set(e, ERR_INVALID,
			"--requeue-backoff-base is longer than --requeue-backoff-max; lower the first or raise the second");
	return 0;
}

static void done(void *settings)
{
	struct settings *s = settings;
	for (size_t i = 0; i < s->nkept; i++)
		free(s->kept[i]);
	for (size_t i = 0; i < s->config.ntransformations; i++)
		free((void *)s->transformation[i].output);
	*s = (struct settings){0};
}

const struct flag_table settings_flags = {
	FLAG_TABLE(rows, struct settings), .begin = begin, .finish = finish, .done = done};
