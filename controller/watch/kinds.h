/*
 * The kinds that Sluice follows on the API server: where each is listed, and how one of its objects
 * becomes a fact. The informer (informer.h) does the following.
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

/* The receivers of facts. */
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
	const char *path; /* NULL: the ConfigMaps, whose namespace the informer knows */
	const char *label_selector, *field_selector;
	bool ours;	 /* a CRD: may not be installed */
	bool has_status; /* status_writer writes the status, so events are often our own */
	/* The status says what outlives a leader: the object is told whenever that changes, to the
	 * leader as well. */
	bool status_is_fact;
	bool generations;      /* metadata.generation moves with every change of the spec */
	bool shapes_jobs;      /* Jobs are judged by the kind: they are listed after it */
	bool names_configmaps; /* a spec may name ConfigMaps: they are listed after it */
	bool is_configmaps;
	bool is_nodes; /* followed in the watch that is shared with overcommit */
	/* What comes of it when the queue does without, for roles of an older deployment lack the
	 * kind. NULL: the queue cannot do without. */
	const char *without;
	/* Tells the queue whether it was told of all objects: false when it has to do without. May
	 * be NULL. */
	void (*know)(struct queue *q, bool known);
	/* The kind may not be served, as of another program: then there are no objects, and nothing
	 * is logged. */
	bool optional;
	/* How an object becomes a fact: one of these, and none for Jobs, which go to the gate. */
	bool is_time_spec; /* completed by time_specs.h first */
	enum time_specs_kind time_spec;
	tell_queue *tell;
	int (*see)(const struct kind_options *o, const cJSON *object, struct err *e);
	/* Shows at the object why it is refused; its last valid spec stays in force. Both NULL:
	 * nothing can be shown there. */
	void (*reject)(struct queue *q, const char *name, const char *sentence);
	void (*reject_in)(struct queue *q, const char *ns, const char *name, const char *sentence);
	/* How an object goes: one of these, but for a time spec. */
	void (*drop)(struct queue *q, const char *name);
	void (*drop_in)(struct queue *q, const char *ns, const char *name);
	int (*lose)(const struct kind_options *o, const char *ns, const char *name);
	/* Tells that all objects were told as they were at this resourceVersion. May be NULL. */
	void (*seen)(const struct kind_options *o, int64_t version);
	enum status_writer_kind report; /* when has_status */
};

/* Kinds that are known by their place. A kind that is added before one of them moves it on; else
 * the compiler says that its row is overridden. ConfigMaps and Jobs come last. */
enum { NODES = 15, QUOTAS, CONFIGMAPS = 22, JOBS, KINDS };

/* Pods are too many to be one of kinds[]: bound_pods.h follows them, when they are wanted. */
extern const struct kind kind_pods;

extern const struct kind kinds[KINDS];

/* Tells of an object, of any kind but Jobs. 0, JOBS_ANEW, or ERR_INVALID with the sentence. */
int kind_tell(
	const struct kind *k, const struct kind_options *o, const cJSON *object, struct err *e);
int kind_drop(const struct kind *k, const struct kind_options *o, const char *ns, const char *name);

#endif
