#include "cli/past/options.h"

#include "controller/common/clock.h"
#include "queue/calendar/tzdata.h"
#include "queue/calendar/wall_time.h"

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

#define OPTIONS struct past_command_options
#define COMMON                                                                                     \
	{FLAG_NAMESPACE(OPTIONS, words.ns)}, {FLAG_ALL_NAMESPACES(OPTIONS, all_namespaces)},       \
		{FLAG_TEXT("since", OPTIONS, words.since)},                                        \
		{FLAG_TEXT("until", OPTIONS, words.until)},                                        \
		{FLAG_OUTPUT(OPTIONS, output, "table|csv|json")}, FLAGS_KUBE(OPTIONS, kube)

static const struct flag sums_rows[] = {
	COMMON, {FLAG_TEXT("by", OPTIONS, words.by), .value = PAST_BY_VALUES}};
static const struct flag history_rows[] = {COMMON, {FLAG_TEXT("user", OPTIONS, words.submitter)}};

int past_command_options_finish(struct past_command_options *o, enum past_kind kind, char **word,
	size_t nwords, int64_t now_ms, struct err *e)
{
	struct past_query query;
	o->words.kind = kind;
	if (kind == PAST_RUNS)
		o->words.job = options_job_name(word, nwords);
	if (nwords > 0 && kind != PAST_RUNS)
		return err_set(e, ERR_INVALID, "it takes no names, and \"%.60s\" is one", word[0]);
	if (nwords > 0 && !o->words.job)
		return err_set(e, ERR_INVALID, "it wants one Job at most, as in job/train");
	int rc = options_check_namespaces(o->words.ns, o->all_namespaces, e);
	if (rc == 0)
		rc = past_times_resolve(&o->words, now_ms, &o->times, e);
	return rc == 0 ? past_query_parse(&o->words, now_ms, &query, e) : rc;
}

static int finish_cost(void *options, char **word, size_t nwords, struct err *e)
{
	return past_command_options_finish(options, PAST_COST, word, nwords, clock_now_ms(), e);
}

static int finish_report(void *options, char **word, size_t nwords, struct err *e)
{
	return past_command_options_finish(options, PAST_REPORT, word, nwords, clock_now_ms(), e);
}

static int finish_history(void *options, char **word, size_t nwords, struct err *e)
{
	return past_command_options_finish(options, PAST_RUNS, word, nwords, clock_now_ms(), e);
}

const struct flag_table cost_flags = {
	FLAG_TABLE(sums_rows, struct past_command_options), .finish = finish_cost};
const struct flag_table report_flags = {
	FLAG_TABLE(sums_rows, struct past_command_options), .finish = finish_report};
const struct flag_table history_flags = {
	FLAG_TABLE(history_rows, struct past_command_options), .finish = finish_history};
