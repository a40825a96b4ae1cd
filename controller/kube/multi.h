/*
 * Private to kube/: a libcurl multi handle on a libev loop, with connections of its own.
 *
 * The traps, each measured:
 * - curl's timeout is in milliseconds, libev's in seconds, as a double;
 * - curl has one timer, re-armed; the loop's clock is brought up to date before arming it;
 * - a timeout of 0 means "from the loop, soon", never a call from inside;
 * - a socket's watcher is stopped before curl closes the descriptor;
 * - a watcher's memory is not freed under its own callback;
 * - only curl_multi_info_read tells what is finished.
 */
#ifndef SLUICE_CONTROLLER_KUBE_MULTI_H
#define SLUICE_CONTROLLER_KUBE_MULTI_H

#include <curl/curl.h>
#include <ev.h>

struct multi;

/* Takes a finished transfer. Called outside of libcurl, with the handle already removed; it may add
 * and remove handles. */
typedef void multi_done_fn(CURL *easy, CURLcode result, void *ctx);

/* Makes a multi handle that keeps so many idle connections. */
struct multi *multi_new(struct ev_loop *loop, unsigned keep, multi_done_fn *done, void *ctx);
void multi_free(struct multi *m); /* after all its handles were removed */

/* Adds a handle, which moves at the next multi_drive. None of these three from inside libcurl. */
void multi_add(struct multi *m, CURL *easy);
void multi_remove(struct multi *m, CURL *easy);
void multi_drive(struct multi *m);

#endif
