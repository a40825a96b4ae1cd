#include "cli/flags.h"

#include <string.h>

/* An unknown flag is the one behind which getopt stands; a missing value is said by ':'. */
static int wrong_flag(int got, char **argv, struct err *e)
{
	return err_set(e, ERR_INVALID, "%.80s %s", argv[optind - 1],
		got == ':' ? "wants a value" : "is not a flag");
}

int flags_walk(int argc, char **argv, int skip, const char *shorts, const struct option *flags,
	flag_taker *take, void *options, struct err *e)
{
	int rc = 0;
	optind = skip;
	opterr = 0;
	for (int got; rc == 0 && (got = getopt_long(argc, argv, shorts, flags, NULL)) != -1;)
		rc = got == ':' || got == '?' ? wrong_flag(got, argv, e) : take(got, options, e);
	return rc;
}

int flags_last_word(int argc, char **argv, const char **ret, struct err *e)
{
	*ret = optind < argc ? argv[optind++] : NULL;
	if (optind < argc)
		return err_set(e, ERR_INVALID, "\"%.60s\" is one name too many", argv[optind]);
	return 0;
}

int flags_json(const char *text, bool *ret_json, struct err *e)
{
	*ret_json = strcmp(text, "json") == 0;
	if (*ret_json || strcmp(text, "table") == 0)
		return 0;
	return err_set(e, ERR_INVALID, "-o is \"%.40s\"; it must be table or json", text);
}

int flags_file(const char *text, const char **files, size_t *n, size_t max, struct err *e)
{
	if (*n == max)
		return err_set(e, ERR_LIMIT, "more than %zu files; join them", max);
	files[(*n)++] = text;
	return 0;
}

int flags_overcommit_config(const char *text, const char **ret, struct err *e)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789.-/";
	const char *slash = strchr(text, '/');
	*ret = text;
	if (!*text || (slash && slash != text && slash[1] && !strchr(slash + 1, '/') &&
			      strspn(text, allowed) == strlen(text)))
		return 0;
	return err_set(e, ERR_INVALID,
		"--overcommit-config is \"%.100s\"; write NAMESPACE/NAME, or \"\" for none", text);
}
