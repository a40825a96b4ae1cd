/*
 * Watchers: clients that asked to be told how QueuedJobs change (`kubectl get queuedjobs -w`).
 *
 * There is no history of changes. What each watcher knows is kept (watch_rows.h: for each Job a
 * digest, about 100 bytes). A round, once a second, asks the reader for the rows as they are, and
 * tells what is different. So a slow watcher is told less often, not late: what changed twice
 * meanwhile is told once.
 *
 *   rows: the reader is asked for what there is; every 5 s for 64 KiB and more (about 700 Jobs).
 *   orders: differences go back to the same child, which has the words for them. There are at most
 *       200 events at once, and no more while 256 KiB wait to be sent.
 *   told: the differences are known. A child that is gone before all was told is no loss: what was
 *       not told is still different in the next round.
 *
 * watch_terms.h has what a watch begins with. A watch that goes on from a list needs the child that
 * made the list: it says what the client knows, and nothing between the two is lost. Where that
 * child is gone, the answer is 410, and clients ask for a list anew, as they do of the API server.
 * kubectl asks a moment after its list. An informer that comes back goes on from its last bookmark:
 * one is told each minute and at the end.
 *
 * A watch ends after timeoutSeconds, or half an hour to an hour, as the API server's do. It also
 * ends when this controller leads no more, and when the client has gone or takes nothing
 * (stream.h). At most 100 watch, 20 of one user, and 25 in one namespace, whose tenant may have any
 * number of users. All together know at most 128 MiB. Further ones are told to come later (429).
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_WATCHERS_H
#define SLUICE_CONTROLLER_ANSWERS_WATCHERS_H

#include <stdint.h>

#include "controller/net/http.h"
#include "controller/answers/job_query.h"
#include "controller/answers/reader.h"
#include "controller/answers/watch_terms.h"

struct watchers;

enum {
	WATCHERS_MAX = 100,
	WATCHERS_EACH_MAX = 20, /* watches of one user */
	WATCHERS_NS_MAX = 25,	/* watches of one namespace in the path */
};

/* Makes the watchers. reader serves ASK_ROWS and ASK_EVENTS; it is borrowed until
 * watchers_free(). */
struct watchers *watchers_new(struct reader *reader);
/* Frees the watchers, when none is left (watchers_drop()). NULL is fine. */
void watchers_free(struct watchers *w);

/* Takes a question whose answer is a watch, or a complaint. */
void watchers_add(struct watchers *w, struct http_question *q, const struct job_query *query,
	const struct watch_terms *terms, const char *user);
/* Ends all watches. sentence: for watchers that were told nothing yet. */
void watchers_end(struct watchers *w, const char *sentence);
/* Drops the watchers of a port that is about to close: they are told nothing any more. */
void watchers_drop(struct watchers *w, const struct http *port);

/* Lets watches go on, once a second. tick_ms: of a clock that only goes on. */
void watchers_tick(struct watchers *w, int64_t tick_ms);

#endif
