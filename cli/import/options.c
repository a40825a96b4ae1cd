#include "cli/import/options.h"

#include <string.h>

static const struct flag rows[] = {
	{FLAG_FILES(struct import_options, files)},
	{FLAG_GIVEN("from-cluster", 0, struct import_options, from_cluster)},
	{FLAG_NAMESPACE_OF("kueue-namespace", 0, struct import_options, kueue_namespace)},
	{FLAG_NAMESPACE_OF("crane-namespace", 0, struct import_options, crane_namespace)},
	{FLAG_EITHER("output", 'o', struct import_options, json, "yaml|json")},
	FLAGS_CLUSTER(struct import_options),
};

static void begin(void *options)
{
	struct import_options *o = options;
	o->kueue_namespace = "kueue-system";
	o->crane_namespace = "crane-system";
}

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

static int finish(void *options, char **word, size_t nwords, struct err *e)
{
	struct import_options *o = options;
	const char *source;
	int rc = flags_one_word(word, nwords, &source, e);
	if (rc < 0)
		return rc;
	if (!source)
		return err_set(e, ERR_INVALID, "say from what, as in: sluice import kueue -f -");
	o->crane = strcmp(source, "crane") == 0;
	if (!o->crane && strcmp(source, "kueue") != 0)
		return err_set(e, ERR_INVALID,
			"\"%.40s\" is not known; what can be imported: kueue, crane", source);
	return check(o, e);
}

const struct flag_table import_flags = {
	FLAG_TABLE(rows, struct import_options), .begin = begin, .finish = finish};
