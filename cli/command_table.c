#include "cli/command_table.h"

#include <string.h>

#include "base/must.h"
#include "cli/adopt/options.h"
#include "cli/calendar/options.h"
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
#include "cli/whatif/options.h"

const struct command_row command_table[COMMANDS] = {
	/* Nothing was named yet. */
	[COMMAND_NONE] = {.name = "", .page = "overview", .flags = &any_flags, .words = "COMMAND"},
	[COMMAND_QUEUE] = {.name = "queue",
		.flags = &queue_flags,
		.words = "CLUSTERQUEUE",
		.ask = command_queue,
		.most_names = 1},
	[COMMAND_JOBS] = {.name = "jobs",
		.flags = &jobs_flags,
		.run = command_jobs,
		.example = "jobs -n team"},
	[COMMAND_EXPLAIN] = {.name = "explain",
		.flags = &explain_flags,
		.words = "JOB",
		.ask = command_explain,
		.most_names = 2}, /* job NAME */
	[COMMAND_START] = {.name = "start",
		.flags = &start_flags,
		.words = "JOB",
		.run = command_start,
		.example = "start job/train -n team"},
	[COMMAND_WHATIF] = {.name = "whatif",
		.flags = &whatif_flags,
		.run = command_whatif,
		.example = "whatif --set clusterqueue/batch:spec.cohortName=research"},
	[COMMAND_DECISIONS] = {.name = "decisions",
		.flags = &decisions_flags,
		.ask = command_decisions},
	[COMMAND_COST] = {.name = "cost", .flags = &cost_flags, .ask = command_cost},
	[COMMAND_REPORT] = {.name = "report",
		.flags = &report_flags,
		.run = command_report,
		.example = "report --by user"},
	[COMMAND_HISTORY] = {.name = "history",
		.flags = &history_flags,
		.words = "JOB",
		.run = command_history,
		.example = "history job/train -n team"},
	[COMMAND_SIMULATE] = {.name = "simulate",
		.flags = &simulate_flags,
		.words = "FILE ...",
		.run = command_simulate,
		.example = "simulate -f queues.yaml"},
	[COMMAND_REPLAY] = {.name = "replay",
		.flags = &replay_flags,
		.words = "FILE",
		.run = command_replay,
		.example = "replay records"},
	[COMMAND_CALENDAR] = {.name = "calendar",
		.flags = &calendar_flags,
		.words = "show CALENDAR|test CALENDAR|import FILE",
		.run = command_calendar,
		.example = "calendar show -f nights.yaml"},
	[COMMAND_OVERCOMMIT] = {.name = "overcommit",
		.flags = &overcommit_flags,
		.words = "calc|explain NODE",
		.run = command_overcommit,
		.example = "overcommit explain worker-1"},
	[COMMAND_DOCTOR] = {.name = "doctor",
		.flags = &doctor_flags,
		.run = command_doctor,
		.example = "doctor -o json"},
	[COMMAND_IMPORT] = {.name = "import",
		.flags = &import_flags,
		.words = "kueue",
		.run = command_import,
		.example = "import kueue -f -"},
	[COMMAND_ADOPT] = {.name = "adopt",
		.flags = &adopt_flags,
		.words = "UNQUEUED-JOB ...",
		.run = command_adopt,
		.example = "adopt -n team --dry-run"},
	[COMMAND_RESERVE] = {.name = "reserve",
		.flags = &reserve_flags,
		.run = command_reserve,
		.example = "reserve 64 gpu --queue team --from 09:00 --for 8h"},
	[COMMAND_HOLD] = {.name = "hold",
		.flags = &hold_flags,
		.words = "JOB",
		.run = command_hold,
		.example = "hold job/train -n team"},
	[COMMAND_RELEASE] = {.name = "release",
		.page = "hold",
		.flags = &release_flags,
		.words = "JOB",
		.run = command_hold,
		.example = "release job/train -n team"},
	[COMMAND_MOVE] = {.name = "move",
		.flags = &move_flags,
		.words = "JOB",
		.run = command_move,
		.example = "move job/train --queue night"},
	[COMMAND_PRIORITY] = {.name = "priority",
		.flags = &priority_flags,
		.words = "JOB CLASS",
		.run = command_priority,
		.example = "priority job/train high"},
	[COMMAND_NICE] = {.name = "nice",
		.flags = &nice_flags,
		.words = "JOB", /* and a number */
		.run = command_nice,
		.example = "nice job/train 10"},
	[COMMAND_COMPLETION] = {.name = "completion",
		.flags = &completion_flags,
		.words = "bash|zsh|fish",
		.run = command_completion,
		.example = "completion bash"},
	[COMMAND_VERSION] = {.name = "version", .page = "overview", .flags = &any_flags},
	[COMMAND_HELP] = {.name = "help",
		.page = "overview",
		.flags = &any_flags,
		.words = "COMMAND"},
};

const char *command_name(enum command c)
{
	must(c >= COMMAND_NONE && c < COMMANDS);
	return command_table[c].name;
}

enum command command_by_name(const char *name)
{
	if (strcmp(name, "queues") == 0)
		return COMMAND_QUEUE;
	for (int c = COMMAND_NONE + 1; c < COMMANDS; c++)
		if (strcmp(command_table[c].name, name) == 0)
			return (enum command)c;
	return COMMAND_NONE;
}
