#include "cli/arguments.h"

#include "cli/past/options.h"

/* ---- the tables ------------------------------------------------------------------------------ */

#define ALL FLAG_ALL_NAMESPACES(struct arguments, all_namespaces)
#define OUTPUT(outputs) FLAG_OUTPUT(struct arguments, output, outputs)
#define WATCH FLAG_GIVEN("watch", 'w', struct arguments, watch)
#define FOLLOW FLAG_GIVEN("follow", 'f', struct arguments, follow)
#define COST_TERMS                                                                                 \
	{FLAG_TEXT("by", struct arguments, of_cost), .value = PAST_BY_VALUES},                     \
		{FLAG_TEXT("since", struct arguments, of_cost)},                                   \
	{                                                                                          \
		FLAG_TEXT("until", struct arguments, of_cost)                                      \
	}
#define COMMON FLAGS_CLUSTER(struct arguments)

static const struct flag queue_rows[] = {COMMON, {ALL}, {OUTPUT("table|wide|json")}, {WATCH}};
static const struct flag explain_rows[] = {COMMON, {OUTPUT("table|json")}, {WATCH}};
static const struct flag decisions_rows[] = {COMMON, {ALL}, {OUTPUT("table|json")}, {FOLLOW}};
/* The flags before a command is named: which outputs there are is not known yet. */
static const struct flag any_rows[] = {
	COMMON, {ALL}, {OUTPUT(NULL)}, {WATCH}, {FOLLOW}, COST_TERMS, {FLAG_VERSION}};

static int finish(void *arguments, char **word, size_t nwords, struct err *e)
{
	struct arguments *a = arguments;
	int rc = options_check_namespaces(a->namespace_name, a->all_namespaces, e);
	return rc < 0 ? rc : flags_one_word(word, nwords, &a->name, e);
}

static int finish_explain(void *arguments, char **word, size_t nwords, struct err *e)
{
	struct arguments *a = arguments;
	return options_job(
		word, nwords, "one Job, as in: sluice explain job/train -n team-a", &a->name, e);
}

static int finish_decisions(void *arguments, char **word, size_t nwords, struct err *e)
{
	if (nwords > 0)
		return err_set(e, ERR_INVALID, "it takes no names, and \"%.60s\" is one", word[0]);
	return finish(arguments, NULL, 0, e);
}

static int finish_any(void *arguments, char **word, size_t nwords, struct err *e)
{
	return flags_one_word(word, nwords, &((struct arguments *)arguments)->name, e);
}

const struct flag_table queue_flags = {FLAG_TABLE(queue_rows, struct arguments), .finish = finish};
const struct flag_table explain_flags = {
	FLAG_TABLE(explain_rows, struct arguments), .finish = finish_explain};
const struct flag_table decisions_flags = {
	FLAG_TABLE(decisions_rows, struct arguments), .finish = finish_decisions};
const struct flag_table any_flags = {FLAG_TABLE(any_rows, struct arguments), .finish = finish_any};
