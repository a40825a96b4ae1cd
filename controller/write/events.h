/*
 * Events: tells people what became of a Job, as Kubernetes Events, which `kubectl describe job`
 * shows among those of the Job controller.
 *
 * Events are for people, and no program decides by them: what must not be lost is in the ledger and
 * in the Job's annotations. So they are best effort, and always make way:
 *   - telling only puts the Event in line. The line is short; when it is full the oldest goes, and
 *     is counted;
 *   - they are written from events_tick() on, at most EVENTS_A_SECOND for each tick and two at a
 *     time, and only while no other request stands in line for the API server;
 *   - one that failed is written once more, by the same name, so that it is there once even if the
 *     first try landed. After that it is given up, and counted.
 *
 * By default only what a Job's owner did not ask for is told: events.def has a row for each Event on a Job, and says
 * which are told by default. On Budgets, Calendars and other objects of ours the status writer tells what is wrong
 * with them. A start has no Event of ours, for the Job controller has one (Resumed); and one write more for each
 * admission would halve what the API server can start.
 *
 * They are core/v1, with the fields that the Job controller fills. By events.k8s.io/v1 they could
 * have no lastTimestamp, and kubectl sorts by that: they would stand before everything else,
 * whenever they happened.
 *
 * A new Event of a note: a row in events.def, and its row in controller/gate/notes.def.
 */
#ifndef SLUICE_CONTROLLER_WRITE_EVENTS_H
#define SLUICE_CONTROLLER_WRITE_EVENTS_H

#include <stdint.h>

#include "base/uid.h"
#include "controller/gate/gate.h"
#include "controller/kube/client.h"
#include "controller/common/log.h"

enum { EVENTS_A_SECOND = 20, EVENTS_LINE_MAX = 256, EVENTS_MESSAGE_MAX = 1023 };

struct events;

enum events_level {
	EVENTS_STOPS, /* the default */
	EVENTS_ALL,   /* also starts, why Jobs wait, refusals */
	EVENTS_NONE,
};

enum events_type { EVENTS_NORMAL, EVENTS_WARNING };

struct events_options {
	struct kube_client *client;
	struct log *log;
	enum events_level level;
	const char *identity; /* our name; copied */
	uint64_t seed;	      /* names of Events of one millisecond differ by it */
};

struct events_counts {
	uint64_t written, dropped;
};

struct events *events_new(const struct events_options *o);
/* Frees it, once the client is freed or gives no more answers: nothing may be under way. */
void events_free(struct events *h);

/* What an Event is about: a Job, or an object of ours. */
struct events_subject {
	struct uid uid;
	const char *ns, *name;
	const char *kind; /* NULL: a Job */
};
/* Puts an Event in line, copied (not with EVENTS_NONE). Events of objects without a namespace stand
 * in the namespace default, where kubectl describe looks for them. reason is one word in CamelCase,
 * message a sentence, cut after EVENTS_MESSAGE_MAX bytes. */
void events_tell(struct events *h, const struct events_subject *of, enum events_type type,
	const char *reason, const char *message, int64_t now_ms);

/* Makes an Event of a note of the gate, if its kind and the level have one. */
void events_note(struct events *h, const struct note *n);

/* Writes what may be written. Call it about once a second, while leading. */
void events_tick(struct events *h, int64_t now_ms);

struct events_counts events_count(const struct events *h);

#endif
