#include <stdio.h>
#include <unistd.h>

#include "controller/controller.h"
#include "controller/migrate.h"

int main(int argc, char **argv)
{
	struct options o;
	struct err e = {""};
	int shown = options_parse(argc, argv, &o, &e);
	if (shown < 0) {
		fprintf(stderr, "sluice-controller: %s; see sluice-controller --help\n", e.text);
		return EXIT_USAGE;
	}
	if (shown) {
		if (shown == FLAGS_HELP)
			options_print_help(stdout);
		else
			options_print_version(stdout);
		options_done(&o);
		return EXIT_ASKED;
	}
	struct log *log = log_new(STDERR_FILENO, o.log_format, o.log_level);
	int exit_code = o.migrate_only ? migrate_run(&o, log) : controller_run(&o, log);
	log_free(log);
	options_done(&o);
	return exit_code;
}
