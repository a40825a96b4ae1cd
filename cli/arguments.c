#include "cli/arguments.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "cli/flags.h"

static const char *const command_names[COMMANDS] = {
	[COMMAND_NONE] = "",
	[COMMAND_QUEUE] = "queue",
	[COMMAND_JOBS] = "jobs",
	[COMMAND_EXPLAIN] = "explain",
	[COMMAND_DECISIONS] = "decisions",
	[COMMAND_COST] = "cost",
	[COMMAND_SIMULATE] = "simulate",
	[COMMAND_CALENDAR] = "calendar",
	[COMMAND_OVERCOMMIT] = "overcommit",
	[COMMAND_DOCTOR] = "doctor",
	[COMMAND_IMPORT] = "import",
	[COMMAND_ADOPT] = "adopt",
	[COMMAND_HOLD] = "hold",
	[COMMAND_RELEASE] = "release",
	[COMMAND_MOVE] = "move",
	[COMMAND_PRIORITY] = "priority",
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

static int take_output(const char *text, void *arguments, struct err *e)
{
	struct arguments *a = arguments;
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
			"-o is \"%.60s\"; it must be table, wide or json (of cost: table, csv or json)",
			text);
	return 0;
}

static int take_server(const char *text, void *arguments, struct err *e)
{
	struct arguments *a = arguments;
	if (strncmp(text, "http://", 7) != 0 && strncmp(text, "https://", 8) != 0)
		return err_set(e, ERR_INVALID,
			"the server is \"%.200s\" (--server or SLUICE_SERVER); it must be a URL such as " DEFAULT_SERVER,
			text);
	a->server = text;
	a->server_given = true;
	return 0;
}

static int take_namespace(const char *text, void *arguments, struct err *e)
{
	struct arguments *a = arguments;
	a->namespace_name = text;
	return text[0] ? 0 : err_set(e, ERR_INVALID, "-n is empty; name a namespace");
}

static int take_ca_file(const char *text, void *arguments, struct err *e)
{
	((struct arguments *)arguments)->ca_file = text;
	return text[0] ? 0
		       : err_set(e, ERR_INVALID, "--ca-file is empty; name a file of certificates");
}

static int take_insecure(const char *text, void *arguments, struct err *e)
{
	(void)text;
	(void)e;
	((struct arguments *)arguments)->insecure = true;
	return 0;
}

/* getopt_long() takes abbreviations: none may turn the verification off. */
static int check_insecure(int argc, char **argv, const struct arguments *a, struct err *e)
{
	bool spelled = false;
	for (int i = 1; i < argc; i++)
		spelled |= strcmp(argv[i], "--insecure-skip-tls-verify") == 0;
	if (a->insecure && !spelled)
		return err_set(e, ERR_INVALID, "--insecure-skip-tls-verify must be spelled out");
	if (a->insecure && a->ca_file)
		return err_set(e, ERR_INVALID,
			"--insecure-skip-tls-verify and --ca-file (or SLUICE_CA_FILE) exclude each other");
	return 0;
}

static int take_version(const char *text, void *arguments, struct err *e)
{
	(void)text;
	(void)e;
	((struct arguments *)arguments)->command = COMMAND_VERSION;
	return 0;
}

static const struct flag flags[] = {
	{FLAG_TAKE("namespace", 'n', take_namespace)},
	{FLAG_GIVEN("all-namespaces", 'A', struct arguments, all_namespaces)},
	{FLAG_TAKE("output", 'o', take_output)},
	{FLAG_GIVEN("follow", 'f', struct arguments, follow)},
	{FLAG_GIVEN("watch", 'w', struct arguments, watch)},
	{FLAG_GIVEN("help", 'h', struct arguments, help)},
	{FLAG_TAKE("server", 0, take_server)},
	{FLAG_TEXT("token-file", struct arguments, token_file)},
	{FLAG_TAKE("ca-file", 0, take_ca_file)},
	{"insecure-skip-tls-verify", 0, true, take_insecure, 0},
	{FLAG_KUBECONFIG(struct arguments, kube)},
	{FLAG_CONTEXT(struct arguments, kube)},
	{"version", 0, true, take_version, 0},
	{FLAG_TEXT("by", struct arguments, by)},
	{FLAG_TEXT("since", struct arguments, since)},
	{FLAG_TEXT("until", struct arguments, until)},
};

static int take_names(int argc, char **argv, struct arguments *a, struct err *e)
{
	if (optind < argc && a->command == COMMAND_NONE) {
		a->command = command_by_name(argv[optind]);
		if (a->command == COMMAND_NONE)
			return err_set(e, ERR_INVALID,
				"there is no command \"%.60s\"; sluice help lists the commands",
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
		int rc = take_server(env, &a, e);
		if (rc)
			return rc;
	}
	env = getenv("SLUICE_CA_FILE");
	a.ca_file = env && env[0] ? env : NULL;
	int rc = flags_walk(argc, argv, 1, flags, sizeof(flags) / sizeof(*flags), &a, e);
	if (rc)
		return rc;
	rc = check_insecure(argc, argv, &a, e);
	if (rc == 0)
		rc = take_names(argc, argv, &a, e);
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
