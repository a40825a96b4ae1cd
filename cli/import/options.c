#include "cli/import/options.h"

#include <getopt.h>
#include <string.h>

static int take_namespace(const char *text, void *options, struct err *e)
{
	((struct import_options *)options)->namespace_name = text;
	return flag_check_namespace("--namespace", text, e);
}

static int take_kueue_namespace(const char *text, void *options, struct err *e)
{
	((struct import_options *)options)->kueue_namespace = text;
	return flag_check_namespace("--kueue-namespace", text, e);
}

static int take_output(const char *text, void *options, struct err *e)
{
	(void)e;
	((struct import_options *)options)->json = strcmp(text, "json") == 0;
	return 0;
}

static const struct flag flags[] = {
	{FLAG_FILES(struct import_options, files)},
	{FLAG_GIVEN("from-cluster", 0, struct import_options, from_cluster)},
	{FLAG_TAKE("namespace", 'n', take_namespace), .value = "NAMESPACE"},
	{FLAG_TAKE("kueue-namespace", 0, take_kueue_namespace), .value = "NAMESPACE"},
	{FLAG_TAKE("output", 'o', take_output), .value = "yaml|json"},
	{FLAG_KUBECONFIG(struct import_options, kube)},
	{FLAG_CONTEXT(struct import_options, kube)},
	{FLAG_GIVEN("help", 'h', struct import_options, help)},
};

const struct flag_table import_flags = {FLAG_TABLE(flags)};

static int check(const struct import_options *o, struct err *e)
{
	if (o->from_cluster == (o->files.count > 0))
		return err_set(e, ERR_INVALID,
			"give files (-f FILE, -f - for standard input) or --from-cluster, one of the two");
	if (!o->from_cluster && (o->namespace_name || o->kube.kubeconfig || o->kube.context))
		return err_set(e, ERR_INVALID,
			"-f asks no API server, so --namespace, --kubeconfig and --context say nothing");
	return 0;
}

int import_options_parse(int argc, char **argv, struct import_options *ret, struct err *e)
{
	struct import_options o = {.kueue_namespace = "kueue-system"};
	bool source = argc > 1 && argv[1][0] != '-';
	int rc = 0;
	if (source && strcmp(argv[1], "kueue") != 0)
		rc = err_set(e, ERR_INVALID, "\"%.40s\" is not known; what can be imported: kueue",
			argv[1]);
	if (rc == 0)
		rc = flags_walk(argc, argv, source ? 2 : 1, &import_flags, &o, e);
	if (rc == 0 && optind < argc)
		rc = err_set(e, ERR_INVALID, "\"%.60s\" is one name too many", argv[optind]);
	if (rc == 0 && !source && !o.help)
		rc = err_set(e, ERR_INVALID, "say from what, as in: sluice import kueue -f -");
	if (rc == 0 && !o.help)
		rc = check(&o, e);
	if (rc == 0)
		*ret = o;
	return rc;
}
