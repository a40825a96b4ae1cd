#include <curl/curl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/help.h"

static int too_many(const struct arguments *a)
{
	fprintf(stderr, "sluice: %s does not know what to do with \"%s\"; see sluice help %s\n",
		command_name(a->command), a->name[command_table[a->command].most_names],
		command_name(a->command));
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
	const struct command_row *row = &command_table[a->command];
	if (a->help || a->command == COMMAND_HELP)
		return help(a);
	if (row->ask && a->nnames > row->most_names)
		return too_many(a);
	if (row->ask)
		return row->ask(a);
	if (row->run) {
		fprintf(stderr, "sluice: %s comes first, as in: sluice %s\n", row->name,
			row->example);
		return CLI_USAGE;
	}
	if (a->command == COMMAND_VERSION) {
		printf("sluice %s\n", SLUICE_VERSION);
		return CLI_OK;
	}
	help_print(COMMAND_NONE, stderr);
	return CLI_USAGE;
}

/* Under that name kubectl asks for what may follow `kubectl sluice`. */
static bool is_kubectl_complete(const char *program)
{
	const char *slash = strrchr(program, '/');
	return strcmp(slash ? slash + 1 : program, "kubectl_complete-sluice") == 0;
}

/* On a command line that could not be read: "" where none is named. */
static const char *named_command(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (command_by_name(argv[i]) != COMMAND_NONE)
			return argv[i];
	return "";
}

int main(int argc, char **argv)
{
	struct arguments a;
	struct err e = {""};
	setlocale(LC_CTYPE, "");
	if (argc > 0 && is_kubectl_complete(argv[0]))
		return command_complete(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "__complete") == 0)
		return command_complete(argc - 2, argv + 2);
	const struct command_row *row = &command_table[argc > 1 ? command_by_name(argv[1]) : 0];
	if (row->run)
		return row->run(argc - 1, argv + 1);
	if (arguments_parse(argc, argv, &a, &e) != 0) {
		const char *name = named_command(argc, argv);
		fprintf(stderr, "sluice: %s; see sluice help%s%s\n", e.text, *name ? " " : "",
			name);
		return CLI_USAGE;
	}
	curl_global_init(CURL_GLOBAL_DEFAULT);
	int exit_code = run(&a);
	curl_global_cleanup();
	return exit_code;
}
