#include "controller/options.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/must.h"
#include "base/span.h"
#include "controller/common/clock.h"
#include "controller/ledger/retention.h"
#include "record/recorder.h"
#include "sluice/quantity.h"

/* ---- one flag each --------------------------------------------------------------------------- */

static int parse_number(
	const char *flag, const char *text, long least, long most, long *ret, struct err *e)
{
	char *end;
	errno = 0;
	long n = strtol(text, &end, 10);
	bool digits = text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
	if (!digits || n < least || n > most)
		return err_set(e, ERR_INVALID,
			"--%s is \"%.60s\"; it must be a whole number from %ld to %ld", flag, text,
			least, most);
	*ret = n;
	return 0;
}

/* In every key of the ledger and in labels of dashboards, so it is kept plain. */
static int parse_cell(const char *text, struct options *o, struct err *e)
{
	size_t n = strlen(text);
	bool good = n >= 1 && n <= 63 && text[0] != '-' && text[n - 1] != '-';
	for (size_t i = 0; i < n && good; i++)
		good = strchr("abcdefghijklmnopqrstuvwxyz0123456789-", text[i]);
	if (!good)
		return err_set(e, ERR_INVALID,
			"--cell is \"%.80s\"; it names this cluster in the ledger and must be 1 to 63 lower-case letters, digits and '-', such as prod-eu-1",
			text);
	o->cell = text;
	return 0;
}

static int parse_identity(const char *text, struct options *o, struct err *e)
{
	size_t n = strlen(text);
	bool good = n >= 1 && n < sizeof(o->identity);
	for (size_t i = 0; i < n && good; i++)
		good = text[i] > ' ' && text[i] < 0x7F;
	if (!good)
		return err_set(e, ERR_INVALID,
			"--identity is \"%.80s\"; it must be 1 to %zu printable ASCII characters without blanks, and no other running controller may have it",
			text, sizeof(o->identity) - 1);
	memcpy(o->identity, text, n + 1);
	return 0;
}

static int listen_error(const char *flag, const char *text, struct err *e)
{
	return err_set(e, ERR_INVALID,
		"--%s is \"%.80s\"; it must be ADDRESS:PORT, such as 127.0.0.1:8080 or [::]:8080, or the word off",
		flag, text);
}

static int parse_address(const char *flag, const char *text, struct listen_at *ret, struct err *e)
{
	ret->on = strcmp(text, "off") != 0;
	if (!ret->on)
		return 0;
	const char *colon = strrchr(text, ':');
	if (!colon)
		return listen_error(flag, text, e);
	const char *host = text;
	size_t len = (size_t)(colon - text);
	if (len >= 2 && host[0] == '[' && host[len - 1] == ']') {
		host++;
		len -= 2;
	} else if (memchr(host, ':', len)) { /* an IPv6 address without its brackets */
		return listen_error(flag, text, e);
	}
	long port;
	if (len >= sizeof(ret->host) || parse_number(flag, colon + 1, 0, 65535, &port, NULL))
		return listen_error(flag, text, e);
	memcpy(ret->host, host, len);
	ret->host[len] = '\0';
	ret->port = (uint16_t)port;
	return 0;
}

static int parse_listen(const char *text, struct options *o, struct err *e)
{
	return parse_address("listen", text, &o->listen, e);
}

static int parse_probe_listen(const char *text, struct options *o, struct err *e)
{
	return parse_address("probe-listen", text, &o->probe_listen, e);
}

static int parse_nonempty(const char *flag, const char *text, const char **ret, struct err *e)
{
	if (text[0] == '\0')
		return err_set(
			e, ERR_INVALID, "--%s is empty; give it a value or leave it out", flag);
	*ret = text;
	return 0;
}

static int parse_loopback(const char *text, struct options *o, struct err *e)
{
	(void)text;
	(void)e;
	o->loopback_needs_token = true;
	return 0;
}

static int parse_audience(const char *text, struct options *o, struct err *e)
{
	return parse_nonempty("token-audience", text, &o->token_audience, e);
}

