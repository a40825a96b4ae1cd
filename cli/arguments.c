#include "cli/arguments.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "cli/flags.h"
#include "cli/past/options.h"

enum output output_by_name(const char *name)
{
	int output = flag_choice("table|wide|json|csv|name", name);
	must(output >= 0);
	return (enum output)output;
}

static int take_output(const char *text, void *arguments, struct err *e)
{
	(void)e;
	((struct arguments *)arguments)->output = output_by_name(text);
	return 0;
}

/* Before it is known which command it is, and so which there are. */
static int take_any_output(const char *text, void *arguments, struct err *e)
{
	(void)text;
	(void)arguments;
	(void)e;
	return 0;
}

static int take_server(const char *text, void *arguments, struct err *e)
{
	struct arguments *a = arguments;
	if (strncmp(text, "http://", 7) != 0 && strncmp(text, "https://", 8) != 0)
		return err_set(e, ERR_INVALID,
			"the server is \"%.200s\" (--server or SLUICE_SERVER); it must be a URL such as " DEFAULT_SERVER,
			text);
	a->server = text;
	a->server_given = true;
	return 0;
}

static int take_namespace(const char *text, void *arguments, struct err *e)
{
	((struct arguments *)arguments)->namespace_name = text;
	return flag_check_namespace("--namespace", text, e);
}

static int take_ca_file(const char *text, void *arguments, struct err *e)
{
	((struct arguments *)arguments)->ca_file = text;
	return text[0] ? 0
		       : err_set(e, ERR_INVALID, "--ca-file is empty; name a file of certificates");
}

static int take_insecure(const char *text, void *arguments, struct err *e)
{
	(void)text;
	(void)e;
	((struct arguments *)arguments)->insecure = true;
	return 0;
}

/* getopt_long() takes abbreviations: none may turn the verification off. */
static int check_insecure(int argc, char **argv, const struct arguments *a, struct err *e)
{
	bool spelled = false;
	for (int i = 1; i < argc; i++)
		spelled |= strcmp(argv[i], "--insecure-skip-tls-verify") == 0;
	if (a->insecure && !spelled)
		return err_set(e, ERR_INVALID, "--insecure-skip-tls-verify must be spelled out");
	if (a->insecure && a->ca_file)
		return err_set(e, ERR_INVALID,
			"--insecure-skip-tls-verify and --ca-file (or SLUICE_CA_FILE) exclude each other");
	return 0;
}

static int take_version(const char *text, void *arguments, struct err *e)
{
	(void)text;
	(void)e;
	((struct arguments *)arguments)->command = COMMAND_VERSION;
	return 0;
}

#define COMMON                                                                                     \
	{FLAG_TAKE("namespace", 'n', take_namespace), .value = "NAMESPACE"},                       \
		{FLAG_GIVEN("help", 'h', struct arguments, help)},                                 \
		{FLAG_TAKE("server", 0, take_server)},                                             \
		{FLAG_TEXT("token-file", struct arguments, token_file), .value = "FILE"},          \
		{FLAG_TAKE("ca-file", 0, take_ca_file), .value = "FILE"},                          \
		{FLAG_ALONE("insecure-skip-tls-verify", 0, take_insecure)},                        \
		{FLAG_KUBECONFIG(struct arguments, kube)},                                         \
	{                                                                                          \
		FLAG_CONTEXT(struct arguments, kube)                                               \
	}
#define ALL FLAG_GIVEN("all-namespaces", 'A', struct arguments, all_namespaces)
#define OUTPUT(outputs) FLAG_TAKE("output", 'o', take_output), .value = outputs
#define WATCH FLAG_GIVEN("watch", 'w', struct arguments, watch)
#define FOLLOW FLAG_GIVEN("follow", 'f', struct arguments, follow)
#define COST_TERMS                                                                                 \
	{FLAG_TEXT("by", struct arguments, by), .value = PAST_BY_VALUES},                          \
		{FLAG_TEXT("since", struct arguments, since)},                                     \
	{                                                                                          \
		FLAG_TEXT("until", struct arguments, until)                                        \
	}

static const struct flag queue_rows[] = {COMMON, {ALL}, {OUTPUT("table|wide|json")}, {WATCH}};
static const struct flag explain_rows[] = {COMMON, {OUTPUT("table|json")}, {WATCH}};
static const struct flag decisions_rows[] = {COMMON, {ALL}, {OUTPUT("table|json")}, {FOLLOW}};
static const struct flag cost_rows[] = {COMMON, {ALL}, {OUTPUT("table|csv|json")}, COST_TERMS};
static const struct flag any_rows[] = {COMMON, {ALL}, {FLAG_TAKE("output", 'o', take_any_output)},
	{WATCH}, {FOLLOW}, COST_TERMS, {FLAG_ALONE("version", 0, take_version)}};

const struct flag_table queue_flags = {FLAG_TABLE(queue_rows)};
const struct flag_table explain_flags = {FLAG_TABLE(explain_rows)};
const struct flag_table decisions_flags = {FLAG_TABLE(decisions_rows)};
const struct flag_table cost_flags = {FLAG_TABLE(cost_rows)};
const struct flag_table any_flags = {FLAG_TABLE(any_rows)};

static int take_names(int argc, char **argv, struct arguments *a, struct err *e)
{
	if (optind < argc && a->command == COMMAND_NONE) {
		a->command = command_by_name(argv[optind]);
		if (a->command == COMMAND_NONE)
			return err_set(
				e, ERR_INVALID, "there is no command \"%.60s\"", argv[optind]);
		optind++;
	}
	for (; optind < argc; optind++) {
		if (a->nnames == NAMES_MAX)
			return err_set(
				e, ERR_INVALID, "\"%.60s\" is one name too many", argv[optind]);
		a->name[a->nnames++] = argv[optind];
	}
	return 0;
}

/* Which command it is stands among the flags, so they are walked once before that is known. Then once
 * more, by its own table. */
static int take_again(int argc, char **argv, struct arguments *a, struct err *e)
{
	if (a->help)
		return 0;
	int rc = flags_walk(argc, argv, 0, command_table[a->command].flags, a, e);
	if (rc < 0)
		err_wrap(e, "%s", command_name(a->command));
	return rc;
}

int arguments_parse(int argc, char **argv, struct arguments *ret, struct err *e)
{
	struct arguments a = {.server = DEFAULT_SERVER};
	const char *env = getenv("SLUICE_SERVER");
	if (env && env[0]) {
		int rc = take_server(env, &a, e);
		if (rc)
			return rc;
	}
	env = getenv("SLUICE_CA_FILE");
	a.ca_file = env && env[0] ? env : NULL;
	int rc = flags_walk(argc, argv, 0, &any_flags, &a, e);
	if (rc)
		return rc;
	rc = check_insecure(argc, argv, &a, e);
	if (rc == 0)
		rc = take_names(argc, argv, &a, e);
	if (rc)
		return rc;
	if (a.namespace_name && a.all_namespaces)
		return err_set(e, ERR_INVALID, "-n and -A exclude each other");
	rc = take_again(argc, argv, &a, e);
	if (rc)
		return rc;
	*ret = a;
	return 0;
}
