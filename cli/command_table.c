#include "cli/command_table.h"

#include <string.h>

#include "cli/adopt/options.h"
#include "cli/calendar/options.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/doctor/options.h"
#include "cli/import/options.h"
#include "cli/jobs/options.h"
#include "cli/move.h"
#include "cli/nice.h"
#include "cli/overcommit/options.h"
#include "cli/past/options.h"
#include "cli/priority.h"
#include "cli/reserve/options.h"
#include "cli/simulate/options.h"
#include "cli/top/options.h"
#include "cli/whatif/options.h"

const struct command_row command_table[] = {
	/* A line that names no command. */
	{.name = "", .page = "overview", .common = true, .flags = &any_flags, .words = "COMMAND"},
	{.name = "queue",
		.common = true,
		.flags = &queue_flags,
		.words = "CLUSTERQUEUE",
		.run = command_queue},
	{.name = "jobs", .flags = &jobs_flags, .run = command_jobs},
	{.name = "top", .flags = &top_flags, .run = command_top},
	{.name = "explain",
		.common = true,
		.flags = &explain_flags,
		.words = "JOB",
		.run = command_explain},
	{.name = "when", .flags = &start_flags, .words = "JOB", .run = command_start},
	{.name = "whatif", .flags = &whatif_flags, .run = command_whatif},
	{.name = "decisions", .common = true, .flags = &decisions_flags, .run = command_decisions},
	{.name = "cost", .common = true, .flags = &cost_flags, .run = command_cost},
	{.name = "report", .flags = &report_flags, .run = command_report},
	{.name = "history", .flags = &history_flags, .words = "JOB", .run = command_history},
	{.name = "simulate",
		.flags = &simulate_flags,
		.words = "FILE ...",
		.run = command_simulate},
	{.name = "replay", .flags = &replay_flags, .words = "FILE", .run = command_replay},
	{.name = "calendar",
		.flags = &calendar_flags,
		.words = "show CALENDAR|test CALENDAR|import FILE",
		.run = command_calendar},
	{.name = "overcommit",
		.flags = &overcommit_flags,
		.words = "calc|explain NODE",
		.run = command_overcommit},
	{.name = "doctor", .flags = &doctor_flags, .run = command_doctor},
	{.name = "import", .flags = &import_flags, .words = "kueue|crane", .run = command_import},
	{.name = "adopt", .flags = &adopt_flags, .words = "UNQUEUED-JOB ...", .run = command_adopt},
	{.name = "reserve", .flags = &reserve_flags, .run = command_reserve},
	{.name = "hold", .flags = &hold_flags, .words = "JOB", .run = command_hold},
	{.name = "release",
		.page = "hold",
		.flags = &release_flags,
		.words = "JOB",
		.run = command_hold},
	{.name = "move", .flags = &move_flags, .words = "JOB", .run = command_move},
	{.name = "priority",
		.flags = &priority_flags,
		.words = "JOB CLASS",
		.run = command_priority},
	{.name = "nice", .flags = &nice_flags, .words = "JOB", .run = command_nice},
	{.name = "completion",
		.flags = &completion_flags,
		.words = "bash|zsh|fish",
		.run = command_completion},
	{.name = "version",
		.page = "overview",
		.common = true,
		.flags = &any_flags,
		.run = command_version},
	{.name = "help",
		.page = "overview",
		.common = true,
		.flags = &any_flags,
		.words = "COMMAND",
		.run = command_help},
};

const size_t COMMANDS = sizeof(command_table) / sizeof(*command_table);

bool command_is_old_name(const char *name, const char **ret_new)
{
	bool is_old = strcmp(name, "start") == 0;
	if (is_old)
		*ret_new = "when";
	return is_old;
}

const struct command_row *command_find(const char *name)
{
	if (strcmp(name, "queues") == 0)
		name = "queue";
	command_is_old_name(name, &name);
	for (size_t i = 1; i < COMMANDS; i++)
		if (strcmp(command_table[i].name, name) == 0)
			return &command_table[i];
	return NULL;
}

/* True for a flag whose value is the next word. */
static bool wants_next(const char *word)
{
	const struct flag *f = NULL;
	if (word[1] == '-')
		return !strchr(word, '=') &&
		       (f = flags_find(&any_flags, word + 2, strlen(word + 2))) && !f->alone;
	for (word++; *word && (f = flags_find_letter(&any_flags, *word)) && f->alone;)
		word++;
	return *word && f && !word[1];
}

/* Finds the word that names the command, behind any flags. 0: there is none. */
static int command_at(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (argv[i][0] != '-')
			return i;
		i += wants_next(argv[i]);
	}
	return 0;
}

const struct command_row *command_choose(int argc, char **argv, struct err *e)
{
	int at = command_at(argc, argv);
	if (!at)
		return &command_table[0];
	char *name = argv[at];
	const struct command_row *row = command_find(name);
	if (!row)
		err_set(e, ERR_INVALID, "there is no command \"%.60s\"", name);
	memmove(argv + 2, argv + 1, (size_t)(at - 1) * sizeof(*argv));
	argv[1] = name;
	return row;
}
