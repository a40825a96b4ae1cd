#include "cli/doctor/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

/* It becomes part of paths, and of the manifests that are compared. */
static int take_namespace(const char *text, void *options, struct err *e)
{
	((struct doctor_options *)options)->namespace_name = text;
	return flag_check_namespace("--namespace", text, e);
}

static int take_settle(const char *text, void *options, struct err *e)
{
	struct doctor_options *o = options;
	char *end;
	long seconds = strtol(text, &end, 10);
	if (end == text || strcmp(end, "s") != 0 || seconds < 0 || seconds > 600)
		return err_set(
			e, ERR_INVALID, "--settle is \"%.40s\"; it must be from 0s to 600s", text);
	o->settle_ms = seconds * 1000;
	return 0;
}

static int take_ignored(const char *text, void *options, struct err *e)
{
	struct doctor_options *o = options;
	if (o->nignored == DOCTOR_IGNORED_MAX)
		return err_set(e, ERR_LIMIT, "--ignore is given too often");
	o->ignored[o->nignored++] = text;
	return 0;
}

static const struct flag flags[] = {
	{FLAG_JSON(struct doctor_options, json)},
	{FLAG_TAKE("namespace", 'n', take_namespace), .value = "NAMESPACE"},
	{FLAG_KUBECONFIG(struct doctor_options, kube)},
	{FLAG_CONTEXT(struct doctor_options, kube)},
	{FLAG_TEXT("database", struct doctor_options, database)},
	{FLAG_TEXT("cell", struct doctor_options, cell)},
	{FLAG_OVERCOMMIT_CONFIG(struct doctor_options, configmap)},
	{FLAG_TAKE("ignore", 0, take_ignored), .value = "CHECK"},
	{FLAG_TAKE("settle", 0, take_settle)},
	{FLAG_GIVEN("help", 'h', struct doctor_options, help)},
};

const struct flag_table doctor_flags = {FLAG_TABLE(flags)};

/* Without any of these libpq would try a server on this machine, which was not named. */
static const char *database_of_environment(void)
{
	static const char *const names[] = {"PGHOST", "PGHOSTADDR", "PGSERVICE", "PGDATABASE"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *value = getenv(names[i]);
		if (value && *value)
			return "";
	}
	return NULL;
}

static int check(const struct doctor_options *o, bool (*is_check)(const char *name), struct err *e)
{
	for (size_t i = 0; i < o->nignored; i++)
		if (!is_check(o->ignored[i]))
			return err_set(e, ERR_INVALID,
				"--ignore is \"%.60s\", and there is no such check", o->ignored[i]);
	return 0;
}

int doctor_options_parse(int argc, char **argv, bool (*is_check)(const char *name),
	struct doctor_options *ret, struct err *e)
{
	struct doctor_options o = {.database = database_of_environment(),
		.cell = "default",
		.namespace_name = "sluice-system",
		.configmap = "kube-system/ack-slo-config",
		.settle_ms = 5000};
	int rc = flags_walk(argc, argv, 1, &doctor_flags, &o, e);
	if (rc == 0 && optind < argc)
		rc = err_set(e, ERR_INVALID, "\"%.60s\" is one name too many", argv[optind]);
	if (rc == 0)
		rc = check(&o, is_check, e);
	if (rc == 0)
		*ret = o;
	return rc;
}
