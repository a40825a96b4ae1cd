#include "cli/import/configuration.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/import/metadata.h"
#include "controller/common/selector.h"

#define FLAG_MAX_BYTES 8192

/* ---- flags ----------------------------------------------------------------------------------- */

/* Adds a flag of settings.h, if the controller would take it. value NULL: the flag wants none. */
static void give_setting(struct walk *w, const char *name, const char *value)
{
	struct err e = {""};
	char flag[80];
	const struct flag *known = flags_find(&settings_flags, name, strlen(name));
	snprintf(flag, sizeof(flag), "--%s", name);
	if (known && flag_take(known, value, w->settings, &e) == 0)
		item_flag(w->item, flag, value);
	else
		walk_note(w, "is left out: %s", e.text);
}

static void give_text(struct walk *w, const char *name, const struct buf *value)
{
	if (value->failed)
		walk_note(w, "is left out: it is longer than %d bytes", FLAG_MAX_BYTES);
	else
		give_setting(w, name, buf_text(value));
}

static bool scalar_text(struct walk *w, const cJSON *value, struct buf *out)
{
	buf_init(out, FLAG_MAX_BYTES);
	if (cJSON_IsString(value))
		buf_puts(out, value->valuestring);
	else if (cJSON_IsNumber(value))
		json_print(out, value);
	else
		walk_note(w, "is left out: it is neither a text nor a number");
	return cJSON_IsString(value) || cJSON_IsNumber(value);
}

