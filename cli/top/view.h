/*
 * What somebody looks at in `sluice top`: which Jobs are found, which of them is under the cursor,
 * and what a key does to that. Pure: keys and answers go in, and what is wished comes out.
 *
 * The cursor stays with its Job when the list changes. When that one is gone it stays at its row.
 *
 * Holding a Job that runs stops it, which no other key undoes: so it takes `h` twice. All else does
 * what it says at once.
 */
#ifndef SLUICE_CLI_TOP_VIEW_H
#define SLUICE_CLI_TOP_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/slice.h"

enum top_key {
	TOP_KEY_OTHER, /* one that means nothing here */
	TOP_KEY_CHARACTER,
	TOP_KEY_UP,
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_ENTER,
	TOP_KEY_ESCAPE,
	TOP_KEY_BACKSPACE,
};

struct top_press {
	enum top_key key;
	char character;
};

/* Takes the next key of what a terminal sent. False: there is none. */
bool top_press_take(struct slice *bytes, struct top_press *ret);

enum top_wish {
	TOP_NOTHING,
	TOP_HOLD, /* the Job under the cursor */
	TOP_RELEASE,
	TOP_EXPLAIN,
	TOP_QUIT,
};

enum { TOP_FILTER_SIZE = 64, TOP_SAID_SIZE = 500, TOP_PANE_MAX_BYTES = 1 << 20, TOP_PAGE = 10 };

struct top_view {
	const cJSON **found; /* Jobs that match the filter, in the order of the list */
	size_t nfound, cursor;
	char ns[64], name[254]; /* of the Job under the cursor; "": there is none */
	char filter[TOP_FILTER_SIZE];
	bool is_filtering;	  /* the filter is being typed */
	bool asks_to_stop;	  /* `h` was pressed on a run; once more stops it */
	char said[TOP_SAID_SIZE]; /* what was done or refused; "": nothing to say */
	bool has_pane;
	struct buf pane; /* the explanation of a Job, in lines */
	size_t pane_first;
};

void top_view_init(struct top_view *v);
void top_view_done(struct top_view *v);

/* Finds the Jobs of a new list anew; NULL: there are none. list is borrowed until the next call. */
void top_view_take(struct top_view *v, const cJSON *list);
/* Returns the Job under the cursor; NULL: there is none. */
const cJSON *top_view_job(const struct top_view *v);
/* Tells whether a Job of a list has that name, and whether a hold would stop it. */
bool top_job_is(const cJSON *job, const char *ns, const char *name);
bool top_job_runs(const cJSON *job);
/* Says what was done or refused. */
void top_view_say(struct top_view *v, const char *text);
/* Shows the text in the pane. */
void top_view_open_pane(struct top_view *v, const char *text);

enum top_wish top_view_press(struct top_view *v, const struct top_press *p, const cJSON *list);

#endif
