#include "cli/options.h"

#include <string.h>

#define OUTPUTS "table|wide|json|csv|name"

int options_output(const struct flag *f, const char *text, void *to, struct err *e)
{
	(void)f;
	(void)e; /* the walk has checked it */
	*(enum output *)to = (enum output)flag_choice(OUTPUTS, text);
	return 0;
}

int options_check_namespaces(const char *namespace_name, bool all, struct err *e)
{
	return namespace_name && all ? err_set(e, ERR_INVALID, "-n and -A exclude each other") : 0;
}

const char *options_job_name(char *const *word, size_t nwords)
{
	static const char *const kinds[] = {"job", "jobs", "job.batch", "jobs.batch"};
	const char *slash = nwords > 0 ? strchr(word[0], '/') : NULL;
	size_t len = slash ? (size_t)(slash - word[0]) : nwords > 0 ? strlen(word[0]) : 0;
	bool is_kind = false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		is_kind |= strlen(kinds[i]) == len && strncmp(word[0], kinds[i], len) == 0;
	if (nwords == 1 && slash)
		return is_kind && slash[1] && !strchr(slash + 1, '/') ? slash + 1 : NULL;
	if (nwords == 2 && !slash && is_kind)
		return word[1];
	return nwords == 1 && word[0][0] ? word[0] : NULL;
}

int options_job(
	char *const *word, size_t nwords, const char *wants, const char **ret, struct err *e)
{
	*ret = options_job_name(word, nwords);
	if (!*ret)
		return err_set(e, ERR_INVALID, "it wants %s", wants);
	return flag_check_name("JOB", *ret, e);
}
