#include "agent/options.h"

static const struct flag rows[] = {
	{FLAG_SOME("kubeconfig", struct node_options, kubeconfig)},
	{FLAG_NAMESPACE_OF("namespace", 0, struct node_options, namespace_name),
		.must_be = "the namespace of the ConfigMap sluice-nodes, such as sluice-system"},
	{FLAG_SOME("token-file", struct node_options, token_file)},
	{FLAG_SOME("cgroups", struct node_options, cgroups)},
	{FLAG_SOME("tier", struct node_options, tier)},
	{FLAG_SOME("state-dir", struct node_options, state_dir)},
	{FLAG_GIVEN("lift", 0, struct node_options, lift)},
	{FLAG_PICK(enum log_format, "log-format", 0, struct node_options, log_format, "text|json")},
	{FLAG_PICK(enum log_level, "log-level", 0, struct node_options, log_level,
		"error|warn|info|debug")},
	{FLAG_HELP},
	{FLAG_VERSION},
};

static void begin(void *options)
{
	struct node_options *o = options;
	o->namespace_name = "sluice-system";
	o->token_file = "/var/run/secrets/sluice-node/token";
	o->cgroups = "/sys/fs/cgroup";
	o->log_level = LEVEL_INFO;
}

static int finish(void *options, char **word, size_t nwords, struct err *e)
{
	(void)options;
	if (nwords == 0)
		return 0;
	return err_set(
		e, ERR_INVALID, "\"%.80s\" is not understood: there are only flags", word[0]);
}

const struct flag_table node_options_flags = {
	FLAG_TABLE(rows, struct node_options), .begin = begin, .finish = finish};

int node_options_parse(int argc, char **argv, struct node_options *ret, struct err *e)
{
	return flags_read(&node_options_flags, argc, argv, ret, e);
}
