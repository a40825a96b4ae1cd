#include "cli/whatif/options.h"

#include <getopt.h>

static int take(struct whatif_texts *to, const char *flag, const char *text, struct err *e)
{
	if (to->count == WHATIF_TEXTS_MAX)
		return err_set(e, ERR_LIMIT, "more than %d %s; ask about fewer at once",
			WHATIF_TEXTS_MAX, flag);
	to->text[to->count++] = text;
	return 0;
}

static int take_set(const char *text, void *options, struct err *e)
{
	return take(&((struct whatif_options *)options)->sets, "--set", text, e);
}

static int take_drop(const char *text, void *options, struct err *e)
{
	return take(&((struct whatif_options *)options)->drops, "--drop", text, e);
}

static const struct flag flags[] = {
	{FLAG_TAKE("set", 0, take_set), .value = "OBJECT-FIELD"},
	{FLAG_FILES(struct whatif_options, files)},
	{FLAG_TAKE("drop", 0, take_drop), .value = "OBJECT"},
	{FLAG_GIVEN("all", 'a', struct whatif_options, all)},
	{FLAG_NAMESPACE(struct whatif_options, namespace_name)},
	{FLAG_JSON(struct whatif_options, json)},
	{FLAG_KUBECONFIG(struct whatif_options, kube)},
	{FLAG_CONTEXT(struct whatif_options, kube)},
	{FLAG_GIVEN("help", 'h', struct whatif_options, help)},
};

const struct flag_table whatif_flags = {FLAG_TABLE(flags)};

int whatif_options_parse(int argc, char **argv, struct whatif_options *ret, struct err *e)
{
	struct whatif_options o = {.json = false};
	int rc = flags_walk(argc, argv, 1, &whatif_flags, &o, e);
	if (rc < 0)
		return ERR_INVALID;
	if (!o.help && optind < argc)
		return err_set(e, ERR_INVALID,
			"it takes no names, and \"%.60s\" is one; write --set KIND/NAME:PATH=VALUE",
			argv[optind]);
	if (!o.help && o.sets.count + o.drops.count + o.files.count == 0)
		return err_set(e, ERR_INVALID,
			"it wants what is to be changed, as in: --set clusterqueue/batch:spec...nominalQuota=80");
	*ret = o;
	return 0;
}
