/*
 * The kinds that Sluice follows on the API server: where each is listed, and how one of its objects
 * becomes a fact. The observer (informer.h) does the following.
 *
 * When a kind is added: the table in kinds.c, KINDS here, the ClusterRole in deploy/, and decode.h.
 */
#ifndef SLUICE_CONTROLLER_WATCH_KINDS_H
#define SLUICE_CONTROLLER_WATCH_KINDS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/json.h"
#include "controller/overcommit/overcommit_controller.h"
#include "controller/watch/autoscaler_status.h"
#include "controller/watch/job_scope.h"
#include "controller/write/status_writer.h"
#include "controller/watch/time_specs.h"
#include "controller/wire/tell.h"
#include "sluice/queue.h"

/* Who is told. */
struct kind_options {
	struct queue *queue;
	struct gate *gate; /* of ProvisioningRequests */
	struct job_scope *job_scope;
	struct time_specs *time_specs;
	struct autoscaler_status *autoscaler_status;
	struct overcommit_controller *overcommit_controller;
};

struct kind {
	const char *name; /* plural, for people */
	const char *path; /* NULL: the ConfigMaps, in whose namespace the observer knows */
	const char *label_selector, *field_selector;
	bool ours;	 /* a CRD: may not be installed */
	bool has_status; /* the reporter writes it, so its events are often our own */
	/* Its status says what outlives a leader: it is told whenever that changes, to the leader as well. */
	bool status_is_fact;
	bool generations; /* metadata.generation moves with every change of the spec */
	bool shapes_jobs; /* Jobs are judged by it as they are told: they are listed after it */
	bool names_configmaps; /* only those that a spec names are kept: they are listed after */
	bool is_configmaps;
	bool is_nodes; /* followed in the watch that is shared with overcommit */
	/* Roles of an older deployment do not have it: then the queue does without, and this is
	 * what comes of it. NULL: there is no doing without. */
	const char *without;
	/* May be NULL. Whether the queue has been told of all: false when it has to do without. */
	void (*know)(struct queue *q, bool known);
	/* Of another program that may not be there: where the API server does not serve the kind,
	 * there are none, and nothing is said of that. */
	bool optional;
	/* How an object becomes a fact: one of these. Jobs have none: they go to the gate. */
	bool is_time_spec; /* completed by time_specs.h first */
	enum time_specs_kind time_spec;
	tell_queue *tell;
	int (*see)(const struct kind_options *o, const cJSON *object, struct err *e);
	/* Shows at the object why it is refused; its last valid spec stays in force. Both NULL:
	 * nothing of it can be shown there. */
	void (*reject)(struct queue *q, const char *name, const char *sentence);
	void (*reject_in)(struct queue *q, const char *ns, const char *name, const char *sentence);
	/* How it goes: one of these, but of a time spec. */
	void (*drop)(struct queue *q, const char *name);
	void (*drop_in)(struct queue *q, const char *ns, const char *name);
	int (*lose)(const struct kind_options *o, const char *ns, const char *name);
	/* May be NULL. All of them have been told as they were at this resourceVersion. */
	void (*seen)(const struct kind_options *o, int64_t version);
	enum status_writer_kind report; /* when has_status */
};

/* Those that are known by their place. A kind that is added before one of them moves it on: else the compiler
 * says that its row is overridden. ConfigMaps and Jobs come last. */
enum { NODES = 15, QUOTAS, CONFIGMAPS = 22, JOBS, KINDS };

/* Pods are too many to be a kind as others are: bound_pods.h follows them, when they are wanted. */
extern const struct kind kind_pods;

extern const struct kind kinds[KINDS];

/* Of all kinds but Jobs. 0, JOBS_ANEW, or ERR_INVALID with the sentence. */
int kind_tell(
	const struct kind *k, const struct kind_options *o, const cJSON *object, struct err *e);
int kind_drop(const struct kind *k, const struct kind_options *o, const char *ns, const char *name);

#endif
