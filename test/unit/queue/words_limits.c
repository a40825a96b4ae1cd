#include "words_limits.h"

#include <stdlib.h>
#include <string.h>

#include "pieces.h"

static struct {
	struct resource weight[8], output[32];
	const char *prefix[8];
	struct transformation_spec transformation[8];
	size_t noutputs;
} kept; /* what the configuration that is being read points to */

static int64_t seconds(const char *text)
{
	return atoll(text) * 1000;
}

static void read_back_off(struct queue_config *c, char *text)
{
	char *max = piece_after(text, ':'), *limit = max ? piece_after(max, ':') : NULL;
	c->back_off_base_ms = seconds(text);
	if (max)
		c->back_off_max_ms = seconds(max);
	if (limit)
		c->back_off_limit = atoi(limit);
}

static void read_weight(struct queue_config *c, char *text)
{
	char *weight = piece_after(text, ':');
	kept.weight[c->nusage_weights++] = (struct resource){text, (int64_t)(atof(weight) * 1000)};
	c->usage_weight = kept.weight;
}

/* "a->b:2,c:0.5": Retain; "a=>b:2": Replace; "a*m->b:1": times m. */
static void read_transformation(struct queue_config *c, char *text)
{
	char *arrow = strstr(text, "->"), *save;
	struct transformation_spec *t = &kept.transformation[c->ntransformations++];
	*t = (struct transformation_spec){.input = text, .replace = !arrow, .multiply_by = ""};
	c->transformation = kept.transformation;
	arrow = arrow ? arrow : strstr(text, "=>");
	*arrow = '\0';
	char *by = piece_after(text, '*');
	t->multiply_by = by ? by : "";
	t->output = &kept.output[kept.noutputs];
	for (char *o = strtok_r(arrow + 2, ",", &save); o; o = strtok_r(NULL, ",", &save)) {
		char *each = piece_after(o, ':');
		kept.output[kept.noutputs++] = (struct resource){o, (int64_t)(atof(each) * 1000)};
		t->noutputs++;
	}
}

bool words_config(struct words *w, struct queue_config *c, char *word)
{
	(void)w;
	const struct {
		const char *key;
		int64_t *ms;
	} time[] = {{"pods-ready", &c->pods_ready_timeout_ms},
		{"recovery", &c->recovery_timeout_ms}, {"half-life", &c->usage_half_life_ms}};
	for (size_t i = 0; i < sizeof(time) / sizeof(time[0]); i++) {
		if (piece_value(word, time[i].key)) {
			*time[i].ms = seconds(piece_value(word, time[i].key));
			return true;
		}
	}
	if (c->ntransformations == 0)
		kept.noutputs = 0;
	if (piece_value(word, "back-off"))
		read_back_off(c, piece_copy(piece_value(word, "back-off")));
	else if (piece_value(word, "weigh"))
		read_weight(c, piece_copy(piece_value(word, "weigh")));
	else if (piece_value(word, "transform"))
		read_transformation(c, piece_copy(piece_value(word, "transform")));
	else if (piece_value(word, "exclude"))
		kept.prefix[c->nexcluded_prefixes++] = piece_value(word, "exclude");
	else if (strcmp(word, "creation") == 0)
		c->requeue_at_creation = true;
	else if (strcmp(word, "ignore-undeclared") == 0)
		c->ignore_undeclared = true;
	else
		return false;
	c->excluded_prefixes = kept.prefix;
	return true;
}

static struct resource_list *list_named(struct limit_range_item *item, const char *word)
{
	if (strcmp(word, "default") == 0)
		return &item->defaults;
	if (strcmp(word, "request") == 0)
		return &item->default_requests;
	if (strcmp(word, "min") == 0)
		return &item->min;
	return strcmp(word, "max") == 0 ? &item->max : NULL;
}

bool words_tell_limits(struct words *w, char **word, size_t n)
{
	struct resource all[WORDS_MAX];
	struct limit_range_item item = {.is_pod = false};
	struct resource_list *list = NULL;
	char *name = piece_after(word[1], '/');
	if (!name)
		return piece_wrong(w, "limits NS/NAME ..");
	for (size_t i = 2; i < n; i++) {
		char *amount = piece_after(word[i], '=');
		if (!amount && strcmp(word[i], "pod") == 0) {
			item.is_pod = true;
		} else if (!amount) {
			list = list_named(&item, word[i]);
			if (!list)
				return piece_wrong(w, "limits: what is %s?", word[i]);
			list->item = &all[i];
		} else if (list) {
			struct resource *r = &all[(size_t)(list->item - all) + list->count++];
			*r = (struct resource){.name = word[i]};
			if (!piece_amount(w, word[i], amount, &r->amount))
				return false;
		}
	}
	struct limit_range_spec s = {word[1], name, &item, 1};
	queue_set_limit_range(w->q, &s);
	return true;
}

bool words_tell_recall(struct words *w, char **word, size_t n)
{
	struct quota_line line[8];
	size_t lines = 0;
	char *name = piece_after(word[1], '/');
	if (n < 5 || !name)
		return piece_wrong(w, "recall NS/NAME FROM TO RESOURCE=QUANTITY ..");
	for (size_t i = 4; i < n && lines < 8; i++) {
		char *amount = piece_after(word[i], '=');
		line[lines] = (struct quota_line){"cq/batch", "spot", word[i], 0};
		if (!amount || !piece_amount(w, word[i], amount, &line[lines++].amount))
			return false;
	}
	queue_recall_run(w->q, word[1], name, line, lines, seconds(word[2]), seconds(word[3]));
	return true;
}

bool words_tell_overhead(struct words *w, char **word, size_t n)
{
	struct resource all[WORDS_MAX];
	struct runtime_class_spec s = {word[1], {all, 0}};
	for (size_t i = 2; i < n; i++) {
		char *amount = piece_after(word[i], '=');
		struct resource *r = &all[s.overhead.count++];
		*r = (struct resource){.name = word[i]};
		if (!amount || !piece_amount(w, word[i], amount, &r->amount))
			return false;
	}
	queue_set_runtime_class(w->q, &s);
	return true;
}

enum { USER_QUOTAS_MAX = 8 };

static bool add_user_quota(struct words *w, struct user_limits *l, char *resource)
{
	char *value = piece_after(resource, '=');
	struct resource *all = (struct resource *)(uintptr_t)l->quota.item; /* made here */
	if (!value || l->quota.count == USER_QUOTAS_MAX)
		return false;
	if (!all)
		l->quota.item = all = piece_keep(calloc(USER_QUOTAS_MAX, sizeof(*all)));
	struct resource *r = &all[l->quota.count++];
	r->name = resource;
	return piece_amount(w, resource, value, &r->amount);
}

bool words_of_user_limits(struct words *w, struct user_limits *l, const char *word)
{
	if (piece_value(word, "user-running"))
		l->running = atoi(piece_value(word, "user-running"));
	else if (piece_value(word, "user-waiting"))
		l->waiting = atoi(piece_value(word, "user-waiting"));
	else if (strncmp(word, "user.", 5) == 0)
		return add_user_quota(w, l, piece_copy(word + 5));
	else
		return false;
	return true;
}