static int parse_tls_cert(const char *text, struct options *o, struct err *e)
{
	return parse_nonempty("tls-cert-file", text, &o->tls_cert_file, e);
}

static int parse_tls_key(const char *text, struct options *o, struct err *e)
{
	return parse_nonempty("tls-private-key-file", text, &o->tls_key_file, e);
}

static int parse_tls_self_signed(const char *text, struct options *o, struct err *e)
{
	(void)text;
	(void)e;
	o->tls_self_signed = true;
	return 0;
}

static int parse_visibility_listen(const char *text, struct options *o, struct err *e)
{
	return parse_address("visibility-listen", text, &o->visibility_listen, e);
}

/* The API server takes no others into an EndpointSlice. */
static bool v4_is_reachable(const struct in_addr *a)
{
	uint32_t n = ntohl(a->s_addr);
	return n != 0 && n >> 24 != 127 && n >> 16 != 0xA9FE && n >> 28 < 0xE;
}

static bool v6_is_reachable(const struct in6_addr *a)
{
	return !IN6_IS_ADDR_UNSPECIFIED(a) && !IN6_IS_ADDR_LOOPBACK(a) &&
	       !IN6_IS_ADDR_LINKLOCAL(a) && !IN6_IS_ADDR_MULTICAST(a) && !IN6_IS_ADDR_V4MAPPED(a);
}

static int parse_visibility_address(const char *text, struct options *o, struct err *e)
{
	struct in_addr v4;
	struct in6_addr v6;
	bool is_v4 = inet_pton(AF_INET, text, &v4) == 1 && v4_is_reachable(&v4);
	bool is_v6 = !is_v4 && inet_pton(AF_INET6, text, &v6) == 1 && v6_is_reachable(&v6);
	if (!is_v4 && !is_v6)
		return err_set(e, ERR_INVALID,
			"--visibility-address is \"%.60s\"; it must be the IP address by which API servers reach this controller, such as 10.1.2.3 or fd00::5, and no loopback address",
			text);
	must(inet_ntop(is_v4 ? AF_INET : AF_INET6, is_v4 ? (void *)&v4 : (void *)&v6,
		o->visibility_address, sizeof(o->visibility_address)));
	return 0;
}

static int parse_visibility_cert(const char *text, struct options *o, struct err *e)
{
	return parse_nonempty("visibility-cert-file", text, &o->visibility_cert_file, e);
}

static int parse_visibility_key(const char *text, struct options *o, struct err *e)
{
	return parse_nonempty("visibility-key-file", text, &o->visibility_key_file, e);
}

static int parse_migrate_only(const char *text, struct options *o, struct err *e)
{
	(void)text;
	(void)e;
	o->migrate_only = true;
	return 0;
}

static int check_tls(const struct options *o, struct err *e)
{
	if (!o->tls_cert_file != !o->tls_key_file)
		return err_set(e, ERR_INVALID, "--%s is given without --%s; give both",
			o->tls_cert_file ? "tls-cert-file" : "tls-private-key-file",
			o->tls_cert_file ? "tls-private-key-file" : "tls-cert-file");
	if (!o->visibility_cert_file != !o->visibility_key_file)
		return err_set(e, ERR_INVALID, "--%s is given without --%s; give both",
			o->visibility_cert_file ? "visibility-cert-file" : "visibility-key-file",
			o->visibility_cert_file ? "visibility-key-file" : "visibility-cert-file");
	if (o->tls_cert_file && o->tls_self_signed)
		return err_set(
			e, ERR_INVALID, "--tls-self-signed and --tls-cert-file exclude each other");
	return 0;
}

static int parse_log_format(const char *text, struct options *o, struct err *e)
{
	if (strcmp(text, "text") != 0 && strcmp(text, "json") != 0)
		return err_set(
			e, ERR_INVALID, "--log-format is \"%.60s\"; it must be text or json", text);
	o->log_format = text[0] == 'j' ? LOG_JSON : LOG_TEXT;
	return 0;
}

