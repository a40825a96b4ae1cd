/*
 * The command line of sluice-controller: what is accepted, and which sentence a mistake gets.
 */
#include "controller/controller.h"
#include "controller/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
enum { WORDS_MAX = 8, HELP_MAX = 1 << 16 };

static int parse(const char *const *words, struct options *o, struct err *e)
{
	char copy[WORDS_MAX + 1][128] = {"sluice-controller"};
	static char kept[WORDS_MAX + 1][128];
	char *argv[WORDS_MAX + 2];
	int argc = 1;
	for (size_t i = 0; i < WORDS_MAX && words[i]; i++)
		strcpy(copy[argc++], words[i]);
	memcpy(kept, copy, sizeof(kept)); /* options point into argv */
	for (int i = 0; i < argc; i++)
		argv[i] = kept[i];
	argv[argc] = NULL;
	return options_parse(argc, argv, o, e);
}

struct bad_case {
	const char *words[WORDS_MAX];
	const char *says[3]; /* all of these */
};

static const struct bad_case bad[] = {
	{{"--bogus"}, {"--bogus", "not a flag"}},
	{{"-x"}, {"-x", "not a flag"}},
	{{"--l", "x"}, {"--l", "short for more than one"}},
	{{"--listen"}, {"--listen", "wants a value"}},
	{{"--help=yes"}, {"--help", "takes no value"}},
	{{"run"}, {"\"run\"", "only flags"}},
	{{"--kubeconfig", ""}, {"--kubeconfig", "empty"}},
	{{"--cell", ""}, {"--cell", "1 to 63"}},
	{{"--cell", "Prod"}, {"--cell", "\"Prod\"", "lower-case"}},
	{{"--cell", "-a"}, {"--cell", "\"-a\""}},
	{{"--cell", "a/b"}, {"--cell", "\"a/b\""}},
	{{"--tls-cert-file", ""}, {"--tls-cert-file", "empty"}},
	{{"--tls-cert-file", "a"}, {"--tls-cert-file", "without --tls-private-key-file"}},
	{{"--tls-private-key-file", "a"}, {"--tls-private-key-file", "without --tls-cert-file"}},
	{{"--tls-cert-file", "a", "--tls-private-key-file", "b", "--tls-self-signed"},
		{"--tls-self-signed", "exclude"}},
	{{"--visibility-listen", "8443"}, {"--visibility-listen", "\"8443\"", "ADDRESS:PORT"}},
	{{"--visibility-address", ""}, {"--visibility-address", "IP address"}},
	{{"--visibility-address", "leader.example"}, {"\"leader.example\"", "10.1.2.3"}},
	{{"--visibility-address", "10.1.2.3:8443"}, {"\"10.1.2.3:8443\""}},
	{{"--visibility-address", "127.0.0.1"}, {"--visibility-address", "no loopback"}},
	{{"--visibility-address", "127.8.8.8"}, {"no loopback"}},
	{{"--visibility-address", "::1"}, {"\"::1\"", "no loopback"}},
	{{"--visibility-address", "::ffff:127.0.0.1"}, {"--visibility-address"}},
	{{"--visibility-address", "[fd00::5]"}, {"--visibility-address"}},
	{{"--visibility-address", "0.0.0.0"}, {"--visibility-address"}},
	{{"--visibility-address", "::"}, {"--visibility-address"}},
	{{"--visibility-address", "169.254.1.1"}, {"--visibility-address"}},
	{{"--visibility-address", "fe80::1"}, {"--visibility-address"}},
	{{"--visibility-address", "224.0.0.1"}, {"--visibility-address"}},
	{{"--node-listen", "8444"}, {"--node-listen", "\"8444\"", "ADDRESS:PORT"}},
	{{"--node-listen", ":8444"}, {"--node-listen", "without --node-address"}},
	{{"--node-address", "leader.example"}, {"--node-address", "10.1.2.3"}},
	{{"--node-address", "0.0.0.0"}, {"--node-address"}},
	{{"--node-address", "::"}, {"--node-address"}},
	{{"--node-address", "fe80::1"}, {"--node-address"}},
	{{"--node-address", "224.0.0.1"}, {"--node-address"}},
	{{"--node-cert-file", "a"}, {"--node-cert-file", "without --node-key-file"}},
	{{"--node-key-file", "a"}, {"--node-key-file", "without --node-cert-file"}},
	{{"--visibility-cert-file", ""}, {"--visibility-cert-file", "empty"}},
	{{"--visibility-cert-file", "a"},
		{"--visibility-cert-file", "without --visibility-key-file"}},
	{{"--visibility-key-file", "a"},
		{"--visibility-key-file", "without --visibility-cert-file"}},
	{{"--listen", "8080"}, {"--listen", "\"8080\"", "ADDRESS:PORT"}},
	{{"--listen", "127.0.0.1:"}, {"--listen"}},
	{{"--listen", "127.0.0.1:http"}, {"--listen"}},
	{{"--listen", "127.0.0.1:65536"}, {"--listen"}},
	{{"--listen", "::1:8080"}, {"--listen", "[::]:8080"}},
	{{"--probe-listen", "8081"}, {"--probe-listen", "\"8081\"", "ADDRESS:PORT"}},
	{{"--log-format", "xml"}, {"--log-format", "\"xml\"", "text or json"}},
	{{"--log-level", "loud"}, {"--log-level", "\"loud\"", "debug"}},
	{{"--identity", ""}, {"--identity"}},
	{{"--identity", "a b"}, {"--identity", "\"a b\""}},
	{{"--lease-seconds", "2"}, {"--lease-seconds", "\"2\"", "3 to 300"}},
	{{"--lease-seconds", "301"}, {"3 to 300"}},
	{{"--lease-seconds", "15s"}, {"\"15s\"", "whole number"}},
	{{"--lease-seconds", ""}, {"whole number"}},
	{{"--lease-seconds", " 5"}, {"whole number"}},
	{{"--lease-seconds", "99999999999999999999"}, {"3 to 300"}},
	{{"--max-writes", "0"}, {"--max-writes", "\"0\"", "1 to 1000"}},
	{{"--max-writes", "-5"}, {"1 to 1000"}},
	{{"--note-after", "-1"}, {"--note-after", "\"-1\"", "0 for never"}},
	{{"--mass-stop-after", "soon"}, {"--mass-stop-after", "\"soon\"", "0s for at once"}},
	{{"--keep-history", "long"}, {"--keep-history", "\"long\"", "400d"}},
	{{"--keep-history", "39d"}, {"--keep-history is \"39d\"", "five weeks", "40d"}},
	{{"--keep-history", "-400d"}, {"--keep-history", "0 for ever"}},
	{{"--record", ""}, {"--record", "empty"}},
	{{"--record-max", "lots"}, {"--record-max", "\"lots\"", "4Gi"}},
	{{"--record-max", "63Mi"}, {"--record-max", "at least 64Mi"}},
	{{"--record-max", "-1Gi"}, {"at least 64Mi"}},
	{{"--stuck-after", "soon"}, {"--stuck-after", "\"soon\"", "0 for never"}},
	{{"--bill-labels", "team,a b"}, {"--bill-labels", "\"a b\"", "team,project"}},
	{{"--config-namespace", "Sluice/x"}, {"--config-namespace", "\"Sluice/x\"", "namespace"}},
	{{"--config-namespace", ""}, {"--config-namespace"}},
	{{"--overcommit-config", "ack-slo-config"}, {"--overcommit-config", "NAMESPACE/NAME"}},
	{{"--overcommit-config", "kube-system/"}, {"--overcommit-config", "kube-system/ack-slo"}},
	{{"--overcommit-config", "/x"}, {"NAMESPACE/NAME"}},
	{{"--overcommit-config", "a/b/c"}, {"NAMESPACE/NAME"}},
	{{"--overcommit-config", "A/b"}, {"NAMESPACE/NAME"}},
#ifdef SLUICE_TEST_CLOCK
	{{"--clock-offset", "tomorrow"}, {"--clock-offset", "\"tomorrow\"", "+14h30m"}},
	{{"--clock-rate", "0"}, {"--clock-rate", "\"0\"", "whole number"}},
#else
	{{"--clock-offset", "+1h"}, {"--clock-offset", "for tests", "SLUICE_TEST_CLOCK"}},
	{{"--clock-rate", "2"}, {"--clock-rate", "for tests"}},
#endif
	{{"--events", "some"}, {"--events", "\"some\"", "stops, all or none"}},
	{{"--forecasts", "no"}, {"--forecasts", "\"no\"", "off or on"}},
	{{"--manage-jobs-without-queue-name=yes"}, {"takes no value"}},
	{{"--managed-jobs-namespace-selector", "team in a"},
		{"--managed-jobs-namespace-selector", "\"team in a\"", "kubectl -l"}},
	{{"--fair-sharing=yes"}, {"--fair-sharing", "takes no value"}},
	{{"--fair-preemption-strategies", "Less"},
		{"--fair-preemption-strategies", "\"Less\"", "LessThanInitialShare"}},
	{{"--fair-preemption-strategies", "LessThanInitialShare,LessThanInitialShare"}, {"both"}},
	{{"--preemption-victims", "Nobody"},
		{"--preemption-victims", "\"Nobody\"", "LeastHurt or Kueue"}},
	{{"--wait-for-pods-ready", "soon"}, {"--wait-for-pods-ready", "\"soon\"", "30m"}},
	{{"--requeue-backoff-base", "0"}, {"--requeue-backoff-base", "duration"}},
	{{"--requeue-backoff-base", "2h"}, {"--requeue-backoff-max", "longer"}},
	{{"--requeue-backoff-limit", "-1"}, {"--requeue-backoff-limit", "whole number"}},
	{{"--requeue-timestamp", "now"}, {"--requeue-timestamp", "Eviction or Creation"}},
	{{"--usage-resource-weights", "cpu"}, {"--usage-resource-weights", "RESOURCE=WEIGHT"}},
	{{"--usage-resource-weights", "cpu=-1"}, {"\"cpu=-1\""}},
	{{"--exclude-resource-prefixes", "a,,b"}, {"--exclude-resource-prefixes", "prefixes"}},
	{{"--transformation", "slice"}, {"--transformation", "INPUT=OUTPUT:AMOUNT"}},
	{{"--transformation", "slice=credits:many"}, {"\"slice=credits:many\""}},
	{{"--transformation", "slice=credits:1;append"}, {";replace"}},
	{{"--quota-check-strategy", "Ignore"}, {"BlockUndeclared or IgnoreUndeclared"}},
	{{"--quota-check-strategy", "IgnoreUndeclared", "--exclude-resource-prefixes", "a"},
		{"one of the two"}},
};

