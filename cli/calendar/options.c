#include "cli/calendar/options.h"

#include <stdio.h>
#include <string.h>

#include "base/slice.h"
#include "queue/calendar/notation.h"

#define VERBS "show|test|import"	/* as enum calendar_verb has them */
#define OUTPUTS "table|json|yaml|dates" /* as enum calendar_output has them */

static int take_years(const struct flag *f, const char *text, void *options, struct err *e)
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
		return flag_refuse(f, text, e);
	return 0;
}

static int take_treat_as(const struct flag *f, const char *text, void *options, struct err *e)
{
	struct calendar_options *o = options;
	int weekday;
	o->treat_as = text;
	if (strcmp(text, "Open") == 0 || strcmp(text, "Closed") == 0 ||
		notation_weekday(slice_of(text), &weekday, NULL) == 0)
		return 0;
	return flag_refuse(f, text, e);
}

static int take_output(const struct flag *f, const char *text, void *options, struct err *e)
{
	struct calendar_options *o = options;
	(void)e;
	o->output = (enum calendar_output)flag_choice(f->value, text);
	o->output_text = text;
	return 0;
}

static const struct flag rows[] = {
	{FLAG_FILES(struct calendar_options, files)},
	{FLAG_TAKE("output", 'o', take_output), .value = OUTPUTS},
	{FLAG_TEXT("at", struct calendar_options, at)},
	{FLAG_TEXT("tz", struct calendar_options, tz)},
	{FLAG_TAKE("years", 0, take_years),
		.must_be = "years of 1970 to 2100, such as 2026 or 2026..2030"},
	{FLAG_TAKE("treat-as", 0, take_treat_as), .must_be = "Open, Closed or a weekday",
		.value =
			"Open|Closed|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|..."},
	{FLAG_TEXT("name", struct calendar_options, exception)},
	{FLAG_TEXT("config-namespace", struct calendar_options, config_namespace),
		.value = "NAMESPACE"},
	FLAGS_KUBE(struct calendar_options, kube),
};

static void begin(void *options)
{
	struct calendar_options *o = options;
	o->config_namespace = "sluice-system";
	o->exception = "holidays";
	o->treat_as = "Sunday";
}

static int check_output(struct calendar_options *o, struct err *e)
{
	bool import = o->verb == CALENDAR_IMPORT;
	if (import && !o->output_text)
		o->output = CALENDAR_YAML;
	if ((o->output >= CALENDAR_YAML) == import)
		return 0;
	return err_set(e, ERR_INVALID, "-o is \"%.40s\"; it must be %s", o->output_text,
		import ? "yaml or dates" : "table or json");
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

static int finish(void *options, char **word, size_t nwords, struct err *e)
{
	struct calendar_options *o = options;
	if (nwords == 0)
		return FLAGS_HELP;
	int verb = flag_choice(VERBS, word[0]);
	if (verb < 0)
		return err_set(
			e, ERR_INVALID, "\"%.40s\" is neither show, test nor import", word[0]);
	o->verb = (enum calendar_verb)verb;
	int rc = check_output(o, e);
	if (rc == 0)
		rc = flags_one_word(word + 1, nwords - 1, &o->name, e);
	return rc == 0 ? check(o, e) : rc;
}

const struct flag_table calendar_flags = {
	FLAG_TABLE(rows, struct calendar_options), .begin = begin, .finish = finish};