static int parse_log_level(const char *text, struct options *o, struct err *e)
{
	static const char *const names[] = {"error", "warn", "info", "debug"};
	for (int i = 0; i < 4; i++) {
		if (strcmp(text, names[i]) == 0) {
			o->log_level = (enum log_level)i;
			return 0;
		}
	}
	return err_set(e, ERR_INVALID,
		"--log-level is \"%.60s\"; it must be error, warn, info or debug", text);
}

static int parse_kubeconfig(const char *text, struct options *o, struct err *e)
{
	return parse_nonempty("kubeconfig", text, &o->kubeconfig, e);
}

static int parse_context(const char *text, struct options *o, struct err *e)
{
	return parse_nonempty("context", text, &o->context, e);
}

static int parse_database(const char *text, struct options *o, struct err *e)
{
	(void)e;
	o->database = text;
	return 0;
}

static int parse_lease_seconds(const char *text, struct options *o, struct err *e)
{
	long n;
	int rc = parse_number("lease-seconds", text, 3, 300, &n, e);
	if (rc == 0)
		o->lease_ms = n * 1000;
	return rc;
}

static int parse_max_writes(const char *text, struct options *o, struct err *e)
{
	long n;
	int rc = parse_number("max-writes", text, 1, 1000, &n, e);
	if (rc == 0)
		o->max_writes = (unsigned)n;
	return rc;
}

static int parse_manage_all(const char *text, struct options *o, struct err *e)
{
	(void)text;
	(void)e;
	o->manage_without_queue_name = true;
	return 0;
}

static int parse_namespaces(const char *text, struct options *o, struct err *e)
{
	if (o->has_namespaces)
		selector_done(&o->namespaces);
	o->has_namespaces = true;
	if (selector_parse(text, &o->namespaces))
		return 0;
	return err_set(e, ERR_INVALID,
		"--managed-jobs-namespace-selector is \"%.80s\"; it must be a label selector as for kubectl -l, such as team in (a,b),env!=test",
		text);
}

static int parse_config_namespace(const char *text, struct options *o, struct err *e)
{
	size_t n = strlen(text);
	bool good = n >= 1 && n <= 63 && text[0] != '-' && text[n - 1] != '-' &&
		    strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == n;
	if (!good)
		return err_set(e, ERR_INVALID,
			"--config-namespace is \"%.80s\"; it must be the name of a namespace, such as sluice-system",
			text);
	o->config_namespace = text;
	return 0;
}

static int parse_clock_offset(const char *text, struct options *o, struct err *e)
{
	(void)o;
	return clock_set_offset(text, e);
}

static int parse_clock_rate(const char *text, struct options *o, struct err *e)
{
	(void)o;
	return clock_set_rate(text, e);
}

/* 0 is never. */
static int parse_after(const char *flag, const char *text, int64_t *ret_ms, struct err *e)
{
	if (strcmp(text, "0") == 0) {
		*ret_ms = 0;
		return 0;
	}
	if (span_parse_seconds(text, ret_ms))
		return 0;
	return err_set(e, ERR_INVALID,
		"%s is \"%.60s\"; it must be a duration such as 60s or 5m, or 0 for never", flag,
		text);
}

static int parse_note_after(const char *text, struct options *o, struct err *e)
{
	return parse_after("--note-after", text, &o->note_after_ms, e);
}

static int parse_settle(const char *text, struct options *o, struct err *e)
{
	o->settle_ms = 0;
	if (strcmp(text, "0s") == 0 || strcmp(text, "0") == 0 ||
		span_parse_seconds(text, &o->settle_ms))
		return 0;
	return err_set(e, ERR_INVALID,
		"--settle-after-failover is \"%.60s\"; it must be a duration such as 60s, or 0s for none",
		text);
}

