#include "cli/whatif/options.h"

static const struct flag rows[] = {
	{FLAG_TEXTS("set", struct whatif_options, sets), .value = "OBJECT-FIELD"},
	{FLAG_FILES(struct whatif_options, files)},
	{FLAG_TEXTS("drop", struct whatif_options, drops), .value = "OBJECT"},
	{FLAG_GIVEN("all", 'a', struct whatif_options, all)},
	{FLAG_JSON(struct whatif_options, json)},
	FLAGS_CLUSTER(struct whatif_options),
};

static int finish(void *options, char **word, size_t nwords, struct err *e)
{
	const struct whatif_options *o = options;
	if (nwords > 0)
		return err_set(e, ERR_INVALID,
			"it takes no names, and \"%.60s\" is one; write --set KIND/NAME:PATH=VALUE",
			word[0]);
	if (o->sets.count + o->drops.count + o->files.count == 0)
		return err_set(e, ERR_INVALID,
			"it wants what is to be changed, as in: --set clusterqueue/batch:spec...nominalQuota=80");
	return 0;
}

const struct flag_table whatif_flags = {FLAG_TABLE(rows, struct whatif_options), .finish = finish};
