#include "cli/adopt/options.h"

#include <string.h>

#include "base/span.h"

static const struct flag rows[] = {
	{FLAG_NAME("queue", 0, struct adopt_options, queue, "QUEUE")},
	{FLAG_GIVEN("dry-run", 0, struct adopt_options, dry_run)},
	{FLAG_AMOUNT("timeout", struct adopt_options, timeout_ms), .read = span_parse,
		.must_be = "a duration such as 90s or 2m, or 0s to look once"},
	{FLAG_NAMESPACE_OF("controller-namespace", 0, struct adopt_options, controller_namespace)},
	{FLAG_GIVEN("force", 0, struct adopt_options, force)},
	FLAGS_CLUSTER(struct adopt_options),
};

static void begin(void *options)
{
	struct adopt_options *o = options;
	o->controller_namespace = "sluice-system";
	o->timeout_ms = 120000;
}

static int finish(void *options, char **word, size_t nwords, struct err *e)
{
	struct adopt_options *o = options;
	int rc = 0;
	o->job = word;
	o->njobs = nwords;
	for (size_t i = 0; rc == 0 && i < nwords; i++) {
		if (strncmp(word[i], "job/", 4) == 0)
			word[i] += 4;
		rc = flag_check_name("JOB", word[i], e);
	}
	return rc;
}

const struct flag_table adopt_flags = {
	FLAG_TABLE(rows, struct adopt_options), .begin = begin, .finish = finish};