static int parse_mass_stop_after(const char *text, struct options *o, struct err *e)
{
	o->mass_stop_after_ms = 0;
	if (strcmp(text, "0s") == 0 || strcmp(text, "0") == 0 ||
		span_parse_seconds(text, &o->mass_stop_after_ms))
		return 0;
	return err_set(e, ERR_INVALID,
		"--mass-stop-after is \"%.60s\"; it must be a duration such as 10m, or 0s for at once",
		text);
}

static int parse_keep_history(const char *text, struct options *o, struct err *e)
{
	o->keep_history_ms = 0;
	if (strcmp(text, "0") == 0)
		return 0;
	if (!span_parse_long(text, &o->keep_history_ms))
		return err_set(e, ERR_INVALID,
			"--keep-history is \"%.60s\"; it must be how long the ledger keeps an attempt after its end, such as 400d or 57w, or 0 for ever",
			text);
	if (o->keep_history_ms < RETENTION_LEAST_MS)
		return err_set(e, ERR_INVALID,
			"--keep-history is \"%.60s\"; a new leader reads five weeks of runs back, so it must be 40d or longer, or 0 for ever",
			text);
	return 0;
}

static int parse_record(const char *text, struct options *o, struct err *e)
{
	return parse_nonempty("record", text, &o->record, e);
}

static int parse_record_max(const char *text, struct options *o, struct err *e)
{
	int64_t bytes = 0;
	int rc = quantity_parse(slice_of(text), QUANTITY_WHOLE, &bytes, NULL);
	if (rc || bytes < (int64_t)RECORD_LEAST_BYTES)
		return err_set(e, ERR_INVALID,
			"--record-max is \"%.60s\"; it must be how many bytes all records may take, such as 4Gi, and at least 64Mi",
			text);
	o->record_most_bytes = bytes;
	return 0;
}

static int parse_stuck_after(const char *text, struct options *o, struct err *e)
{
	return parse_after("--stuck-after", text, &o->stuck_after_ms, e);
}

static int parse_bill_labels(const char *text, struct options *o, struct err *e)
{
	int rc = bill_labels_parse(text, &o->bill_labels, e);
	if (rc)
		err_wrap(e, "--bill-labels");
	return rc;
}

static int parse_events(const char *text, struct options *o, struct err *e)
{
	static const char *const names[] = {
		[EVENTS_STOPS] = "stops", [EVENTS_ALL] = "all", [EVENTS_NONE] = "none"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(text, names[i]) == 0) {
			o->events = (enum events_level)i;
			return 0;
		}
	}
	return err_set(
		e, ERR_INVALID, "--events is \"%.60s\"; it must be stops, all or none", text);
}

static int parse_forecasts(const char *text, struct options *o, struct err *e)
{
	o->forecasts = strcmp(text, "on") == 0;
	if (o->forecasts || strcmp(text, "off") == 0)
		return 0;
	return err_set(e, ERR_INVALID, "--forecasts is \"%.60s\"; it must be on or off", text);
}

