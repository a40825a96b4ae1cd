/*
 * The command completion, which prints a script for a shell, and what such a script asks.
 */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/completion/candidates.h"
#include "cli/completion/cluster_names.h"
#include "cli/completion/scripts.h"
#include "cli/help.h"

enum { ANSWER_MAX_BYTES = 2 * 1024 * 1024 };

struct completion_options {
	bool help;
	const char *shell;
};

static const struct flag flags[] = {{FLAG_GIVEN("help", 'h', struct completion_options, help)}};

const struct flag_table completion_flags = {FLAG_TABLE(flags)};

static int parse(int argc, char **argv, struct completion_options *o, struct err *e)
{
	int rc = flags_walk(argc, argv, 1, &completion_flags, o, e);
	return rc < 0 ? rc : flags_last_word(argc, argv, &o->shell, e);
}

static const char *script_of(const char *shell)
{
	char path[32];
	snprintf(path, sizeof(path), "sluice.%.20s", shell);
	for (size_t i = 0; i < COMPLETION_SCRIPTS_COUNT; i++)
		if (strcmp(COMPLETION_SCRIPTS[i].path, path) == 0)
			return COMPLETION_SCRIPTS[i].text;
	return NULL;
}

static int usage(const char *sentence)
{
	fprintf(stderr, "sluice: completion: %s; see sluice help completion\n", sentence);
	return CLI_USAGE;
}

int command_completion(int argc, char **argv)
{
	struct completion_options o = {.shell = NULL};
	struct err e = {""};
	if (parse(argc, argv, &o, &e) < 0)
		return usage(e.text);
	if (o.help) {
		help_print(COMMAND_COMPLETION, stdout);
		return CLI_OK;
	}
	const char *script = o.shell ? script_of(o.shell) : NULL;
	if (!script)
		return usage("name a shell: bash, zsh or fish");
	fputs(script, stdout);
	return CLI_OK;
}

int command_complete(int argc, char **argv)
{
	struct buf out;
	buf_init(&out, ANSWER_MAX_BYTES);
	completion_candidates(argv, (size_t)argc, cluster_names, &out);
	fputs(buf_text(&out), stdout);
	buf_done(&out);
	return CLI_OK;
}
