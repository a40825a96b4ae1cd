/*
 * An intent: what the gate asks the ledger or the API server for, in full. intents.def has a row for each
 * kind.
 */
#ifndef SLUICE_CONTROLLER_GATE_INTENT_H
#define SLUICE_CONTROLLER_GATE_INTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/uid.h"
#include "controller/gate/story.h"
#include "controller/ledger/ledger.h"
#include "sluice/queue.h"

enum intent_kind {
#define INTENT(kind, ...) INTENT_##kind,
#include "controller/gate/intents.def"
};

enum {
	INTENTS = 0
#define INTENT(kind, ...) +1
#include "controller/gate/intents.def"
};

enum intent_trait {
	WRITES_NOTHING = 1 << 0,
	NEEDS_NO_LEASE = 1 << 1,  /* may be asked for while a successor may lead */
	NEEDS_LEASE_NOW = 1 << 2, /* is not sent once the lease ran out, whatever the Job tells */
	TELLS_STORY = 1 << 3,	  /* of what runs or ran: short where there is no room for it */
	GOES_FIRST = 1 << 4,	  /* frees quota */
	GOES_BY_STATUS = 1 << 5,  /* may, since most webhooks do not look there */
	ENDS_BY_A_NO = 1 << 6, /* is given up when refused; others are asked for until they land */
	HARMLESS_TO_START = 1 << 7, /* a start may be decided while it is under way */
	STANDS_ALONE = 1 << 8,	    /* no phase hangs on it */
	HAS_OWN_LIMITS = 1 << 9,    /* of tries and failures (provision.c) */
};

/* Tells whether intents of that kind have any of these traits. */
bool intent_is(enum intent_kind k, unsigned traits);
/* Says what such an intent does: "start it". */
const char *intent_does(enum intent_kind k);

/* What a start writes into the Pod template. Texts are JSON. */
struct start_template {
	struct template_directives {
		const char *node_selector; /* an object */
		const char *tolerations;   /* an array */
		const char *node_affinity; /* spec.affinity.nodeAffinity, an object; "": none */
	} own, run;		   /* as the owner wrote them; with what the run's flavors add */
	struct template_edit edit; /* what else changes: node affinity, labels, annotations */
	const char *resources;	   /* of its containers, as the owner wrote them; NULL: they stay */
	enum lending lending;	   /* the names under which the run asks for resources */
	bool kubelet_limits;	   /* ... with limits of cpu and memory beside them */
	const char *fault;	   /* why no patch of it can be made, a sentence; or NULL */
};

/* Annotations of pods that take what was set aside for a ProvisioningRequest. */
#define PROVISION_CONSUMES "autoscaling.x-k8s.io/consume-provisioning-request"
#define PROVISION_CLASS "autoscaling.x-k8s.io/provisioning-class-name"

/* A ProvisioningRequest, and the PodTemplate of the same name. */
struct provision_ask {
	const char *name; /* NULL: none */
	const char *class_name;
	const struct label *parameters;
	size_t nparameters;
	int32_t pods;
	uint64_t key; /* kept with the request: provision_fact.key */
};

struct intent {
	enum intent_kind kind;
	uint64_t id; /* the answer quotes it */

	/* INTENT_LEASE: renew this epoch (0: take it if it is free, beyond epoch_seen). INTENT_LOAD:
	 * the epoch. */
	int64_t epoch, epoch_seen;
	int64_t lease_ms;
	bool settled; /* INTENT_LEASE: no pause of starts is left for the next leader */

	/* INTENT_BATCH */
	struct ledger_batch batch;

	/* All others: the Job, and what a PATCH tests. */
	struct uid uid;
	const char *ns, *name;
	int64_t generation; /* INTENT_START tests it, and what restores parallelism does */
	int64_t version; /* INTENT_CLEAR and INTENT_DELETE test it: no change since the decision */
	const char *queue; /* INTENT_START tests the label: changing it moves no generation */
	const char *story_before; /* tested; NULL: there must be none */
	bool has_annotations;	  /* false: test that the map is absent, and make it */
	struct story story;	  /* what to write */
	const char *hold; /* INTENT_STOP and INTENT_TELL: the text of sluice.dev/hold; NULL: none */
	/* Two fields of the spec to be set, where more than 0. A start with fewer pods than asked
	 * for lowers them, and the intent that ends the run restores what the owner wrote. That one
	 * tests generation as well: the owner may be editing them. */
	int32_t parallelism, completions;
	const char *notice;	 /* INTENT_NOTICE: the text of sluice.dev/waiting */
	int64_t booked_start_ms; /* INTENT_NOTICE: the time in sluice.dev/booked-start; 0: take it off */
	bool has_booked_start; /* INTENT_NOTICE, INTENT_START: sluice.dev/booked-start is there */
	const char *outcomes;  /* INTENT_OUTCOMES: the text of sluice.dev/after-outcomes */
	bool has_notice; /* INTENT_START: take the notice off; false: test that there is none */
	int64_t stopping_at_ms; /* INTENT_WARN: the time in sluice.dev/stopping-at; 0: take it off */
	size_t story_max; /* most bytes of the story, where annotations are full (story_fit()); 0: any */
	bool untold;	  /* INTENT_STOP: no story at all, on a Job that has none */
	bool by_status; /* INTENT_CLEAR; INTENT_TELL: through the subresource status (failing.h) */
	bool resume;	/* INTENT_TELL: suspend false, so that a Job without work left can end */
	bool drop_notice; /* INTENT_TELL: take sluice.dev/waiting off, for its room; INTENT_RETELL: for
			      the Job waits no more */
	bool drop_warning; /* INTENT_START, _STOP, _TELL: take sluice.dev/stopping-at off */
	bool with_nodes;   /* INTENT_PODS: ask for the nodes of the pods, too */
	struct start_template template; /* INTENT_START, INTENT_PROVISION */
	struct provision_ask provision; /* INTENT_PROVISION, INTENT_UNPROVISION: its name */
};

#endif
