/*
 * One resource, listed and then followed for ever.
 *
 * The caller is told begin, then an event for each object that exists, then end: whatever it knows
 * and was not told of since begin is gone. From then on events come as they happen. begin may come
 * again at any time, also in the middle of a list (the server compacted, a stream was cut too
 * long); until the next end, nothing may be concluded from absence. Events may repeat; DELETED
 * carries the last state.
 *
 * Lists are streamed (sendInitialEvents); a server that refuses is paged through with limit and
 * continue, in smaller pages when a page is over the ceiling. Bookmarks keep the resourceVersion
 * fresh, so that a connection the server ends (it does so every few minutes) is taken up where it
 * was, without a new list. Silence of more than 90 s is a dead connection, for bookmarks come every
 * minute. 410, as status or as event, means a new list.
 *
 * An object that cannot be read (too deep, too large, without a resourceVersion, garbage) costs
 * itself alone. It is skipped and told as unreadable, with its name as far as the raw text shows
 * it; the stream or the list goes on. Items of a page are read one by one; a page that cannot be
 * cut into its items is asked for in smaller ones, and a page of one object that is too large is
 * passed over by the continue token at its beginning. A DELETED that cannot be read is told all the
 * same, with no more than the object's identity. What cannot even be named is made good by a new
 * list when the server next ends the stream. Only what the server alone writes (an error, a
 * bookmark, the metadata of a page) begins a new list when it is wrong.
 *
 * Nothing is lost silently, and nothing spins: every failure, and every stream that ended within
 * steady_ms, waits longer than the one before it, jittered, up to backoff_max_ms (a second where
 * the server is away altogether); what a server asks for with Retry-After is the least it gets. When a
 * watch of a client works again, the others of that client begin their waits anew, each at most once in
 * steady_ms: what was wrong with the server is over. A server that has forgotten our version (410) is
 * asked for a new list at once, the first time since the stream was steady.
 *
 * The store behind the server may go back: an etcd that is restored from a snapshot. A server takes
 * a stream from a version that it has not come to yet, and says nothing until it has: so before a
 * stream is taken up again the server is asked where it is (who listens to went_back has that done),
 * and a list that is older than what was known says the same. Where the server was away, or this
 * process slept, it may have written more since than it lacks, and be past our version: there
 * nothing is taken up, and all is listed anew.
 *
 * A watch is up while its list is complete and the server has taken its stream and keeps it;
 * kube_watch_stalled_ms() tells for how long it has not been. A kind that does not change is up,
 * too.
 *
 * Left to others: what objects mean, and what to do about trouble (log it: it will be tried again).
 */
#ifndef SLUICE_CONTROLLER_KUBE_WATCH_H
#define SLUICE_CONTROLLER_KUBE_WATCH_H

#include "controller/kube/client.h"
#include "base/json.h"

struct kube_watch;

enum kube_event { KUBE_ADDED, KUBE_MODIFIED, KUBE_DELETED };

/* An object that is there, though it cannot be read. What is known of it stays as it was. */
struct kube_unreadable {
	const char *ns, *name, *uid; /* "": the text does not show it */
	const char *why;
	struct slice text; /* of the object, as far as there is any; during the call */
};

struct kube_watch_handler {
	void (*begin)(void *ctx);
	/* object is valid during the call. From a paged list it has no apiVersion and kind. */
	void (*event)(enum kube_event type, const cJSON *object, void *ctx);
	void (*end)(void *ctx);
	void (*trouble)(const char *sentence, void *ctx);
	void (*moved)(
		const char *from, const char *to, void *ctx); /* may be NULL: for a debug log */
	/* May be NULL. All that happened up to this resourceVersion has been told: after end, after
	 * an event that is not of a list, and with each bookmark. */
	void (*seen)(const char *version, void *ctx);
	/* May be NULL: then it is a trouble. Between begin and end, nothing may be concluded from
	 * its absence, nor, when its name does not show, from that of any. */
	void (*unreadable)(const struct kube_unreadable *u, void *ctx);
	/* May be NULL: then it is not asked. The server is at version now, and was at before. A new
	 * list comes; but what is known of each object may be newer than anything in it. */
	void (*went_back)(const char *before, const char *now, void *ctx);
};

struct kube_watch_options {	    /* 0 or NULL: the default */
	const char *path;	    /* "/apis/batch/v1/jobs"; must be given */
	const char *label_selector; /* as written, not escaped */
	const char *field_selector;
	uint64_t seed;		  /* of the jitter */
	int64_t silence_ms;	  /* 90,000 */
	int64_t steady_ms;	  /* a stream that lived this long starts the backoff anew; 5,000 */
	int64_t backoff_ms;	  /* the first wait; 200 */
	int64_t backoff_max_ms;	  /* 30,000 */
	int64_t server_timeout_s; /* after which the server ends a stream; 300 to 600, drawn */
	size_t event_ceiling;	  /* bytes of one event or page; 16 MiB */
	int page_limit;		  /* 500 */
	bool no_streaming_list;	  /* page from the start */
};

/* Starts at once; callbacks come from the loop, never from inside kube_watch_new. handler is
 * copied; ctx and client are borrowed for life. Free all watches before their client. */
struct kube_watch *kube_watch_new(struct kube_client *client,
	const struct kube_watch_options *options, const struct kube_watch_handler *handler,
	void *ctx);

/* No callback comes after this, which may be called from one. NULL is fine. */
void kube_watch_free(struct kube_watch *w);

/* Lists everything again, soon: begin, each object, end. What is under way is given up. */
void kube_watch_relist(struct kube_watch *w);

/* The last list is complete and the stream is up, or is being taken up again where it was. */
bool kube_watch_synced(const struct kube_watch *w);
/* For how long it has not been up; 0: it is, or a list is coming in. A process that slept has had
 * no news, and could not have had any: its sleep does not count (awake.h). */
int64_t kube_watch_stalled_ms(const struct kube_watch *w);
const char *kube_watch_state(const struct kube_watch *w);   /* for people */
const char *kube_watch_version(const struct kube_watch *w); /* the last resourceVersion; "" none */

#endif
