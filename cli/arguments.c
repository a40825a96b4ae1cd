#include "cli/arguments.h"

#include <stdlib.h>
#include <string.h>

#include "cli/past/options.h"

/* ---- --server and what belongs to it --------------------------------------------------------- */

static int set_server(const char *text, struct arguments *a, struct err *e)
{
	if (strncmp(text, "http://", 7) != 0 && strncmp(text, "https://", 8) != 0)
		return err_set(e, ERR_INVALID,
			"the server is \"%.200s\" (--server or SLUICE_SERVER); it must be a URL such as " DEFAULT_SERVER,
			text);
	a->server = text;
	a->server_given = true;
	return 0;
}

static int take_server(const struct flag *f, const char *text, void *arguments, struct err *e)
{
	(void)f;
	return set_server(text, arguments, e);
}

#define SERVER_FLAGS                                                                               \
	{FLAG_TAKE("server", 0, take_server)},                                                     \
		{FLAG_TEXT("token-file", struct arguments, token_file), .value = "FILE"},          \
		{FLAG_SOME("ca-file", struct arguments, ca_file), .value = "FILE"},                \
	{                                                                                          \
		FLAG_GIVEN("insecure-skip-tls-verify", 0, struct arguments, insecure),             \
			.whole = true                                                              \
	}

/* Takes what no flag said from the environment. */
static int finish_server(struct arguments *a, struct err *e)
{
	const char *server = getenv("SLUICE_SERVER"), *ca_file = getenv("SLUICE_CA_FILE");
	if (!a->ca_file && ca_file && ca_file[0])
		a->ca_file = ca_file;
	if (a->insecure && a->ca_file)
		return err_set(e, ERR_INVALID,
			"--insecure-skip-tls-verify and --ca-file (or SLUICE_CA_FILE) exclude each other");
	if (!a->server && server && server[0])
		return set_server(server, a, e);
	if (!a->server)
		a->server = DEFAULT_SERVER;
	return 0;
}

/* ---- the tables ------------------------------------------------------------------------------ */

#define ALL FLAG_ALL_NAMESPACES(struct arguments, all_namespaces)
#define OUTPUT(outputs) FLAG_OUTPUT(struct arguments, output, outputs)
#define WATCH FLAG_GIVEN("watch", 'w', struct arguments, watch)
#define FOLLOW FLAG_GIVEN("follow", 'f', struct arguments, follow)
#define COST_TERMS                                                                                 \
	{FLAG_TEXT("by", struct arguments, by), .value = PAST_BY_VALUES},                          \
		{FLAG_TEXT("since", struct arguments, since)},                                     \
	{                                                                                          \
		FLAG_TEXT("until", struct arguments, until)                                        \
	}
#define COMMON SERVER_FLAGS, FLAGS_CLUSTER(struct arguments)

static const struct flag queue_rows[] = {COMMON, {ALL}, {OUTPUT("table|wide|json")}, {WATCH}};
static const struct flag explain_rows[] = {COMMON, {OUTPUT("table|json")}, {WATCH}};
static const struct flag decisions_rows[] = {COMMON, {ALL}, {OUTPUT("table|json")}, {FOLLOW}};
static const struct flag cost_rows[] = {COMMON, {ALL}, {OUTPUT("table|csv|json")}, COST_TERMS};
/* Which outputs there are is not known yet. */
static const struct flag any_rows[] = {
	COMMON, {ALL}, {OUTPUT(NULL)}, {WATCH}, {FOLLOW}, COST_TERMS, {FLAG_VERSION}};

static int finish(void *arguments, char **word, size_t nwords, struct err *e)
{
	struct arguments *a = arguments;
	int rc = finish_server(a, e);
	if (rc == 0)
		rc = options_check_namespaces(a->namespace_name, a->all_namespaces, e);
	return rc < 0 ? rc : flags_one_word(word, nwords, &a->name, e);
}

static int finish_explain(void *arguments, char **word, size_t nwords, struct err *e)
{
	struct arguments *a = arguments;
	int rc = finish(arguments, NULL, 0, e);
	return rc < 0 ? rc
		      : options_job(word, nwords,
				"one Job, as in: sluice explain job/train -n team-a", &a->name, e);
}

static int finish_without_name(void *arguments, char **word, size_t nwords, struct err *e)
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
	FLAG_TABLE(decisions_rows, struct arguments), .finish = finish_without_name};
const struct flag_table cost_flags = {
	FLAG_TABLE(cost_rows, struct arguments), .finish = finish_without_name};
const struct flag_table any_flags = {FLAG_TABLE(any_rows, struct arguments), .finish = finish_any};
