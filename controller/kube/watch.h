/*
 * One resource, listed and then followed for ever.
 *
 * The caller is told begin, then an event for each object that exists, then end. An object that it
 * knows, and was not told of since begin, is gone. From then on events come as they happen. begin
 * may come again at any time, also in the middle of a list (the server compacted, a stream was cut
 * too long). Until the next end, nothing may be concluded from absence. Events may repeat; DELETED
 * carries the last state.
 *
 * Lists are streamed (sendInitialEvents). A server that refuses that is paged through with limit
 * and continue, in smaller pages when a page is over the ceiling. The server ends each stream after
 * a few minutes; bookmarks keep the resourceVersion fresh, so that the watch goes on there without
 * a new list. Silence of more than 90 s is a dead connection, for bookmarks come every minute. 410,
 * as status or as event, means a new list.
 *
 * An object that cannot be read (too deep, too large, without a resourceVersion, garbage) costs
 * itself alone:
 * - it is skipped and told as unreadable, with its name as far as the raw text shows it;
 * - a page that cannot be cut into its items is asked for in smaller ones;
 * - a page of one object that is too large is passed over by the continue token at its beginning;
 * - a DELETED that cannot be read is told all the same, with no more than the object's identity;
 * - an object without even a name is made good by a new list, when the server next ends the stream.
 * Only what the server alone writes (an error, a bookmark, the metadata of a page) begins a new
 * list when it is wrong.
 *
 * Nothing is lost silently, and nothing spins. Every failure, and every stream that ended within
 * steady_ms, waits longer than the one before it, jittered, up to backoff_max_ms (a second where
 * the server is away altogether), and never less than a Retry-After. When a watch of a client works
 * again, the others of that client begin their waits anew, each at most once in steady_ms. A server
 * that has forgotten our version (410) is asked for a new list at once, the first time since the
 * stream was steady.
 *
 * The store behind the server may go back: an etcd that is restored from a snapshot. The server
 * takes a stream from a version that is still to come, and says nothing until then. So a watch with
 * went_back asks where the server is before it takes up a stream again; a list that is older than
 * what was known says as much. After an absence of the server, or sleep of this process, the server
 * may have gone back and written past our version since: then the watch lists anew.
 *
 * A watch is up while its list is complete and the server has taken its stream and keeps it, also
 * if nothing changes. kube_watch_stalled_ms() tells for how long it has not been.
 *
 * Left to others: what objects mean, and what to do about trouble (log it: it will be tried again).
 */
#ifndef SLUICE_CONTROLLER_KUBE_WATCH_H
#define SLUICE_CONTROLLER_KUBE_WATCH_H

#include "controller/kube/client.h"
#include "base/json.h"

struct kube_watch;

enum kube_event { KUBE_ADDED, KUBE_MODIFIED, KUBE_DELETED };

/* An object that exists, but cannot be read. What is known of it stays as it was. */
struct kube_unreadable {
	const char *ns, *name, *uid; /* "": the text does not show it */
	const char *why;
	struct slice text; /* of the object, as far as there is any; during the call */
};

struct kube_watch_handler {
	void (*begin)(void *ctx);
	/* Takes an object, which is valid during the call. In a paged list it has no apiVersion and
	 * kind. */
	void (*event)(enum kube_event type, const cJSON *object, void *ctx);
	void (*end)(void *ctx);
	void (*trouble)(const char *sentence, void *ctx);
	void (*moved)(
		const char *from, const char *to, void *ctx); /* may be NULL: for a debug log */
	/* Tells that all that happened up to this resourceVersion was told: after end, after an
	 * event that is not of a list, and with each bookmark. May be NULL. */
	void (*seen)(const char *version, void *ctx);
	/* Tells of an object that cannot be read. NULL: that is a trouble. Between begin and end,
	 * nothing may be concluded from its absence; nor from that of any object, when its name
	 * does not show. */
	void (*unreadable)(const struct kube_unreadable *u, void *ctx);
	/* Tells that the server is at version now, and was at before. A new list comes, but what is
	 * known of each object may be newer than anything in it. NULL: the server is not asked. */
	void (*went_back)(const char *before, const char *now, void *ctx);
};

struct kube_watch_options {	    /* 0 or NULL: the default */
	const char *path;	    /* "/apis/batch/v1/jobs"; must be given */
	const char *label_selector; /* as written, not escaped */
	const char *field_selector;
	uint64_t seed;		  /* seed of the jitter */
	int64_t silence_ms;	  /* of a stream that counts as dead; 90,000 */
	int64_t steady_ms;	  /* after which a stream starts the backoff anew; 5,000 */
	int64_t backoff_ms;	  /* the first wait; 200 */
	int64_t backoff_max_ms;	  /* 30,000 */
	int64_t server_timeout_s; /* after which the server ends a stream; drawn from 300 to 600 */
	size_t event_ceiling;	  /* bytes of one event or page; 16 MiB */
	int page_limit;		  /* 500 */
	bool no_streaming_list;	  /* pages from the start */
};

/* Starts a watch at once; callbacks come from the loop, never from inside kube_watch_new. handler
 * is copied; ctx and client are borrowed for life. Free all watches before their client. */
struct kube_watch *kube_watch_new(struct kube_client *client,
	const struct kube_watch_options *options, const struct kube_watch_handler *handler,
	void *ctx);

/* Ends a watch: no callback comes after this, which may be called from one. NULL is fine. */
void kube_watch_free(struct kube_watch *w);

/* Lists everything again, soon: begin, each object, end. What is under way is given up. */
void kube_watch_relist(struct kube_watch *w);

/* Whether the last list is complete, and the stream is up or being taken up again where it was. */
bool kube_watch_synced(const struct kube_watch *w);
/* Tells for how long the watch has not been up; 0: it is, or a list is coming in. Time that the
 * process slept does not count: it could not have had any news (awake.h). */
int64_t kube_watch_stalled_ms(const struct kube_watch *w);
const char *kube_watch_state(const struct kube_watch *w);   /* for people */
const char *kube_watch_version(const struct kube_watch *w); /* the last resourceVersion; "" none */

#endif
