/*
 * The terms of a watch: what the parameters of the request say of how it begins and ends, as
 * Kubernetes' API conventions have them.
 *
 *   nothing, or resourceVersion=0: all that there is as ADDED, then what changes.
 *   resourceVersion=R: what is different from the list that gave R.
 *   sendInitialEvents=true: all that there is as ADDED, then a bookmark that says so.
 *   sendInitialEvents=false: what changes from now on.
 *
 * A resourceVersion is the moment of a reader (reader.h) and a part. Part 0 stands for all as it
 * was at that moment. Events that are not the last of their moment have other parts. A client that
 * has heard no further knows a state that never was, so no watch goes on from such a version.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_WATCH_TERMS_H
#define SLUICE_CONTROLLER_ANSWERS_WATCH_TERMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Parameters of the request; NULL: not given. */
struct watch_words {
	const char *watch, *version, *initial, *bookmarks, *timeout;
};

struct watch_terms {
	bool tells_all;	       /* begins with all that there is, as ADDED */
	bool marks_end_of_all; /* sends a bookmark behind that */
	bool bookmarks;
	uint64_t version;   /* version that the client knows already; 0: none */
	int64_t timeout_ms; /* 0: not given */
};

bool watch_wanted(const struct watch_words *w);
/* Takes the terms. ERR_INVALID: a sentence that names the parameter. */
int watch_terms_take(struct watch_terms *t, const struct watch_words *w, struct err *e);

enum { WATCH_PARTS = 1024 };

/* Makes a resourceVersion. Parts beyond the last count as the last. */
uint64_t watch_version(uint64_t moment, unsigned part);
/* Returns the moment whose state that version is; 0: of none. */
uint64_t watch_moment(uint64_t version);

#endif
