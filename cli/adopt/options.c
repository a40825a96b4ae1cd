#include "cli/adopt/options.h"

#include <getopt.h>
#include <string.h>

#include "base/span.h"

enum { TIMEOUT_MS = 120000 };

static int take_namespace(const char *text, void *options, struct err *e)
{
	((struct adopt_options *)options)->namespace_name = text;
	return flag_check_namespace("--namespace", text, e);
}

static int take_queue(const char *text, void *options, struct err *e)
{
	((struct adopt_options *)options)->queue = text;
	return flag_check_name("--queue", text, e);
}

static int take_controller_namespace(const char *text, void *options, struct err *e)
{
	((struct adopt_options *)options)->controller_namespace = text;
	return flag_check_namespace("--controller-namespace", text, e);
}

static int take_timeout(const char *text, void *options, struct err *e)
{
	if (span_parse(text, &((struct adopt_options *)options)->timeout_ms))
		return 0;
	return err_set(e, ERR_INVALID,
		"--timeout is \"%.40s\"; it must be a duration such as 90s or 2m, or 0s to look once",
		text);
}

static const struct flag flags[] = {
	{FLAG_TAKE("namespace", 'n', take_namespace), .value = "NAMESPACE"},
	{FLAG_TAKE("queue", 0, take_queue), .value = "QUEUE"},
	{FLAG_GIVEN("dry-run", 0, struct adopt_options, dry_run)},
	{FLAG_TAKE("timeout", 0, take_timeout)},
	{FLAG_TAKE("controller-namespace", 0, take_controller_namespace), .value = "NAMESPACE"},
	{FLAG_GIVEN("force", 0, struct adopt_options, force)},
	{FLAG_KUBECONFIG(struct adopt_options, kube)},
	{FLAG_CONTEXT(struct adopt_options, kube)},
	{FLAG_GIVEN("help", 'h', struct adopt_options, help)},
};

const struct flag_table adopt_flags = {FLAG_TABLE(flags)};

int adopt_options_parse(int argc, char **argv, struct adopt_options *ret, struct err *e)
{
	struct adopt_options o = {
		.controller_namespace = "sluice-system", .timeout_ms = TIMEOUT_MS};
	int rc = flags_walk(argc, argv, 1, &adopt_flags, &o, e);
	if (rc < 0)
		return rc;
	o.job = argv + optind;
	o.njobs = (size_t)(argc - optind);
	for (size_t i = 0; i < o.njobs; i++) {
		if (strncmp(o.job[i], "job/", 4) == 0)
			o.job[i] += 4;
		rc = flag_check_name("JOB", o.job[i], e);
		if (rc < 0)
			return rc;
	}
	*ret = o;
	return 0;
}
