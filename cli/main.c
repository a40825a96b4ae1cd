#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "cli/command_run.h"
#include "cli/commands.h"

/* True for the name under which kubectl asks what may follow `kubectl sluice`. */
static bool is_kubectl_complete(const char *program)
{
	const char *slash = strrchr(program, '/');
	return strcmp(slash ? slash + 1 : program, "kubectl_complete-sluice") == 0;
}

int main(int argc, char **argv)
{
	setlocale(LC_CTYPE, "");
	if (argc > 0 && is_kubectl_complete(argv[0]))
		return command_complete(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "__complete") == 0)
		return command_complete(argc - 2, argv + 2);
	struct err e = {""};
	const struct command_row *row = command_choose(argc, argv, &e);
	if (!row) {
		fprintf(stderr, "sluice: %s; see sluice help\n", e.text);
		return CLI_USAGE;
	}
	const char *new_name;
	if (argc > 1 && command_is_old_name(argv[1], &new_name))
		fprintf(stderr,
			"sluice: \"sluice %s\" is now \"sluice %s\"; the old name will be removed in a later version\n",
			argv[1], new_name);
	bool named = row != &command_table[0];
	return command_run(row, argc - named, argv + named);
}