static void a_mistake_gets_a_sentence(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct options o;
		struct err e = {""};
		assert_int_equal(parse(bad[i].words, &o, &e), ERR_INVALID);
		print_message("  %s\n", e.text);
		for (size_t k = 0; k < COUNT(bad[i].says) && bad[i].says[k]; k++)
			assert_non_null(strstr(e.text, bad[i].says[k]));
	}
}

static void nothing_given_gives_the_defaults(void **state)
{
	(void)state;
	struct options o, p;
	struct err e;
	assert_int_equal(parse((const char *[WORDS_MAX]){NULL}, &o, &e), 0);
	assert_int_equal(parse((const char *[WORDS_MAX]){NULL}, &p, &e), 0);
	assert_null(o.kubeconfig);
	assert_string_equal(o.database, "");
	assert_string_equal(o.cell, "default");
	assert_true(o.listen.on);
	assert_false(o.probe_listen.on);
	assert_false(o.visibility_listen.on);
	assert_string_equal(o.visibility_address, "");
	assert_null(o.visibility_cert_file);
	assert_null(o.visibility_key_file);
	assert_false(o.node_listen.on);
	assert_string_equal(o.node_address, "");
	assert_null(o.node_cert_file);
	assert_string_equal(o.listen.host, "127.0.0.1");
	assert_int_equal(o.listen.port, 8080);
	assert_int_equal(o.lease_ms, 15000);
	assert_int_equal(o.max_writes, 64);
	assert_int_equal(o.note_after_ms, 60000);
	assert_int_equal(o.stuck_after_ms, 10000);
	assert_int_equal(o.mass_stop_after_ms, 600000);
	assert_null(o.record);
	assert_int_equal(o.record_most_bytes, 1 << 30);
	assert_int_equal(o.events, EVENTS_STOPS);
	assert_true(o.forecasts);
	assert_string_equal(o.config_namespace, "sluice-system");
	assert_string_equal(o.overcommit_namespace, "kube-system");
	assert_string_equal(o.overcommit_config, "ack-slo-config");
	assert_int_equal(o.bill_labels.n, 3);
	assert_string_equal(o.bill_labels.key[2], "cost-center");
	assert_int_equal(o.log_level, LEVEL_INFO);
	assert_int_equal(o.log_format, LOG_TEXT);
	assert_true(strlen(o.identity) > 9);
	assert_string_not_equal(o.identity, p.identity);
}

