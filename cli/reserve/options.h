/*
 * The command line of `sluice reserve`: what each flag says, and which go together.
 *
 * Left to others: what the texts mean (plan.h).
 */
#ifndef SLUICE_CLI_RESERVE_OPTIONS_H
#define SLUICE_CLI_RESERVE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "cli/options.h"
#include "sluice/policy.h"

/* AMOUNT FLAVOR[/RESOURCE] */
struct reserve_amount {
	const char *amount; /* NULL: all of the flavor */
	struct slice flavor;
	const char *resource; /* NULL: not named */
};

struct reserve_names {
	const char *name[ADVANCE_NAMES_MAX];
	size_t count;
};

enum reserve_output { RESERVE_TEXT, RESERVE_YAML, RESERVE_JSON };

struct reserve_options {
	struct reserve_amount amount[ADVANCE_AMOUNTS_MAX];
	size_t namounts;
	const char *open_amount;	     /* an amount whose flavor is to follow; NULL: none */
	const char *queue;		     /* NULL: all ClusterQueues */
	const char *from, *until, *calendar; /* as written; NULL: not given */
	const char *lasts;		     /* --for, as written */
	int64_t for_ms;
	bool maintenance;
	struct reserve_names namespaces, users; /* --usable-by */
	const char *release_after;		/* as written */
	const char *name;			/* NULL: derived */
	bool dry_run, yes, all;
	enum reserve_output output;
	struct kube_config_options kube;
};

extern const struct flag_table reserve_flags;

#endif
