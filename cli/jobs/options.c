#include "cli/jobs/options.h"

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

static int take_states(const struct flag *f, const char *text, void *to, struct err *e)
{
	(void)f;
	return job_states_parse(text, to, e);
}

static const struct flag rows[] = {
	{FLAG_ALL_NAMESPACES(struct jobs_options, all_namespaces)},
	{FLAG_NAME("queue", 'q', struct jobs_options, queue, "QUEUE")},
	{FLAG_TAKE_TO("state", take_states, unsigned, struct jobs_options, states),
		.value = "Waiting|Starting|Running|Stopping|Deleting|Ended|..."},
	{FLAG_GIVEN("mine", 'm', struct jobs_options, mine)},
	{FLAG_TEXT("selector", struct jobs_options, selector), .letter = 'l'},
	{FLAG_TEXT("group", struct jobs_options, group), .letter = 'g',
		.value = "queue|user|sweep|namespace"},
	{FLAG_GIVEN("watch", 'w', struct jobs_options, watch)},
	{FLAG_OUTPUT(struct jobs_options, output, "table|wide|json|name")},
	FLAGS_CLUSTER(struct jobs_options),
};

/* Checks what goes together with --group: all Jobs are summed up. */
static int check_group(const struct jobs_options *o, struct err *e)
{
	if (o->queue || o->states != JOB_STATE_ANY || o->mine || (o->selector && *o->selector))
		return err_set(e, ERR_INVALID,
			"--group sums up all Jobs, so it goes without -q, --state, -l and --mine");
	if (o->output != OUTPUT_TABLE && o->output != OUTPUT_JSON)
		return err_set(e, ERR_INVALID, "with --group, -o must be table or json");
	return 0;
}

static int finish(void *options, char **word, size_t nwords, struct err *e)
{
	const struct jobs_options *o = options;
	if (nwords > 0)
		return err_set(e, ERR_INVALID,
			"it takes no names, and \"%.60s\" is one: sluice explain job/NAME says all of one Job",
			word[0]);
	int rc = o->group ? check_group(o, e) : 0;
	return rc ? rc : options_check_namespaces(o->namespace_name, o->all_namespaces, e);
}

const struct flag_table jobs_flags = {FLAG_TABLE(rows, struct jobs_options), .finish = finish};