static void all_flags_are_taken(void **state)
{
	(void)state;
	struct options o;
	struct err e;
	const char *first[WORDS_MAX] = {"--kubeconfig", "/k", "--context=c", "--database",
		"host=h password=p", "--cell", "prod-eu-1", "--identity=one"};
	assert_int_equal(parse(first, &o, &e), 0);
	assert_string_equal(o.kubeconfig, "/k");
	assert_string_equal(o.context, "c");
	assert_string_equal(o.database, "host=h password=p");
	assert_string_equal(o.cell, "prod-eu-1");
	assert_string_equal(o.identity, "one");
	const char *second[WORDS_MAX] = {"--listen", "[::]:0", "--log-format", "json",
		"--log-level", "debug", "--lease-seconds=3", "--max-writes=1000"};
	assert_int_equal(parse(second, &o, &e), 0);
	assert_string_equal(o.listen.host, "::");
	assert_int_equal(o.listen.port, 0);
	assert_int_equal(o.log_format, LOG_JSON);
	assert_int_equal(o.log_level, LEVEL_DEBUG);
	assert_int_equal(o.lease_ms, 3000);
	assert_int_equal(o.max_writes, 1000);
}

static void what_holds_for_all_queues(void **state)
{
	(void)state;
	struct options o;
	struct err e;
	const struct queue_config *c = &o.settings.config;
	assert_int_equal(parse((const char *[WORDS_MAX]){NULL}, &o, &e), 0);
	assert_false(c->fair_sharing || c->ignore_undeclared || c->requeue_at_creation);
	assert_int_equal(c->nfair_strategies, 2);
	assert_int_equal(c->pods_ready_timeout_ms, 0);
	assert_int_equal(c->back_off_limit, -1);
	options_done(&o);
	const char *ready[WORDS_MAX] = {"--wait-for-pods-ready=10m", "--requeue-backoff-base=5",
		"--requeue-backoff-max=1m", "--requeue-backoff-limit=0",
		"--requeue-timestamp=Creation"};
	assert_int_equal(parse(ready, &o, &e), 0);
	assert_int_equal(c->pods_ready_timeout_ms, 600000);
	assert_int_equal(c->recovery_timeout_ms, 600000);
	assert_int_equal(c->back_off_base_ms, 5000);
	assert_int_equal(c->back_off_max_ms, 60000);
	assert_int_equal(c->back_off_limit, 0);
	assert_true(c->requeue_at_creation);
	options_done(&o);
	const char *fair[WORDS_MAX] = {"--fair-sharing",
		"--fair-preemption-strategies=LessThanInitialShare", "--usage-half-life=1h",
		"--usage-resource-weights=cpu=1,memory=0.5", "--wait-for-pods-ready=1h",
		"--pods-ready-recovery=0", "--exclude-resource-prefixes=a.io/,b"};
	assert_int_equal(parse(fair, &o, &e), 0);
	assert_true(c->fair_sharing);
	assert_int_equal(c->nfair_strategies, 1);
	assert_int_equal(c->fair_strategy[0], FAIR_LESS_THAN_INITIAL_SHARE);
	assert_int_equal(c->usage_half_life_ms, 3600000);
	assert_int_equal(c->nusage_weights, 2);
	assert_string_equal(c->usage_weight[1].name, "memory");
	assert_int_equal(c->usage_weight[1].amount, 500);
	assert_int_equal(c->recovery_timeout_ms, 0);
	assert_int_equal(c->nexcluded_prefixes, 2);
	assert_string_equal(c->excluded_prefixes[0], "a.io/");
	options_done(&o);
}

