/*
 * Dependencies: a Job waits for other Jobs of its namespace (annotation sluice.dev/after).
 *
 *   prep                    the same as afterok:prep
 *   afterok:prep            prep ended well
 *   afternotok:prep         it failed
 *   afterany:prep           it ended, either way
 *   after:prep              it was started once
 *   singleton               no other Job of the same family (struct job, family) runs
 *   afterok:{batch=tuesday} so of all Jobs with these labels, and there is at least one
 *
 * Items are separated by commas, and all must hold. The words are Slurm's.
 *
 * A name means the newest Job of that name. Once an item has held it stays held, also when that Job
 * is gone, or its name is used again. What is known of a Job that others wait for is a struct
 * predecessor. Where it comes from does not matter to the queue: the watch, for Jobs that name a
 * queue; the ledger, for those of them that are gone; the API server, for all others, as long as
 * they are there.
 */
#ifndef SLUICE_DEPENDENCY_H
#define SLUICE_DEPENDENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/uid.h"
#include "sluice/placement.h"

#define DEPENDENCIES_MAX 64 /* of a Job: more are refused */

enum dependency_kind {
	AFTER_OK,
	AFTER_NOT_OK,
	AFTER_ANY,
	AFTER_START,
	AFTER_SINGLETON,
};

const char *dependency_kind_name(enum dependency_kind k); /* "afterok" ... */

/* One item. A name, or a selector, or (singleton) neither. */
struct dependency {
	enum dependency_kind kind;
	const char *name; /* NULL: selector */
	struct selector_term selector;
	const char *text; /* as written, for people: "afterok:prep" */
};

/* Annotation sluice.dev/on-dependency-failure: what becomes of a Job of which an item can hold no
 * more, unless its name is used again. */
enum dependency_failure {
	DEPENDENCY_FAILURE_WAIT, /* it waits, and says so; the default */
	DEPENDENCY_FAILURE_HOLD, /* it is put on hold (sluice.dev/hold) */
	DEPENDENCY_FAILURE_DELETE,
};

struct dependencies {
	const struct dependency *item; /* in the order in which they were written */
	size_t count;
	enum dependency_failure on_failure;
	const char *record; /* sluice.dev/after-outcomes as read; NULL: absent, or too long */
};

/* Bytes of sluice.dev/after-outcomes, what an earlier leader knew (queue_take_unrecorded()). */
#define OUTCOME_RECORD_MAX 16384

/* So long nothing is put on hold or deleted: counted from the failure and from the creation of the
 * Job that waits, whichever is later. Who applies a chain anew may create its end first. */
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
	int64_t created_ms; /* 0: not known (the ledger): before anything that is known of it */
	enum predecessor_state state;
	int64_t ended_ms;	 /* when it succeeded or failed; else 0 */
	int32_t pods_done, pods; /* "3 of 8 pods done"; 0 pods: not known */
	const char *failure;	 /* of one that failed: "BackoffLimitExceeded: ..."; "" */
	bool gone;		 /* it is not on the API server any more */
	bool deleted;		 /* it is gone, and is known not to have ended before */
	bool followed;		 /* its changes are told: queue_see_predecessor() */
	bool by_ledger;		 /* the ledger tells of it, which knows no labels */
};

#endif
