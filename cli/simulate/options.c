#include "cli/simulate/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "controller/wire/decode_text.h"

#define OUTPUTS "table|json|svg" /* as enum simulate_output has them */

static int take_manifest(const char *path, void *options, struct err *e)
{
	struct simulate_options *o = options;
	if (o->nmanifests == MANIFESTS_MAX)
		return err_set(e, ERR_LIMIT, "more than %d files; put them into a directory",
			MANIFESTS_MAX);
	o->manifest[o->nmanifests++] = path;
	return 0;
}

static int take_output(const char *text, void *options, struct err *e)
{
	(void)e;
	((struct simulate_options *)options)->output =
		(enum simulate_output)flag_choice(OUTPUTS, text);
	return 0;
}

static int take_compress(const char *text, void *options, struct err *e)
{
	struct simulate_options *o = options;
	char *end;
	o->compress = strtod(text, &end);
	if (end == text || *end || !isfinite(o->compress) || o->compress <= 0)
		return err_set(e, ERR_INVALID,
			"--compress is \"%.60s\"; it must be a number above 0, as in 1.5", text);
	return 0;
}

static int take_deadline(const char *text, void *options, struct err *e)
{
	struct simulate_options *o = options;
	if (span_parse_seconds(text, &o->terms.deadline_ms))
		return 0;
	return err_set(e, ERR_INVALID,
		"--trace-deadline is \"%.60s\"; it must be a duration such as 24h, within which each of the trace's jobs is to have ended",
		text);
}

static int take_start(const char *text, void *options, struct err *e)
{
	(void)e;
	((struct simulate_options *)options)->terms.cheapest = strcmp(text, "Cheapest") == 0;
	return 0;
}

static int take_estimates(const char *text, void *options, struct err *e)
{
	(void)e;
	((struct simulate_options *)options)->terms.exact = strcmp(text, "exact") == 0;
	return 0;
}

static int take_until(const char *text, void *options, struct err *e)
{
	struct simulate_options *o = options;
	o->has_until = true;
	o->until_is_time = text_time(text, &o->until_ms);
	if (!o->until_is_time && !span_parse_seconds(text, &o->until_ms))
		return err_set(e, ERR_INVALID,
			"--until is \"%.60s\"; it must be a duration such as 90s, 1h30m or 5400, or a time such as 2026-11-21T09:58:30Z",
			text);
	return 0;
}

static int take_min_parallelism(const char *text, void *options, struct err *e)
{
	struct simulate_options *o = options;
	char *end;
	double part = strtod(text, &end);
	o->terms.min_parallelism = part;
	if (end == text || *end || !isfinite(part) || part <= 0 || part > 1)
		return err_set(e, ERR_INVALID,
			"--trace-min-parallelism is \"%.60s\"; it must be a part of a job's processors above 0 and up to 1, as in 0.25",
			text);
	return 0;
}

static int take_seed(const char *text, void *options, struct err *e)
{
	struct simulate_options *o = options;
	if (!text_number(text, INT64_MAX, &o->terms.seed))
		return err_set(
			e, ERR_INVALID, "--seed is \"%.60s\"; it must be a whole number", text);
	return 0;
}

static int take_assumed(const char *text, void *options, struct err *e)
{
	if (span_parse_seconds(text, &((struct simulate_options *)options)->assumed_ms))
		return 0;
	return err_set(e, ERR_INVALID,
		"--assume-duration is \"%.60s\"; it must be a duration such as 2h, which Jobs take that do not say how long",
		text);
}

static int take_config_namespace(const char *text, void *options, struct err *e)
{
	((struct simulate_options *)options)->config_namespace = text;
	return flag_check_namespace("--config-namespace", text, e);
}

static int take_setting(void *options, size_t index, const char *text, struct err *e)
{
	return settings_take(&((struct simulate_options *)options)->settings, index, text, e);
}

static const struct flag flags[] = {
	{FLAG_TAKE("filename", 'f', take_manifest), .value = "FILE"},
	{FLAG_TAKE("output", 'o', take_output), .value = OUTPUTS},
	{FLAG_TEXT("trace", struct simulate_options, trace), .value = "FILE"},
	{FLAG_TAKE("compress", 0, take_compress)},
	{FLAG_TEXT("queue", struct simulate_options, queue)},
	{FLAG_TAKE("trace-deadline", 0, take_deadline)},
	{FLAG_TAKE("trace-start", 0, take_start), .value = "Asap|Cheapest"},
	{FLAG_TAKE("trace-estimates", 0, take_estimates), .value = "requested|exact"},
	{FLAG_TAKE("trace-min-parallelism", 0, take_min_parallelism)},
	{FLAG_GIVEN("trace-grow", 0, struct simulate_options, terms.grow)},
	{FLAG_GIVEN("from-cluster", 0, struct simulate_options, from_cluster)},
	{FLAG_TAKE("assume-duration", 0, take_assumed)},
	{FLAG_TAKE("config-namespace", 0, take_config_namespace), .value = "NAMESPACE"},
	{FLAG_KUBECONFIG(struct simulate_options, kube)},
	{FLAG_CONTEXT(struct simulate_options, kube)},
	{FLAG_TAKE("until", 0, take_until)},
	{FLAG_TAKE("seed", 0, take_seed)},
	{FLAG_GIVEN("help", 'h', struct simulate_options, help)},
};

const struct flag_table simulate_flags = {FLAG_TABLE(flags), .other = settings_flag,
	.take_other = take_setting, .take_word = take_manifest};

static int check(const struct simulate_options *o, struct err *e)
{
	if (o->help)
		return 0;
	if (o->nmanifests == 0 && !o->from_cluster)
		return err_set(e, ERR_INVALID,
			"there are no manifests; name them with -f, as in: sluice simulate -f queues.yaml, or begin with the cluster as it is: --from-cluster");
	if (!o->from_cluster && (o->config_namespace || o->kube.kubeconfig || o->kube.context))
		return err_set(e, ERR_INVALID,
			"--config-namespace, --kubeconfig and --context are for --from-cluster");
	if (!o->trace &&
		(o->queue || o->compress != 1 || o->terms.deadline_ms > 0 || o->terms.cheapest ||
			o->terms.exact || o->terms.grow || o->terms.min_parallelism > 0))
		return err_set(e, ERR_INVALID,
			"--queue, --compress and --trace-... are for --trace FILE.swf");
	if (o->terms.grow && o->terms.min_parallelism <= 0)
		return err_set(e, ERR_INVALID,
			"--trace-grow needs --trace-min-parallelism, for only a Job that may start with fewer pods can grow");
	return 0;
}

static int parse_line(int argc, char **argv, struct simulate_options *o, struct err *e)
{
	int rc = flags_walk(argc, argv, 1, &simulate_flags, o, e);
	if (rc == 0)
		rc = check(o, e);
	return rc ? rc : settings_finish(&o->settings, e);
}

int simulate_options_parse(int argc, char **argv, struct simulate_options *ret, struct err *e)
{
	*ret = (struct simulate_options){.compress = 1};
	settings_init(&ret->settings);
	int rc = parse_line(argc, argv, ret, e);
	if (rc)
		simulate_options_done(ret);
	return rc;
}

void simulate_options_done(struct simulate_options *o)
{
	settings_done(&o->settings);
}
