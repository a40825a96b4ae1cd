#include "cli/past/options.h"

#include <getopt.h>

#include "queue/calendar/tzdata.h"
#include "queue/calendar/wall_time.h"

static int take_namespace(const char *text, void *options, struct err *e)
{
	((struct past_command_options *)options)->words.ns = text;
	return flag_check_namespace("--namespace", text, e);
}

static int take_output(const char *text, void *options, struct err *e)
{
	(void)e;
	((struct past_command_options *)options)->output = output_by_name(text);
	return 0;
}

#define COMMON                                                                                     \
	{FLAG_TAKE("namespace", 'n', take_namespace), .value = "NAMESPACE"},                       \
		{FLAG_GIVEN("all-namespaces", 'A', struct past_command_options, all_namespaces)},  \
		{FLAG_TEXT("since", struct past_command_options, words.since)},                    \
		{FLAG_TEXT("until", struct past_command_options, words.until)},                    \
		{FLAG_TAKE("output", 'o', take_output), .value = "table|csv|json"},                \
		{FLAG_KUBECONFIG(struct past_command_options, kube)},                              \
		{FLAG_CONTEXT(struct past_command_options, kube)},                                 \
	{                                                                                          \
		FLAG_GIVEN("help", 'h', struct past_command_options, help)                         \
	}

static const struct flag report_rows[] = {
	COMMON, {FLAG_TEXT("by", struct past_command_options, words.by), .value = PAST_BY_VALUES}};
static const struct flag history_rows[] = {
	COMMON, {FLAG_TEXT("user", struct past_command_options, words.submitter)}};

const struct flag_table report_flags = {FLAG_TABLE(report_rows)};
const struct flag_table history_flags = {FLAG_TABLE(history_rows)};

/* The words that are no flags: of history at most one Job. */
static int take_names(int argc, char **argv, struct past_command_options *o, struct err *e)
{
	if (optind == argc)
		return 0;
	if (o->words.kind != PAST_RUNS)
		return err_set(
			e, ERR_INVALID, "it takes no names, and \"%.60s\" is one", argv[optind]);
	o->words.job = flag_job_name(argv + optind, (size_t)(argc - optind));
	return o->words.job ? 0
			    : err_set(e, ERR_INVALID, "it wants one Job at most, as in job/train");
}

/* ---- times by the user's clock ----------------------------------------------------------------- */

static int resolve(const char *flag, const char **text, const struct moment_basis *b,
	char ret[MOMENT_TEXT_SIZE], struct err *e)
{
	struct wall_time w;
	struct slice zone;
	struct moment m = {0};
	int rc = 0;
	if (!*text)
		return 0;
	bool is_time = wall_time_read(slice_of(*text), &w, &zone, NULL) == 0;
	if (is_time && (w.has_clock || zone.len > 0))
		rc = moment_read(*text, b, &m, e);
	if (rc < 0)
		err_wrap(e, "--%s", flag);
	else if (m.zone)
		*text = moment_write(&m, ret);
	moment_done(&m);
	return rc;
}

int past_times_resolve(struct past_words *w, int64_t now_ms, struct past_times *ret, struct err *e)
{
	struct zone *own = tzdata_local();
	const struct moment_basis basis = {
		.about_ms = now_ms, .zone = own, .last = true, .takes_gaps = true};
	int rc = resolve("since", &w->since, &basis, ret->since, e);
	if (rc == 0)
		rc = resolve("until", &w->until, &basis, ret->until, e);
	zone_free(own);
	return rc;
}

/* ---- the command line -------------------------------------------------------------------------- */

int past_command_options_parse(int argc, char **argv, enum past_kind kind, int64_t now_ms,
	struct past_command_options *ret, struct err *e)
{
	struct past_query query;
	*ret = (struct past_command_options){.words = {.kind = kind}, .output = OUTPUT_TABLE};
	int rc = flags_walk(
		argc, argv, 1, kind == PAST_RUNS ? &history_flags : &report_flags, ret, e);
	if (rc == 0 && !ret->help)
		rc = take_names(argc, argv, ret, e);
	if (rc == 0 && ret->words.ns && ret->all_namespaces)
		rc = err_set(e, ERR_INVALID, "-n and -A exclude each other");
	if (rc == 0 && !ret->help)
		rc = past_times_resolve(&ret->words, now_ms, &ret->times, e);
	return rc == 0 && !ret->help ? past_query_parse(&ret->words, now_ms, &query, e) : rc;
}
