/*
 * What the command lines of several commands have in common: how the cluster is reached, how the
 * answer is printed, and which Job is meant.
 */
#ifndef SLUICE_CLI_OPTIONS_H
#define SLUICE_CLI_OPTIONS_H

#include "base/flags.h"
#include "controller/kube/config.h"

/* OUTPUTS in options.c has them in this order. */
enum output {
	OUTPUT_TABLE,
	OUTPUT_WIDE,
	OUTPUT_JSON,
	OUTPUT_CSV,  /* cost, report and history only */
	OUTPUT_NAME, /* jobs only */
};

/* One of these, as words such as "table|csv|json" say. */
#define FLAG_OUTPUT(options, member, words)                                                        \
	.name = "output", .letter = 'o', .take = options_output,                                   \
	.to = FLAG_TO(enum output, options, member), .value = words
flag_taker options_output;

/* Rows: of a struct kube_config_options as kubectl has them, with --help; with -n; with -A. */
#define FLAGS_KUBE(options, member)                                                                \
	{FLAG_TEXT("kubeconfig", options, member.kubeconfig), .value = "FILE"},                    \
		{FLAG_TEXT("context", options, member.context)},                                   \
	{                                                                                          \
		FLAG_HELP                                                                          \
	}
#define FLAGS_CLUSTER(options) {FLAG_NAMESPACE(options, namespace_name)}, FLAGS_KUBE(options, kube)
#define FLAG_ALL_NAMESPACES(options, member) FLAG_GIVEN("all-namespaces", 'A', options, member)

/* -n and -A exclude each other. */
int options_check_namespaces(const char *namespace_name, bool all, struct err *e);

/* The name in job/NAME, jobs/NAME, job.batch/NAME, `job NAME` or NAME; points into word. NULL:
 * none of these. */
const char *options_job_name(char *const *word, size_t nwords);
/* The Job that the words name. ERR_INVALID: none; wants: "one Job, as in: sluice hold
 * job/train". */
int options_job(
	char *const *word, size_t nwords, const char *wants, const char **ret, struct err *e);

#endif
