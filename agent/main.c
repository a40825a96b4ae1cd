#include <stdio.h>
#include <unistd.h>

#include "agent/agent.h"

enum { EXIT_ASKED = 0, EXIT_USAGE = 2 };

static int show(int what)
{
	if (what == FLAGS_VERSION)
		printf("sluice-node %s\n", SLUICE_VERSION);
	for (size_t i = 0; what == FLAGS_HELP && i < NODE_HELP_COUNT; i++)
		fputs(NODE_HELP[i].text, stdout);
	return EXIT_ASKED;
}

int main(int argc, char **argv)
{
	struct node_options o;
	struct err e = {""};
	int shown = node_options_parse(argc, argv, &o, &e);
	if (shown < 0) {
		fprintf(stderr, "sluice-node: %s; see sluice-node --help\n", e.text);
		return EXIT_USAGE;
	}
	if (shown)
		return show(shown);
	struct log *log = log_new(STDERR_FILENO, o.log_format, o.log_level);
	int exit_code = o.lift ? agent_lift(&o, log) : agent_run(&o, log);
	log_free(log);
	return exit_code;
}