/* Of each flag as often as it may be given, and once more: never dropped in silence. */
static void flags_that_are_given_too_often_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *flag, *value, *says;
		size_t most;
	} cases[] = {
		{"fair-preemption-strategies", "LessThanInitialShare", "more than 192 times", 192},
		{"usage-resource-weights", "cpu=1", "more than 64 things", 64},
		{"exclude-resource-prefixes", "a/", "more than 64 things", 64},
		{"transformation", "a=b:1", "more than 64 things", 64},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		static struct settings s;
		struct err e = {""};
		const struct flag *flag =
			flags_find(&settings_flags, cases[i].flag, strlen(cases[i].flag));
		flags_begin(&settings_flags, &s);
		for (size_t n = 0; n < cases[i].most; n++)
			assert_int_equal(flag_take(flag, cases[i].value, &s, &e), 0);
		assert_int_equal(flag_take(flag, cases[i].value, &s, &e), ERR_INVALID);
		print_message("  %s\n", e.text);
		assert_non_null(strstr(e.text, cases[i].flag));
		assert_non_null(strstr(e.text, cases[i].says));
		flags_done(&settings_flags, &s);
	}
}

static void which_jobs_are_managed(void **state)
{
	(void)state;
	struct options o;
	struct err e;
	assert_int_equal(parse((const char *[WORDS_MAX]){NULL}, &o, &e), 0);
	assert_false(
		o.manage_without_queue_name || o.has_namespaces || o.settings.uncounted_claims);
	options_done(&o);
	const char *words[WORDS_MAX] = {"--manage-jobs-without-queue-name",
		"--uncounted-resource-claims", "--managed-jobs-namespace-selector=old",
		"--managed-jobs-namespace-selector", "team in (a,b),!old"};
	assert_int_equal(parse(words, &o, &e), 0);
	assert_true(o.manage_without_queue_name && o.has_namespaces && o.settings.uncounted_claims);
	assert_int_equal(o.namespaces.term.nrequirements, 2);
	options_done(&o);
}

