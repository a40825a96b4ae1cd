#include <curl/curl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/help.h"

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

static int run(const struct arguments *a)
{
	int wrong = 0;
	if (a->help)
		return help(a);
	switch (a->command) {
	case COMMAND_QUEUE:
		wrong = too_many(a, 1);
		return wrong ? wrong : command_queue(a);
	case COMMAND_EXPLAIN:
		wrong = too_many(a, 2);
		return wrong ? wrong : command_explain(a);
	case COMMAND_DECISIONS:
		wrong = too_many(a, 0);
		return wrong ? wrong : command_decisions(a);
	case COMMAND_COST:
		wrong = too_many(a, 0);
		return wrong ? wrong : command_cost(a);
	case COMMAND_SIMULATE:
		fputs("sluice: simulate comes first, as in: sluice simulate -f queues.yaml\n",
			stderr);
		return CLI_USAGE;
	case COMMAND_CALENDAR:
		fputs("sluice: calendar comes first, as in: sluice calendar show -f nights.yaml\n",
			stderr);
		return CLI_USAGE;
	case COMMAND_OVERCOMMIT:
		fputs("sluice: overcommit comes first, as in: sluice overcommit explain worker-1\n",
			stderr);
		return CLI_USAGE;
	case COMMAND_DOCTOR:
		fputs("sluice: doctor comes first, as in: sluice doctor -o json\n", stderr);
		return CLI_USAGE;
	case COMMAND_IMPORT:
		fputs("sluice: import comes first, as in: sluice import kueue -f -\n", stderr);
		return CLI_USAGE;
	case COMMAND_ADOPT:
		fputs("sluice: adopt comes first, as in: sluice adopt -n team --dry-run\n", stderr);
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
	/* They have flags of their own, and no controller to ask. */
	if (argc > 1 && strcmp(argv[1], command_name(COMMAND_SIMULATE)) == 0)
		return command_simulate(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], command_name(COMMAND_CALENDAR)) == 0)
		return command_calendar(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], command_name(COMMAND_OVERCOMMIT)) == 0)
		return command_overcommit(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], command_name(COMMAND_DOCTOR)) == 0)
		return command_doctor(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], command_name(COMMAND_IMPORT)) == 0)
		return command_import(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], command_name(COMMAND_ADOPT)) == 0)
		return command_adopt(argc - 1, argv + 1);
	if (arguments_parse(argc, argv, &a, &e) != 0) {
		fprintf(stderr, "sluice: %s; see sluice help\n", e.text);
		return CLI_USAGE;
	}
	curl_global_init(CURL_GLOBAL_DEFAULT);
	int exit_code = run(&a);
	curl_global_cleanup();
	return exit_code;
}
