#include "cli/doctor/options.h"

#include <stdlib.h>
#include <string.h>

#include "cli/doctor/checks.h"

/* Reads seconds with their unit, "30s". */
static bool read_settle(const char *text, int64_t *ret)
{
	char *end;
	*ret = strtoll(text, &end, 10) * 1000;
	return end != text && strcmp(end, "s") == 0;
}

static const struct flag rows[] = {
	{FLAG_JSON(struct doctor_options, json)},
	{FLAG_TEXT("database", struct doctor_options, database)},
	{FLAG_TEXT("cell", struct doctor_options, cell)},
	{FLAG_OVERCOMMIT_CONFIG(struct doctor_options, configmap)},
	{FLAG_TEXTS("ignore", struct doctor_options, ignored), .value = "CHECK"},
	{FLAG_COUNT("settle", struct doctor_options, settle_ms, 0, 600000), .read = read_settle,
		.must_be = "from 0s to 600s"},
	FLAGS_CLUSTER(struct doctor_options),
};

/* Returns "" if a PG* variable names a database, else NULL. libpq alone would try a server on this
 * machine, which nobody named. */
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

static void begin(void *options)
{
	struct doctor_options *o = options;
	o->database = database_of_environment();
	o->cell = "default";
	o->namespace_name = "sluice-system";
	o->configmap = "kube-system/ack-slo-config";
	o->settle_ms = 5000;
}

static int finish(void *options, char **word, size_t nwords, struct err *e)
{
	const struct doctor_options *o = options;
	if (nwords > 0)
		return err_set(e, ERR_INVALID, "\"%.60s\" is one name too many", word[0]);
	for (size_t i = 0; i < o->ignored.count; i++)
		if (!checks_has(o->ignored.text[i]))
			return err_set(e, ERR_INVALID,
				"--ignore is \"%.60s\", and there is no such check",
				o->ignored.text[i]);
	return 0;
}

const struct flag_table doctor_flags = {
	FLAG_TABLE(rows, struct doctor_options), .begin = begin, .finish = finish};
