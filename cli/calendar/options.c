#include "cli/calendar/options.h"

#include <stdio.h>
#include <string.h>

#include "base/must.h"
#include "base/slice.h"
#include "calendar/notation.h"
#include "cli/flags.h"

enum {
	OPT_AT = 256,
	OPT_KUBECONFIG,
	OPT_CONTEXT,
	OPT_CONFIG_NAMESPACE,
	OPT_TZ,
	OPT_YEARS,
	OPT_TREAT_AS,
	OPT_NAME
};

static const struct option flags[] = {
	{"filename", required_argument, NULL, 'f'},
	{"output", required_argument, NULL, 'o'},
	{"at", required_argument, NULL, OPT_AT},
	{"tz", required_argument, NULL, OPT_TZ},
	{"years", required_argument, NULL, OPT_YEARS},
	{"treat-as", required_argument, NULL, OPT_TREAT_AS},
	{"name", required_argument, NULL, OPT_NAME},
	{"kubeconfig", required_argument, NULL, OPT_KUBECONFIG},
	{"context", required_argument, NULL, OPT_CONTEXT},
	{"config-namespace", required_argument, NULL, OPT_CONFIG_NAMESPACE},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int take_years(const char *text, struct calendar_options *o, struct err *e)
{
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

static int take_treat_as(const char *text, struct calendar_options *o, struct err *e)
{
	int weekday;
	o->treat_as = text;
	if (strcmp(text, "Open") == 0 || strcmp(text, "Closed") == 0 ||
		notation_weekday(slice_of(text), &weekday, NULL) == 0)
		return 0;
	return err_set(e, ERR_INVALID,
		"--treat-as is \"%.40s\"; it must be Open, Closed or a weekday", text);
}

static int take_output(const char *text, struct calendar_options *o, struct err *e)
{
	static const char *const names[] = {"table", "json", "yaml", "dates"};
	bool import = o->verb == CALENDAR_IMPORT;
	for (int i = 0; i < 4; i++)
		if (strcmp(text, names[i]) == 0 && (i >= 2) == import) {
			o->output = (enum calendar_output)i;
			return 0;
		}
	return err_set(e, ERR_INVALID, "-o is \"%.40s\"; it must be %s", text,
		import ? "yaml or dates" : "table or json");
}

static int take(int flag, void *options, struct err *e)
{
	struct calendar_options *o = options;
	switch (flag) {
	case 'f':
		return flags_file(optarg, o->file, &o->nfiles, CALENDAR_FILES_MAX, e);
	case 'o':
		return take_output(optarg, o, e);
	case OPT_KUBECONFIG:
		o->kubeconfig = optarg;
		return 0;
	case OPT_CONTEXT:
		o->context = optarg;
		return 0;
	case OPT_CONFIG_NAMESPACE:
		o->config_namespace = optarg;
		return 0;
	case OPT_AT:
		o->at = optarg;
		return 0;
	case OPT_TZ:
		o->tz = optarg;
		return 0;
	case OPT_YEARS:
		return take_years(optarg, o, e);
	case OPT_TREAT_AS:
		return take_treat_as(optarg, o, e);
	case OPT_NAME:
		o->exception = optarg;
		return 0;
	case 'h':
		o->verb = CALENDAR_HELP;
		return 0;
	default:
		must_not_get_here();
	}
}

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
	if (o->nfiles > 0 && (o->kubeconfig || o->context))
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
		rc = flags_walk(argc, argv, verb ? 2 : 1, ":f:o:h", flags, take, &o, e);
	if (rc == 0)
		rc = flags_last_word(argc, argv, &o.name, e);
	if (rc == 0)
		rc = check(&o, e);
	if (rc == 0)
		*ret = o;
	return rc;
}
