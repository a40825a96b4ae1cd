/*
 * What an answer of the API server means, as one pure function.
 *
 * Each answer is asked two questions: was the request applied, and what may be done next? A write
 * that was surely not applied may be sent again. One that may have been applied must be looked up
 * first. The ledger's safety hangs on that difference, so it is decided here alone and tested as a
 * table.
 *
 * The HTTP status is enough, so Status.reason is not read here. Only a caller that creates an
 * object which may exist already reads it: a POST gets 409 for AlreadyExists, and also for a
 * Conflict of a ResourceQuota that counts the object and was busy.
 *
 * When a kind of answer is added, the switch statements without default in the callers say where.
 */
#ifndef SLUICE_CONTROLLER_KUBE_ANSWER_H
#define SLUICE_CONTROLLER_KUBE_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

enum kube_outcome {
	KUBE_DONE,     /* 2xx: the request was applied */
	KUBE_RETRY,    /* not applied; to be sent again after retry_after_ms */
	KUBE_CONFLICT, /* 409, not applied: the object changed, or exists already */
	KUBE_STALE,    /* 422, not applied: invalid, or a guard (JSON Patch test) failed */
	KUBE_GONE,     /* 404, 410: the object is not there */
	KUBE_RELIST,   /* 410 on a list or watch: start over from a new list */
	KUBE_DENIED,   /* not applied, and a person must act: 401, 403, an untrusted TLS peer */
	KUBE_IN_DOUBT, /* a write that may have been applied: read before deciding */
	KUBE_LIMIT,    /* a read whose answer is over the ceiling */
	/* Not applied, nor ever will be: 400, 405, 415, 3xx, what etcd does not take. */
	KUBE_GIVE_UP,
};

enum kube_intent {
	KUBE_READ,  /* GET of an object: may be repeated at will */
	KUBE_WRITE, /* POST, PUT, PATCH, DELETE */
	KUBE_WATCH, /* a list or a watch */
};

/* What was seen of one request and its answer. */
struct kube_facts {
	enum kube_intent intent;
	int curl;		/* CURLcode; 0 when an answer came whole */
	bool sent;		/* at least one byte of the request may have left */
	bool over_ceiling;	/* reading was broken off, for the answer was too large */
	bool over_storage;	/* the server says that etcd takes no request so large */
	bool in_admission;	/* the server says that a webhook failed or refused: before etcd */
	int http_status;	/* 0: no status line came */
	int64_t retry_after_ms; /* the Retry-After header; < 0: there was none */
};

struct kube_verdict {
	enum kube_outcome outcome;
	int64_t retry_after_ms; /* how long the server asks to wait; 0: nothing asked for */
};

enum { KUBE_RETRY_AFTER_MAX_MS = 5 * 60 * 1000 }; /* the most of a Retry-After that is heeded */

struct kube_verdict kube_judge(const struct kube_facts *facts);

const char *kube_outcome_name(enum kube_outcome outcome);

#endif