static void transformations_are_taken_apart(void **state)
{
	(void)state;
	struct options o;
	struct err e;
	const char *words[WORDS_MAX] = {"--transformation",
		"x.io/slice=x.io/credits:5,x.io/mem:1Gi;replace;multiply-by=x.io/shares",
		"--transformation=cpu=", "--transformation=y=z:-500m"};
	assert_int_equal(parse(words, &o, &e), 0);
	const struct queue_config *c = &o.settings.config;
	assert_int_equal(c->ntransformations, 3);
	const struct transformation_spec *t = c->transformation;
	assert_string_equal(t[0].input, "x.io/slice");
	assert_true(t[0].replace);
	assert_string_equal(t[0].multiply_by, "x.io/shares");
	assert_int_equal(t[0].noutputs, 2);
	assert_string_equal(t[0].output[0].name, "x.io/credits");
	assert_int_equal(t[0].output[0].amount, 5000);
	assert_int_equal(t[0].output[1].amount, INT64_C(1073741824000));
	assert_int_equal(t[1].noutputs, 0);
	assert_false(t[1].replace);
	assert_int_equal(t[2].output[0].amount, -500);
	options_done(&o);
}

static void listening_can_be_off_or_everywhere(void **state)
{
	(void)state;
	struct options o;
	struct err e;
	assert_int_equal(parse((const char *[WORDS_MAX]){"--listen", "off"}, &o, &e), 0);
	assert_false(o.listen.on);
	assert_int_equal(parse((const char *[WORDS_MAX]){"--listen", ":9090"}, &o, &e), 0);
	assert_string_equal(o.listen.host, "");
	assert_int_equal(o.listen.port, 9090);
}

static void visibility_has_a_port_and_an_address(void **state)
{
	(void)state;
	struct options o;
	struct err e;
	const char *first[WORDS_MAX] = {"--visibility-listen", "[::]:8443", "--visibility-address",
		"10.1.2.3", "--visibility-cert-file", "tls.crt", "--visibility-key-file=tls.key"};
	assert_int_equal(parse(first, &o, &e), 0);
	assert_true(o.visibility_listen.on);
	assert_string_equal(o.visibility_listen.host, "::");
	assert_int_equal(o.visibility_listen.port, 8443);
	assert_string_equal(o.visibility_address, "10.1.2.3");
	assert_string_equal(o.visibility_cert_file, "tls.crt");
	assert_string_equal(o.visibility_key_file, "tls.key");
	const char *second[WORDS_MAX] = {
		"--visibility-listen=off", "--visibility-address=FD00:0:0::05"};
	assert_int_equal(parse(second, &o, &e), 0);
	assert_false(o.visibility_listen.on);
	assert_string_equal(o.visibility_address, "fd00::5");
}

