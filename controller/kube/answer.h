/*
 * What an answer of the API server means, as one pure function.
 *
 * The question behind it is always the same: did it happen, and what may be done next? A write that
 * was surely not applied may be sent again; one that may have landed must be looked up first. That
 * difference is the safety of the ledger, so it is decided here once and tested as a table.
 *
 * Status.reason is not asked: nothing a caller does differently hangs on it that the code does not
 * say already. Only who makes what may be there already looks: a POST gets 409 AlreadyExists, and also
 * Conflict, of a ResourceQuota that counts the object and was busy.
 *
 * When a kind of answer is added, the switch statements without default in the callers say where.
 */
#ifndef SLUICE_CONTROLLER_KUBE_ANSWER_H
#define SLUICE_CONTROLLER_KUBE_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

enum kube_outcome {
	KUBE_DONE,     /* 2xx: it happened */
	KUBE_RETRY,    /* it did not happen; the same again after retry_after_ms */
	KUBE_CONFLICT, /* 409: it did not happen; the object moved, or exists already */
	KUBE_STALE,    /* 422: it did not happen; a guard (JSON Patch test) failed, or invalid */
	KUBE_GONE,     /* 404, 410: the object is not there */
	KUBE_RELIST,   /* 410 on a list or watch: start over from a new list */
	KUBE_DENIED, /* it did not happen and a person must act: 401, 403, an untrusted TLS peer */
	KUBE_IN_DOUBT, /* a write that may have landed: read before deciding. Reads never get it */
	KUBE_LIMIT,    /* a read whose answer is over the ceiling */
	/* It did not happen and will not, however often: 400, 405, 415, 3xx, what etcd does not
	   take */
	KUBE_GIVE_UP,
};

enum kube_intent {
	KUBE_READ,  /* GET of an object: may be repeated at will */
	KUBE_WRITE, /* POST, PUT, PATCH, DELETE */
	KUBE_WATCH, /* a list or a watch */
};

/* What was seen. */
struct kube_facts {
	enum kube_intent intent;
	int curl;	   /* CURLcode; 0 when an answer came whole */
	bool sent;	   /* at least one byte of the request may have left */
	bool over_ceiling; /* we broke off because the answer was too large */
	bool over_storage; /* it says that the request is more than etcd takes in one piece */
	bool in_admission; /* it says that an admission webhook failed, or refused: before etcd */
	int http_status;   /* 0: no status line came */
	int64_t retry_after_ms; /* the Retry-After header; < 0: there was none */
};

struct kube_verdict {
	enum kube_outcome outcome;
	int64_t retry_after_ms; /* how long the server asks to wait; 0: nothing asked for */
};

enum { KUBE_RETRY_AFTER_MAX_MS = 5 * 60 * 1000 }; /* a server that asks for more gets this */

struct kube_verdict kube_judge(const struct kube_facts *facts);

const char *kube_outcome_name(enum kube_outcome outcome);

#endif
