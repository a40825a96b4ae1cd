/*
 * The command line of `sluice jobs`.
 */
#ifndef SLUICE_CLI_JOBS_OPTIONS_H
#define SLUICE_CLI_JOBS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/options.h"

/* The states of a Job that is queued, a bit each. */
enum { JOB_STATES = 6, JOB_STATE_ANY = 0 };

/* Names the state with that bit's number. */
const char *job_state_name(size_t number);
/* Reads states, "Waiting,Running", in any case of letters. ERR_INVALID: a sentence with all there
 * are. */
int job_states_parse(const char *text, unsigned *ret, struct err *e);
/* True if the state is one of these. A state that we do not know is in JOB_STATE_ANY alone. */
bool job_states_have(unsigned states, const char *state);

struct jobs_options {
	bool watch, all_namespaces;
	bool mine;		    /* only Jobs that the user submitted */
	const char *namespace_name; /* NULL: the kubeconfig's */
	const char *queue;	    /* NULL: any */
	unsigned states;	    /* JOB_STATE_ANY: any */
	const char *selector;	    /* NULL: any */
	const char *group;  /* by what they are summed up: "queue" ...; NULL: they are not */
	enum output output; /* not OUTPUT_CSV */
	struct kube_config_options kube;
};

extern const struct flag_table jobs_flags;

#endif
