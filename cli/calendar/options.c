#include "cli/calendar/options.h"

#include <stdio.h>
#include <string.h>

#include "base/slice.h"
#include "queue/calendar/notation.h"
#include "cli/flags.h"

#define OUTPUTS "table|json|yaml|dates" /* as enum calendar_output has them */

static int take_years(const char *text, void *options, struct err *e)
{
	struct calendar_options *o = options;
	char more;
	int n = sscanf(text, "%4d..%4d%c", &o->first_year, &o->last_year, &more);
	if (n == 1 && !strstr(text, "."))
		o->last_year = o->first_year;
	else if (n != 2)
		o->first_year = 0;
	if (o->first_year < CALENDAR_FIRST_YEAR || o->last_year > CALENDAR_LAST_YEAR ||
		o->last_year < o->first_year)
		return err_set(e, ERR_INVALID,
			"--years is \"%.40s\"; write e.g. 2026 or 2026..2030, of 1970 to 2100",
			text);
	return 0;
}

static int take_treat_as(const char *text, void *options, struct err *e)
{
	struct calendar_options *o = options;
	int weekday;
	o->treat_as = text;
	if (strcmp(text, "Open") == 0 || strcmp(text, "Closed") == 0 ||
		notation_weekday(slice_of(text), &weekday, NULL) == 0)
		return 0;
	return err_set(e, ERR_INVALID,
		"--treat-as is \"%.40s\"; it must be Open, Closed or a weekday", text);
}

static int take_output(const char *text, void *options, struct err *e)
{
	struct calendar_options *o = options;
	bool import = o->verb == CALENDAR_IMPORT;
	o->output = (enum calendar_output)flag_choice(OUTPUTS, text);
	if ((o->output >= CALENDAR_YAML) == import)
		return 0;
	return err_set(e, ERR_INVALID, "-o is \"%.40s\"; it must be %s", text,
		import ? "yaml or dates" : "table or json");
}

static int take_help(const char *text, void *options, struct err *e)
{
	(void)text;
	(void)e;
	((struct calendar_options *)options)->verb = CALENDAR_HELP;
	return 0;
}

static const struct flag flags[] = {
	{FLAG_FILES(struct calendar_options, files)},
	{FLAG_TAKE("output", 'o', take_output), .value = OUTPUTS},
	{FLAG_TEXT("at", struct calendar_options, at)},
	{FLAG_TEXT("tz", struct calendar_options, tz)},
	{FLAG_TAKE("years", 0, take_years)},
	{FLAG_TAKE("treat-as", 0, take_treat_as),
		.value =
			"Open|Closed|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|..."},
	{FLAG_TEXT("name", struct calendar_options, exception)},
	{FLAG_KUBECONFIG(struct calendar_options, kube)},
	{FLAG_CONTEXT(struct calendar_options, kube)},
	{FLAG_TEXT("config-namespace", struct calendar_options, config_namespace),
		.value = "NAMESPACE"},
	{FLAG_ALONE("help", 'h', take_help)},
};

const struct flag_table calendar_flags = {FLAG_TABLE(flags)};

static int take_verb(const char *text, struct calendar_options *o, struct err *e)
{
	static const char *const verbs[] = {"show", "test", "import"};
	for (int i = 0; i < 3; i++)
		if (strcmp(text, verbs[i]) == 0) {
			o->verb = (enum calendar_verb)i;
			return 0;
		}
	return err_set(e, ERR_INVALID, "\"%.40s\" is neither show, test nor import", text);
}

static int check(const struct calendar_options *o, struct err *e)
{
	if (o->verb == CALENDAR_IMPORT && !o->name)
		return err_set(e, ERR_INVALID, "import wants a file, as in: import holidays.ics");
	if (o->files.count > 0 && (o->kube.kubeconfig || o->kube.context))
		return err_set(e, ERR_INVALID,
			"-f asks no API server, so --kubeconfig and --context say nothing");
	if (o->verb == CALENDAR_TEST && !o->at)
		return err_set(e, ERR_INVALID, "test wants a time, as in: --at 2026-03-29T02:30");
	return 0;
}

int calendar_options_parse(int argc, char **argv, struct calendar_options *ret, struct err *e)
{
	struct calendar_options o = {.verb = CALENDAR_HELP,
		.config_namespace = "sluice-system",
		.exception = "holidays",
		.treat_as = "Sunday"};
	bool verb = argc > 1 && argv[1][0] != '-';
	int rc = verb ? take_verb(argv[1], &o, e) : 0;
	if (o.verb == CALENDAR_IMPORT)
		o.output = CALENDAR_YAML;
	if (rc == 0)
		rc = flags_walk(argc, argv, verb ? 2 : 1, &calendar_flags, &o, e);
	if (rc == 0)
		rc = flags_last_word(argc, argv, &o.name, e);
	if (rc == 0)
		rc = check(&o, e);
	if (rc == 0)
		*ret = o;
	return rc;
}