static void nodes_have_a_port_and_an_address(void **state)
{
	(void)state;
	struct options o;
	struct err e;
	const char *first[WORDS_MAX] = {"--node-listen", "[::]:8444", "--node-address",
		"FD00:0:0::05", "--node-cert-file", "tls.crt", "--node-key-file=tls.key"};
	assert_int_equal(parse(first, &o, &e), 0);
	assert_true(o.node_listen.on);
	assert_string_equal(o.node_listen.host, "::");
	assert_int_equal(o.node_listen.port, 8444);
	assert_string_equal(o.node_address, "fd00::5");
	assert_string_equal(o.node_cert_file, "tls.crt");
	assert_string_equal(o.node_key_file, "tls.key");
	const char *second[WORDS_MAX] = {"--node-listen=:1", "--visibility-address=10.1.2.3"};
	assert_int_equal(parse(second, &o, &e), 0);
	assert_string_equal(o.node_address, "10.1.2.3");
	const char *third[WORDS_MAX] = {
		"--node-listen=:1", "--visibility-address=10.1.2.3", "--node-address=127.0.0.1"};
	assert_int_equal(parse(third, &o, &e), 0);
	assert_string_equal(o.node_address, "127.0.0.1");
}

static void help_comes_before_everything(void **state)
{
	(void)state;
	struct options o;
	struct err e;
	assert_int_equal(parse((const char *[WORDS_MAX]){"--help", "--bogus"}, &o, &e), FLAGS_HELP);
	assert_int_equal(parse((const char *[WORDS_MAX]){"-h"}, &o, &e), FLAGS_HELP);
	assert_int_equal(parse((const char *[WORDS_MAX]){"--version"}, &o, &e), FLAGS_VERSION);
}

static void read_help(char ret[HELP_MAX])
{
	FILE *out = fmemopen(ret, HELP_MAX, "w");
	options_print_help(out);
	assert_int_equal(fclose(out), 0);
}

/* docs/cli.md is made of the help. The flags of the clock are refused where it is no test build. */
static void help_has_each_flag(void **state)
{
	(void)state;
	char help[HELP_MAX], line[128];
	const struct flag *f;
	size_t base;
	read_help(help);
	for (size_t i = 0; (f = flags_at(&options_flags, i, &base)); i++) {
		const char *at = help, *end = f->alone ? "\n,;" : " ";
		int len = snprintf(line, sizeof(line), "--%s", f->name);
		while ((at = strstr(at, line)) && !strchr(end, at[len]))
			at++;
		if (!at && strncmp(f->name, "clock-", strlen("clock-")) != 0)
			fail_msg("sluice-controller --help does not have %s", line);
	}
}

static void help_has_each_exit_code_and_the_default_labels(void **state)
{
	(void)state;
	static const int codes[] = {
		EXIT_ASKED, EXIT_NO_START, EXIT_USAGE, EXIT_DEPOSED, EXIT_BLIND, EXIT_ANEW};
	char help[HELP_MAX], line[16];
	read_help(help);
	assert_non_null(strstr(help, " " BILL_LABELS_DEFAULT ".\n"));
	const char *status = strstr(help, "EXIT STATUS\n");
	assert_non_null(status);
	for (size_t i = 0; i < COUNT(codes); i++) {
		snprintf(line, sizeof(line), "\n    %d  ", codes[i]);
		if (!strstr(status, line))
			fail_msg("sluice-controller --help does not have exit code %d", codes[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mistake_gets_a_sentence),
		cmocka_unit_test(nothing_given_gives_the_defaults),
		cmocka_unit_test(all_flags_are_taken),
		cmocka_unit_test(help_has_each_flag),
		cmocka_unit_test(what_holds_for_all_queues),
		cmocka_unit_test(flags_that_are_given_too_often_are_refused),
		cmocka_unit_test(which_jobs_are_managed),
		cmocka_unit_test(transformations_are_taken_apart),
		cmocka_unit_test(listening_can_be_off_or_everywhere),
		cmocka_unit_test(visibility_has_a_port_and_an_address),
		cmocka_unit_test(nodes_have_a_port_and_an_address),
		cmocka_unit_test(help_comes_before_everything),
		cmocka_unit_test(help_has_each_exit_code_and_the_default_labels),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
