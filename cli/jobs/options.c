#include "cli/jobs/options.h"

#include <getopt.h>
#include <string.h>
#include <strings.h>

#include "base/must.h"

/* ---- states ---------------------------------------------------------------------------------- */

static const char *const states[JOB_STATES] = {
	"Waiting", "Starting", "Running", "Stopping", "Deleting", "Ended"};

const char *job_state_name(size_t number)
{
	must(number < JOB_STATES);
	return states[number];
}

/* 0: there is none of that name. */
static unsigned state_bit(const char *text, size_t len)
{
	for (size_t i = 0; i < JOB_STATES; i++)
		if (strlen(states[i]) == len && strncasecmp(states[i], text, len) == 0)
			return 1U << i;
	return 0;
}

int job_states_parse(const char *text, unsigned *ret, struct err *e)
{
	unsigned all = 0;
	for (const char *p = text;; p++) {
		size_t len = strcspn(p, ",");
		unsigned bit = state_bit(p, len);
		if (!bit)
			return err_set(e, ERR_INVALID,
				"--state is \"%.60s\"; it must be Waiting, Starting, Running, Stopping, Deleting or Ended, or several with commas between them",
				text);
		all |= bit;
		p += len;
		if (!*p)
			break;
	}
	*ret = all;
	return 0;
}

bool job_states_have(unsigned wanted, const char *state)
{
	return wanted == JOB_STATE_ANY || (wanted & state_bit(state, strlen(state)));
}

/* ---- flags ----------------------------------------------------------------------------------- */

static int take_namespace(const char *text, void *options, struct err *e)
{
	((struct jobs_options *)options)->namespace_name = text;
	return flag_check_namespace("--namespace", text, e);
}

static int take_queue(const char *text, void *options, struct err *e)
{
	((struct jobs_options *)options)->queue = text;
	return flag_check_name("--queue", text, e);
}

static int take_states(const char *text, void *options, struct err *e)
{
	return job_states_parse(text, &((struct jobs_options *)options)->states, e);
}

static int take_output(const char *text, void *options, struct err *e)
{
	(void)e;
	((struct jobs_options *)options)->output = output_by_name(text);
	return 0;
}

static const struct flag flags[] = {
	{FLAG_TAKE("namespace", 'n', take_namespace), .value = "NAMESPACE"},
	{FLAG_GIVEN("all-namespaces", 'A', struct jobs_options, all_namespaces)},
	{FLAG_TAKE("queue", 'q', take_queue), .value = "QUEUE"},
	{FLAG_TAKE("state", 0, take_states),
		.value = "Waiting|Starting|Running|Stopping|Deleting|Ended|..."},
	{FLAG_GIVEN("mine", 'm', struct jobs_options, mine)},
	{FLAG_TEXT("selector", struct jobs_options, selector), .letter = 'l'},
	{FLAG_GIVEN("watch", 'w', struct jobs_options, watch)},
	{FLAG_TAKE("output", 'o', take_output), .value = "table|wide|json|name"},
	{FLAG_KUBECONFIG(struct jobs_options, kube)},
	{FLAG_CONTEXT(struct jobs_options, kube)},
	{FLAG_GIVEN("help", 'h', struct jobs_options, help)},
};

const struct flag_table jobs_flags = {FLAG_TABLE(flags)};

int jobs_options_parse(int argc, char **argv, struct jobs_options *ret, struct err *e)
{
	struct jobs_options o = {.output = OUTPUT_TABLE};
	int rc = flags_walk(argc, argv, 1, &jobs_flags, &o, e);
	if (rc < 0)
		return rc;
	if (!o.help && optind < argc)
		return err_set(e, ERR_INVALID,
			"it takes no names, and \"%.60s\" is one: sluice explain job/NAME says all of one Job",
			argv[optind]);
	if (o.namespace_name && o.all_namespaces)
		return err_set(e, ERR_INVALID, "-n and -A exclude each other");
	*ret = o;
	return 0;
}
