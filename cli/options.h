/*
 * What the command lines of several commands share: how the cluster is reached, how the answer is
 * printed, and which Job is meant.
 */
#ifndef SLUICE_CLI_OPTIONS_H
#define SLUICE_CLI_OPTIONS_H

#include "base/flags.h"
#include "controller/kube/config.h"

/* The forms of output, in the order of OUTPUTS in options.c. */
enum output {
	OUTPUT_TABLE,
	OUTPUT_WIDE,
	OUTPUT_JSON,
	OUTPUT_CSV,  /* cost, report and history only */
	OUTPUT_NAME, /* jobs only */
};

/* The flag -o, for one of the forms in words such as "table|csv|json". */
#define FLAG_OUTPUT(options, member, words)                                                        \
	.name = "output", .letter = 'o', .take = options_output,                                   \
	.to = FLAG_TO(enum output, options, member), .value = words
flag_taker options_output;

/* Rows of flags: those of a struct kube_config_options as kubectl has them, with --help; with -n,
 * too; and -A. */
#define FLAGS_KUBE(options, member)                                                                \
	{FLAG_TEXT("kubeconfig", options, member.kubeconfig), .value = "FILE"},                    \
		{FLAG_TEXT("context", options, member.context)},                                   \
	{                                                                                          \
		FLAG_HELP                                                                          \
	}
#define FLAGS_CLUSTER(options) {FLAG_NAMESPACE(options, namespace_name)}, FLAGS_KUBE(options, kube)
#define FLAG_ALL_NAMESPACES(options, member) FLAG_GIVEN("all-namespaces", 'A', options, member)

/* Checks that -n and -A are not both there. */
int options_check_namespaces(const char *namespace_name, bool all, struct err *e);

/* Returns the name in job/NAME, jobs/NAME, job.batch/NAME, `job NAME` or NAME; points into word.
 * NULL: none of these. */
const char *options_job_name(char *const *word, size_t nwords);
/* Reads the Job that the words name. ERR_INVALID: none. wants: "one Job, as in: sluice hold
 * job/train". */
int options_job(
	char *const *word, size_t nwords, const char *wants, const char **ret, struct err *e);

#endif
