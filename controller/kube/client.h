/*
 * Requests to the API server: many in flight, one answer each, on the event loop.
 *
 * A request goes out at once when a connection is free (64 by default, HTTP/1.1, kept alive). Else
 * it waits its turn: urgent ones first, then the others as they came. Requests that serve strangers
 * (last) go out when nothing else waits, two at a time. Streams (watches) have connections of their
 * own and never take one from a write.
 *
 * Always true:
 * - each request that was not cancelled gets exactly one answer, from the loop, never from inside
 *   kube_client_send(); a cancelled one gets none, from the moment of the cancel;
 * - the answer's class comes from kube_judge(); this module repeats nothing, except once after a
 *   401 with renewed credentials (which was not applied). The caller decides what is sent again;
 * - an answer's body is bounded; the memory of a request is freed after its callback, never in it;
 * - no secret is in any error text.
 * In a callback anything may be called but kube_client_free.
 *
 * A write on a kept connection that the server closes in that moment is sent a second time by
 * libcurl, on a new connection; it cannot be told not to. Idle connections are therefore dropped
 * after 60 s, before the server's 90 s. Our writes are guarded, so the second one answers STALE or
 * CONFLICT and is looked up.
 *
 * SIGPIPE is ignored from the first client on, unless it is handled: OpenSSL writes without
 * MSG_NOSIGNAL.
 */
#ifndef SLUICE_CONTROLLER_KUBE_CLIENT_H
#define SLUICE_CONTROLLER_KUBE_CLIENT_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/slice.h"
#include "controller/kube/answer.h"
#include "controller/kube/config.h"
#include "controller/kube/credential.h"

struct kube_client;

enum kube_method { KUBE_GET, KUBE_POST, KUBE_PUT, KUBE_PATCH, KUBE_DELETE, KUBE_METHODS };

/* Content types: of a body, and of the four kinds of PATCH. */
#define KUBE_JSON "application/json"
#define KUBE_JSON_PATCH "application/json-patch+json"
#define KUBE_MERGE_PATCH "application/merge-patch+json"
#define KUBE_STRATEGIC_PATCH "application/strategic-merge-patch+json" /* lists by their keys */
#define KUBE_APPLY_PATCH "application/apply-patch+yaml"

/* Asks for the table that kubectl prints instead of objects (with ?includeObject=None: nothing
 * else). The server decides how large a row is: annotations, which users fill, are not in it. */
#define KUBE_TABLE "application/json;as=Table;g=meta.k8s.io;v=v1"

struct kube_client_options {   /* 0 or NULL: the default */
	unsigned in_flight;    /* connections for requests; 64 */
	int64_t timeout_ms;    /* of a request, from its sending to the end of its answer; 30,000 */
	int64_t connect_ms;    /* to open a connection, with TLS; 10,000 */
	int64_t asleep_ms;     /* a break of the loop that counts as sleep; 10,000 */
	size_t answer_ceiling; /* bytes of a body; 16 MiB */
	const char *user_agent;
	struct kube_credential_options credential;
};

struct kube_request {
	enum kube_method method;
	const char *path; /* "/apis/batch/v1/namespaces/a/jobs/x?dryRun=All", escaped; copied */
	const char *content_type; /* NULL: KUBE_JSON. Sent only with a body; must be static text */
	const char *accept;	  /* NULL: KUBE_JSON; must be static text */
	struct slice body;	  /* copied; length 0: none */
	int64_t timeout_ms;	  /* 0: the client's timeout */
	size_t answer_ceiling;	  /* 0: the client's ceiling */
	bool urgent;		  /* ahead of all that are not urgent */
	bool last;		  /* behind all that are not last, and on few connections */
};

struct kube_answer {
	enum kube_outcome outcome;
	int http_status;	/* 0: no status came */
	int64_t retry_after_ms; /* 0: the server asked for nothing */
	int64_t date_ms;	/* the server's clock, in whole seconds; 0: no Date header */
	struct slice body;	/* of any status; valid during the callback; NUL-terminated */
	const char *sentence;	/* what went wrong, for people; "" when KUBE_DONE */
};

typedef void kube_answer_fn(const struct kube_answer *answer, void *ctx);

/* Takes bytes of a stream with status 2xx, as they come; none at first, when the answer's head is
 * there. It runs inside libcurl, and may send and cancel, this stream too. */
typedef void kube_bytes_fn(struct slice bytes, void *ctx);

/* Starts a client, which borrows config for its whole life. */
struct kube_client *kube_client_new(struct ev_loop *loop, const struct kube_config *config,
	const struct kube_client_options *options);
void kube_client_free(struct kube_client *c); /* cancels everything */

/* Sends a request. Returns the id to cancel it by; never 0. */
uint64_t kube_client_send(struct kube_client *c, const struct kube_request *request,
	kube_answer_fn *answer, void *ctx);

/* Sends a GET whose 2xx body goes to bytes() piece by piece. It has no ceiling, and a timeout only
 * if request->timeout_ms is given. It ends with an answer(), as any other. */
uint64_t kube_client_stream(struct kube_client *c, const struct kube_request *request,
	kube_bytes_fn *bytes, kube_answer_fn *answer, void *ctx);

/* Cancels a request. False when it was answered already (or id is 0). A write that was sent may
 * still be applied. */
bool kube_client_cancel(struct kube_client *c, uint64_t id);

/* Counts the requests that would go out now without waiting behind others (that are not last). */
unsigned kube_client_room(const struct kube_client *c);

/* Gives the ring of the watches of this client, which watch.c alone keeps. */
struct link *kube_client_watches(struct kube_client *c);

/* Gives the time since which the process has not slept, by the clock that never steps (awake.h). */
int64_t kube_client_awake_since_ms(const struct kube_client *c);

struct ev_loop *kube_client_loop(const struct kube_client *c);

/* Runs dispose(ptr) from the loop when no callback is on the stack, at the latest in
 * kube_client_free. So whatever lives on this client can be freed from its own callback. */
void kube_client_bury(struct kube_client *c, void (*dispose)(void *ptr), void *ptr);

/* How many answers had this method and status; for /metrics. */
struct kube_count {
	enum kube_method method;
	int code; /* HTTP status; 0: no answer came */
	uint64_t count;
};

struct kube_client_stats {
	unsigned in_flight, queued, streams;
	uint64_t sent, retried_401;
	size_t counts; /* how many of count[] are used */
	struct kube_count count[64];
};

const struct kube_client_stats *kube_client_stats(const struct kube_client *c);
const char *kube_method_name(enum kube_method method);

#endif