/* "" is none: then only NodeOvercommits count. */
static int parse_overcommit_config(const char *text, struct options *o, struct err *e)
{
	const char *slash = strchr(text, '/');
	size_t ns = slash ? (size_t)(slash - text) : 0, name = slash ? strlen(slash + 1) : 0;
	const char *letters = "abcdefghijklmnopqrstuvwxyz0123456789-.";
	if (*text && (ns == 0 || ns >= sizeof(o->overcommit_namespace) || name == 0 ||
			     name >= sizeof(o->overcommit_config) || strspn(text, letters) != ns ||
			     strspn(slash + 1, letters) != name))
		return err_set(e, ERR_INVALID,
			"--overcommit-config is \"%.80s\"; it must be NAMESPACE/NAME of a ConfigMap, such as kube-system/ack-slo-config, or empty for none",
			text);
	memcpy(o->overcommit_namespace, text, ns);
	o->overcommit_namespace[ns] = '\0';
	memcpy(o->overcommit_config, *text ? slash + 1 : "", name + 1);
	return 0;
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct flag {
	const char *name;
	bool wants_value;
	int (*parse)(const char *text, struct options *o, struct err *e); /* NULL: see show */
	enum options_show show;
} own_flags[] = {
	{"kubeconfig", true, parse_kubeconfig, SHOW_NOTHING},
	{"context", true, parse_context, SHOW_NOTHING},
	{"database", true, parse_database, SHOW_NOTHING},
	{"migrate-only", false, parse_migrate_only, SHOW_NOTHING},
	{"cell", true, parse_cell, SHOW_NOTHING},
	{"listen", true, parse_listen, SHOW_NOTHING},
	{"probe-listen", true, parse_probe_listen, SHOW_NOTHING},
	{"loopback-needs-token", false, parse_loopback, SHOW_NOTHING},
	{"token-audience", true, parse_audience, SHOW_NOTHING},
	{"tls-cert-file", true, parse_tls_cert, SHOW_NOTHING},
	{"tls-private-key-file", true, parse_tls_key, SHOW_NOTHING},
	{"tls-self-signed", false, parse_tls_self_signed, SHOW_NOTHING},
	{"visibility-listen", true, parse_visibility_listen, SHOW_NOTHING},
	{"visibility-address", true, parse_visibility_address, SHOW_NOTHING},
	{"visibility-cert-file", true, parse_visibility_cert, SHOW_NOTHING},
	{"visibility-key-file", true, parse_visibility_key, SHOW_NOTHING},
	{"log-format", true, parse_log_format, SHOW_NOTHING},
	{"log-level", true, parse_log_level, SHOW_NOTHING},
	{"identity", true, parse_identity, SHOW_NOTHING},
	{"lease-seconds", true, parse_lease_seconds, SHOW_NOTHING},
	{"max-writes", true, parse_max_writes, SHOW_NOTHING},
	{"manage-jobs-without-queue-name", false, parse_manage_all, SHOW_NOTHING},
	{"managed-jobs-namespace-selector", true, parse_namespaces, SHOW_NOTHING},
	{"note-after", true, parse_note_after, SHOW_NOTHING},
	{"stuck-after", true, parse_stuck_after, SHOW_NOTHING},
	{"settle-after-failover", true, parse_settle, SHOW_NOTHING},
	{"mass-stop-after", true, parse_mass_stop_after, SHOW_NOTHING},
	{"events", true, parse_events, SHOW_NOTHING},
	{"forecasts", true, parse_forecasts, SHOW_NOTHING},
	{"config-namespace", true, parse_config_namespace, SHOW_NOTHING},
	{"overcommit-config", true, parse_overcommit_config, SHOW_NOTHING},
	{"clock-offset", true, parse_clock_offset, SHOW_NOTHING},
	{"clock-rate", true, parse_clock_rate, SHOW_NOTHING},
	{"keep-history", true, parse_keep_history, SHOW_NOTHING},
	{"bill-labels", true, parse_bill_labels, SHOW_NOTHING},
	{"record", true, parse_record, SHOW_NOTHING},
	{"record-max", true, parse_record_max, SHOW_NOTHING},
	{"help", false, NULL, SHOW_HELP},
	{"version", false, NULL, SHOW_VERSION},
};

/* What getopt_long returns: OWN + the index above, or SETTING + that of settings.h. */
enum {
	OWN_FLAGS = sizeof(own_flags) / sizeof(own_flags[0]),
	FLAGS_MAX = 64,
	OWN = 256,
	SETTING = 512,
};

static void list_flags(struct option ret[FLAGS_MAX])
{
	size_t n = 0;
	bool wants;
	const char *name;
	for (size_t i = 0; i < OWN_FLAGS; i++)
		ret[n++] = (struct option){
			own_flags[i].name, own_flags[i].wants_value, NULL, OWN + (int)i};
	for (size_t i = 0; (name = settings_flag(i, &wants)); i++) {
		must(n + 1 < FLAGS_MAX);
		ret[n++] = (struct option){name, wants, NULL, SETTING + (int)i};
	}
	ret[n] = (struct option){0};
}

static int apply_flag(int flag, const char *arg, struct options *o, struct err *e)
{
	int own = flag - OWN;
	if (own >= OWN_FLAGS)
		return settings_take(&o->settings, (size_t)(flag - SETTING), arg, e);
	const struct flag *f = &own_flags[own];
	if (f->parse)
		return f->parse(arg, o, e);
	o->show = f->show;
	return 0;
}

/* ---- the whole line -------------------------------------------------------------------------- */

static int unknown_flag(int argc, char **argv, int got, struct err *e)
{
	const char *arg = optind > 0 && optind <= argc ? argv[optind - 1] : "?";
	if (got == ':')
		return err_set(
			e, ERR_INVALID, "%.80s wants a value; see sluice-controller --help", arg);
	if (optopt >= 256)
		return err_set(e, ERR_INVALID, "%.80s: this flag takes no value", arg);
	if (optopt > 0)
		return err_set(e, ERR_INVALID,
			"-%c is not a flag; flags are written with two dashes, see sluice-controller --help",
			optopt);
	return err_set(e, ERR_INVALID,
		"%.80s is not a flag, or short for more than one; see sluice-controller --help",
		arg);
}

/* Unique without a pid: in a container that is always 1. */
static void default_identity(struct options *o)
{
	char host[100] = "";
	uint32_t random = (uint32_t)getpid();
	if (gethostname(host, sizeof(host) - 1) != 0 || host[0] == '\0')
		strcpy(host, "sluice");
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random ^= (uint32_t)getpid();
	snprintf(o->identity, sizeof(o->identity), "%s_%08" PRIx32, host, random);
}

static int parse_line(int argc, char **argv, struct options *o, struct err *e)
{
	struct option flags[FLAGS_MAX];
	list_flags(flags);
	optind = 0; /* glibc: begin anew, for the tests */
	opterr = 0;
	for (int flag; (flag = getopt_long(argc, argv, ":h", flags, NULL)) != -1;) {
		if (flag == '?' || flag == ':')
			return unknown_flag(argc, argv, flag, e);
		if (flag == 'h')
			o->show = SHOW_HELP;
		int rc = flag == 'h' ? 0 : apply_flag(flag, optarg, o, e);
		if (rc || o->show != SHOW_NOTHING)
			return rc;
	}
	if (optind < argc)
		return err_set(e, ERR_INVALID,
			"\"%.80s\" is not understood: there are only flags, see sluice-controller --help",
			argv[optind]);
	if (o->identity[0] == '\0')
		default_identity(o);
	int rc = check_tls(o, e);
	return rc ? rc : settings_finish(&o->settings, e);
}

int options_parse(int argc, char **argv, struct options *ret, struct err *e)
{
	*ret = (struct options){
		.database = "",
		.cell = "default",
		.listen = {true, "127.0.0.1", 8080},
		.log_level = LEVEL_INFO,
		.lease_ms = 15000,
		.max_writes = 64,
		.note_after_ms = 60000,
		.forecasts = true,
		.stuck_after_ms = 10000,
		.mass_stop_after_ms = 600000,
		.keep_history_ms = 400 * RETENTION_DAY_MS,
		.record_most_bytes = INT64_C(1) << 30,
		.settle_ms = 60000,
		.config_namespace = "sluice-system",
		.overcommit_namespace = "kube-system",
		.overcommit_config = "ack-slo-config",
	};
	settings_init(&ret->settings);
	must(bill_labels_parse(BILL_LABELS_DEFAULT, &ret->bill_labels, e) == 0);
	int rc = parse_line(argc, argv, ret, e);
	if (rc)
		options_done(ret);
	return rc;
}

void options_done(struct options *o)
{
	if (o->has_namespaces)
		selector_done(&o->namespaces);
	settings_done(&o->settings);
}

void options_print_help(FILE *out)
{
	for (size_t i = 0; i < OPTIONS_HELP_COUNT; i++)
		fputs(OPTIONS_HELP[i].text, out);
}

void options_print_version(FILE *out)
{
	fprintf(out, "sluice-controller %s\n", SLUICE_VERSION);
}
