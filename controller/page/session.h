/*
 * The session: who the page's reader is, and which namespaces there are to choose from.
 *
 *   GET /page/session, at the port of the page alone:
 *   {"user":"mia","byProxy":false,"version":"...","cell":"default","mayAll":false,
 *    "namespaces":["vision"],"more":false}
 *
 *   user        the caller's name at the API server, or as a proxy says it (byProxy). Absent: nobody
 *               was asked who this is, for the connection is from here (net/http.h).
 *   mayAll      the caller may list QueuedJobs of all namespaces. Then namespaces has those with
 *               LocalQueues, unasked.
 *   namespaces  else those of which the caller may list QueuedJobs, the likely ones first: a
 *               ServiceAccount's own, those in which the user has Jobs, those with LocalQueues, by
 *               name. A namespace that is refused is not told, nor whether it exists.
 *   more        there may be others: not all were asked about.
 *
 * Each namespace is a question to the API server. SESSION_ASKED_MAX are asked, one after the other,
 * within the bounds of auth_ask_choice(), which leave the rights of other questions alone. Nothing
 * is kept of it but what net/auth.h keeps, for ten seconds.
 *
 * What fails, and what the page is told then:
 *   no token, or one that is none           401: as of any question
 *   a proxy that may not name users         403: the same
 *   the API server is away: who is it?      503: the same
 *   it is away: may the user see NS?        200: what was found so far, and more
 *   too many ask just now, for two seconds  200: the same
 *   LocalQueues have not been read yet      200: more
 *   another controller leads                200: one that stands by knows all of this, too
 */
#ifndef SLUICE_CONTROLLER_PAGE_SESSION_H
#define SLUICE_CONTROLLER_PAGE_SESSION_H

#include "controller/net/http.h"
#include "sluice/queue.h"

#define SESSION_PATH "/page/session"

enum {
	SESSION_ASKED_MAX = 24,
	SESSION_TOLD_MAX = 500, /* namespaces of a caller who may see all */
	SESSION_WAIT_MS = 2000, /* for room to ask */
};

struct sessions;

struct sessions_options {
	struct ev_loop *loop;
	struct auth *auth;
	const struct queue *queue;
	const char *cell;
};

/* Makes the place for sessions that are being asked about. What o points to is borrowed until
 * sessions_free(). */
struct sessions *sessions_new(const struct sessions_options *o);
/* Drops the questions under way, which get no answer. After auth_free(), for no verdict may come any
 * more; before http_free(). NULL is fine. */
void sessions_free(struct sessions *all);

/* Returns what the path wants: that the API server knows the caller, whatever the caller may. */
struct http_rights sessions_rights(void);

/* Takes a question. Calls http_answer() for it, once, now or later from the loop. is_read: all
 * LocalQueues are known. */
void sessions_take(struct sessions *all, struct http_question *q, bool is_read);

#endif
