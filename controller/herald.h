/*
 * The herald: tells a Job's readers what became of it, as Kubernetes Events, which `kubectl
 * describe job` shows among those of the Job controller.
 *
 * Events are for people, and nobody decides by them: what must not be lost is in the ledger and in
 * the Job's annotations. So they are best effort, and always make way:
 *   - telling only puts the Event in line. The line is short; when it is full the oldest goes, and
 *     is counted;
 *   - they are written from herald_tick() on, at most HERALD_A_SECOND for each tick and two at a
 *     time, and only while no request of anybody else stands in line for the API server;
 *   - one that failed is written once more, by the same name, so that it is there once even if the
 *     first one landed. After that it is given up, and counted.
 *
 * By default only what a Job's owner did not ask for is told: Preempted, Stopped, Deactivated,
 * WindowClosing and WindowClosed (with the work that will be, and was, lost), PodsStuck (with what
 * keeps them), and warnings; and on Budgets, Calendars and other objects of ours what is wrong with
 * them (the reporter tells it). A start is no news to anybody but the Job controller, which has an
 * Event of its own for it (Resumed); and one write more for each admission would halve what the API
 * server can start.
 *
 * They are core/v1, with the fields that the Job controller fills. By events.k8s.io/v1 they could
 * have no lastTimestamp, and kubectl sorts by that: they would stand before everything else,
 * whenever they happened.
 *
 * When a kind of note gets an Event: the switch in herald.c, docs/guide.md.
 */
#ifndef SLUICE_CONTROLLER_HERALD_H
#define SLUICE_CONTROLLER_HERALD_H

#include <stdint.h>

#include "base/uid.h"
#include "controller/gate/gate.h"
#include "controller/kube/client.h"
#include "controller/log.h"

enum { HERALD_A_SECOND = 20, HERALD_LINE_MAX = 256, HERALD_MESSAGE_MAX = 1023 };

struct herald;

enum herald_level {
	HERALD_STOPS, /* the default */
	HERALD_ALL,   /* also starts, why Jobs wait, refusals */
	HERALD_NONE,
};

enum herald_type { HERALD_NORMAL, HERALD_WARNING };

struct herald_options {
	struct kube_client *client;
	struct log *log;
	enum herald_level level;
	const char *identity; /* who we are; copied */
	uint64_t seed;	      /* names of Events of one millisecond differ by it */
};

struct herald_counts {
	uint64_t written, dropped;
};

struct herald *herald_new(const struct herald_options *o);
/* After the client is freed, or has been told of no more answers: nothing may be under way. */
void herald_free(struct herald *h);

/* An Event on a Job, or on an object of ours, put in line (not with HERALD_NONE). Those of objects
 * without a namespace stand in the namespace default, where kubectl describe looks for them. reason
 * is one word in CamelCase, message a sentence; of a longer one the first HERALD_MESSAGE_MAX bytes
 * are told. All is copied. */
struct herald_subject {
	struct uid uid;
	const char *ns, *name;
	const char *kind; /* NULL: a Job */
};
void herald_tell(struct herald *h, const struct herald_subject *of, enum herald_type type,
	const char *reason, const char *message, int64_t now_ms);

/* What the gate did; the level says whether it becomes an Event. */
void herald_note(struct herald *h, const struct note *n);

/* Writes what may be written. Called about once a second, while leading. */
void herald_tick(struct herald *h, int64_t now_ms);

struct herald_counts herald_count(const struct herald *h);

#endif
