/*
 * The command completion: prints a script for a shell, and answers what such a script asks.
 */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/completion/candidates.h"
#include "cli/completion/cluster_names.h"
#include "cli/completion/scripts.h"

enum { ANSWER_MAX_BYTES = 2 * 1024 * 1024 };

static const char *script_of(const char *shell)
{
	char path[32];
	snprintf(path, sizeof(path), "sluice.%.20s", shell);
	for (size_t i = 0; i < COMPLETION_SCRIPTS_COUNT; i++)
		if (strcmp(COMPLETION_SCRIPTS[i].path, path) == 0)
			return COMPLETION_SCRIPTS[i].text;
	return NULL;
}

static int finish(void *options, char **word, size_t nwords, struct err *e)
{
	const char **script = options, *shell;
	int rc = flags_one_word(word, nwords, &shell, e);
	if (rc < 0)
		return rc;
	*script = shell ? script_of(shell) : NULL;
	return *script ? 0 : err_set(e, ERR_INVALID, "name a shell: bash, zsh or fish");
}

static const struct flag rows[] = {{FLAG_HELP}};

const struct flag_table completion_flags = {FLAG_TABLE(rows, const char *), .finish = finish};

int command_completion(void *options)
{
	fputs(*(const char **)options, stdout);
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
