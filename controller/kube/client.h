/*
 * Requests to the API server: many in flight, one answer each, on the event loop.
 *
 * A request goes out at once when a connection is free (64 by default, HTTP/1.1, kept alive), else
 * it waits its turn, first come first served, urgent ones first; those that are asked for strangers
 * (last) when nothing else waits, and two at a time. Streams (watches) have connections
 * of their own and never take one from a write.
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
 * A write on a kept connection that the server closed in the same moment is sent a second time by
 * libcurl itself (it cannot be told not to), on a new connection. Idle connections are therefore
 * dropped after 60 s, before the server's 90 s, and our writes are guarded, so that the second one
 * answers STALE or CONFLICT and is looked up.
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

/* The three content types of a PATCH. */
#define KUBE_JSON "application/json"
#define KUBE_JSON_PATCH "application/json-patch+json"
#define KUBE_MERGE_PATCH "application/merge-patch+json"
#define KUBE_APPLY_PATCH "application/apply-patch+yaml"

/* What kubectl prints, instead of the objects (with ?includeObject=None: nothing else). So the size
 * of a row is the server's to say, and not that of annotations, which users fill. */
#define KUBE_TABLE "application/json;as=Table;g=meta.k8s.io;v=v1"

struct kube_client_options {   /* 0 or NULL: the default */
	unsigned in_flight;    /* connections for requests; 64 */
	int64_t timeout_ms;    /* of a request, from its sending to the end of its answer; 30,000 */
	int64_t connect_ms;    /* to have a connection with TLS; 10,000 */
	int64_t asleep_ms;     /* the loop stood still for so long: the process slept; 10,000 */
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
	int64_t timeout_ms;	  /* 0: the client's */
	size_t answer_ceiling;	  /* 0: the client's */
	bool urgent;		  /* ahead of all that are not */
	bool last;		  /* behind all that are not, and on few connections */
};

struct kube_answer {
	enum kube_outcome outcome;
	int http_status;	/* 0: none came */
	int64_t retry_after_ms; /* 0: the server asked for nothing */
	int64_t date_ms;	/* the server's clock, in whole seconds; 0: it did not say */
	struct slice body;	/* of any status; valid during the callback; NUL-terminated */
	const char *sentence;	/* what went wrong, for people; "" when KUBE_DONE */
};

typedef void kube_answer_fn(const struct kube_answer *answer, void *ctx);

/* Bytes of a stream with status 2xx, as they come; none at first, when the head of the answer is
 * there. Runs inside libcurl: it may send and cancel, this stream too. */
typedef void kube_bytes_fn(struct slice bytes, void *ctx);

/* Borrows config for its whole life. */
struct kube_client *kube_client_new(struct ev_loop *loop, const struct kube_config *config,
	const struct kube_client_options *options);
void kube_client_free(struct kube_client *c); /* cancels everything */

/* Returns the id to cancel it by; never 0. */
uint64_t kube_client_send(struct kube_client *c, const struct kube_request *request,
	kube_answer_fn *answer, void *ctx);

/* A GET whose 2xx body goes to bytes() piece by piece, without a ceiling or a timeout of its own
 * (request->timeout_ms counts only if given), and which ends with an answer() as any other. */
uint64_t kube_client_stream(struct kube_client *c, const struct kube_request *request,
	kube_bytes_fn *bytes, kube_answer_fn *answer, void *ctx);

/* False when it was answered already (or id is 0). A write that was sent may still land. */
bool kube_client_cancel(struct kube_client *c, uint64_t id);

/* How many requests would go out now without waiting behind others (that are not last). */
unsigned kube_client_room(const struct kube_client *c);

/* Gives the ring of the watches of this client, which watch.c alone keeps. */
struct link *kube_client_watches(struct kube_client *c);

/* By the clock that never steps: since then the process has not slept (awake.h). */
int64_t kube_client_awake_since_ms(const struct kube_client *c);

struct ev_loop *kube_client_loop(const struct kube_client *c);

/* Runs dispose(ptr) from the loop when no callback is on the stack, at the latest in
 * kube_client_free: how a thing that lives on this client is freed from its own callback. */
void kube_client_bury(struct kube_client *c, void (*dispose)(void *ptr), void *ptr);

/* For /metrics. */
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
