/*
 * Commands that change one label or annotation of one Job with the user's own rights, and say what
 * follows: hold, release, move, priority, nice. Unlike kubectl they look first. A change that would
 * have no effect, or would be refused, is said in words, and nothing is written.
 *
 * The change is made to the Job that was looked at, and to no later Job of its name.
 *
 * Left to the command: what the change is, what is checked, what is said (struct job_change).
 */
#ifndef SLUICE_CLI_JOB_CHANGE_H
#define SLUICE_CLI_JOB_CHANGE_H

#include "cli/options.h"
#include "cli/question.h"

/* The options that each of these commands takes: the first member of its own options. */
struct job_options {
	const char *job;
	const char *value; /* the text to write; NULL: the label or annotation is taken off */
	const char *namespace_name; /* NULL: that of the kubeconfig */
	struct kube_config_options kube;
};

#define FLAGS_JOB(options)                                                                         \
	{FLAG_NAMESPACE(options, of.namespace_name)}, FLAGS_KUBE(options, of.kube)

/* The Job that is meant, and a way to ask for more. job: NULL before it was looked at. */
struct job_asked {
	struct ev_loop *loop;
	struct kube_client *client;
	const char *ns, *name;
	const cJSON *job;
};

struct job_change {
	const char *field; /* of metadata: "labels" or "annotations" */
	const char *key;
	/* Checks the change. ERR_INVALID: it would have no effect, or be refused. ERR_GONE: what it
	 * names is not there. The sentence has the cure. */
	int (*check)(const struct job_asked *a, void *options, struct err *e);
	/* Says what follows, once the change is written. */
	void (*tell)(const struct job_asked *a, void *options, struct buf *out);
};

/* Looks at the Job that a names, and writes the change. Appends to out what follows. */
int job_change_make(const struct job_change *c, const struct job_asked *a, struct job_options *o,
	struct buf *out, struct err *e);

/* Runs the whole command, by the kubeconfig: prints, and returns an exit code. */
int job_change_run(const struct job_change *c, struct job_options *o);

/* Returns a label of the Job, "" when absent. */
const char *job_label(const cJSON *job, const char *key);
/* Returns the Job's hold, in the annotation's words; NULL: the Job is not on hold. */
const char *job_hold(const cJSON *job);
/* Checks that the Job is in a queue. ERR_INVALID: it has ended, is being deleted, or is in no
 * queue. verb is for the sentence: "moved". */
int job_check_queued(const struct job_asked *a, const char *verb, struct err *e);

#endif
