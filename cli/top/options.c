#include "cli/top/options.h"

static const struct flag rows[] = {
	{FLAG_ALL_NAMESPACES(struct top_options, all_namespaces)},
	FLAGS_CLUSTER(struct top_options),
};

static int finish(void *options, char **word, size_t nwords, struct err *e)
{
	const struct top_options *o = options;
	if (nwords > 0)
		return err_set(e, ERR_INVALID,
			"it takes no names, and \"%.60s\" is one: / on its screen finds Jobs",
			word[0]);
	return options_check_namespaces(o->namespace_name, o->all_namespaces, e);
}

const struct flag_table top_flags = {FLAG_TABLE(rows, struct top_options), .finish = finish};
