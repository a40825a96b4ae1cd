#include <curl/curl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/help.h"

/* Commands that parse their own flags and do not ask the controller. */
static const struct own_parser {
	enum command command;
	int (*run)(int argc, char **argv);
	const char *example;
} own_parsers[] = {
	{COMMAND_SIMULATE, command_simulate, "simulate -f queues.yaml"},
	{COMMAND_CALENDAR, command_calendar, "calendar show -f nights.yaml"},
	{COMMAND_OVERCOMMIT, command_overcommit, "overcommit explain worker-1"},
	{COMMAND_DOCTOR, command_doctor, "doctor -o json"},
	{COMMAND_IMPORT, command_import, "import kueue -f -"},
	{COMMAND_ADOPT, command_adopt, "adopt -n team --dry-run"},
	{COMMAND_HOLD, command_hold, "hold job/train -n team"},
	{COMMAND_RELEASE, command_hold, "release job/train -n team"},
	{COMMAND_MOVE, command_move, "move job/train --queue night"},
	{COMMAND_PRIORITY, command_priority, "priority job/train high"},
	{COMMAND_JOBS, command_jobs, "jobs -n team"},
};

static const struct own_parser *own_parser_of(const char *name)
{
	for (size_t i = 0; i < sizeof(own_parsers) / sizeof(*own_parsers); i++)
		if (strcmp(name, command_name(own_parsers[i].command)) == 0)
			return &own_parsers[i];
	return NULL;
}

static int too_many(const struct arguments *a, size_t most)
{
	if (a->nnames <= most)
		return 0;
	fprintf(stderr, "sluice: %s does not know what to do with \"%s\"; see sluice help %s\n",
		command_name(a->command), a->name[most], command_name(a->command));
	return CLI_USAGE;
}

static int help(const struct arguments *a)
{
	enum command about = a->command == COMMAND_HELP ? COMMAND_NONE : a->command;
	if (a->command == COMMAND_HELP && a->nnames > 0) {
		about = command_by_name(a->name[0]);
		if (about == COMMAND_NONE) {
			fprintf(stderr, "sluice: there is no command \"%s\"; see sluice help\n",
				a->name[0]);
			return CLI_USAGE;
		}
	}
	help_print(about, stdout);
	return CLI_OK;
}

struct round {
	const struct arguments *arguments;
	int (*command)(const struct arguments *a);
};

static int run_round(void *ctx)
{
	const struct round *r = ctx;
	return r->command(r->arguments);
}

static int repeat(const struct arguments *a, int (*command)(const struct arguments *a))
{
	return command_repeat(a->watch, run_round, &(struct round){a, command});
}

static int run(const struct arguments *a)
{
	int wrong = 0;
	if (a->help)
		return help(a);
	if (a->watch && a->command != COMMAND_QUEUE && a->command != COMMAND_EXPLAIN) {
		fputs("sluice: --watch is for jobs, queue and explain\n", stderr);
		return CLI_USAGE;
	}
	switch (a->command) {
	case COMMAND_QUEUE:
		wrong = too_many(a, 1);
		return wrong ? wrong : command_queue(a);
	case COMMAND_EXPLAIN:
		wrong = too_many(a, 2);
		return wrong ? wrong : repeat(a, command_explain);
	case COMMAND_DECISIONS:
		wrong = too_many(a, 0);
		return wrong ? wrong : command_decisions(a);
	case COMMAND_COST:
		wrong = too_many(a, 0);
		return wrong ? wrong : command_cost(a);
	case COMMAND_SIMULATE:
	case COMMAND_CALENDAR:
	case COMMAND_OVERCOMMIT:
	case COMMAND_DOCTOR:
	case COMMAND_IMPORT:
	case COMMAND_ADOPT:
	case COMMAND_HOLD:
	case COMMAND_RELEASE:
	case COMMAND_MOVE:
	case COMMAND_PRIORITY:
	case COMMAND_JOBS:
		fprintf(stderr, "sluice: %s comes first, as in: sluice %s\n",
			command_name(a->command), own_parser_of(command_name(a->command))->example);
		return CLI_USAGE;
	case COMMAND_VERSION:
		printf("sluice %s\n", SLUICE_VERSION);
		return CLI_OK;
	case COMMAND_HELP:
		return help(a);
	case COMMAND_NONE:
	case COMMANDS:
		break;
	}
	help_print(COMMAND_NONE, stderr);
	return CLI_USAGE;
}

int main(int argc, char **argv)
{
	struct arguments a;
	struct err e = {""};
	setlocale(LC_CTYPE, "");
	const struct own_parser *own = argc > 1 ? own_parser_of(argv[1]) : NULL;
	if (own)
		return own->run(argc - 1, argv + 1);
	if (arguments_parse(argc, argv, &a, &e) != 0) {
		fprintf(stderr, "sluice: %s; see sluice help\n", e.text);
		return CLI_USAGE;
	}
	curl_global_init(CURL_GLOBAL_DEFAULT);
	int exit_code = run(&a);
	curl_global_cleanup();
	return exit_code;
}
