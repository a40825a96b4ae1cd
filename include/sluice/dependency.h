/*
 * Dependencies: a Job waits for other Jobs of its namespace (annotation sluice.dev/after).
 *
 *   prep                    as afterok:prep;
 *   afterok:prep            prep ended well;
 *   afternotok:prep         prep failed;
 *   afterany:prep           prep ended, either way;
 *   after:prep              prep was started once;
 *   singleton               no other Job of the same family (struct job, family) runs;
 *   afterok:{batch=tuesday} there are Jobs with these labels, and all ended well.
 *
 * Items are separated by commas, and all must hold. The words are Slurm's.
 *
 * A name means the newest Job of that name. Once an item has held it stays held, also when that Job
 * is gone, or its name is used again. What is known of a Job that others wait for is a struct
 * predecessor, wherever it comes from: the watch tells of Jobs that name a queue, the ledger of
 * those of them that are gone, the API server of all others, as long as they are there.
 */
#ifndef SLUICE_DEPENDENCY_H
#define SLUICE_DEPENDENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/uid.h"
#include "sluice/placement.h"

#define DEPENDENCIES_MAX 64 /* items of a Job: more are refused */

enum dependency_kind {
	AFTER_OK,
	AFTER_NOT_OK,
	AFTER_ANY,
	AFTER_START,
	AFTER_SINGLETON,
};

const char *dependency_kind_name(enum dependency_kind k); /* "afterok" ... */

/* An item of sluice.dev/after: with a name, or a selector, or (singleton) neither. */
struct dependency {
	enum dependency_kind kind;
	const char *name; /* NULL: selector */
	struct selector_term selector;
	const char *text; /* as written, for people: "afterok:prep" */
};

/* Annotation sluice.dev/on-dependency-failure: what becomes of a Job when one of its items can hold
 * no more, unless the name in it is used again. */
enum dependency_failure {
	DEPENDENCY_FAILURE_WAIT, /* the Job waits, and says so; the default */
	DEPENDENCY_FAILURE_HOLD, /* the Job is put on hold (sluice.dev/hold) */
	DEPENDENCY_FAILURE_DELETE,
};

struct dependencies {
	const struct dependency *item; /* in the order in which they were written */
	size_t count;
	enum dependency_failure on_failure;
	const char *record; /* sluice.dev/after-outcomes as read; NULL: absent, or too long */
};

/* The most bytes of sluice.dev/after-outcomes, what an earlier leader knew
 * (queue_take_unrecorded()). */
#define OUTCOME_RECORD_MAX 16384

/* The grace before a Job is put on hold or deleted: from the failure, or from the creation of the
 * Job that waits, if that is later. A user who applies a chain anew may create its end first. */
#define DEPENDENCY_GRACE_MS 60000

enum predecessor_state {
	PREDECESSOR_WAITS,   /* never started so far */
	PREDECESSOR_STARTED, /* it runs, or did before: it was stopped and waits again */
	PREDECESSOR_SUCCEEDED,
	PREDECESSOR_FAILED,
};

/* A Job that others may wait for, as it was last seen. */
struct predecessor {
	struct uid uid;
	const char *ns, *name;
	const struct label *labels; /* NULL from the ledger: no selector takes it anew */
	size_t nlabels;
	int64_t created_ms; /* 0: not known (the ledger), and older than any that is */
	enum predecessor_state state;
	int64_t ended_ms;	 /* when it succeeded or failed; else 0 */
	int32_t pods_done, pods; /* "3 of 8 pods done"; 0 pods: not known */
	const char *failure;	 /* why it failed: "BackoffLimitExceeded: ..."; or "" */
	bool gone;		 /* not on the API server any more */
	bool deleted;		 /* gone, and known not to have ended before */
	bool followed;		 /* its changes are told: queue_see_predecessor() */
	bool by_ledger;		 /* told by the ledger, which knows no labels */
};

#endif
