#include "cli/arguments.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"

enum {
	OPT_SERVER = 256,
	OPT_TOKEN_FILE,
	OPT_KUBECONFIG,
	OPT_CONTEXT,
	OPT_VERSION,
	OPT_BY,
	OPT_SINCE,
	OPT_UNTIL,
};

static const struct option flags[] = {
	{"namespace", required_argument, NULL, 'n'},
	{"all-namespaces", no_argument, NULL, 'A'},
	{"output", required_argument, NULL, 'o'},
	{"follow", no_argument, NULL, 'f'},
	{"help", no_argument, NULL, 'h'},
	{"server", required_argument, NULL, OPT_SERVER},
	{"token-file", required_argument, NULL, OPT_TOKEN_FILE},
	{"kubeconfig", required_argument, NULL, OPT_KUBECONFIG},
	{"context", required_argument, NULL, OPT_CONTEXT},
	{"version", no_argument, NULL, OPT_VERSION},
	{"by", required_argument, NULL, OPT_BY},
	{"since", required_argument, NULL, OPT_SINCE},
	{"until", required_argument, NULL, OPT_UNTIL},
	{NULL, 0, NULL, 0},
};

static const char *const command_names[COMMANDS] = {
	[COMMAND_NONE] = "",
	[COMMAND_QUEUE] = "queue",
	[COMMAND_EXPLAIN] = "explain",
	[COMMAND_DECISIONS] = "decisions",
	[COMMAND_COST] = "cost",
	[COMMAND_SIMULATE] = "simulate",
	[COMMAND_CALENDAR] = "calendar",
	[COMMAND_OVERCOMMIT] = "overcommit",
	[COMMAND_DOCTOR] = "doctor",
	[COMMAND_VERSION] = "version",
	[COMMAND_HELP] = "help",
};

const char *command_name(enum command c)
{
	must(c >= COMMAND_NONE && c < COMMANDS);
	return command_names[c];
}

enum command command_by_name(const char *name)
{
	if (strcmp(name, "queues") == 0)
		return COMMAND_QUEUE;
	for (int c = COMMAND_QUEUE; c < COMMANDS; c++)
		if (strcmp(command_names[c], name) == 0)
			return (enum command)c;
	return COMMAND_NONE;
}

static int parse_output(const char *text, struct arguments *a, struct err *e)
{
	if (strcmp(text, "table") == 0)
		a->output = OUTPUT_TABLE;
	else if (strcmp(text, "wide") == 0)
		a->output = OUTPUT_WIDE;
	else if (strcmp(text, "json") == 0)
		a->output = OUTPUT_JSON;
	else if (strcmp(text, "csv") == 0)
		a->output = OUTPUT_CSV;
	else
		return err_set(e, ERR_INVALID,
			"-o is \"%.60s\"; it must be table, wide or json (of cost: table, csv or "
			"json)",
			text);
	return 0;
}

static int parse_server(const char *text, struct arguments *a, struct err *e)
{
	if (strncmp(text, "http://", 7) != 0 && strncmp(text, "https://", 8) != 0)
		return err_set(e, ERR_INVALID,
			"the server is \"%.200s\" (--server or SLUICE_SERVER); it must be a URL "
			"such as " DEFAULT_SERVER,
			text);
	a->server = text;
	a->server_given = true;
	return 0;
}

static int apply_flag(int flag, const char *arg, struct arguments *a, struct err *e)
{
	switch (flag) {
	case 'n':
		a->namespace_name = arg;
		return arg[0] ? 0 : err_set(e, ERR_INVALID, "-n is empty; name a namespace");
	case 'A':
		a->all_namespaces = true;
		return 0;
	case 'o':
		return parse_output(arg, a, e);
	case 'f':
		a->follow = true;
		return 0;
	case 'h':
		a->help = true;
		return 0;
	case OPT_SERVER:
		return parse_server(arg, a, e);
	case OPT_TOKEN_FILE:
		a->token_file = arg;
		return 0;
	case OPT_KUBECONFIG:
		a->kubeconfig = arg;
		return 0;
	case OPT_CONTEXT:
		a->context = arg;
		return 0;
	case OPT_VERSION:
		a->command = COMMAND_VERSION;
		return 0;
	case OPT_BY:
		a->by = arg;
		return 0;
	case OPT_SINCE:
		a->since = arg;
		return 0;
	case OPT_UNTIL:
		a->until = arg;
		return 0;
	default:
		must_not_get_here();
	}
	return 0;
}

static int unknown_flag(int argc, char **argv, int got, struct err *e)
{
	const char *arg = optind > 0 && optind <= argc ? argv[optind - 1] : "?";
	if (got == ':')
		return err_set(e, ERR_INVALID, "%.80s wants a value", arg);
	if (optopt > 0 && optopt < 256)
		return err_set(e, ERR_INVALID, "-%c is not a flag", optopt);
	if (optopt >= 256)
		return err_set(e, ERR_INVALID, "%.80s: this flag takes no value", arg);
	return err_set(e, ERR_INVALID, "%.80s is not a flag, or short for more than one", arg);
}

static int take_names(int argc, char **argv, struct arguments *a, struct err *e)
{
	if (optind < argc && a->command == COMMAND_NONE) {
		a->command = command_by_name(argv[optind]);
		if (a->command == COMMAND_NONE)
			return err_set(e, ERR_INVALID,
				"there is no command \"%.60s\"; the commands are queue, explain, "
				"decisions, cost, simulate, calendar, overcommit, doctor, version "
				"and "
				"help",
				argv[optind]);
		optind++;
	}
	for (; optind < argc; optind++) {
		if (a->nnames == NAMES_MAX)
			return err_set(
				e, ERR_INVALID, "\"%.60s\" is one name too many", argv[optind]);
		a->name[a->nnames++] = argv[optind];
	}
	return 0;
}

/* What is cost's alone, and what is not cost's. */
static int check_command(const struct arguments *a, struct err *e)
{
	bool cost = a->command == COMMAND_COST;
	const char *only = a->by ? "--by" : a->since ? "--since" : a->until ? "--until" : NULL;
	if (only && !cost && a->command != COMMAND_HELP && !a->help)
		return err_set(e, ERR_INVALID, "%s is a flag of cost alone", only);
	if (a->output == OUTPUT_CSV && !cost)
		return err_set(e, ERR_INVALID, "-o csv is for cost alone");
	if (a->output == OUTPUT_WIDE && cost)
		return err_set(e, ERR_INVALID, "-o wide is not for cost: table, csv or json");
	return 0;
}

int arguments_parse(int argc, char **argv, struct arguments *ret, struct err *e)
{
	struct arguments a = {.server = DEFAULT_SERVER};
	const char *env = getenv("SLUICE_SERVER");
	if (env && env[0]) {
		int rc = parse_server(env, &a, e);
		if (rc)
			return rc;
	}
	optind = 0;
	opterr = 0;
	for (int flag; (flag = getopt_long(argc, argv, ":n:Ao:fh", flags, NULL)) != -1;) {
		if (flag == '?' || flag == ':')
			return unknown_flag(argc, argv, flag, e);
		int rc = apply_flag(flag, optarg, &a, e);
		if (rc)
			return rc;
	}
	int rc = take_names(argc, argv, &a, e);
	if (rc)
		return rc;
	if (a.namespace_name && a.all_namespaces)
		return err_set(e, ERR_INVALID, "-n and -A exclude each other");
	rc = check_command(&a, e);
	if (rc)
		return rc;
	*ret = a;
	return 0;
}
