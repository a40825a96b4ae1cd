#include "cli/simulate/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "controller/wire/decode_text.h"

static int take_manifest(const struct flag *f, const char *path, void *options, struct err *e)
{
	struct simulate_options *o = options;
	(void)f;
	if (o->nmanifests == MANIFESTS_MAX)
		return err_set(e, ERR_LIMIT, "more than %d files; put them into a directory",
			MANIFESTS_MAX);
	o->manifest[o->nmanifests++] = path;
	return 0;
}

static int take_number(const struct flag *f, const char *text, void *to, struct err *e)
{
	char *end;
	double n = strtod(text, &end);
	*(double *)to = n;
	if (end == text || *end || !isfinite(n) || n <= 0 || (f->most && n > (double)f->most))
		return flag_refuse(f, text, e);
	return 0;
}

static int take_until(const struct flag *f, const char *text, void *options, struct err *e)
{
	struct simulate_options *o = options;
	o->has_until = true;
	o->until_is_time = text_time(text, &o->until_ms);
	if (!o->until_is_time && !span_parse_seconds(text, &o->until_ms))
		return flag_refuse(f, text, e);
	return 0;
}

#define OPTIONS struct simulate_options

static const struct flag rows[] = {
	{FLAG_TAKE("filename", 'f', take_manifest), .value = "FILE"},
	{FLAG_PICK(enum simulate_output, "output", 'o', OPTIONS, output, "table|json|svg")},
	{FLAG_TEXT("trace", OPTIONS, trace), .value = "FILE"},
	{FLAG_TAKE_TO("compress", take_number, double, OPTIONS, compress),
		.must_be = "a number above 0, as in 1.5"},
	{FLAG_TEXT("queue", OPTIONS, queue)},
	{FLAG_AMOUNT("trace-deadline", OPTIONS, terms.deadline_ms), .read = span_parse_seconds,
		.must_be =
			"a duration such as 24h, within which each of the trace's jobs is to have ended"},
	{FLAG_EITHER("trace-start", 0, OPTIONS, terms.cheapest, "Asap|Cheapest")},
	{FLAG_EITHER("trace-estimates", 0, OPTIONS, terms.exact, "requested|exact")},
	{FLAG_TAKE_TO("trace-min-parallelism", take_number, double, OPTIONS, terms.min_parallelism),
		.most = 1,
		.must_be = "a part of a job's processors above 0 and up to 1, as in 0.25"},
	{FLAG_GIVEN("trace-grow", 0, OPTIONS, terms.grow)},
	{FLAG_GIVEN("from-cluster", 0, OPTIONS, from_cluster)},
	{FLAG_AMOUNT("assume-duration", OPTIONS, assumed_ms), .read = span_parse_seconds,
		.must_be = "a duration such as 2h, which Jobs take that do not say how long"},
	{FLAG_NAMESPACE_OF("config-namespace", 0, OPTIONS, config_namespace)},
	{FLAG_TAKE("until", 0, take_until),
		.must_be =
			"a duration such as 90s, 1h30m or 5400, or a time such as 2026-11-21T09:58:30Z"},
	{FLAG_AMOUNT("seed", OPTIONS, terms.seed), .must_be = "a whole number"},
	FLAGS_KUBE(OPTIONS, kube),
};

static void begin(void *options)
{
	((struct simulate_options *)options)->compress = 1;
}

static int finish(void *options, char **word, size_t nwords, struct err *e)
{
	const struct simulate_options *o = options;
	(void)word;
	(void)nwords; /* take_manifest() has taken them */
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

const struct flag_table simulate_flags = {FLAG_TABLE(rows, struct simulate_options),
	.more = &settings_flags, .more_to = offsetof(struct simulate_options, settings),
	.begin = begin, .take_word = take_manifest, .finish = finish};