static void give_scalar(struct walk *w, const char *name, const cJSON *value, const char *unit)
{
	struct buf text;
	if (scalar_text(w, value, &text)) {
		buf_puts(&text, unit);
		give_text(w, name, &text);
	}
	buf_done(&text);
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* Appends texts with commas between. False: a text has a comma itself and would be two, and that is
 * said. */
static bool put_texts(struct walk *w, const cJSON *list, struct buf *out)
{
	json_each(item, list) {
		const char *text = cJSON_IsString(item) ? item->valuestring : "";
		if (!*text || strpbrk(text, ",;()")) {
			walk_note(w, "is left out: its items must be plain texts");
			return false;
		}
		buf_printf(out, "%s%s", item == list->child ? "" : ",", text);
	}
	return true;
}

static void give_list(struct walk *w, const char *name, const cJSON *list)
{
	struct buf text;
	buf_init(&text, FLAG_MAX_BYTES);
	if (!cJSON_IsArray(list))
		walk_note(w, "is left out: it must be a list");
	else if (list->child && put_texts(w, list, &text))
		give_text(w, name, &text);
	buf_done(&text);
}

/* ---- which Jobs are managed ------------------------------------------------------------------ */

static void take_manage_all(struct walk *w, const cJSON *value, cJSON *to)
{
	(void)to;
	if (!cJSON_IsBool(value))
		walk_refuse(w, "must be true or false");
	if (!cJSON_IsTrue(value))
		return;
	item_flag(w->item, "--manage-jobs-without-queue-name", NULL);
	walk_note(w,
		"is true: deploy/components/manage-jobs-without-queue-name has the flag and its policies. Add it only when Kueue manages no Job any more: Jobs with Kueue's label alone are stopped, and cannot be started");
}

static void put_requirement(const cJSON *r, struct buf *out)
{
	const char *key = json_text(r, "key"), *operator= json_text(r, "operator");
	const cJSON *values = json_array(r, "values");
	const char *word = !operator			    ? NULL
			   : strcmp(operator, "In") == 0    ? "in"
			   : strcmp(operator, "NotIn") == 0 ? "notin"
							    : NULL;
	if (!key || !operator|| strpbrk(key, " ,!=()")) {
		buf_puts(out, "?"); /* not a selector: selector_parse() says so */
	} else if (strcmp(operator, "Exists") == 0) {
		buf_puts(out, key);
	} else if (strcmp(operator, "DoesNotExist") == 0) {
		buf_printf(out, "!%s", key);
	} else {
		buf_printf(out, "%s %s (", key, word ? word : "?");
		json_each(v, values)
			buf_printf(out, "%s%s", v == values->child ? "" : ",",
				cJSON_IsString(v) ? v->valuestring : "?");
		buf_putc(out, ')');
	}
}

/* Fields that are read below; the walk says what else is there. */
static const struct field selector_requirement_fields[] = {
	{"key", .server = true}, {"operator", .server = true}, {"values", .server = true}, {NULL}};
static const struct field selector_fields[] = {{"matchLabels", .server = true},
	{"matchExpressions", .within = selector_requirement_fields}, {NULL}};

static void take_namespaces(struct walk *w, const cJSON *value, cJSON *to)
{
	struct buf text;
	struct selector s;
	walk_fields(w, selector_fields, value, to);
	buf_init(&text, FLAG_MAX_BYTES);
	json_each(label, json_object(value, "matchLabels"))
		buf_printf(&text, "%s%s=%s", text.len ? "," : "", label->string,
			cJSON_IsString(label) ? label->valuestring : "?");
	json_each(r, json_array(value, "matchExpressions")) {
		buf_puts(&text, text.len ? "," : "");
		put_requirement(r, &text);
	}
	bool readable = selector_parse(buf_text(&text), &s) && !text.failed;
	selector_done(&s);
	if (text.len == 0)
		; /* an empty selector selects everything, as no flag does */
	else if (readable)
		item_flag(w->item, "--managed-jobs-namespace-selector", buf_text(&text));
	else
		walk_note(w,
			"is left out: it cannot be written as a selector of kubectl -l; see --managed-jobs-namespace-selector");
	buf_done(&text);
}

/* ---- waitForPodsReady ------------------------------------------------------------------------ */

static void take_ready_timeout(struct walk *w, const cJSON *value, cJSON *to)
{
	(void)to;
	give_scalar(w, "wait-for-pods-ready", value, "");
}

static void take_recovery(struct walk *w, const cJSON *value, cJSON *to)
{
	(void)to;
	give_scalar(w, "pods-ready-recovery", value, "");
}

static void take_block(struct walk *w, const cJSON *value, cJSON *to)
{
	(void)to;
	if (cJSON_IsTrue(value))
		walk_note(w,
			"is left out: Jobs start while pods of others are not ready yet; clusterFit: Now in a ClusterQueue starts only what the nodes have room for");
}

static void take_timestamp(struct walk *w, const cJSON *value, cJSON *to)
{
	(void)to;
	give_scalar(w, "requeue-timestamp", value, "");
}

static void take_limit(struct walk *w, const cJSON *value, cJSON *to)
{
	(void)to;
	give_scalar(w, "requeue-backoff-limit", value, "");
}

static void take_base(struct walk *w, const cJSON *value, cJSON *to)
{
	(void)to;
	give_scalar(w, "requeue-backoff-base", value, "s");
}

static void take_max(struct walk *w, const cJSON *value, cJSON *to)
{
	(void)to;
	give_scalar(w, "requeue-backoff-max", value, "s");
}

static const struct field requeuing_fields[] = {
	{"timestamp", .take = take_timestamp},
	{"backoffLimitCount", .take = take_limit},
	{"backoffBaseSeconds", .take = take_base},
	{"backoffMaxSeconds", .take = take_max},
	{NULL},
};

static const struct field pods_ready_fields[] = {
	{"enable", .server = true}, /* take_pods_ready() */
	{"timeout", .take = take_ready_timeout},
	{"recoveryTimeout", .take = take_recovery},
	{"blockAdmission", .take = take_block},
	{"requeuingStrategy", .within = requeuing_fields},
	{NULL},
};

/* True if the feature is on: v1beta1 wants `enable: true`; since v1beta2 the field alone is
 * enough. */
static bool is_enabled(const struct walk *w, const cJSON *o)
{
	bool enable = !w->opts_in;
	json_bool(o, "enable", &enable);
	return enable;
}

static void take_pods_ready(struct walk *w, const cJSON *value, cJSON *to)
{
	if (cJSON_IsObject(value) && !is_enabled(w, value))
		return;
	if (!json_get(value, "timeout")) {
		give_setting(w, "wait-for-pods-ready", "5m");
		walk_note(w,
			"has no timeout: Kueue's default was 5m, and is 30m since 0.20; 5m is taken");
	}
	walk_fields(w, pods_ready_fields, value, to);
}

/* ---- fair sharing ---------------------------------------------------------------------------- */

static void take_strategies(struct walk *w, const cJSON *value, cJSON *to)
{
	(void)to;
	give_list(w, "fair-preemption-strategies", value);
}

static const struct field fair_fields[] = {
	{"enable", .server = true},
	{"preemptionStrategies", .take = take_strategies},
	{NULL},
};

static void take_fair(struct walk *w, const cJSON *value, cJSON *to)
{
	if (cJSON_IsObject(value) && !is_enabled(w, value))
		return;
	give_setting(w, "fair-sharing", NULL);
	walk_fields(w, fair_fields, value, to);
}

static void take_half_life(struct walk *w, const cJSON *value, cJSON *to)
{
	(void)to;
	give_scalar(w, "usage-half-life", value, "");
}

static void take_weights(struct walk *w, const cJSON *value, cJSON *to)
{
	struct buf text;
	const cJSON *weights = cJSON_IsObject(value) ? value : NULL;
	(void)to;
	buf_init(&text, FLAG_MAX_BYTES);
	json_each(weight, weights) {
		buf_printf(&text, "%s%s=", text.len ? "," : "", weight->string);
		if (cJSON_IsNumber(weight))
			buf_printf(&text, "%.15g", weight->valuedouble);
	}
	if (text.len > 0)
		give_text(w, "usage-resource-weights", &text);
	else if (!says_nothing(value))
		walk_note(w, "is left out: it must be an object");
	buf_done(&text);
}

static const struct field usage_fields[] = {
	{"usageHalfLifeTime", .take = take_half_life},
	{"usageSamplingInterval",
		.meaning =
			"use is not sampled; it is worked out exactly from when Jobs started and stopped"},
	{"resourceWeights", .take = take_weights},
	{NULL},
};

/* ---- resources ------------------------------------------------------------------------------- */

static void take_prefixes(struct walk *w, const cJSON *value, cJSON *to)
{
	(void)to;
	give_list(w, "exclude-resource-prefixes", value);
}

static void take_quota_check(struct walk *w, const cJSON *value, cJSON *to)
{
	(void)to;
	give_scalar(w, "quota-check-strategy", value, "");
}

static void put_outputs(const cJSON *outputs, struct buf *out)
{
	json_each(o, outputs) {
		buf_printf(out, "%s%s:", o == outputs->child ? "" : ",", o->string);
		if (cJSON_IsString(o))
			buf_puts(out, o->valuestring);
		else
			json_print(out, o);
	}
}

static const struct field_value strategies[] = {
	{"Retain", ""}, {"Replace", ";replace"}, {NULL, NULL}};

static const struct field transformation_fields[] = {{"input", .server = true},
	{"strategy", .server = true}, {"multiplyBy", .server = true}, {"outputs", .server = true},
	{NULL}};

static void take_transformation(struct walk *w, const cJSON *t)
{
	struct buf text;
	const struct field_value *s = strategies;
	const char *input = json_text(t, "input"), *strategy = json_text(t, "strategy");
	const char *multiply = json_text(t, "multiplyBy");
	buf_init(&text, FLAG_MAX_BYTES);
	buf_printf(&text, "%s=", input ? input : "");
	put_outputs(json_object(t, "outputs"), &text);
	while (strategy && *strategy && s->theirs && strcmp(s->theirs, strategy) != 0)
		s++;
	if (!s->theirs)
		walk_refuse(w, "has a strategy that is neither Retain nor Replace");
	else
		buf_puts(&text, s->ours);
	if (multiply && *multiply)
		buf_printf(&text, ";multiply-by=%s", multiply);
	walk_fields(w, transformation_fields, t, NULL);
	give_text(w, "transformation", &text);
	buf_done(&text);
}

static void take_transformations(struct walk *w, const cJSON *value, cJSON *to)
{
	size_t index = 0;
	const cJSON *list = cJSON_IsArray(value) ? value : NULL;
	(void)to;
	if (!list)
		walk_refuse(w, "must be a list");
	json_each(t, list) {
		size_t back = walk_step_item(w, index++);
		take_transformation(w, t);
		walk_back(w, back);
	}
}

static const struct field resources_fields[] = {
	{"excludeResourcePrefixes", .take = take_prefixes},
	{"transformations", .take = take_transformations},
	{"quotaCheckStrategy", .take = take_quota_check},
	{"deviceClassMappings",
		.meaning =
			"Jobs with ResourceClaims are refused, for no quota counts their devices (or let in uncounted: deploy/components/uncounted-resource-claims); extended resources such as nvidia.com/gpu are counted"},
	{NULL},
};

/* ---- the rest of it -------------------------------------------------------------------------- */

static void take_frameworks(struct walk *w, const cJSON *value, cJSON *to)
{
	const cJSON *list = cJSON_IsArray(value) ? value : NULL;
	(void)to;
	if (!list)
		walk_refuse(w, "must be a list");
	json_each(f, list) {
		const char *name = cJSON_IsString(f) ? f->valuestring : "?";
		if (strcmp(name, "batch/job") != 0)
			walk_note(w, "%.100s is left out: Sluice queues Jobs of batch/v1 alone",
				name);
	}
}

static const struct field integration_fields[] = {
	{"frameworks", .take = take_frameworks},
	{"externalFrameworks", .take = take_frameworks},
	{"podOptions", .meaning = "Sluice queues Jobs of batch/v1 alone, no pods by themselves"},
	{"labelKeysToCopy",
		.meaning =
			"there are no Workload objects to copy labels to; --bill-labels names the labels that the ledger keeps with what a Job cost"},
	{NULL},
};

#define OWN_PROCESS "it concerns Kueue's own process, and needs nothing here"

static const struct field configuration_fields[] = {
	{"apiVersion", .server = true},
	{"kind", .server = true},
	{"metadata", .server = true},
	{"manageJobsWithoutQueueName", .take = take_manage_all},
	{"managedJobsNamespaceSelector", .take = take_namespaces},
	{"waitForPodsReady", .take = take_pods_ready},
	{"fairSharing", .take = take_fair},
	{"admissionFairSharing", .within = usage_fields},
	{"resources", .within = resources_fields},
	{"integrations", .within = integration_fields},
	{"objectRetentionPolicies",
		.meaning =
			"there are no Workload objects to be kept; a Job that has ended goes by its ttlSecondsAfterFinished"},
	{"multiKueue",
		.meaning =
			"no Job is sent to another cluster; several clusters may share quota by one database"},
	{"featureGates",
		.meaning = "there are none; what Sluice can do is on, or a flag or a field"},
	{"queueVisibility", .meaning = "sluice queue and sluice jobs show what waits, always"},
	{"visibilityServer", .meaning = "sluice queue and sluice jobs show what waits, always"},
	{"metrics",
		.meaning =
			"/metrics has the figures of all queues, always; where it listens is --listen"},
	{"health", .meaning = "/healthz and /readyz are where --probe-listen says"},
	{"namespace", .meaning = OWN_PROCESS},
	{"webhook",
		.meaning =
			"there is no webhook; the API server enforces policies by itself (docs/policies.md)"},
	{"internalCertManagement", .meaning = "there is no webhook, so no certificate for one"},
	{"tls", .meaning = OWN_PROCESS},
	{"leaderElection",
		.meaning = "the leader is whoever has the lease in Postgres; see --lease-seconds"},
	{"pprofBindAddress", .meaning = OWN_PROCESS},
	{"controller", .meaning = OWN_PROCESS},
	{"clientConnection", .meaning = "how many writes are under way at once is --max-writes"},
	{NULL},
};

void import_configuration(struct walk *w, const cJSON *in)
{
	const char *api = json_text(in, "apiVersion");
	struct settings *settings = mem_alloc(sizeof(*settings));
	struct err e = {""};
	flags_begin(&settings_flags, settings);
	w->settings = settings;
	w->opts_in = api && strcmp(api, "config." KUEUE_DOMAIN "/v1beta1") == 0;
	walk_fields(w, configuration_fields, in, NULL);
	if (flags_finish(&settings_flags, settings, NULL, 0, &e) < 0)
		walk_note(w, "has flags that exclude each other: %s", e.text);
	w->settings = NULL;
	flags_done(&settings_flags, settings);
	free(settings);
}
